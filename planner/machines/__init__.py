"""Queries as automata and machines: what an event does to a query's counters."""
