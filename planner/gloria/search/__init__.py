"""The search for a sharing plan in a GLORIA graph."""
