"""Run the command line as `python -m elsinore`."""

from elsinore.cli import main

main()
