"""A-Seq graphs: prefix counters by start event."""
