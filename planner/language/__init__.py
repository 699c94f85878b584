"""The query language: parse text to queries as values, and print them back."""
