"""Stateful execution of plans: graphs of counters over partitions, and the engine that feeds them."""
