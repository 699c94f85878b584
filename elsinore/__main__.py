"""`python -m elsinore` is the command line."""

from elsinore.cli import main

main()
