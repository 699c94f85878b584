"""What the papers promise: the gain of each algorithm over queries that run apart."""
