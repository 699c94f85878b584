"""The sequences of many queries as one tree, with one counter for each prefix that they have in common.

Flattened Kleene has no cycles (`unroll`), so a counter is determined by its predecessors. Two counters that the same
events lengthen, from the same counter of the tree, always hold the same values, whatever follows them. Sequences branch
where they differ. Where a pattern has several ways to one counter, as behind an OR, the tree has one counter too.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from elsinore.planner.hamlet.share_sets import Condition, condition
from elsinore.planner.machines.machine import Append, Machine
from elsinore.planner.plans.model import Counter, QueryPlan

Way = frozenset[tuple[Condition, bool]]
"""Sets of predicates on one event, and whether each holds."""


@dataclass(frozen=True)
class TakenEvent:
    """The events that lengthen trends from one counter to another: their type, and the ways, one of which holds."""

    type: str
    ways: frozenset[Way]

    def __str__(self) -> str:
        if self.ways == {frozenset()}:
            return self.type
        return f"{self.type} ({' OR '.join(sorted(map(_shown, self.ways)))})"


Prefix = frozenset[tuple[int, TakenEvent]]
"""The predecessors of a counter, by number, each with the events that lead from it to the counter."""


@dataclass(frozen=True)
class Branch:
    """The places of one member's counters in the tree."""

    places: tuple[int, ...]
    """The counter of the tree, by state of the member's machine."""
    names: Mapping[str, str]
    """The variable of the tree, by variable that the member aggregates."""


@dataclass(frozen=True)
class PrefixTree:
    prefixes: tuple[Prefix, ...]
    """By counter, each behind its predecessors. Number 0 is the empty trend."""
    branches: tuple[Branch, ...]
    """By member."""

    @property
    def owners(self) -> tuple[tuple[int, ...], ...]:
        """Return, by counter, the members that have it."""
        found: list[list[int]] = [[] for _ in self.prefixes]
        for member, branch in enumerate(self.branches):
            for place in branch.places:
                found[place].append(member)
        return tuple(map(tuple, found))

    def machine(self, machines: Sequence[Machine], kinds: Sequence[Sequence[int]]) -> Machine:
        """Return one machine for all members; its classes are kinds of events, each with the class for every member."""
        states = {p: one.states[s] for branch, one in self._each(machines) for s, p in enumerate(branch.places)}
        nothing = ((),) * len(kinds)
        return Machine(
            semantics="any",
            classes=(),
            states=tuple(states[place] for place in range(len(self.prefixes))),
            accepting=(),
            appends=tuple(self._appends(machines, classes) for classes in kinds),
            consumes=nothing,
            symbols=(0,) * len(kinds),
            unions=((0,),),
            advances=((),),
            closes=(),
            ends=(),
        )

    def _each(self, machines: Sequence[Machine]) -> Iterator[tuple[Branch, Machine]]:
        return zip(self.branches, machines, strict=True)

    def _appends(self, machines: Sequence[Machine], classes: Sequence[int]) -> tuple[Append, ...]:
        """Return each append once, however many members have it, with all variables that bind the event for any."""
        bound: dict[tuple[int, int], set[str]] = {}
        for (branch, one), event_class in zip(self._each(machines), classes, strict=True):
            for append in one.appends[event_class]:
                names = bound.setdefault((branch.places[append.source], branch.places[append.target]), set())
                names |= {branch.names[variable] for variable in append.bound}
        return tuple(Append(*step, tuple(sorted(names)), ()) for step, names in bound.items())


def prefix_tree(members: Sequence[tuple[QueryPlan, Counter]]) -> PrefixTree:
    """Return the tree of flattened counters without negation."""
    builder = _Builder()
    branches = [builder.branch(plan, counter.machine) for plan, counter in members]
    return PrefixTree(tuple(prefix for prefix, _ in builder.numbers), tuple(branches))


@dataclass(frozen=True)
class _Step:
    """A step from one counter to another, of a machine or of the tree, with the variables that bind the event."""

    source: int
    target: int
    taken: TakenEvent
    bound: tuple[str, ...] = ()


@dataclass
class _Name:
    """A variable of the tree: steps that bind it, and steps that do not, to members that aggregate it."""

    binds: set[_Step] = field(default_factory=set)
    leaves: set[_Step] = field(default_factory=set)

    def fits(self, binds: set[_Step], leaves: set[_Step]) -> bool:
        return not (self.binds & leaves or self.leaves & binds)


class _Builder:
    def __init__(self) -> None:
        self.numbers: dict[tuple[Prefix, int], int] = {(frozenset(), 0): 0}
        """By prefix, and by its occurrence in one machine: counters that a machine keeps apart stay apart."""
        self.names: list[_Name] = []

    def branch(self, plan: QueryPlan, machine: Machine) -> Branch:
        steps = list(_steps(plan, machine))
        places = self._places(steps)
        of_tree = [(_Step(places[one.source], places[one.target], one.taken), one.bound) for one in steps]
        variables = sorted({variable for one in steps for variable in one.bound})
        names = {variable: self._name(variable, of_tree) for variable in variables}
        return Branch(tuple(places[state] for state in range(len(machine.states))), names)

    def _places(self, steps: list[_Step]) -> dict[int, int]:
        before: dict[int, list[_Step]] = {}
        for step in steps:
            before.setdefault(step.target, []).append(step)
        graph = {target: [step.source for step in some] for target, some in before.items()}
        places, seen = {0: 0}, Tally[Prefix]()
        for state in TopologicalSorter(graph).static_order():
            if state in before:
                prefix = frozenset((places[step.source], step.taken) for step in before[state])
                places[state] = self.numbers.setdefault((prefix, seen[prefix]), len(self.numbers))
                seen[prefix] += 1
        return places

    def _name(self, variable: str, steps: list[tuple[_Step, tuple[str, ...]]]) -> str:
        """Return the first variable of the tree that binds the same events on all common steps, or else a new one."""
        binds = {step for step, bound in steps if variable in bound}
        leaves = {step for step, bound in steps if variable not in bound}
        number = next((n for n, name in enumerate(self.names) if name.fits(binds, leaves)), len(self.names))
        if number == len(self.names):
            self.names.append(_Name())
        self.names[number].binds |= binds
        self.names[number].leaves |= leaves
        return str(number)


def _steps(plan: QueryPlan, machine: Machine) -> Iterator[_Step]:
    """Yield the steps between states of a machine, one for all classes of a type that bind the same variables."""
    found: dict[tuple[int, int, str, tuple[str, ...]], set[int]] = {}
    for c, event_class in enumerate(machine.classes, start=1):
        for append in machine.appends[c]:
            found.setdefault((append.source, append.target, event_class.type, append.bound), set()).add(c)
    known: dict[tuple[str, frozenset[int]], TakenEvent] = {}
    for (source, target, name, bound), classes in found.items():
        key = name, frozenset(classes)
        if key not in known:
            known[key] = TakenEvent(name, _ways(plan, machine, *key))
        yield _Step(source, target, known[key], bound)


def _ways(plan: QueryPlan, machine: Machine, name: str, taken: frozenset[int]) -> frozenset[Way]:
    """Return the ways in which an event is of one of these classes, in a form that is the same for all queries."""
    number = {one.satisfied: c for c, one in enumerate(machine.classes, start=1) if one.type == name}
    tested = frozenset[str]().union(*number)
    deciding = [
        variable
        for variable in sorted(tested)
        if any((c in taken) != (number[satisfied ^ {variable}] in taken) for satisfied, c in number.items())
    ]
    told = {variable: condition(plan, variable) for variable in deciding}
    return frozenset(
        frozenset((told[variable], variable in satisfied) for variable in deciding)
        for satisfied, c in number.items()
        if c in taken
    )


def _shown(way: Way) -> str:
    return " AND ".join(sorted(_signed(" AND ".join(sorted(one)), holds) for one, holds in way))


def _signed(text: str, holds: bool) -> str:
    return text if holds else f"NOT ({text})"
