"""Planned sets on longer streams: the rows of each query apart, and what the plan saved."""

from __future__ import annotations

from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import elsinore.actors.gloria.graph
from elsinore.actors.engine import Engine
from elsinore.planner.checks.check import check_text
from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.gloria.graph.record import GraphRecord
from elsinore.planner.gloria.optimizers import OPTIMIZERS, GloriaOptimizer
from elsinore.planner.gloria.plan import QSet, SharingPlan
from elsinore.planner.gloria.sets import planned_sets
from elsinore.planner.gloria.templates.template import Template, bits
from elsinore.planner.plans.kinds import PLANNED
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.planner.gloria.plans import Drawn
from tests.support.streams import Row, batch, cut, fed

PATTERNS = (
    *("SEQ(A, B, C, D)", "SEQ(A, B, C, E)", "SEQ(E, B, C, D)", "SEQ(A, B, C)", "SEQ(B, C, D, E, A)", "SEQ(C, D, E)"),
    *("SEQ(A, B+, C, D)", "SEQ(E, B+, C)", "SEQ(A, B+)", "SEQ(B+, C, D)", "SEQ(A, (SEQ(B, C))+, D)"),
    *("SEQ(E, (SEQ(B, C))+, D)", "SEQ(E, (SEQ(B, C))+)", "SEQ(D, (SEQ(A, B+))+, C)", "SEQ(E, (SEQ(A, B+))+, C)"),
    *("(SEQ(A, B+))+", "SEQ(A, NOT E, B, C)", "SEQ(A, (B | C)+, D)", "A+", "E"),
)
WINDOWS = ((60, 60), (60, 20), (40, 10))
ITEMS = ("", "SUM(C.v)", "COUNT(B) AVG(B.v)", "SUM(A.f)")


def workload(items: tuple[str, ...] = ITEMS, extremes: str = "", where: str = "[k]") -> str:
    """Every pattern, with windows and aggregates in turn."""
    found = []
    for number, pattern in enumerate(PATTERNS):
        within, slide = WINDOWS[number % len(WINDOWS)]
        wanted = f"{items[number % len(items)]} {extremes}".split()
        asked = ", ".join(["COUNT(*)", *(one for one in wanted if one[one.index("(") + 1] in pattern)])
        window = f"WITHIN {within} seconds SLIDE {slide} seconds"
        found.append(f"QUERY q{number} RETURN {asked} PATTERN {pattern} WHERE {where} {window}")
    return "; ".join(found)


def stream(count: int, seed: int = 1, burst: float = 4, partitions: int = 3) -> pa.RecordBatch:
    """Bursts, some events at equal times."""
    random = np.random.default_rng(seed)
    runs = np.cumsum(random.random(count) < 1 / burst)
    kinds = random.integers(0, 5, runs[-1] + 1)[runs]
    times = np.cumsum(random.integers(0, 3, count) == 2)
    return batch(
        [*np.array(list("ABCDE"))[kinds]],
        times,
        k=random.integers(0, partitions, count),
        v=random.integers(-9, 10, count),
        f=random.integers(-9, 10, count) / 8,
    )


def run(made: Plan, events: pa.RecordBatch, numeric: str = "exact", size: int = 700) -> tuple[list[Row], Engine]:
    one = Engine(made, Clock.of(pa.int64(), "s", made.spans), numeric)
    return fed(one, cut(events, size)), one


def apart(text: str, events: pa.RecordBatch, numeric: str = "exact") -> list[Row]:
    return run(plan(check_text(text), "cogra"), events, numeric)[0]


@dataclass(frozen=True)
class Together:
    """Queries of sequences share all that they have in common."""

    def plan(self, template: Template, model: CostModel) -> SharingPlan:
        found: list[tuple[QSet, ...]] = []
        for stage in template.stages:
            routes = [template.routes[query].stages for query in bits(stage.queries)]
            before = {route[: route.index(len(found))][-1:] for route in routes}
            (last, *others) = before
            reused = bool(last) and not others and found[last[0]][0].queries & stage.queries == stage.queries
            snapshot = found[last[0]][0].snapshot if reused else stage.sources[0]
            shared = QSet(stage.queries, snapshot, not reused, 0 if reused else None)
            found.append((shared if len(routes) > 1 else QSet(stage.queries),))
        return SharingPlan(template, "together", tuple(found), 0, 0, False, GraphRecord((), (), 0))


def sharing(text: str, optimizer: GloriaOptimizer) -> Plan:
    """A plan with a sharing plan of the test's own."""
    queries = plan(check_text(text), "cogra").queries
    with patch.dict(OPTIMIZERS, own=optimizer):
        return Plan("gloria", queries, *planned_sets(queries, "own"))


@pytest.mark.parametrize("seed", range(6))
def test_rows_of_any_plan_are_those_of_queries_apart(seed: int) -> None:
    text, events = workload(), stream(1500, seed)
    with patch.object(elsinore.actors.gloria.graph, "SNAPSHOTS", (2, 5, 16)[seed % 3]):
        rows, one = run(sharing(text, Drawn(seed)), events)
    assert rows == apart(text, events)
    assert one.runs(PLANNED)[0].graph.totals[2] > 100


def test_numbers_and_coefficients_of_many_words() -> None:
    """Bursts of hundreds within Kleene."""
    text = workload(ITEMS[:2]).replace("0 seconds", "00 seconds")
    events = stream(3000, burst=300, partitions=1)
    rows, one = run(plan(check_text(text), "gloria"), events)
    assert rows == apart(text, events)
    assert one.runs(PLANNED)[0].graph.words > 2


def test_sums_of_values_that_fill_a_word() -> None:
    """No two of them can be added up before they meet a count."""
    great = 2**62
    events = batch(list("AABBB"), [1, 1, 2, 2, 3], v=[great, great, -great, great, great + 1])
    text = "; ".join(
        f"QUERY q{n} RETURN COUNT(*), SUM(A.v), SUM(B.v) PATTERN SEQ(A, B) WITHIN 10 seconds SLIDE 10 seconds"
        for n in range(2)
    )
    rows, one = run(sharing(text, Together()), events)
    assert one.runs(PLANNED)
    assert [(row["SUM(A.v)"], row["SUM(B.v)"]) for row in rows] == [(6 * great, 2 * great + 2)] * 2


def totals(patterns: str, events: str, window: str = "WITHIN 100 seconds SLIDE 100 seconds") -> list[int]:
    """Bursts, shared ones, and snapshots, of events one second apart."""
    text = "; ".join(f"RETURN COUNT(*) PATTERN SEQ({', '.join(types)}) {window}" for types in patterns.split())
    # An event of the last time waits for others, here one of a type that nobody asks for.
    whole = batch([*events, "Z"], range(len(events) + 1))
    rows, one = run(sharing(text, Together()), whole)
    assert rows == apart(text, whole)
    (found,) = one.runs(PLANNED)
    return [int(total) for total in found.graph.totals]


def test_queries_that_begin_alike_have_one_snapshot_the_empty_trend() -> None:
    assert totals("ABC ABC ABC", "AAABBBAABBCCCABC") == [8, 8, 1]


def test_where_snapshots_are_created_there_is_one_whenever_the_counters_before_have_changed() -> None:
    """A, E and B are each query's own; for C there is a snapshot of what ended with the first B, and with both."""
    assert totals("ABCD EBCD", "AEBBCDCBCCDD") == [9, 5, 2]


def test_what_a_pane_leaves_is_a_snapshot_of_the_next() -> None:
    """The empty trend, and what ended with A in the pane before."""
    assert totals("AB AB", "AAAAABBBBB", "WITHIN 10 seconds SLIDE 5 seconds") == [2, 2, 2]
