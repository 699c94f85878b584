"""Plans of queries that return matches: from a pattern to its normal form and the order in which it is searched."""
