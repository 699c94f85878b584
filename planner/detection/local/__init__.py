"""The local plan generator: the cheapest order or tree of one pattern, with parts of it given (Sections 4.2 and 5)."""
