"""The query language: parse text to queries as values, and print them back."""

from elsinore.planner.language import printing as printing  # sets how parts of queries print
