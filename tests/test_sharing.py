"""Whatever queries share, and whoever decides about it, the rows are those of the enumeration of all trends."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from elsinore.cluster.run.local import LocalRun
from elsinore.connectors.rows.tables import answers, columns_of, form_of
from elsinore.connectors.sources import open_events
from elsinore.planner.checks.check import check_text
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
from tests.support.batches import cut, fed, shown
from tests.support.deciders import Drawn
from tests.support.generated import ALL, LONG, NUMERIC, QUICK, Tally

SEMANTICS = st.sampled_from((ANY, NEXT, CONTIGUOUS))

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]


def optimizers(seed: int) -> dict[str, SharingOptimizer]:
    """Those of the product as they come, whatever this machine was found to be good at."""
    return {"hamlet": optimizer_of("hamlet"), "static": optimizer_of("hamlet-static"), "drawn": Drawn(seed)}


def outcome(text: str, events: Any, numeric: Numeric, optimizer: SharingOptimizer) -> Result:
    """What `elsinore.run` does, with an optimizer of the test's own."""
    checked = check_text(text)
    source, columns = open_events(events), columns_of(checked)
    local = LocalRun(plan(checked, "hamlet"), source, numeric=numeric, optimizer=optimizer, record_decisions=True)
    parts = list(local)
    rows, form = answers(parts, columns, local.clock), form_of(local.clock)
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
