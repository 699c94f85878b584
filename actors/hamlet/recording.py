"""A HAMLET graph that records its graphlets, the expressions of their events, and its snapshots, for drawings.

It is for streams of a few events. Each burst is traced event by event, and then run as in any HAMLET graph.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from elsinore.actors.algebra.counters_numba_fns import Events
from elsinore.actors.hamlet.burst_work import Segment, Work
from elsinore.actors.hamlet.bursts_numba_fns import HELD, trace_graphlet
from elsinore.actors.hamlet.consuming_numba_fns import CONSUMED, KEPT
from elsinore.actors.hamlet.graph import HamletGraph
from elsinore.actors.rows.cells import integers
from elsinore.planner.hamlet.bursts import OWN, SHARED
from elsinore.planner.hamlet.graph_record import DrawnEvent, DrawnGraphlet, DrawnSnapshot, GraphRecord
from elsinore.planner.plans.sharing import Sharer

NAMES = "xyzuvw"


@dataclass(frozen=True)
class Watched:
    """A graphlet while it is traced."""

    slot: int
    kleene: int
    mask: int
    sharers: list[int]
    name: str
    found: list[int]
    """Its events."""
    names: list[str]
    """The names of its events."""
    events: Events
    after: npt.NDArray[np.int32]


class RecordingGraph(HamletGraph):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.graphlets: list[DrawnGraphlet] = []
        self.snapshots_made: list[DrawnSnapshot] = []
        self._counted: dict[str, int] = {}
        self._last: dict[tuple[int, int], tuple[str, int]] = {}
        """By Kleene and partition: the last snapshot at graphlet level, and the number of graphlets before it."""

    @property
    def record(self) -> GraphRecord:
        return GraphRecord(tuple(self.graphlets), tuple(self.snapshots_made))

    def _run(self, segment: Segment, work: Work) -> None:
        for t, slot in enumerate(segment.touched):
            for b in range(segment.burst_at[t], segment.burst_at[t + 1]):
                if work.bursts.kleene[b] != HELD:
                    self._look(int(slot), b, work)
                touched, starts = segment.touched[t : t + 1], segment.starts[t : t + 1]
                super()._run(Segment(segment.first, touched, starts, np.array([b, b + 1])), work)

    def _look(self, slot: int, b: int, work: Work) -> None:
        events, after, bursts, rows, choice = work.events, work.after, work.bursts, work.rows, work.choices.choice
        found = [int(bursts.first[b])]
        while after[found[-1]] != bursts.end[b]:
            found.append(int(after[found[-1]]))
        names = [self._named(self.kinds.types[self.kinds.type_of[events.kind[i]]]) for i in found]
        pane = int(events.time[found[0]] // self.pane)
        kleene = int(bursts.kleene[b])
        which = range(bursts.row_at[b], bursts.row_at[b + 1])
        together = int(sum((int(rows.lanes[r]) for r in which if choice[r] == SHARED), 0))
        masks = [together, *(int(rows.lanes[r]) for r in which if choice[r] == OWN)]
        taken = 0
        for mask in filter(None, masks):
            taken |= mask
            self._graphlet(slot, kleene, mask, found, names, pane, events, after)
        for r in which:
            for lane in range(64):
                bit = 1 << lane
                if int(rows.lanes[r]) & bit & ~taken:
                    for s in self.kleenes[kleene].lanes[lane]:
                        self._alone(slot, self.kleenes[kleene].sharers[s], found, names, pane, events)
        self._others(slot, kleene, found, names, pane, events)

    def _named(self, event_type: str) -> str:
        """Return a name for the next event of a type.

        b3 is the third B; where several types have the same initial, the whole name of the type is used.
        """
        initial = event_type[0].lower()
        if sum(name[0].lower() == initial for name in self.kinds.types) > 1:
            initial = event_type.lower()
        self._counted[initial] = self._counted.get(initial, 0) + 1
        return f"{initial}{self._counted[initial]}"

    def _graphlet(
        self,
        slot: int,
        kleene: int,
        mask: int,
        found: list[int],
        names: list[str],
        pane: int,
        events: Events,
        after: npt.NDArray[np.int32],
    ) -> None:
        sharers = [s for s, one in enumerate(self.kleenes[kleene].sharers) if mask >> self._lane(kleene, s) & 1]
        queries = self._queries([self.kleenes[kleene].sharers[s] for s in sharers])
        name = f"{self.kleenes[kleene].type}{len(self.graphlets) + 1}"
        tell = self._forking if self.kinds.semantics == "any" else self._consuming
        own, drawn = tell(Watched(slot, kleene, mask, sharers, name, found, names, events, after))
        self._last[kleene, slot] = (own[0], len(self.graphlets))
        shown = DrawnGraphlet(
            name, self.kleenes[kleene].type, queries, len(queries) > 1, str(slot), pane, tuple(drawn), tuple(own)
        )
        self.graphlets.append(shown)

    def _forking(self, seen: Watched) -> tuple[list[str], list[DrawnEvent]]:
        """Return the snapshots and events under skip-till-any-match: an event shows what it adds to the graphlet."""
        own: list[str] = []
        drawn: list[DrawnEvent] = []
        before: list[int] = []
        for i, event in zip(seen.found, seen.names, strict=True):
            count = self._trace(seen, int(seen.after[i]))
            coefficients = self._coefficients(count)
            while len(own) < count:
                own.append(self._snapshot_name(len(own)))
            new = count - max(len(before), 1)
            terms = [now - then for now, then in zip(coefficients, before + [0] * count, strict=False)]
            drawn.append(DrawnEvent(event, str(seen.events.time[i]), own[-1] if new else _expression(terms, own)))
            before = coefficients
        for level, snapshot in enumerate(own):
            self._note_snapshot(seen, snapshot, level, level)
        return own, drawn

    def _consuming(self, seen: Watched) -> tuple[list[str], list[DrawnEvent]]:
        """Return the snapshots and events where events consume trends: an event shows all trends of the graphlet."""
        self._trace(seen, seen.found[0])
        own: list[str] = []
        drawn: list[DrawnEvent] = []
        for place in (KEPT, CONSUMED) if self._begins(seen.kleene) else (CONSUMED,):
            own.append(self._snapshot_name(0))
            self._note_snapshot(seen, own[-1], place, 0)
        shown = own if len(own) > 1 else ["", *own]
        made = 1
        for i, event in zip(seen.found, seen.names, strict=True):
            # Events of one time consume trends together.
            last = max(j for j in seen.found if seen.events.time[j] == seen.events.time[i])
            count = self._trace(seen, int(seen.after[last]))
            if count > made:
                made = count
                own.append(self._snapshot_name(0))
                shown = [shown[KEPT], own[-1]]
                self._note_snapshot(seen, own[-1], CONSUMED, 1)
            coefficients = self._coefficients(2) if shown[KEPT] else [0, self._coefficients(2)[CONSUMED]]
            drawn.append(DrawnEvent(event, str(seen.events.time[i]), _expression(coefficients, shown)))
        return own, drawn

    def _begins(self, kleene: int) -> bool:
        return any(set(one.inputs) - set(one.consumed) for one in self.kleenes[kleene].sharers)

    def _lane(self, kleene: int, sharer: int) -> int:
        return next(n for n, lane in enumerate(self.kleenes[kleene].lanes) if sharer in lane)

    def _snapshot_name(self, ahead: int) -> str:
        number = len(self.snapshots_made) + ahead
        turn, place = divmod(number, len(NAMES))
        return NAMES[place] + (str(turn + 1) if turn else "")

    def _trace(self, seen: Watched, end: int) -> int:
        while True:
            members, sharers, _, workspace, _ = self._lay_out()
            count: int = trace_graphlet(
                seen.events, seen.after, seen.found[0], end, seen.kleene, np.uint64(seen.mask), seen.slot,
                members, sharers, workspace,
                self.numbers.copy(), self.least.copy(), self.graphs[0].shape.words,
            )  # fmt: skip
            if count <= workspace.capacity:
                return count
            self.snapshots *= 2
            self._laid_out = None

    def _coefficients(self, count: int) -> list[int]:
        _, _, _, workspace, _ = self._lay_out()
        whole = workspace.coefficients[: count * workspace.lanes * workspace.words].reshape(
            count, workspace.lanes, workspace.words
        )
        return [int(one) for one in integers(whole)[:, 0]]

    def _note_snapshot(self, seen: Watched, snapshot: str, place: int, level: int) -> None:
        sharers = self.kleenes[seen.kleene].sharers
        values = tuple((self._queries([sharers[s]])[0], self._value(seen.kleene, s, place)) for s in seen.sharers)
        sources = () if level else tuple(self._sources(seen.kleene, seen.slot))
        self.snapshots_made.append(
            DrawnSnapshot(snapshot, "event" if level else "graphlet", seen.name, values, sources)
        )

    def _value(self, kleene: int, sharer: int, place: int) -> str:
        """Return the value of a snapshot for a sharer, as text: a number for each row of its counters."""
        _, sharers, _, workspace, _ = self._lay_out()
        number = sum(len(one.sharers) for one in self.kleenes[:kleene]) + sharer
        shape = self.graphs[self.kleenes[kleene].sharers[sharer].member].shape
        start = place * workspace.value_width + int(sharers.value_at[number])
        block = workspace.values[start : start + shape.rows * shape.lanes * shape.words]
        counts = integers(block.reshape(shape.rows, shape.lanes, shape.words))[:, 0]
        return " | ".join(str(int(count)) for count in counts)

    def _sources(self, kleene: int, slot: int) -> Iterator[str]:
        """Yield what a new snapshot sums up: the last snapshot, and the graphlets since then."""
        last, since = self._last.get((kleene, slot), ("", 0))
        if last:
            yield last
        before = {name for sharer in self.kleenes[kleene].sharers for name in self._types_before(sharer)}
        for graphlet in self.graphlets[since:]:
            if graphlet.partition == str(slot) and graphlet.type in before:
                yield graphlet.name

    def _types_before(self, sharer: Sharer) -> Iterator[str]:
        machine = self.kinds.members[sharer.member][1].machine
        for c, one in enumerate(machine.classes, start=1):
            if any(append.target in (*sharer.inputs, sharer.target) for append in machine.appends[c]):
                yield one.type

    def _alone(self, slot: int, sharer: Sharer, found: list[int], names: list[str], pane: int, events: Events) -> None:
        kinds = self.kinds.classes
        taken = [i for i in found if kinds[events.kind[i]][sharer.member] in sharer.accepts]
        drawn = tuple(DrawnEvent(names[found.index(i)], str(events.time[i]), "") for i in taken)
        event_type = self.kinds.types[self.kinds.type_of[events.kind[found[0]]]]
        name = f"{event_type}{len(self.graphlets) + 1}"
        self.graphlets.append(
            DrawnGraphlet(name, event_type, self._queries([sharer]), False, str(slot), pane, drawn, ())
        )

    def _others(self, slot: int, kleene: int, found: list[int], names: list[str], pane: int, events: Events) -> None:
        """Record graphlets of the queries that never share events of these types."""
        sharing = {sharer.member for sharer in self.kleenes[kleene].sharers} if kleene >= 0 else set[int]()
        for event_type in dict.fromkeys(self.kinds.type_of[events.kind[i]] for i in found):
            own = [n for n, i in enumerate(found) if self.kinds.type_of[events.kind[i]] == event_type]
            members = [m for m in range(len(self.graphs)) if m not in sharing and self._acts(m, found, own, events)]
            if not members:
                continue
            name = f"{self.kinds.types[event_type]}{len(self.graphlets) + 1}"
            drawn = tuple(DrawnEvent(names[n], str(events.time[found[n]]), "") for n in own)
            queries = tuple(dict.fromkeys(self.kinds.members[m][0].query.name for m in members))
            self.graphlets.append(
                DrawnGraphlet(name, self.kinds.types[event_type], queries, False, str(slot), pane, drawn, ())
            )

    def _acts(self, member: int, found: list[int], own: list[int], events: Events) -> bool:
        machine = self.kinds.members[member][1].machine
        classes = (self.kinds.classes[events.kind[found[n]]][member] for n in own)
        return any(machine.appends[c] or machine.symbols[c] for c in classes)

    def _queries(self, sharers: list[Sharer]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.kinds.members[sharer.member][0].query.name for sharer in sharers))


def _expression(terms: list[int], names: list[str]) -> str:
    """Return an expression as text, as in "4x + z": coefficients of 1 are left out."""
    shown = [name if term == 1 else f"{term}{name}" for term, name in zip(terms, names, strict=False) if term]
    return " + ".join(shown) or "0"
