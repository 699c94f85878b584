"""The figures of multi-pattern detection (Kolchinsky, Schuster, Section 6): streams, workloads, the paper's reports."""
