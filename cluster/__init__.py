"""How it all runs: for now, in one process."""
