"""Numbers of matches with lists, by dynamic programming, and the matches that have given numbers."""
