"""The command line."""

from elsinore.cli.commands import app, main

__all__ = ["app", "main"]
