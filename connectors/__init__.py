"""Input of events and output of rows: sources, dead letters, sinks, and the ridesharing stream."""
