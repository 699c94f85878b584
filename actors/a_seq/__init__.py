"""A-Seq graphs: prefix counters for each start event."""
