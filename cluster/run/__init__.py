"""Runs with an end, in this process or on Ray."""
