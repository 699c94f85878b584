"""Whatever queries share, and whoever decides about it, the rows are those of the enumeration of all trends."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, event, given, note, settings
from hypothesis import strategies as st

from elsinore.cluster.run.local import LocalRun
from elsinore.connectors.rows.row_tables import answers, bounds_type, columns_of
from elsinore.connectors.sources import open_events
from elsinore.planner.checks.check import check_text
from elsinore.planner.hamlet.bursts import APART, FEWEST, OWN, SHARED, Bursts, Choices, Facts
from elsinore.planner.hamlet.optimizer import SharingOptimizer
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from elsinore.result import Result
from tests.oracle.answer import answer
from tests.oracle.compare import Numeric, differences
from tests.oracle.enumerate import ANY, CONTIGUOUS, NEXT
from tests.oracle.query import Query, text_of
from tests.oracle.sharing import cases
from tests.test_batches import cut, fed, shown
from tests.test_enumerator import LONG, NUMERIC, QUICK

ALL = os.environ.get("ELSINORE_TEST") == "all"

SEMANTICS = st.sampled_from((ANY, NEXT, CONTIGUOUS))

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]


@dataclass(frozen=True)
class Drawn:
    """Each row apart, in a graphlet of its own, or with others, as a seed and the bursts say."""

    seed: int

    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        told = crc32(b"".join(column.tobytes() for column in (bursts.size, bursts.window, bursts.at, bursts.taken)))
        rnd = np.random.default_rng([self.seed, told])
        choice = rnd.choice(np.array([APART, OWN, SHARED], np.uint8), len(bursts.queries), p=[0.1, 0.15, 0.75])
        for first, end in zip(bursts.at[:-1], bursts.at[1:], strict=True):
            if (choice[first + 1 : end] == SHARED).any():
                choice[first] = SHARED
            elif choice[first] == SHARED:
                choice[first] = OWN
        costs = np.full(len(bursts.size), np.nan)
        together, alone = rnd.choice([FEWEST, FEWEST, 3, 5], (2, len(bursts.queries)))
        return Choices(choice, together, alone, lambda: (costs, costs))


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


def optimizers(seed: int) -> dict[str, SharingOptimizer]:
    """Those of the product as they come, whatever this machine was found to be good at."""
    return {"hamlet": optimizer_of("hamlet"), "static": optimizer_of("hamlet-static"), "drawn": Drawn(seed)}


def outcome(text: str, events: Any, numeric: Numeric, optimizer: SharingOptimizer) -> Result:
    """What `elsinore.run` does, with an optimizer of the test's own."""
    checked = check_text(text)
    source, columns = open_events(events), columns_of(checked)
    local = LocalRun(plan(checked, "hamlet"), source, numeric=numeric, optimizer=optimizer, record_decisions=True)
    parts = list(local)
    rows, form = answers(parts, columns, local.clock), bounds_type(local.clock)
    return Result(rows, columns, form, numeric == "approximate", local.metrics, pa.table({}), local.decisions)


def agree(case: Case, seed: int, numeric: Numeric, tally: Tally) -> None:
    queries, events = case
    text = text_of(queries)
    tally.note("cases", True)
    tally.note("a share set", bool(plan(check_text(text), "hamlet").share_sets))
    expected = answer(queries, events)
    for name, optimizer in optimizers(seed).items():
        note(f"{text}\n" + "\n".join(map(str, events)) + f"\n{name}, seed={seed}, numeric={numeric}")
        result = outcome(text, events, numeric, optimizer)
        assert differences(expected, result.rows(), numeric) == []
        tally.note(f"bursts shared: {name}", result.metrics.shared_bursts > 0)
        most = result.decisions["snapshots_propagated"].to_pylist()
        tally.note(f"snapshots at event level: {name}", max(most, default=0) > 1)
        tally.note(f"bursts partly shared: {name}", "partly" in result.decisions["choice"].to_pylist())


def enumerated(how: settings, most: int, semantics: str = ANY) -> Tally:
    tally = Tally()

    @how
    @given(cases(most, semantics=semantics), st.integers(0, 2**32), NUMERIC)
    def every_case(case: Case, seed: int, numeric: Numeric) -> None:
        agree(case, seed, numeric, tally)

    every_case()
    return tally


def test_rows_are_those_of_the_enumeration() -> None:
    """And most cases are about something: queries share bursts, and not all of them take the same events."""
    tally = enumerated(settings(QUICK, max_examples=90), 12)
    assert tally.share("a share set") > 0.7
    assert tally.share("bursts shared: drawn") > 0.5
    assert tally.found["snapshots at event level: static"] > 2
    assert tally.found["snapshots at event level: drawn"] > 0


@pytest.mark.parametrize("semantics", [NEXT, CONTIGUOUS])
def test_trends_that_are_consumed(semantics: str) -> None:
    tally = enumerated(settings(QUICK, max_examples=60), 12, semantics)
    assert tally.share("a share set") > 0.7
    assert tally.share("bursts shared: drawn") > 0.5
    assert tally.found["snapshots at event level: drawn"] > 0


@pytest.mark.long
@pytest.mark.skipif(not ALL, reason="ELSINORE_TEST=all asks for it")
@pytest.mark.parametrize("semantics", [NEXT, CONTIGUOUS])
def test_trends_that_are_consumed_at_length(semantics: str) -> None:
    tally = enumerated(settings(LONG, max_examples=1000), 14, semantics)
    assert tally.share("snapshots at event level: drawn") > 0.1


@pytest.mark.long
@pytest.mark.skipif(not ALL, reason="ELSINORE_TEST=all asks for it")
def test_rows_are_those_of_the_enumeration_at_length() -> None:
    tally = enumerated(settings(LONG, max_examples=2000), 14)
    assert tally.share("snapshots at event level: static") > 0.2
    assert tally.share("snapshots at event level: drawn") > 0.1
    assert tally.share("bursts partly shared: drawn") > 0.05


@settings(QUICK, max_examples=40)
@given(
    st.sampled_from((ANY, NEXT, CONTIGUOUS)).flatmap(lambda own: cases(12, True, own)),
    st.randoms(use_true_random=False),
    st.booleans(),
)
def test_batches_and_snapshots_never_show(case: Case, random: Random, saved: bool) -> None:
    queries, events = case
    batches = list(cut(events, random))
    note(text_of(queries) + "\n" + "\n".join(map(str, batches)))
    made = plan(check_text(text_of(queries)), "hamlet")
    assume(made.share_sets)
    clock = Clock.of(pa.int64(), "s", made.spans)
    rows = [row for part in fed(made, clock, batches, saved) for row in shown(part, clock)]
    assert differences(answer(queries, events), rows, "exact") == []
