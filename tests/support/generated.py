"""Generated cases: how many of them, which numbers, and a count of what they are about."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st

from tests.oracle.compare import Numeric
from tests.oracle.query import Query

ALL = os.environ.get("ELSINORE_TEST") == "all"
FAST = os.environ.get("ELSINORE_TEST") == "fast"
FEWER = 8
"""With `ELSINORE_TEST=fast`, one of so many generated cases is tried."""

NUMERIC: st.SearchStrategy[Numeric] = st.sampled_from(("exact", "exact", "approximate"))

QUICK = settings(
    max_examples=150, deadline=None, print_blob=True, suppress_health_check=list(HealthCheck), derandomize=True
)

LONG = settings(QUICK, max_examples=5000, derandomize=False)

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]


@dataclass
class Tally:
    """What the cases of a test were like."""

    found: Counter[str] = field(default_factory=Counter)

    def note(self, what: str, is_so: bool) -> None:
        self.found[what] += is_so
        if is_so:
            event(what)

    def share(self, what: str) -> float:
        return self.found[what] / self.found["cases"]


def quick(examples: int) -> settings:
    """Return the settings of a quick test with so many generated cases, the same ones each time."""
    return settings(QUICK, max_examples=max(examples // FEWER, 4) if FAST else examples)


def fresh(examples: int) -> settings:
    """Return the settings of a quick test with so many generated cases, other ones each time."""
    return settings(quick(examples), derandomize=False)
