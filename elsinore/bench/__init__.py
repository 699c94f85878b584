"""Measurement of the papers' figures on this machine."""

ONE_CORE = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "ARROW_IO_THREADS", "NUMBA_NUM_THREADS"), "1")
"""The environment of a measured process; it must be set before any import."""
