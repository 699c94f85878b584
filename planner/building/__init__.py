"""Clauses as Lark reads them, to the values of `planner.syntax`: a builder for every kind of clause."""
