"""Workloads as text, as queries, as automata, as plans; it knows nothing of how they are run."""
