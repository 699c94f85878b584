"""The figures of the GLORIA paper (Section 8.2): streams, workloads, and what the paper reports."""
