"""Clauses as Lark reads them, to the values of `syntax`: a builder for every kind of clause."""
