"""Plans of workloads: how each query is evaluated, and which queries share."""
