"""The tables that an event-grained graph needs in addition to those of its machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from elsinore.actors.lowering.arrays import column, flat, pointers
from elsinore.actors.neighbours.entries_numba_fns import BACKWARD, EVENT, FORWARD, INDEX, POINT, TYPE, EventTables
from elsinore.planner.machines.machine import Machine
from elsinore.planner.machines.predicates import Predicates
from elsinore.planner.plans.model import Counter

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")

KINDS = {
    "=": (POINT,),
    "!=": (FORWARD, BACKWARD),
    "<": (FORWARD,),
    "<=": (FORWARD,),
    ">": (BACKWARD,),
    ">=": (BACKWARD,),
}
"""The trees that each comparison searches, in this order."""


def event_tables(counter: Counter, predicates: Predicates, every_event: bool = False) -> EventTables:
    """Return the event tables of a counter.

    With `every_event`, the trends of all states are kept by their last events (GRETA's graph).
    """
    machine = counter.machine
    modes = [EVENT if state.started else TYPE for state in machine.states] if every_event else _modes(machine)
    appends = [append for one in machine.appends for append in one]
    indexes: list[tuple[int, int, int]] = []
    first: dict[tuple[int, int], int] = {}
    for append in appends:
        if modes[append.source] == INDEX and append.links:
            key = (append.source, append.links[0])
            if key not in first:
                first[key] = len(indexes)
                indexes += [(*key, kind) for kind in KINDS[predicates.links[key[1]].operator]]
    consumes = [consume for one in machine.consumes for consume in one]
    return EventTables(
        mode=column(modes),
        link_operator=column(OPERATORS.index(link.operator) for link in predicates.links),
        append_links_at=pointers([append.links for append in appends]),
        append_link=column(link for append in appends for link in append.links),
        append_index=column(
            first.get((append.source, append.links[0]), -1) if append.links else -1 for append in appends
        ),
        consume_links_at=pointers([consume.links for consume in consumes]),
        consume_link=column(link for consume in consumes for link in consume.links),
        index_state=column(state for state, _, _ in indexes),
        index_link=column(link for _, link, _ in indexes),
        index_kind=column(kind for _, _, kind in indexes),
        **_guards(counter, predicates),
        close_at=pointers([moves for _, moves in machine.closes]),
        close_from=column(source for _, moves in machine.closes for source, _ in moves),
        close_to=column(target for _, moves in machine.closes for _, target in moves),
    )


def _modes(machine: Machine) -> list[int]:
    """Return, by state, the coarsest mode in which its trends can be kept."""
    appends = [append for one in machine.appends for append in one]
    linked = {append.source for append in appends if append.links}
    closed = {source for _, moves in machine.closes for source, _ in moves if machine.states[source].started}
    all_moves = [*machine.advances, *(moves for _, moves in machine.closes)]
    moved = {state for moves in all_moves for pair in moves for state in pair}
    several = {append.source for append in appends if len(append.links) > 1}
    modes = []
    for state in range(len(machine.states)):
        if state not in linked | closed:
            modes.append(TYPE)
        elif machine.semantics == "any" and state not in moved | several:
            modes.append(INDEX)
        else:
            modes.append(EVENT)
    return modes


def _guards(counter: Counter, predicates: Predicates) -> dict[str, np.ndarray]:
    """Return the guard columns: positions of all guards with predicates on neighbours, numbered consecutively."""
    guards = [guard for guard, _ in counter.machine.closes]
    positions = [(i, g, p) for i, g in guards for p in range(len(counter.automata[i].guards[g].positions))]
    number = {position: k for k, position in enumerate(positions)}
    first, last, before, links = [], [], [], []
    for i, g, p in positions:
        guard = counter.automata[i].guards[g]
        first.append(int(p in guard.first))
        last.append(guards.index((i, g)) if p in guard.last else -1)
        earlier = [q for q in guard.follow if p in guard.follow[q]]
        before.append([number[i, g, q] for q in earlier])
        variable = guard.positions[p].variable
        links += [predicates.between(guard.positions[q].variable, variable) for q in earlier]
    classes = counter.machine.classes
    taken = [[], *([number[entry] for entry in sorted(one.guarded) if entry in number] for one in classes)]
    return {
        "guard_first": column(first),
        "guard_last": column(last),
        **flat(guard_follow=before, guard_taken=taken),
        "guard_follow_links_at": pointers(links),
        "guard_follow_link": column(link for one in links for link in one),
    }


def entries_per_event(counter: Counter, tables: EventTables) -> int:
    """Return an upper bound of the entries of one event: it has one per state that is not kept by type."""
    found = 1
    for appends in counter.machine.appends:
        found = max(found, len({append.target for append in appends if tables.mode[append.target] != TYPE}))
    return found


def guard_entries_per_event(tables: EventTables) -> int:
    sizes: Sequence[int] = np.diff(tables.guard_taken_at).tolist()
    return max(sizes, default=0)
