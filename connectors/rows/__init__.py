"""Rows as Arrow tables and as Python values."""
