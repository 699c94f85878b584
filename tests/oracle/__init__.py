"""The judge: it evaluates a query by enumerating all of its trends, and shares no code with the product."""
