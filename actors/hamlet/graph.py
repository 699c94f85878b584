"""The HAMLET graph of a share set (HAMLET, Sections 3 and 4): many queries, one pass over their events.

A slice of the stream is cut into the panes of the share set, and each pane, by partition, into bursts. The optimizer is
asked about many bursts at once. The bursts are then taken in one after another, each by shared graphlets or query by
query, as decided. Where a pane of a query ends, that query closes its windows as it would alone: only the work on
events is shared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from time import thread_time

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.blocks import number_type
from elsinore.actors.algebra.counters_numba_fns import NONE, Events, Scratch
from elsinore.actors.columns.intake import Taken
from elsinore.actors.columns.kinds import EventKinds
from elsinore.actors.hamlet.burst_work import Cut, Segment, Work
from elsinore.actors.hamlet.bursts_numba_fns import (
    HELD,
    SNAPSHOTS,
    Asked,
    BurstRows,
    Bursts,
    Needed,
    Seen,
    Types,
    cut_bursts,
    run_bursts,
)
from elsinore.actors.hamlet.decisions import Decisions
from elsinore.actors.hamlet.graphlets_numba_fns import GraphletWorkspace, Members, Sharers
from elsinore.actors.lowering.sets import members_of, sharers_of, types_of, widths
from elsinore.actors.members import SetMember
from elsinore.actors.set_graph import MemberCells, PartitionGroups
from elsinore.actors.windows.pane_set import PaneSet, ordered
from elsinore.actors.windows.panes import NEVER
from elsinore.planner.hamlet import bursts as statistics
from elsinore.planner.hamlet.bursts import Choices, Floats, Ints, unanswered
from elsinore.planner.hamlet.facts import facts_of
from elsinore.planner.hamlet.optimizer import Pending, SharingOptimizer, ask
from elsinore.planner.plans.sharing import ShareSet
from elsinore.planner.time.clock import Clock

MOST_HELD_OF_BURST, MOST_HELD = 1 << 12, 1 << 18
"""Limits of the events held back: those of a burst, which is not held if it has as many, and those of all bursts."""

BURSTS_AT_ONCE = 1 << 11
"""Fewest bursts in one question to an optimizer, but for the last question of a slice."""

INITIAL_SNAPSHOTS = 16
"""Initial capacity of a graphlet, in snapshots."""


class HamletGraph(PaneSet):
    decisions: Decisions

    def __init__(
        self,
        share_set: ShareSet,
        members: Sequence[SetMember],
        kinds: EventKinds,
        clock: Clock,
        exact: bool,
        optimizer: SharingOptimizer,
        recorded: bool,
    ) -> None:
        super().__init__(members, kinds, clock, exact)
        self.kleenes = share_set.kleenes
        counted = [(member.plan, member.counter) for member in members]
        self.facts = [facts_of(kleene, counted) for kleene in share_set.kleenes]
        self.optimizer = optimizer
        self.longest = max(graph.windows.within for graph in self.graphs)
        self.decisions = Decisions(share_set, recorded)
        self.totals = self.decisions.totals
        self.held: Events | None = None
        """The events of bursts that may not be complete."""
        self.snapshots = INITIAL_SNAPSHOTS
        self.seen = Seen(np.zeros(0, np.int64), np.zeros(0, np.int64), self.longest)
        self._laid_out: tuple[Members, Sharers, Types, GraphletWorkspace, Scratch] | None = None

    def process(self, taken: Sequence[Taken], later: int) -> MemberCells:
        """Take in events, and return per member the results due.

        Bursts that later events may continue are held back: those of the last pane, unless it is over at `later`.
        """
        found = self.nothing()
        events = taken[0].events
        if len(events.time):
            if self.held is not None:
                events = _joined(self.held, events)
                self.held = None
            self._take_in(events, self._over(int(events.time[-1]), later), lambda time: self.reach(time, found))
        return found

    def _take_in(self, events: Events, complete: bool, reach: Callable[[int], None]) -> None:
        """Take in events in panes; before each, call `reach` with its first time. Hold back what is not complete."""
        self._lay_out()
        segments, events, after = self.segments(events)
        cut, pending = Cut(len(events.time), len(self.kinds)), None
        for segment in segments:
            self._cut(events, after, segment, cut)
            if segment is segments[-1] and not complete:
                self._hold(segment, cut.bursts, events)
            if pending is None and (cut.counts[2] >= BURSTS_AT_ONCE or segment is segments[-1]):
                # The optimizer may be in another process: it decides the first round while the others are cut.
                pending = self._ask(*cut.known(), slice(0, cut.counts[2]))
        bursts, rows, asked = cut.known()
        created, most = np.empty((2, len(bursts.size)), np.int64)
        rounds = _rounds(segments, asked)
        answers: list[Choices] = []
        work = Work(events, after, bursts, rows, asked, unanswered(len(rows.queries), answers), created, most)
        for (some, part), after_it in zip_longest(rounds, rounds[1:]):
            # It decides the next round while this one runs.
            answer, pending = pending, self._ask(bursts, rows, asked, after_it[1]) if after_it else None
            assert answer
            answers.append(self._answered(answer))
            work.choices.fill(int(asked.at[part.start]), answers[-1])
            for segment in some:
                reach(int(events.time[segment.first]))
                self._run(segment, work)
        if self.decisions.recorded:
            self.decisions.note(work)

    def _cut(self, events: Events, after: npt.NDArray[np.int32], segment: Segment, cut: Cut) -> None:
        """Cut a pane into bursts, and append them to those of the panes before it."""
        assert self._laid_out
        _, sharers, types, _, _ = self._laid_out
        self._make_seen(self.graphs[0].slots)
        known = self.seen.count[segment.touched], self.seen.window[segment.touched]
        while True:
            counts = cut_bursts(
                events, after, segment.touched, segment.starts, sharers, types, cut.bursts, cut.rows, cut.asked,
                segment.burst_at, *cut.counts, self.seen, cut.scratch,
            )  # fmt: skip
            if counts[0] >= 0:
                break
            cut.make_room()
            self.seen.count[segment.touched], self.seen.window[segment.touched] = known
        cut.counts = counts

    def _hold(self, segment: Segment, bursts: Bursts, events: Events) -> None:
        """Hold back the last burst of each partition, if the next events may belong to it."""
        last = segment.burst_at[1:] - 1
        held = (bursts.kleene[last] >= 0) & (bursts.size[last] < MOST_HELD_OF_BURST)
        last, partitions = last[held], segment.touched[held]
        sizes = bursts.size[last]
        if not len(last) or int(sizes.sum()) > MOST_HELD:
            return
        which = np.repeat(bursts.first[last] - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        self.held = ordered(events, which[np.argsort(events.time[which], kind="stable")])
        bursts.kleene[last] = HELD
        self.seen.count[partitions] -= sizes

    def end_until(self, time: int) -> MemberCells:
        if self.held is not None and self._over(int(self.held.time[0]), time):
            self.flush()
        return super().end_until(time)

    def _over(self, time: int, later: int) -> bool:
        """Return whether the pane of `time` is over, given that no event older than `later` comes."""
        return later // self.pane > time // self.pane

    def flush(self) -> None:
        """Take in the held bursts as they are: they are of the pane that all members have open."""
        if self.held is not None:
            held, self.held = self.held, None
            self._take_in(held, True, self._check_open)

    def _check_open(self, time: int) -> None:
        assert all(graph.pane == time // graph.windows.pane for graph in self.graphs), "a held burst's pane is over"

    def _make_seen(self, slots: int) -> None:
        missing = slots - len(self.seen.count)
        if missing > 0:
            self.seen = Seen(
                np.concatenate([self.seen.count, np.zeros(missing, np.int64)]),
                np.concatenate([self.seen.window, np.full(missing, NEVER, np.int64)]),
                self.longest,
            )

    def _ask(self, bursts: Bursts, rows: BurstRows, asked: Asked, part: slice) -> Pending:
        """Ask the optimizer how to run each row of some bursts, with one question per Kleene sub-pattern."""
        begin = thread_time()
        at = asked.at[part.start : part.stop + 1]
        told = statistics.Bursts(
            asked.size[part], asked.window[part], at - at[0],
            *(column[at[0] : at[-1]] for column in (rows.queries, rows.taken, rows.snapshots)),
        )  # fmt: skip
        if len(self.facts) == 1:
            pending = ask(self.optimizer, self.facts[0], told)
        else:
            pending = self._ask_of_each(bursts.kleene[asked.burst[part]], told)
        self.decisions.seconds += thread_time() - begin
        return pending

    def _answered(self, pending: Pending) -> Choices:
        begin = thread_time()
        choices = pending()
        self.decisions.seconds += thread_time() - begin
        return choices

    def _ask_of_each(self, kleene: npt.NDArray[np.int64], told: statistics.Bursts) -> Pending:
        parts = []
        # Held bursts are asked about when they are complete.
        for number in np.unique(kleene[kleene >= 0]).tolist():
            which = np.flatnonzero(kleene == number)
            some, own = told.some(which)
            parts.append((which, own, ask(self.optimizer, self.facts[number], some)))
        return lambda: _together([(which, own, pending()) for which, own, pending in parts], told)

    def _run(self, segment: Segment, work: Work) -> None:
        """Take in the bursts of a pane."""
        needed = Needed(work.choices.together, work.choices.alone)

        def run(done: int) -> tuple[int, int]:
            members, sharers, types, workspace, scratch = self._lay_out()
            found: tuple[int, int] = run_bursts(
                work.events, work.after, segment.touched, segment.burst_at, done, len(segment.touched),
                work.bursts, work.rows, work.choices.choice, needed, work.created, work.most, self.decisions.totals,
                members, sharers, types, self.merged().tables, workspace, self.numbers, self.least,
                self.graphs[0].shape.words, scratch,
            )  # fmt: skip
            return found

        self.run_segment(segment, run)

    def make_room(self, stopped: int) -> None:
        if stopped == SNAPSHOTS:
            self.snapshots *= 2
        else:
            super().make_room(stopped)

    def _lay_out(self) -> tuple[Members, Sharers, Types, GraphletWorkspace, Scratch]:
        """Return the arrays that kernels read; make them anew if buffers, lanes, partitions or kinds have changed."""
        self.gather()
        if self._laid_out is None or self._laid_out[0].kinds != len(self.kinds):
            sharers = sharers_of(self.kleenes, self.columns, [graph.shape for graph in self.graphs], self.kinds)
            self._laid_out = (
                members_of([graph.own for graph in self.graphs], self.merged(), self.kinds),
                sharers,
                types_of(self.kleenes, self.kinds),
                self._workspace(sharers),
                self.scratch(),
            )
        return self._laid_out

    def _workspace(self, sharers: Sharers) -> GraphletWorkspace:
        width, least_width = widths(self.kleenes, [graph.shape for graph in self.graphs])
        lanes = 1 + int(np.diff(sharers.lane_at).max(initial=0))
        keys = int(np.diff(sharers.column_key_at).max(initial=0))
        kind = number_type(self.exact, self.words)
        count = self.snapshots
        one = np.zeros(self.words, kind)
        one[0] = 1
        return GraphletWorkspace(
            coefficients=np.zeros(count * lanes * self.words, kind),
            least=np.full(count * keys, NONE, np.int64),
            before=np.zeros(count * lanes * self.words, kind),
            before_least=np.full(count * keys, NONE, np.int64),
            ended=np.zeros(2 * lanes * self.words, kind),
            ended_least=np.full(2 * keys, NONE, np.int64),
            one=one,
            words=self.words,
            lanes=lanes,
            keys=keys,
            capacity=count,
            values=np.zeros(count * width, self.numbers.dtype),
            value_least=np.full(count * least_width, NONE, np.int64),
            alive=np.zeros(len(sharers.member), np.bool_),
            value_width=width,
            least_width=least_width,
        )

    def keep(self, slots: npt.NDArray[np.int64], groups_of: Sequence[PartitionGroups]) -> None:
        super().keep(slots, groups_of)
        self._make_seen(int(slots.max(initial=-1)) + 1)
        self.seen = Seen(self.seen.count[slots], self.seen.window[slots], self.longest)
        self.decisions.keep(slots)


def _rounds(segments: Sequence[Segment], asked: Asked) -> list[tuple[list[Segment], slice]]:
    """Group panes into rounds with one question each. (panes, the part of `asked` that is theirs)"""
    found: list[tuple[list[Segment], slice]] = []
    some: list[Segment] = []
    begin = 0
    for segment in segments:
        some.append(segment)
        end = int(np.searchsorted(asked.burst, segment.burst_at[-1]))
        if end - begin >= BURSTS_AT_ONCE or segment is segments[-1]:
            found.append((some, slice(begin, end)))
            some, begin = [], end
    return found


def _together(parts: list[tuple[Ints, Ints, Choices]], told: statistics.Bursts) -> Choices:
    """Merge the answers about several Kleene sub-patterns; each comes with the bursts and rows that it is about."""
    choice = np.zeros(len(told.queries), np.uint8)
    together, alone = np.zeros((2, len(told.queries)), np.int64)
    for _, own, found in parts:
        choice[own], together[own], alone[own] = found.choice, found.together, found.alone

    def costs() -> tuple[Floats, Floats]:
        both = np.empty((2, len(told.size)))
        for which, _, found in parts:
            both[0, which], both[1, which] = found.shared, found.apart
        return both[0], both[1]

    return Choices(choice, together, alone, costs)


def _joined(one: Events, other: Events) -> Events:
    return Events(
        np.concatenate([one.slot, other.slot]),
        np.concatenate([one.time, other.time]),
        np.concatenate([one.kind, other.kind]),
        np.concatenate([one.values, other.values], axis=1),
        np.concatenate([one.keys, other.keys], axis=1),
    )
