"""Strategies: ways to choose a tree for each pattern of a workload, and whether equal subtrees are shared."""
