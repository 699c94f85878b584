"""Checks of queries that can be parsed: each looks at a resolved query and yields its problems."""
