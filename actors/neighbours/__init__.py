"""Event-grained graphs: queries with predicates between neighbours."""
