"""HAMLET's own numbers: Figure 5 with Tables 3, 4 and 5, from the graph as it runs."""

from __future__ import annotations

import pyarrow as pa

from actors.engine import Engine
from actors.recording import RecordingGraph
from planner.check import check_text
from planner.clock import Clock
from planner.graph_record import DrawnSnapshot, GraphRecord
from planner.optimizer import Always
from planner.plan import plan
from tests.actors.streams import batch, fed

Q1_Q2 = """
QUERY q1 RETURN COUNT(*) PATTERN SEQ(A, B+) {first} WITHIN 100 seconds SLIDE 100 seconds;
QUERY q2 RETURN COUNT(*) PATTERN SEQ(C, B+) {second} WITHIN 100 seconds SLIDE 100 seconds;
"""


def recorded(types: str, first: str = "", second: str = "", **columns: list[int]) -> tuple[GraphRecord, dict[str, int]]:
    """The graph of a stream with an event a second, all bursts shared; and what the queries count."""
    made = plan(check_text(Q1_Q2.format(first=first, second=second)), "hamlet")
    clock = Clock.of(pa.int64(), "s", made.spans)
    engine = Engine(made, clock, optimizer=Always(), hamlet_graph=RecordingGraph)
    rows = fed(engine, [batch(list(types), range(len(types)), **columns)])
    graph = engine.sharings[0].graph
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
