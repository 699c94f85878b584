"""Detection of matches: its throughput, and the search for its plans."""
