"""Reading and cleaning of events with Spark, and their routing to graph actors."""
