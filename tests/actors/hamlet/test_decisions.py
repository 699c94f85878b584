"""The table of decisions: a row per burst about which there was something to decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from elsinore.actors.engine import Engine
from elsinore.planner.checks.check import check_text
from elsinore.planner.hamlet.bursts import APART, FEWEST, OWN, SHARED, Bursts, Choices, Facts
from elsinore.planner.hamlet.optimizer import Always, Never, SharingOptimizer
from elsinore.planner.plans.kinds import HAMLET
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.support.streams import batch, cut

WINDOW = "WITHIN 100 seconds SLIDE 100 seconds"


@dataclass(frozen=True)
class SharesLong:
    """Bursts of so many events; of their rows, those that introduce no more than so many snapshots."""

    size: int = 3
    snapshots: int = 100
    rest: int = APART

    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        joins = (bursts.size[bursts.burst] >= self.size) & (bursts.snapshots <= self.snapshots)
        partners = np.add.reduceat(joins.astype(int), bursts.first)[bursts.burst]
        choice = np.where(joins, np.where(partners > 1, SHARED, OWN), self.rest)
        costs = bursts.size.astype(np.float64)
        needed = np.full(len(choice), FEWEST)
        return Choices(choice.astype(np.uint8), needed, needed, lambda: (costs, 2 * costs))


def query(pattern: str, where: str = "", window: str = WINDOW) -> str:
    return f"RETURN COUNT(*) PATTERN {pattern} {where and f'WHERE {where}'} {window}"


def engine(texts: Sequence[str], optimizer: SharingOptimizer) -> Engine:
    made = plan(check_text("; ".join(texts)), "hamlet")
    return Engine(made, Clock.of(pa.int64(), "s", made.spans), optimizer=optimizer, record_decisions=True)


def decided(
    texts: Sequence[str], events: pa.RecordBatch, optimizer: SharingOptimizer, size: int = 10_000
) -> list[dict[str, Any]]:
    one = engine(texts, optimizer)
    for part in cut(events, size):
        one.feed(part)
    one.finish()
    return list(one.decisions().to_pylist())


def column(rows: list[dict[str, Any]], name: str) -> list[Any]:
    return [row[name] for row in rows]


def burst_stream(text: str, keys: str | None = None) -> pa.RecordBatch:
    """An event a second, of the types of the text; v counts the events, k is the partition."""
    return batch(list(text), range(len(text)), v=range(len(text)), k=list(keys or "p" * len(text)))


BOTH = [query("SEQ(A, B+)"), query("SEQ(C, B+)")]


def test_a_row_tells_of_one_burst() -> None:
    (row,) = decided(BOTH, burst_stream("AACBBBB"), Always())
    assert row == {
        "share_set": 1,
        "kleene": "B+",
        "time": 3,
        "events": 4,
        "events_in_window": 7,
        "snapshots_created": 1,
        "snapshots_propagated": 1,
        "cost_shared": None,
        "cost_apart": None,
        "choice": "shared",
        "change": None,
        "shared": ["q1", "q2"],
        "apart": [],
    }


def test_where_nobody_shares() -> None:
    (row,) = decided(BOTH, burst_stream("ACBBBB"), Never())
    assert (row["choice"], row["shared"], row["apart"]) == ("apart", [], ["q1", "q2"])
    assert (row["snapshots_created"], row["snapshots_propagated"]) == (0, 0)


def test_bursts_are_cut_by_other_types_that_somebody_names() -> None:
    rows = decided(BOTH, burst_stream("ABBXBCBBBBABXXXXXB"), Always())
    assert column(rows, "events") == [3, 4, 2]
    assert column(rows, "time") == [1, 6, 11]
    assert column(rows, "events_in_window") == [4, 9, 12]


def test_bursts_are_cut_by_panes_and_windows_are_counted_anew() -> None:
    texts = [query("SEQ(A, B+)", window="WITHIN 6 seconds SLIDE 3 seconds"), query("SEQ(C, B+)")]
    rows = decided([texts[0], texts[1].replace("100", "12")], burst_stream("ABBBBBBBBBBBBBB"), Always())
    assert column(rows, "time") == [1, 3, 6, 9, 12]
    assert column(rows, "events") == [2, 3, 3, 3, 3]
    assert column(rows, "events_in_window") == [3, 6, 9, 12, 3]


def test_events_of_several_types_at_one_time_are_in_no_burst() -> None:
    events = batch(list("ABBABB"), [0, 1, 2, 2, 3, 4], v=range(6), k=["p"] * 6)
    rows = decided(BOTH, events, Always())
    assert [(row["time"], row["events"]) for row in rows] == [(1, 1), (3, 2)]


def test_a_merge_and_a_split() -> None:
    rows = decided(BOTH, burst_stream("AB" + "CBB" + "CBBB" + "CBBBB" + "CB" + "CBBB"), SharesLong())
    assert column(rows, "events") == [1, 2, 3, 4, 1, 3]
    assert column(rows, "choice") == ["apart", "apart", "shared", "shared", "apart", "shared"]
    assert column(rows, "change") == [None, None, "merge", None, "split", "merge"]
    assert column(rows, "cost_shared") == [1, 2, 3, 4, 1, 3]
    assert column(rows, "cost_apart") == [2, 4, 6, 8, 2, 6]


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_batches_cut_no_burst_and_changes_are_told_by_partition(size: int) -> None:
    texts = [query("SEQ(A, B+)", "[k]"), query("SEQ(C, B+)", "[k]")]
    types, keys = "AABBB" + "CBBB" + "ABCB", "pqppp" + "qqqq" + "ppqq"
    rows = decided(texts, burst_stream(types, keys), SharesLong(), size)
    rows.sort(key=lambda row: row["time"])
    assert [(row["time"], row["events"], row["change"]) for row in rows] == [
        (2, 3, None),
        (6, 3, None),
        (10, 1, "split"),
        (12, 1, "split"),
    ]


FOUR = [query("SEQ(A, B+)", where) for where in ("", "", "B.v != 4", "B.v < 4")]


def test_some_queries_share_and_others_do_not() -> None:
    """Of the events 1 to 6 the third query leaves out one, the fourth three."""
    events = burst_stream("ABBBBBB")
    (row,) = decided(FOUR, events, Always())
    assert (row["choice"], row["shared"], row["apart"]) == ("shared", ["q1", "q2", "q3", "q4"], [])
    assert (row["snapshots_created"], row["snapshots_propagated"]) == (4, 4)
    (row,) = decided(FOUR, events, SharesLong(snapshots=1))
    assert (row["choice"], row["shared"], row["apart"]) == ("partly", ["q1", "q2", "q3"], ["q4"])
    assert (row["snapshots_created"], row["snapshots_propagated"]) == (2, 2)
    (row,) = decided(FOUR, events, SharesLong(snapshots=0))
    assert (row["choice"], row["shared"], row["apart"]) == ("partly", ["q1", "q2"], ["q3", "q4"])
    assert (row["snapshots_created"], row["snapshots_propagated"]) == (1, 1)


def test_a_graphlet_of_one_query_is_not_shared() -> None:
    """A query alone counts event by event, and needs no snapshot."""
    (row,) = decided(FOUR, burst_stream("ABBBBBB"), SharesLong(snapshots=0, rest=OWN))
    assert (row["choice"], row["shared"], row["apart"]) == ("partly", ["q1", "q2"], ["q3", "q4"])
    assert (row["snapshots_created"], row["snapshots_propagated"]) == (1, 1)


def test_queries_that_take_the_same_of_a_burst_are_one_row_whatever_their_predicates() -> None:
    (row,) = decided(FOUR, burst_stream("ABBB"), SharesLong(snapshots=0))
    assert (row["choice"], row["shared"], row["snapshots_created"]) == ("shared", ["q1", "q2", "q3", "q4"], 1)


def test_a_query_that_takes_nothing_of_a_burst_is_not_asked() -> None:
    (row,) = decided(FOUR, burst_stream("AAAAABBB"), Always())
    assert row["shared"] == ["q1", "q2", "q3"]
    assert row["apart"] == []


def test_bursts_that_nobody_takes_are_no_bursts() -> None:
    texts = [query("SEQ(A, B+)", "B.v < 2"), query("SEQ(C, B+)", "B.v < 3")]
    assert column(decided(texts, burst_stream("AB" + "CBBBB"), Always()), "time") == [1]


def test_a_snapshot_of_no_trends_is_not_made() -> None:
    """B before any A or C lengthens nothing."""
    (row,) = decided(BOTH, burst_stream("BBB"), Always())
    assert (row["snapshots_created"], row["choice"]) == (0, "shared")


def test_several_kleene_sub_patterns_and_several_sets() -> None:
    texts = [query("SEQ(A+, B+)"), query("SEQ(A+, B+, C)"), query("SEQ(D+, C)", "[k]"), query("SEQ(D+, E)", "[k]")]
    rows = decided(texts, burst_stream("AAABBDD"), Always())
    assert [(row["share_set"], row["kleene"], row["events"]) for row in rows] == [
        (1, "A+", 3),
        (1, "B+", 2),
        (2, "D+", 2),
    ]
    assert column(rows, "shared") == [["q1", "q2"], ["q1", "q2"], ["q3", "q4"]]


def test_a_query_with_the_sub_pattern_twice_is_named_once() -> None:
    texts = [query("SEQ(B X+, A, B Y+)"), query("SEQ(A, B+)")]
    (row,) = decided(texts, burst_stream("ABB"), Always())
    assert row["shared"] == ["q1", "q2"]


def test_counts_are_kept_though_nothing_is_recorded() -> None:
    events = burst_stream("AB" + "CBB" + "CBBB" + "CBBBB")
    made = plan(check_text("; ".join(BOTH)), "hamlet")
    one = Engine(made, Clock.of(pa.int64(), "s", made.spans), optimizer=SharesLong())
    one.feed(events)
    one.finish()
    found = one.runs(HAMLET)[0].graph.decisions
    assert (found.bursts, found.shared, found.snapshots) == (4, 2, 2)
    assert one.decisions().num_rows == 0


def test_without_share_sets_there_is_a_table_without_rows() -> None:
    one = engine([query("SEQ(A, B)")], Always())
    one.feed(burst_stream("AABB"))
    assert one.decisions().column_names == list(decided(BOTH, burst_stream("AB"), Always())[0])
    assert one.decisions().num_rows == 0


def test_events_in_the_window_are_counted_once_however_many_rows_there_are() -> None:
    """Queries that each take others of a few events: there is room for as many rows as events at first."""
    rnd = np.random.default_rng(5)
    texts = [query("SEQ(A, B+)", f"B.v IN ({', '.join(map(str, rnd.permutation(64)[:32]))})") for _ in range(50)]
    types = "ABBBB" * 100
    events = batch(list(types), np.arange(len(types)), v=rnd.integers(0, 64, len(types)))
    rows = decided([text.replace("100", "1000") for text in texts], events, Never())
    assert len(rows) == 100
    assert column(rows, "events_in_window") == [row["time"] + row["events"] for row in rows]


class Asked(Always):
    """Remembers of how many events each question was."""

    def __init__(self) -> None:
        self.events: list[int] = []

    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        if len(bursts.size):
            self.events.append(int(bursts.size.sum()))
        return super().decide(facts, bursts)


def questions(watermark: int, later: pa.RecordBatch) -> list[int]:
    asked = Asked()
    one = engine(BOTH, asked)
    one.feed_partial(batch(list("ABBBBXCBBB"), range(10)), watermark)
    one.feed_partial(later, 1000)
    return asked.events


def test_the_last_burst_of_a_batch_waits_only_if_its_pane_is_not_over() -> None:
    assert questions(99, batch("B", [99, 99])) == [4 + 3, 3 + 2]
    assert questions(100, batch("A", [100])) == [4 + 3]
