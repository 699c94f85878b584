"""Whatever a sharing plan shares, the rows are those of the enumeration of all trends."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

import elsinore
import elsinore.actors.gloria.graph
from elsinore.cluster.run.local import LocalRun
from elsinore.connectors.rows.row_tables import answers, bounds_type, columns_of
from elsinore.connectors.sources import open_events
from elsinore.planner.checks.check import check_text
from elsinore.planner.costs.plan_costs import PlanCosts
from elsinore.planner.gloria.optimizers import OPTIMIZERS
from elsinore.planner.gloria.sets import PlannedSet, planned_sets
from elsinore.planner.plans.auto import decided
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import PLANNED, plan
from elsinore.planner.time.clock import Clock
from elsinore.result import Result
from tests.oracle.answer import answer
from tests.oracle.compare import Numeric, differences
from tests.oracle.query import Query, text_of
from tests.planner.gloria.plans import Drawn, cases, shares
from tests.test_batches import cut, fed, shown
from tests.test_enumerator import LONG, NUMERIC, QUICK
from tests.test_sharing import ALL, Tally

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]
ROOMS = st.sampled_from((1, 3, 16))
"""For snapshots of a chain: with few, chains are settled again and again."""


def drawn(text: str, seed: int) -> Plan:
    """A plan of the workload with a sharing plan of the test's own."""
    queries = plan(check_text(text), "cogra").queries
    with patch.dict(OPTIMIZERS, drawn=Drawn(seed)):
        return Plan("gloria", queries, *planned_sets(queries, "drawn"))


COSTS = {
    "decided": PlanCosts(),
    "anew": PlanCosts(loop=1e9, value=0.0),
    "alone": PlanCosts(loop=1e9, value=1e9, own=0.0, step=0.0),
}
"""By which bursts are run in one way or another."""


def deciding(made: Plan, costs: PlanCosts) -> Plan:
    return replace(made, share_sets=tuple(decided(one, costs) for one in made.share_sets))


def outcome(text: str, made: Plan, events: Any, numeric: Numeric) -> Result:
    source, columns = open_events(events), columns_of(check_text(text))
    local = LocalRun(made, source, numeric=numeric)
    parts = list(local)
    rows, form = answers(parts, columns, local.clock), bounds_type(local.clock)
    return Result(rows, columns, form, numeric == "approximate", local.metrics, pa.table({}), pa.table({}))


def agree(case: Case, seed: int, room: int, numeric: Numeric, tally: Tally) -> None:
    queries, events = case
    text = text_of(queries)
    expected = answer(queries, events)
    tally.note("cases", True)
    strategies = {name: plan(check_text(text), name) for name in ("auto", *PLANNED)} | {"drawn": drawn(text, seed)}
    strategies |= {name: deciding(strategies["drawn"], costs) for name, costs in COSTS.items()}
    for name, made in strategies.items():
        note(f"{text}\n" + "\n".join(map(str, events)) + f"\n{name}, seed={seed}, room={room}, numeric={numeric}")
        with patch.object(elsinore.actors.gloria.graph, "SNAPSHOTS", room):
            result = outcome(text, made, events, numeric)
        assert differences(expected, result.rows(), numeric) == []
        kinds = set[str]().union(*(shares(one.plan) for one in made.share_sets if isinstance(one, PlannedSet)))
        for kind in kinds:
            tally.note(f"{name}: {kind}", True)
        tally.note(f"{name}: snapshots", result.metrics.snapshots > 0)


def enumerated(how: settings, most: int) -> Tally:
    tally = Tally()

    @how
    @given(cases(most), st.integers(0, 2**32), ROOMS, NUMERIC)
    def every_case(case: Case, seed: int, room: int, numeric: Numeric) -> None:
        agree(case, seed, room, numeric, tally)

    every_case()
    return tally


KINDS = ("local sequence", "local Kleene", "reused sequence", "reused Kleene")


def test_rows_are_those_of_the_enumeration() -> None:
    tally = enumerated(settings(QUICK, max_examples=80), 12)
    for kind in KINDS:
        assert tally.share(f"drawn: {kind}") > 0.1, tally.found
    assert tally.share("drawn: snapshots") > 0.5
    assert tally.share("gloria: snapshots") > 0.3


OPTIONAL = (
    "SEQ(A?, B, C, {})", "SEQ(A?, (B, C)+, {})", "SEQ(A*, (B, C)+, {})", "SEQ(A?, (B, C+)+, {}*)", "SEQ(A?, B+, {})",
    "SEQ(A?, B?, C, {})", "SEQ(A?, B*, (C, H)+, {})", "SEQ(A?, NOT I, B, C, {})",
)  # fmt: skip


@pytest.mark.parametrize("pattern", OPTIONAL)
def test_trends_may_begin_behind_what_may_be_left_out(pattern: str) -> None:
    text = ";".join(
        f"RETURN COUNT(*) PATTERN {pattern.format(end)} WITHIN 10 seconds SLIDE 5 seconds" for end in "DEFG"
    )
    random = Random(5)
    events = [{"type": random.choice("AABBCCDEFGHI"), "time": number // 2} for number in range(40)]
    expected = elsinore.run(text, events, engine="local", strategy="cogra").rows()
    assert len(expected) > 2
    for strategy in ("auto", *PLANNED):
        assert elsinore.run(text, events, engine="local", strategy=strategy).rows() == expected, strategy


@pytest.mark.long
@pytest.mark.skipif(not ALL, reason="ELSINORE_TEST=all asks for it")
def test_rows_are_those_of_the_enumeration_at_length() -> None:
    tally = enumerated(settings(LONG, max_examples=2000), 14)
    assert tally.share("drawn: snapshots") > 0.5


@settings(QUICK, max_examples=40)
@given(cases(14), st.integers(0, 2**32), st.randoms(use_true_random=False), st.booleans())
def test_batches_and_snapshots_never_show(case: Case, seed: int, random: Random, saved: bool) -> None:
    queries, events = case
    batches = list(cut(events, random))
    note(f"{text_of(queries)}\n" + "\n".join(map(str, batches)) + f"\nseed={seed}")
    made = drawn(text_of(queries), seed)
    assume(made.share_sets)
    clock = Clock.of(pa.int64(), "s", made.spans)
    rows = [row for part in fed(made, clock, batches, saved) for row in shown(part, clock)]
    assert differences(answer(queries, events), rows, "exact") == []
