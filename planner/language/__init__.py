"""The query language: text to queries as values, and back."""
