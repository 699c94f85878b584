"""The arrays that kernels read for a forest of prefix counters, and the memory that they need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from elsinore.actors.a_seq.forest_numba_fns import Snapshots, StartRows, Targets, Trees, most_starts
from elsinore.actors.algebra.blocks import number_type
from elsinore.actors.algebra.counters_numba_fns import NONE, Events
from elsinore.actors.lowering.arrays import column, flat, flat_pairs, long_column, pointers
from elsinore.actors.lowering.forest_lanes import Chain, Lane, NodeLanes, Target
from elsinore.actors.lowering.sets import MemberColumns
from elsinore.planner.a_seq.forest import Forest
from elsinore.planner.plans.model import Counter

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RouteMember:
    """A sequence of the forest, with its lanes and the length of its windows in ticks."""

    counter: Counter
    columns: MemberColumns
    within: int


class ForestTables:
    """The arrays of a forest; `kinds` has, by kind of events, the class in which each member's machine puts it."""

    def __init__(self, forest: Forest, members: Sequence[RouteMember], kinds: Sequence[Sequence[int]]) -> None:
        self.forest = forest
        self.members = members
        self.kinds = kinds
        self.roots = [number for number, node in enumerate(forest.nodes) if node.parent is None]
        self.ends = [self._end(number) for number in range(len(members))]
        self.connections = self._connections()
        self.sums = NodeLanes(forest, [(end.chain, end.sums) for end in self.ends], 1)
        self.minima = NodeLanes(forest, [(end.chain, end.minima) for end in self.ends], 0)
        self.trees = self._trees()
        self.targets = self._targets()

    def _end(self, number: int) -> Target:
        """Return the target of a member: its whole route, with all of its lanes."""
        route, member = self.forest.routes[number], self.members[number]
        places = {one.variable: p for p, one in enumerate(member.counter.automata[0].positions)}

        def lanes(columns: Iterable[tuple[str, int]]) -> tuple[Lane, ...]:
            found = ((places[variable], number) for variable, number in columns)
            return tuple((sum(cut <= p for cut in route.cuts) - 1, route.nodes[p], number) for p, number in found)

        return Target(route.pieces, lanes(member.columns.sums), lanes(member.columns.minima))

    def _connections(self) -> dict[tuple[Chain, int], Target]:
        """Return the connections by the pieces before and the root of the next piece, in order of the roots.

        Members that agree in both have one connection.
        """
        found: dict[tuple[Chain, int], Target] = {}
        for end in self.ends:
            for k in range(1, len(end.chain)):
                key, own = (end.chain[:k], end.chain[k][0]), end.up_to(k)
                found[key] = found[key].with_lanes(own) if key in found else own
        return dict(sorted(found.items(), key=lambda one: one[0][1]))

    def _trees(self) -> Trees:
        nodes, sums, minima = self.forest.nodes, self.sums, self.minima
        takes, empties = self._by_kind(self._taken), self._by_kind(self._emptied)
        acts = [np.flatnonzero(some)[::-1].tolist() for some in takes | empties]
        flow, own = ([list(each(n)) for n in range(len(nodes))] for each in (sums.flow, sums.own))
        fall, keys = ([list(each(n)) for n in range(len(nodes))] for each in (minima.flow, minima.own))
        ends = [*self.roots, len(nodes)]
        return Trees(
            tree=column(self.roots.index(node.root) for node in nodes),
            parent=column(-1 if node.parent is None else node.parent for node in nodes),
            column_at=column(sums.at),
            low_at=column(minima.at),
            tree_column_at=column(sums.at[end] for end in ends),
            tree_low_at=column(minima.at[end] for end in ends),
            **flat_pairs("flow", flow, "from", "to"),
            **flat_pairs("own", own, "to", "value"),
            **flat_pairs("fall", fall, "from", "to"),
            key_at=pointers(keys),
            key_to=column(to for some in keys for to, _ in some),
            key=column(number for some in keys for _, number in some),
            **flat(act=acts),
            takes=takes,
            empties=empties,
        )

    def _by_kind(self, nodes: Callable[[int, int], Iterator[int]]) -> npt.NDArray[np.bool_]:
        """Return, by kind of events and node, whether any member has it; `nodes` yields those of a member and class."""
        found = np.zeros((len(self.kinds), len(self.forest.nodes)), np.bool_)
        for kind, classes in enumerate(self.kinds):
            for member, one in enumerate(classes):
                if one:
                    found[kind, list(nodes(member, one))] = True
        return found

    def _taken(self, member: int, number: int) -> Iterator[int]:
        taken = self.members[member].counter.machine.classes[number - 1].positions[0]
        return (self.forest.routes[member].nodes[p] for p in taken)

    def _emptied(self, member: int, number: int) -> Iterator[int]:
        """Yield the nodes of a member before a gap with a guard that events of a class match."""
        counter = self.members[member].counter
        guards = {guard for _, guard, _ in counter.machine.classes[number - 1].guarded}
        for p, following in counter.automata[0].follow.items():
            if any(not guards.isdisjoint(way) for crossings in following.values() for way in crossings):
                yield self.forest.routes[member].nodes[p]

    def _targets(self) -> Targets:
        numbers = {key: number for number, key in enumerate(self.connections)}
        targets = [*self.connections.values(), *self.ends]
        before = [numbers.get((one.chain[:-1], one.chain[-1][0]), -1) for one in targets]
        made = [list(self.connections.values())[number] if number >= 0 else None for number in before]
        sums = [list(self.sums.told(t, t.sums, b.sums if b else ())) for t, b in zip(targets, made, strict=True)]
        lows = [list(self.minima.told(t, t.minima, b.minima if b else ())) for t, b in zip(targets, made, strict=True)]
        trees = [self.roots.index(root) for _, root in self.connections]
        return Targets(
            connections=len(self.connections),
            connects=self.trees.takes[:, [root for _, root in self.connections]].any(axis=1),
            at=pointers([[tree for tree in trees if tree == own] for own in range(len(self.roots))]),
            tree=column(trees),
            bare=np.array([self._bare(one) for one in self.connections.values()], np.bool_),
            before=column(before),
            start=column(self.roots.index(one.chain[0][0]) for one in targets),
            leaf=column(one.leaf for one in targets),
            **flat_pairs("lane", sums, "from", "column"),
            **flat_pairs("low", lows, "from", "column"),
            within=long_column(one.within for one in self.members),
            longest=max(one.within for one in self.members),
        )

    def _bare(self, target: Target) -> bool:
        """Return whether only a start event is before a connection, and only the number of start events is needed.

        That is not so where another connection is made behind the same piece and a second one: it takes snapshots.
        """
        alone = len(target.chain) == 1 and len(target.chain[0]) == 1
        guarded = bool(self.forest.nodes[target.leaf].step.guards)
        again = any(len(other.chain) > 1 and other.chain[0] == target.chain[0] for other in self.connections.values())
        return alone and not (guarded or again or target.sums or target.minima)

    def rows(self, events: Events, runs: Ints, words: int, exact: bool) -> StartRows:
        """Return room for the start events of the partition that has most of them."""
        starts = self.trees.takes[:, self.roots]
        size = int(most_starts(events.kind, runs, starts, np.zeros(len(starts), np.int64)))
        one = np.zeros(words, number_type(exact, words))
        one[0] = 1
        return StartRows(
            size=size,
            words=words,
            one=one,
            numbers=np.zeros(self.sums.at[-1] * size * words, one.dtype),
            least=np.full(self.minima.at[-1] * size, NONE),
            time=np.zeros(len(self.roots) * size, np.int64),
            starts=np.zeros(len(self.roots) * size, np.int64),
            first=np.zeros(len(self.roots), np.int64),
            last=np.zeros(len(self.roots), np.int64),
            started=np.zeros(len(self.roots), np.int64),
            head=np.zeros(len(self.members), np.int64),
        )

    def snapshots(self, capacity: int, rows: StartRows) -> Snapshots:
        """Return the memory for snapshots, in rings with `capacity` places each."""
        made = self.connections.values()
        rings = np.cumsum([0, *(0 if self._bare(one) else 1 + len(one.sums) for one in made)])
        low_rings = np.cumsum([0, *(len(one.minima) for one in made)])
        begin, end, shift = np.zeros((3, len(made) * rows.size), np.int64)
        return Snapshots(
            capacity,
            numbers=np.zeros(int(rings[-1]) * capacity * rows.words, rows.numbers.dtype),
            least=np.full(int(low_rings[-1]) * capacity, NONE),
            ring_at=rings[:-1],
            low_ring_at=low_rings[:-1],
            begin=begin,
            end=end,
            shift=shift,
            starts=np.zeros(len(begin), np.int32),
        )
