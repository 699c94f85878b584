"""GLORIA templates: a workload as one automaton over event types."""
