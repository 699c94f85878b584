"""Files that are there as a whole or not at all, on disk or at an address."""
