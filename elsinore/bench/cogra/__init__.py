"""The figures of the COGRA paper (Section 8 and Appendix D): streams, queries, and what the paper reports."""
