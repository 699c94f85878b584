"""The figures of the HAMLET paper (Section 5.2): streams, workloads, and what the paper reports."""
