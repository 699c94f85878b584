"""Graphs of strategies that serve for comparison: two-step and SHARON."""
