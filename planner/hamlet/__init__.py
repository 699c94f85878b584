"""HAMLET: share sets, the merged template, and the decision per burst whether to share."""
