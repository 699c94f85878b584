"""Windows that move with every event, shared between queries."""
