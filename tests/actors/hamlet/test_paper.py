"""HAMLET's own numbers: Figure 5 with Tables 3, 4 and 5, from the graph as it runs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pyarrow as pa

from elsinore.actors.engine import Engine
from elsinore.actors.hamlet.recording import RecordingGraph
from elsinore.planner.checks.check import check_text
from elsinore.planner.hamlet.graph_record import DrawnSnapshot, GraphRecord
from elsinore.planner.hamlet.optimizer import Always
from elsinore.planner.plans.kinds import HAMLET
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.support.streams import batch, fed

Q1_Q2 = """
QUERY q1 RETURN COUNT(*) PATTERN SEQ(A, B+) {first} WITHIN 100 seconds SLIDE 100 seconds;
QUERY q2 RETURN COUNT(*) PATTERN SEQ(C, B+) {second} WITHIN 100 seconds SLIDE 100 seconds;
"""


def recorded(
    types: str, first: str = "", second: str = "", times: Sequence[int] = (), **columns: list[int]
) -> tuple[GraphRecord, dict[str, int]]:
    """The graph of a stream with an event a second, all bursts shared; and what the queries count."""
    made = plan(check_text(Q1_Q2.format(first=first, second=second)), "hamlet")
    clock = Clock.of(pa.int64(), "s", made.spans)
    engine = Engine(made, clock, optimizer=Always(), hamlet_graph=RecordingGraph)
    rows = fed(engine, [batch(list(types), times or range(len(types)), **columns)])
    graph = engine.runs(HAMLET)[0].graph
    assert isinstance(graph, RecordingGraph)
    return graph.record, {row["query"]: row["COUNT(*)"] for row in rows}


def expressions(record: GraphRecord) -> dict[str, str]:
    """Of the events in shared graphlets."""
    return {event.name: event.expression for one in record.graphlets if one.shared for event in one.events}


def values(snapshot: DrawnSnapshot) -> dict[str, str]:
    return dict(snapshot.values)


def test_table_3() -> None:
    """x is propagated through B3 as x, 2x, 4x, 8x."""
    record, _ = recorded("AACBBBB")
    assert expressions(record) == {"b1": "x", "b2": "2x", "b3": "4x", "b4": "8x"}
    assert [values(snapshot) for snapshot in record.snapshots] == [{"q1": "2", "q2": "1"}]


def test_table_4() -> None:
    """y = x + sum(B3) + sum(A4): 2 + 15 * 2 + 2 for q1, and for q2 with one event in C5, 1 + 15 * 1 + 1."""
    record, counts = recorded("AACBBBBAACB")
    x, y = record.snapshots
    assert values(x) == {"q1": "2", "q2": "1"}
    assert values(y) == {"q1": "34", "q2": "17"}
    # The names of graphlets number them all: A1, C2, B3, A4, C5, B6, as in Figure 5(b).
    assert [graphlet.name for graphlet in record.graphlets] == ["A1", "C2", "B3", "A4", "C5", "B6"]
    assert y.sources == ("x", "B3", "A4", "C5")
    assert expressions(record)["b5"] == "y"
    assert counts == {"q1": 15 * 2 + 34, "q2": 15 * 1 + 17}


def test_table_5() -> None:
    """z is what b5 counts, which q2 does not take: 2 + 2 + 4 for q1. Behind it b6 is 4x + z."""
    record, counts = recorded("AACBBBB", second="WHERE B.v > 0", v=[1, 1, 1, 1, 1, 0, 1])
    assert expressions(record) == {"b1": "x", "b2": "2x", "b3": "y", "b4": "4x + y"}, "z is called y here"
    x, z = record.snapshots
    assert (x.level, z.level) == ("graphlet", "event")
    assert values(z) == {"q1": "8", "q2": "0"}
    assert counts == {"q1": 15 * 2, "q2": 7 * 1}


def test_table_5_with_a_predicate_between_neighbours() -> None:
    """As in the paper, q2 takes b5 but not behind b4: what each event ends is what a query counts the more for it."""
    workload = Q1_Q2.format(first="", second="WHERE B.v <= NEXT(B).v")
    made = plan(check_text(workload), "hamlet")
    stream = list("AACBBBB")
    speeds = [0, 0, 0, 1, 3, 2, 3]
    counted = []
    for length in range(3, 8):
        engine = Engine(made, Clock.of(pa.int64(), "s", made.spans))
        rows = fed(engine, [batch(stream[:length], range(length), v=speeds[:length])])
        counted.append({"q1": 0, "q2": 0} | {row["query"]: row["COUNT(*)"] for row in rows})
    b3, b4, b5, b6 = ({name: now[name] - then[name] for name in now} for then, now in pairwise(counted))
    assert (b3, b4) == ({"q1": 2, "q2": 1}, {"q1": 4, "q2": 2}), "x and 2x, where x is 2 and 1"
    assert b5 == {"q1": 8, "q2": 2}, "z"
    assert b6 == {"q1": 4 * 2 + 8, "q2": 4 * 1 + 2}, "4x + z"


NEXT = "SEMANTICS skip-till-next-match"


def test_events_that_take_trends_along() -> None:
    """Each B holds all trends there are, and two at once hold them twice."""
    record, counts = recorded("AACBBBB", NEXT, NEXT, [0, 1, 2, 3, 4, 5, 5])
    assert expressions(record) == {"b1": "x", "b2": "x", "b3": "2x", "b4": "2x"}
    assert [values(snapshot) for snapshot in record.snapshots] == [{"q1": "2", "q2": "1"}]
    assert counts == {"q1": 2 + 2 + 4, "q2": 1 + 1 + 2}


def test_what_some_take_along_is_a_snapshot_in_the_place_of_the_first() -> None:
    record, counts = recorded("AACBBB", NEXT, f"{NEXT} WHERE B.v > 0", v=[1, 1, 1, 1, 0, 1])
    assert expressions(record) == {"b1": "x", "b2": "y", "b3": "y"}
    x, y = record.snapshots
    assert (x.level, y.level) == ("graphlet", "event")
    assert (values(x), values(y)) == ({"q1": "2", "q2": "1"}, {"q1": "2", "q2": "1"})
    assert counts == {"q1": 2 * 3, "q2": 1 * 2}
