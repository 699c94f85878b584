"""Exact numbers, counters, and the kernels that add them up."""
