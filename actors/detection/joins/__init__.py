"""Joins of events and of stored matches: how sequences and conjunctions of single events are found."""
