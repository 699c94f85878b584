"""Graphs of GLORIA's sharing plans."""
