"""Whole runs: memory, start, Spark and Ray, live streams, and the same work in Flink."""
