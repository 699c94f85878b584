"""How events come in and rows go out: sources, dead letters, sinks, and the ridesharing stream."""
