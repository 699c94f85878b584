"""Numbers, counters, and the kernels that add them up."""
