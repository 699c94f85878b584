"""Columns of a batch as graphs need them: predicates, classes, lanes."""
