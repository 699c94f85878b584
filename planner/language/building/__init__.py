"""Builders that turn Lark's trees into the values of `syntax`: one for each kind of clause."""
