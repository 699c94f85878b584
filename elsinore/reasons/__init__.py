"""The reasons why a query has no row: suspects from the events and the query, each tested by a run of the change."""
