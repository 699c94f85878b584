"""Panes and windows of type-grained graphs."""
