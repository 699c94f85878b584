"""The figures of the papers, measured anew on the machine at hand."""

ONE_CORE = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "ARROW_IO_THREADS", "NUMBA_NUM_THREADS"), "1")
"""The environment of a process that is measured; it has to be there before anything is imported."""
