"""Notebooks: cells of queries, and plots of results."""
