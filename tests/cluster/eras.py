"""Terms of eras, and the plans that they make."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa

from elsinore.actors.plan_state import save_plan
from elsinore.actors.state import pack
from elsinore.cluster.stream.terms import Terms
from elsinore.planner.costs.drift import Observed
from elsinore.planner.plans.routes import Ranges
from elsinore.planner.time.clock import Clock

WINDOW = "WITHIN 10 seconds SLIDE 10 seconds"

WORKLOAD = "; ".join(
    f"QUERY {kind}{number} RETURN COUNT(*) PATTERN {pattern} {how} {WINDOW}"
    for kind, how in (("whole", ""), ("split", "WHERE [k]"))
    for number, pattern in enumerate(["SEQ(A, B, C)", "SEQ(A, B, C)", "SEQ(A, B+, C)", "SEQ(X, B+)", "SEQ(A, B, X)"])
)

WHOLE: Any = ((), (), False, 0)

SPLIT: Any = (("k",), ("k",), False, 0)


def terms(strategy: str = "gloria", **statistics: Observed) -> Terms:
    clock = Clock.of(pa.int64(), "s", [Fraction(10)])
    known = {{"whole": WHOLE, "split": SPLIT}[name]: seen for name, seen in statistics.items()}
    return Terms("a stream", WORKLOAD, strategy, "exact", clock, Ranges.even(8, 2), known)


def plans(era_terms: Terms) -> bytes:
    """Return the plans for the graph actors, serialized."""
    return pack([save_plan(one) for one in era_terms.duty().plans])
