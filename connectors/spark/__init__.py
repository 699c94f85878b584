"""Spark's part: it reads events, cleans them, and deals them out to where they are evaluated."""
