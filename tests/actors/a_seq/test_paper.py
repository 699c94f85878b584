"""The worked examples of the A-Seq paper: prefix counters event by event, and the snapshots that connect pieces."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest

import elsinore
from elsinore.actors.a_seq.forest_numba_fns import DONE, Answers, Questions, Snapshots, StartRows, run_forest
from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.lowering.forests import ForestTables, RouteMember
from elsinore.actors.lowering.sets import MemberColumns
from elsinore.planner.a_seq.forest import forest_of, sequence_of
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.planning import plan

ROOM = 64


@dataclass(frozen=True)
class Seen:
    """What a forest of one sequence holds at some time."""

    tables: ForestTables
    rows: StartRows
    snapshots: Snapshots
    count: int

    def counters(self, tree: int = 0) -> dict[int, list[int]]:
        """PreCntr by the time of its start event: the counts of its prefixes, but for the start event's own."""
        nodes = [
            number for number, one in enumerate(self.tables.forest.nodes) if self.tables.trees.tree[number] == tree
        ]
        return {
            time: [
                int(self.rows.numbers[self.tables.trees.column_at[node] * self.rows.size + row]) for node in nodes[1:]
            ]
            for row, time in self._rows(tree)
        }

    def snapshot(self, connection: int, time: int) -> dict[int, int]:
        """The table that the start event of this time has: counts by start event of the sequence."""
        tree = int(self.tables.targets.tree[connection])
        (row,) = (row for row, of in self._rows(tree) if of == time)
        known = connection * self.rows.size + row
        begin, end = int(self.snapshots.begin[known]), int(self.snapshots.end[known])
        place = int(self.snapshots.ring_at[connection]) * ROOM + int(self.snapshots.shift[known])
        sums = [*(int(self.snapshots.numbers[place + x]) for x in range(begin, end)), 0]
        times = [int(self.rows.time[x]) for x in range(begin, end)]
        alive = {of for _, of in self._rows(0)}
        found = zip(times, (one - behind for one, behind in pairwise(sums)), strict=True)
        return {of: counted for of, counted in found if of in alive}

    def _rows(self, tree: int) -> list[tuple[int, int]]:
        base = tree * self.rows.size
        return [(row, int(self.rows.time[base + row])) for row in range(self.rows.first[tree], self.rows.last[tree])]


def seen(pattern: str, within: int, stream: str, at: int, cuts: tuple[int, ...] = ()) -> Seen:
    """After the events up to a time; `stream` has one at a second, the first at second 1, a dot for none."""
    (query,) = plan(check_text(f"RETURN COUNT(*) PATTERN SEQ({pattern}) WITHIN {within} seconds"), "a-seq").queries
    (counter,) = query.counters
    steps = sequence_of(query)
    assert steps is not None
    names = [None, *(one.type for one in counter.machine.classes)]
    events = [(time, names.index(name)) for time, name in enumerate(stream, 1) if name in names]
    kinds = [[number] for number in range(len(names))]
    tables = ForestTables(forest_of((steps,), (cuts,)), [RouteMember(counter, MemberColumns([], []), within)], kinds)
    taken = Events(
        np.zeros(len(events), np.int32),
        np.array([time for time, _ in events]),
        np.array([kind for _, kind in events], np.int16),
        np.zeros((0, len(events)), np.int64),
        np.zeros((0, len(events)), np.int64),
    )
    runs, start, group = np.array([0, len(events)]), np.zeros(1, np.int64), np.zeros(1, np.int32)
    rows = tables.rows(taken, runs, 1, True)
    snapshots = tables.snapshots(ROOM, rows)
    answers = Answers(np.zeros(1, np.int64), np.zeros(0, np.int64), start, start, np.zeros(1, np.bool_), start)
    asked = Questions(np.array([0, 1]), np.array([at]), start, start)
    assert run_forest(taken, runs, group, asked, tables.trees, tables.targets, rows, snapshots, answers) == DONE
    return Seen(tables, rows, snapshots, int(answers.numbers[0]))


FIGURE_4 = "AABABCDBD"


@pytest.mark.parametrize(
    ("at", "counts"), [(4, [2, 0, 0]), (5, [5, 0, 0]), (6, [5, 5, 0]), (7, [5, 5, 5]), (8, [8, 5, 5]), (9, [8, 5, 10])]
)
def test_an_event_adds_the_count_of_the_prefix_before_it(at: int, counts: list[int]) -> None:
    """Lemma 1: b makes 5 of 3 + 2, as in Figure 4; here by start event, and added up."""
    found = seen("A, B, C, D", 100, FIGURE_4, at).counters()
    assert [sum(own) for own in zip(*found.values(), strict=True)] == counts


FIGURE_6 = "ABCACBDCAD"


@pytest.mark.parametrize(
    ("at", "counters"),
    [
        (1, {1: [0, 0, 0]}),
        (2, {1: [1, 0, 0]}),
        (3, {1: [1, 1, 0]}),
        (4, {1: [1, 1, 0], 4: [0, 0, 0]}),
        (5, {1: [1, 2, 0], 4: [0, 0, 0]}),
        (6, {1: [2, 2, 0], 4: [1, 0, 0]}),
        (7, {1: [2, 2, 2], 4: [1, 0, 0]}),
        (8, {4: [1, 1, 0]}),
        (9, {4: [1, 1, 0], 9: [0, 0, 0]}),
        (10, {4: [1, 1, 1], 9: [0, 0, 0]}),
    ],
)
def test_start_event_marking(at: int, counters: dict[int, list[int]]) -> None:
    """Example 3 and Figure 6: a1 leaves at second 8, and what it has counted with it."""
    assert seen("A, B, C, D", 7, FIGURE_6, at).counters() == counters


def test_what_is_answered_as_start_events_leave() -> None:
    """2 when d1 arrives, 0 when a1 has left, 1 when d2 arrives."""
    assert [seen("A, B, C, D", 7, FIGURE_6, at).count for at in (7, 8, 10)] == [2, 0, 1]
    events = [{"type": name, "time": time} for time, name in enumerate(FIGURE_6, 1)]
    rows = elsinore.run("RETURN COUNT(*) PATTERN SEQ(A, B, C, D) WITHIN 7 seconds", events, strategy="a-seq").rows()
    assert [(row["window_end"], row["COUNT(*)"]) for row in rows] == [(7, 2), (10, 1)]


@pytest.mark.parametrize(
    ("at", "counters"),
    [
        (2, {1: [1, 0]}),
        (3, {1: [0, 0]}),
        (5, {1: [1, 0], 4: [1, 0]}),
        (6, {1: [1, 1], 4: [1, 1]}),
        (7, {1: [0, 1], 4: [0, 1]}),
        (8, {1: [0, 1], 4: [0, 1]}),
    ],
)
def test_a_negative_event_resets_the_prefix_before_it(at: int, counters: dict[int, list[int]]) -> None:
    """Example 4 and Figure 7: c1 clears (A, B), and keeps (A) and (A, B, D)."""
    assert seen("A, B, NOT C, D", 100, "ABCABDCD", at).counters() == counters


def test_the_sequence_around_a_negative_event_is_not_counted() -> None:
    assert seen("A, B, NOT C, D", 100, "ABCABD", 6).count == 2


def test_hashed_prefix_counters() -> None:
    """Example 5 and Figure 8: an event updates the counters of its own id; GROUP-BY answers for each of them."""
    query = "PATTERN SEQ(A, B, C, D) WHERE [id] {} WITHIN 100 seconds"
    ids = [("A", 1), ("A", 2), ("A", 3), ("A", 1), ("B", 1), ("B", 2), ("C", 1), ("D", 3), ("C", 2), ("D", 1), ("D", 2)]
    events = [{"type": name, "time": time, "id": own} for time, (name, own) in enumerate(ids)]
    both = elsinore.run(f"RETURN COUNT(*) {query.format('')}", events, strategy="a-seq").rows()
    assert [(row["window_end"], row["COUNT(*)"]) for row in both] == [(9, 2), (10, 3)]
    grouped = f"RETURN id, COUNT(*) {query.format('GROUP-BY id')}"
    each = elsinore.run(grouped, events, strategy="a-seq").rows()
    assert {row["id"]: row["COUNT(*)"] for row in each} == {1: 2, 2: 1}


FIGURE_10 = "ABCABDCADE"


def test_snapshots_of_a_connection() -> None:
    """Example 8 and Figure 10: d1 and d2 each keep what (A, B, C) had counted, by its start events."""
    pattern, cuts = "A, B, C, D, E", (3,)
    first = seen(pattern, 9, FIGURE_10, 6, cuts)
    assert first.counters() == {1: [2, 1], 4: [1, 0]}
    assert first.counters(1) == {6: [0]}
    assert first.snapshot(0, 6) == {1: 1, 4: 0}
    second = seen(pattern, 9, FIGURE_10, 9, cuts)
    assert second.counters() == {1: [2, 3], 4: [1, 1], 8: [0, 0]}
    assert second.snapshot(0, 9) == {1: 3, 4: 1, 8: 0}


def test_what_has_expired_is_in_no_snapshot_any_more() -> None:
    """When e1 arrives, a1 has left: 0 sequences with d1, and 1 with d2."""
    found = seen("A, B, C, D, E", 9, FIGURE_10, 10, (3,))
    assert found.counters(1) == {6: [1], 9: [1]}
    assert (found.snapshot(0, 6), found.snapshot(0, 9)) == ({4: 0}, {4: 1, 8: 0})
    assert found.count == 1


def test_several_connections() -> None:
    """Example 9 and Figure 11: for a2, the 1 of d1's row and the 2 of d2's are added up when f1 arrives."""
    stream, pattern, cuts = "ABCABCDCDE.FG", "A, B, C, D, E, F, G", (3, 5)
    found = seen(pattern, 9, stream, 12, cuts)
    assert (found.snapshot(0, 7), found.snapshot(0, 9)) == ({4: 1}, {4: 2})
    assert found.counters(1) == {7: [1], 9: [1]}
    assert found.snapshot(1, 12) == {4: 1 + 2}
    assert [seen(pattern, within, stream, 13, cuts).count for within in (9, 10, 13)] == [0, 3, 3 + 3 + 5]
