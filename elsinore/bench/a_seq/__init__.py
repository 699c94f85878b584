"""The figures of the A-Seq paper (Section 6): the stream, workloads, and what the paper reports."""
