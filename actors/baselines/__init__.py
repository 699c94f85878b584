"""Graphs of the strategies to compare with: two-step, SHARON."""
