"""Stored matches of a plan's nodes: what many patterns have in common is found once, and kept between batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.joins.join_search import JoinSearch
from elsinore.actors.detection.joins.program import JoinProgram, join_program, terms_of_join
from elsinore.actors.detection.joins.sources import Joined, MatchSource, Source
from elsinore.actors.detection.term_search import table_of
from elsinore.planner.detection.normal_form import Clause, NormalForm
from elsinore.planner.detection.plan import DetectionPlan, Node

MANY_MATCHES = 0.5
"""Matches for each event of a pattern's types from which on putting them in the order of rows takes longer than finding
them in it."""

Ints = npt.NDArray[np.int64]
RowNumbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Member:
    """A clause that a plan evaluates: its pattern in the plan."""

    form: NormalForm
    clause: Clause
    span: int
    """The length of its query's windows."""

    @property
    def counts_events(self) -> bool:
        return self.form.query.counts_events

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """Return its variables in the order of the query's columns."""
        return tuple(name for name in self.form.columns if name in self.clause.variables)


@dataclass(frozen=True)
class Part:
    """What a level of a join binds: events of one variable, or the matches of a stored node."""

    node: int
    variables: tuple[str, ...]
    """By slot, in the names of the join's clause."""


@dataclass(frozen=True)
class Joining:
    """How matches of some variables of a clause are joined from parts."""

    member: Member
    """The clause that lends its names, order and conditions; those of others are equal up to their names."""
    parts: tuple[Part, ...]
    span: int
    shown: tuple[str, ...]
    """The variables whose events are written, in this order."""

    @cached_property
    def clause(self) -> Clause:
        """Return the clause of the variables of the parts alone."""
        return projected(self.member.clause, {name for part in self.parts for name in part.variables})

    @cached_property
    def elements(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.clause.variables)}

    @cached_property
    def programs(self) -> list[tuple[JoinProgram, tuple[Part, ...]]]:
        """Return the programs of the join, and what their levels bind."""
        by_elements = {tuple(self.elements[name] for name in part.variables): part for part in self.parts}
        shown = [self.elements[name] for name in self.shown]
        terms = terms_of_join(self.clause, tuple(by_elements))
        made = [join_program(self.member.form, self.clause, term, self.span, shown) for term in terms]
        return [(one, tuple(by_elements[level] for level in term)) for one, term in zip(made, terms, strict=True)]


def projected(clause: Clause, names: Set[str]) -> Clause:
    """Return a clause of some of its single events, with what holds between them."""
    kept = [number for number, one in enumerate(clause.elements) if one.single and one.variables[0] in names]
    place = {number: at for at, number in enumerate(kept)}
    order = frozenset((place[a], place[b]) for a, b in clause.order if a in place and b in place)
    conditions = tuple(one for one in clause.conditions if one.variables <= names)
    return replace(
        clause, elements=tuple(clause.elements[n] for n in kept), order=order, gaps=(), conditions=conditions
    )


class StoresFullError(Exception):
    """Stored matches need more memory than they are given."""


class Store:
    """The matches of a node in the last window."""

    def __init__(self, joining: Joining) -> None:
        self.joining = joining
        self.rows: RowNumbers = np.zeros((0, len(joining.shown)), np.int32)
        """By match and slot, rows of the window, in the order of the last events."""
        self.filled = False
        """Whether it has the matches of all events that are in the window."""
        self.seen = 0
        """The number of matches so far."""
        slots = {joining.elements[name]: slot for slot, name in enumerate(joining.shown)}
        self.firsts = [slots[element] for element in joining.clause.firsts]
        self.lasts = [slots[element] for element in joining.clause.lasts]

    def extend(self, sources: Stored, lo: int, hi: int, most: int) -> None:
        """Add the matches whose last events are rows from `lo` to `hi`, with at most so many events."""
        lo = lo if self.filled else 0
        tables: list[RowNumbers] = []
        for search in join_searches(self.joining, sources, lo, hi):
            table = table_of(search, most - self.rows.size - sum(one.size for one in tables))
            if table is None:
                raise StoresFullError
            tables.append(table)
        self.seen += sum(map(len, tables))
        self.rows = np.concatenate([self.rows, *tables]) if tables else self.rows
        self.filled = True

    def source(self, joined: Joined) -> MatchSource:
        return MatchSource(joined, self.rows, self.firsts, self.lasts)

    def drop(self, count: int) -> None:
        """Forget the first rows of the window, and the matches that begin there."""
        if len(self.rows) and count:
            kept = self.rows[:, self.firsts].min(axis=1) >= count
            self.rows = (self.rows if kept.all() else self.rows[kept]) - np.int32(count)

    def clear(self) -> None:
        """Forget all matches; they are found again with the next events."""
        self.rows = self.rows[:0]
        self.filled = False


class Stored:
    """The sources of a batch: leaves, and the stores that were extended so far."""

    def __init__(self, joined: Mapping[bool, Joined]) -> None:
        self.joined = joined
        self._found: dict[int, MatchSource] = {}

    def add(self, node: int, store: Store) -> None:
        self._found[node] = store.source(self.joined[store.joining.member.counts_events])

    def of(self, part: Part, member: Member) -> Source:
        if part.node in self._found:
            return self._found[part.node]
        return self.joined[member.counts_events].source(member.form, part.variables[0])


def join_searches(joining: Joining, sources: Stored, lo: int, hi: int) -> list[JoinSearch]:
    """Return the joins of matches whose last events are rows from `lo` to `hi`."""
    member = joining.member
    arena = sources.joined[member.counts_events].arena
    return [
        JoinSearch(program, member.form, [sources.of(part, member) for part in parts], arena, lo, hi)
        for program, parts in joining.programs
    ]


class Multitree:
    """The stores of a plan, and how each of its patterns is joined from them."""

    def __init__(self, plan: DetectionPlan, members: Mapping[str, Member], lean: bool = False) -> None:
        """Lay out the stores; if `lean`, leave patterns to their queries where a store gains nothing."""
        self.plan = plan
        self.members = members
        self._users = self._uses()
        self.stores = {node.number: self._store(node) for node in plan.nodes if self._is_stored(node)}
        self.roots = {root.pattern: self._root(root.node, root.variables, root.pattern) for root in plan.roots}
        if lean:
            self.roots = {name: root for name, root in self.roots.items() if self._gains(name)}
            needed = self._needed()
            self.stores = {number: store for number, store in self.stores.items() if number in needed}

    def _uses(self) -> list[int]:
        """Return, by node, how many nodes and patterns use it."""
        uses = [0] * len(self.plan.nodes)
        for node in self.plan.nodes:
            for child in (node.left, node.right):
                if child is not None:
                    uses[child] += 1
        for root in self.plan.roots:
            uses[root.node] += 1
        return uses

    def _is_stored(self, node: Node) -> bool:
        """Return whether a node is stored: what only one pattern asks for, as its matches, is not."""
        is_root = any(root.node == node.number for root in self.plan.roots)
        return not node.leaf and node.stored and (self._users[node.number] > 1 or not is_root)

    def _store(self, node: Node) -> Store:
        user = node.users[0]
        span = max(self.members[one.pattern].span for one in node.users)
        return Store(Joining(self.members[user.pattern], self._inside(node, user.variables), span, user.variables))

    def _inside(self, node: Node, variables: tuple[str, ...]) -> tuple[Part, ...]:
        """Return the parts from which a node's matches are joined: what is below it and stored, or a leaf."""
        assert node.left is not None
        assert node.right is not None
        left, right = self.plan.nodes[node.left], self.plan.nodes[node.right]
        size = len(left.slots)
        return (*self._parts(left, variables[:size]), *self._parts(right, variables[size:]))

    def _parts(self, node: Node, variables: tuple[str, ...]) -> tuple[Part, ...]:
        if node.leaf or self._is_stored(node):
            return (Part(node.number, variables),)
        return self._inside(node, variables)

    def _root(self, number: int, variables: tuple[str, ...], pattern: str) -> Joining:
        node, member = self.plan.nodes[number], self.members[pattern]
        return Joining(member, self._parts(node, variables), member.span, member.shown)

    def _gains(self, pattern: str) -> bool:
        """Return whether it pays to join a pattern from what is stored, by what the plan expects.

        It does not where nothing is stored, or nothing that is shared and there are many matches: a query by itself
        finds them in the order of rows.
        """
        stored = [part.node for part in self.roots[pattern].parts if part.node in self.stores]
        shared = any(self.plan.nodes[node].shared for node in stored)
        root = self.plan.nodes[self.plan.root(pattern).node]
        return shared or (bool(stored) and root.matches < MANY_MATCHES * self._events(root))

    def _events(self, node: Node) -> float:
        """Return the events in a window that are expected of the types of a node."""
        if node.left is None or node.right is None:
            return node.matches
        return self._events(self.plan.nodes[node.left]) + self._events(self.plan.nodes[node.right])

    def _needed(self) -> set[int]:
        """Return the nodes that have to be stored for the patterns."""
        needed: set[int] = set()
        waiting = list(self.roots.values())
        while waiting:
            found = {part.node for part in waiting.pop().parts} & self.stores.keys() - needed
            needed |= found
            waiting += [self.stores[number].joining for number in found]
        return needed

    def extend(self, joined: Mapping[bool, Joined], lo: int, hi: int, most: int) -> Stored:
        """Find the matches of all stored nodes that end with rows from `lo` to `hi`, with at most so many events."""
        sources, left = Stored(joined), most
        for number, store in self.stores.items():
            store.extend(sources, lo, hi, left)
            sources.add(number, store)
            left -= store.rows.size
        return sources

    def drop(self, count: int) -> None:
        """Forget the first rows of the window."""
        for store in self.stores.values():
            store.drop(count)

    def clear(self) -> None:
        for store in self.stores.values():
            store.clear()

    @property
    def numbers(self) -> int:
        """Return the number of events in all matches that were stored so far."""
        return sum(store.seen * store.rows.shape[1] for store in self.stores.values())

    def keep_from(self, other: Multitree) -> None:
        """Take over the matches of nodes that another plan has, too."""
        known = {other.plan.nodes[number].identity: store for number, store in other.stores.items()}
        for number, store in self.stores.items():
            same = known.get(self.plan.nodes[number].identity)
            if same is not None and same.joining.span == store.joining.span:
                store.rows, store.filled, store.seen = same.rows, same.filled, same.seen

    def seen(self) -> Iterator[tuple[int, int]]:
        """Yield each stored node with the number of its matches so far."""
        for number, store in self.stores.items():
            yield number, store.seen
