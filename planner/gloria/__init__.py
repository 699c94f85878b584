"""GLORIA: sharing plans over sequences and nested Kleene patterns, found as a path in a graph."""
