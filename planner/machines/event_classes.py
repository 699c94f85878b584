"""Classes of events: events of one type that satisfy the same of a query's local predicates."""

from __future__ import annotations

from itertools import combinations

from elsinore.planner.language.syntax import Expression
from elsinore.planner.machines.automaton import Automaton
from elsinore.planner.machines.machine import EventClass, TooComplexError
from elsinore.planner.machines.predicates import Predicates

MAX_PREDICATES = 10
"""The largest number of variables of one type with local predicates: every subset of them is a class."""


def event_classes(automata: tuple[Automaton, ...], predicates: Predicates) -> tuple[EventClass, ...]:
    """Return all classes of events that take a position, by type and then by the predicates that hold."""
    types = dict.fromkeys(
        position.type for whole in automata for part in (whole, *whole.guards) for position in part.positions
    )
    classes = []
    for name in types:
        tested = sorted(
            {
                position.variable
                for whole in automata
                for part in (whole, *whole.guards)
                for position in part.positions
                if position.type == name and position.variable in predicates.local
            }
        )
        if len(tested) > MAX_PREDICATES:
            raise TooComplexError(
                f"{len(tested)} variables of type {name} have predicates of their own",
                f"use at most {MAX_PREDICATES}, or split the query",
            )
        choices = (chosen for count in range(len(tested) + 1) for chosen in combinations(tested, count))
        classes += [_event_class(name, frozenset(chosen), automata, predicates.local) for chosen in choices]
    return tuple(classes)


def _event_class(
    name: str, satisfied: frozenset[str], automata: tuple[Automaton, ...], local: dict[str, tuple[Expression, ...]]
) -> EventClass:
    def taken(part: Automaton) -> frozenset[int]:
        return frozenset(
            p
            for p, position in enumerate(part.positions)
            if position.type == name and (position.variable not in local or position.variable in satisfied)
        )

    guarded = frozenset(
        (i, g, p) for i, whole in enumerate(automata) for g, guard in enumerate(whole.guards) for p in taken(guard)
    )
    return EventClass(name, satisfied, tuple(taken(whole) for whole in automata), guarded)
