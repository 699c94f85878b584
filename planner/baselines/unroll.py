"""Kleene flattened into sequences of fixed length, for strategies without Kleene (HAMLET, Section 5.1).

E+ becomes E, EE, EEE, ... up to a length. The sequences have their prefixes in common: position k of E is the prefix of
k events, and there is one counter for each.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate

from elsinore.planner.machines.automaton import Automaton

LENGTH = 8
"""The longest match of E+ that is planned for before a stream is read, in events."""

LONGEST_SEQUENCE = 128
"""Most events in a sequence: a machine has a state for each prefix, and an event examines all of them."""


def unrolled(whole: Automaton, length: int) -> Automaton:
    """Return the automaton with every position that may follow itself as `length` positions in a row."""
    copies = [length if p in whole.follow[p] else 1 for p in range(len(whole.positions))]
    starts = list(accumulate(copies, initial=0))
    places = [range(start, start + count) for start, count in zip(starts, copies, strict=False)]
    follow = {}
    for p, edges in whole.follow.items():
        others = {places[r].start: crossings for r, crossings in edges.items() if r != p}
        for k in places[p]:
            follow[k] = others | ({k + 1: edges[p]} if k + 1 in places[p] else {})
    return replace(
        whole,
        positions=tuple(whole.positions[p] for p, place in enumerate(places) for _ in place),
        first={places[p].start: crossings for p, crossings in whole.first.items()},
        last={k: crossings for p, crossings in whole.last.items() for k in places[p]},
        follow=follow,
    )


def repeated(wholes: Iterable[Automaton]) -> frozenset[str]:
    """Return the variables whose events may follow one another without limit."""
    return frozenset(whole.positions[p].variable for whole in wholes for p, edges in whole.follow.items() if p in edges)
