"""The plan of a workload: for each query its machine, granularities, partition keys and windows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Literal

from planner.ambiguity import named
from planner.automaton import Automaton, automaton, operands
from planner.event_classes import event_classes
from planner.lanes import Lane, lanes
from planner.machine import Machine
from planner.predicates import Predicates, attributes, classify
from planner.subsets import machine
from planner.syntax import Query, Workload

STRATEGIES = ("auto", "cogra")
"""`cogra`: each query apart, at the coarsest granularity that is right. `auto` picks the best there is."""

Granularity = Literal["pattern", "type", "event"]
WindowMethod = Literal["one row", "row per window", "pane maps", "two stacks", "window by window"]


@dataclass(frozen=True)
class Counter:
    """Trends that match all of some operands of a pattern's AND (of its only one, but for AND)."""

    operands: tuple[int, ...]
    automata: tuple[Automaton, ...]
    machine: Machine
    lanes: tuple[Lane, ...]

    @property
    def event_grained(self) -> bool:
        """Some predicate on neighbours has to look at single events."""
        linked = any(append.links for appends in self.machine.appends for append in appends)
        return linked or bool(self.machine.closes)


@dataclass(frozen=True)
class QueryPlan:
    query: Query
    predicates: Predicates
    counters: tuple[Counter, ...]
    granularities: tuple[tuple[str, Granularity], ...]
    """By variable, as the pattern has them."""

    @property
    def partition(self) -> tuple[str, ...]:
        return self.query.partition

    @property
    def per_event(self) -> bool:
        """Do windows move with every event?"""
        return self.query.slide is None

    @property
    def overlap(self) -> int:
        """How many windows an event can be in."""
        assert self.query.slide is not None
        return -int(-self.query.within.seconds // self.query.slide.seconds)

    @property
    def columns(self) -> tuple[str, ...]:
        """The attributes that the query reads."""
        read = {attribute.name for predicate in self.query.predicates for attribute in attributes(predicate)}
        read |= {item.attribute for item in self.query.aggregates if item.attribute}
        return tuple(sorted(read | set(self.partition)))

    @property
    def types(self) -> frozenset[str]:
        return frozenset(event_class.type for counter in self.counters for event_class in counter.machine.classes)

    def window_method(self, counter: Counter) -> WindowMethod:
        """A row of counters per open window, or maps of panes where that is fewer."""
        if counter.event_grained:
            return "window by window"
        if self.per_event:
            return "two stacks"
        if self.overlap == 1:
            return "one row"
        return "row per window" if self.overlap <= max(2, len(counter.machine.starts)) else "pane maps"


@dataclass(frozen=True)
class Plan:
    strategy: str
    queries: tuple[QueryPlan, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(sorted({column for query in self.queries for column in query.columns}))

    @property
    def types(self) -> frozenset[str]:
        return frozenset[str]().union(*(query.types for query in self.queries))

    @property
    def spans(self) -> tuple[Fraction, ...]:
        """All lengths of windows and slides, in seconds."""
        found = {query.query.within.seconds for query in self.queries}
        found |= {query.query.slide.seconds for query in self.queries if query.query.slide}
        return tuple(sorted(found))


def plan(workload: Workload, strategy: str = "auto") -> Plan:
    """The plan of a checked workload."""
    if strategy not in STRATEGIES:
        raise ValueError(f"there is no strategy {strategy!r}; choose one of {', '.join(STRATEGIES)}")
    return Plan(strategy, tuple(plan_query(query) for query in workload.queries))


def plan_query(query: Query) -> QueryPlan:
    predicates = classify(query)
    wholes = tuple(automaton(part) for part in operands(query.pattern))
    return QueryPlan(query, predicates, _counters(query, predicates, wholes), _granularities(query, predicates, wholes))


def _counters(query: Query, predicates: Predicates, wholes: tuple[Automaton, ...]) -> tuple[Counter, ...]:
    """One per operand of AND, and one per set of operands that some trend could match at once."""
    names = named(query)
    needed = lanes(query.aggregates)
    counters = []
    for size in range(1, len(wholes) + 1):
        for chosen in combinations(range(len(wholes)), size):
            automata = tuple(wholes[i] for i in chosen)
            built = machine(automata, predicates, names, query.semantics, event_classes(automata, predicates))
            if not built.accepting:
                continue
            variables = {position.variable for position in automata[0].positions}
            own = tuple(lane for lane in needed if size == 1 and lane.variable in variables)
            counters.append(Counter(chosen, automata, built, own))
    return tuple(counters)


def _granularities(
    query: Query, predicates: Predicates, wholes: tuple[Automaton, ...]
) -> tuple[tuple[str, Granularity], ...]:
    """Table 5 of COGRA, variable by variable: only events that a later one is compared with are kept."""
    compared = {link.before for link in predicates.links}
    found: dict[str, Granularity] = {}
    for position in (position for whole in wholes for position in whole.positions):
        coarsest: Granularity = "type" if query.semantics == "any" else "pattern"
        found[position.variable] = "event" if position.variable in compared else coarsest
    return tuple(found.items())
