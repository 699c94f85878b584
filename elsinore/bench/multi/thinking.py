"""The time that searches for plans take in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from elsinore.planner.detection import choosing

UNLIMITED = 1 << 40
"""Steps of a search that is limited by time alone."""


@contextmanager
def thinking(milliseconds: int | None) -> Iterator[None]:
    """Let searches take so long, whatever number of steps that is; with None, as in any run."""
    if milliseconds is None:
        yield
        return
    usual = choosing.SEARCH_SECONDS, choosing.STEPS_PER_PATTERN, choosing.PATIENCE_PER_PATTERN
    choosing.SEARCH_SECONDS = milliseconds / 1000
    choosing.STEPS_PER_PATTERN = choosing.PATIENCE_PER_PATTERN = UNLIMITED
    try:
        yield
    finally:
        choosing.SEARCH_SECONDS, choosing.STEPS_PER_PATTERN, choosing.PATIENCE_PER_PATTERN = usual
