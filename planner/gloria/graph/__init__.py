"""The GLORIA graph: nodes, edges, weights and pruning."""
