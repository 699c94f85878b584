"""The judge: answers a query by enumerating all of its trends, and shares no code with the product."""
