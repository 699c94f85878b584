"""Tests of the load test: it finds what is wrong, and nothing else."""
