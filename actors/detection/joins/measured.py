"""What is seen of a stream that a plan depends on: rates of event types and selectivities of conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.conditions import pair_of
from elsinore.actors.detection.joins.sources import Joined
from elsinore.actors.detection.joins.stores import Member
from elsinore.actors.detection.orders import TESTED, holds
from elsinore.planner.detection.normal_form import Condition as Stated
from elsinore.planner.detection.normal_form import NormalForm
from elsinore.planner.detection.pattern import Condition, Pattern
from elsinore.planner.detection.statistics import Statistics, key_of, own_key

PAIRS = 2048
"""Pairs of events of which a selectivity is taken."""


def measured(members: Mapping[str, Member], patterns: Sequence[Pattern], joined: Mapping[bool, Joined]) -> Statistics:
    """Return the statistics of patterns in the events of a window."""
    seconds, total = duration(members, patterns, joined)
    rates: dict[str, float] = {}
    selectivities: dict[str, float] = {}
    for pattern in patterns:
        member = members[pattern.name]
        events = joined[member.counts_events]
        for event in pattern.events:
            amount = events.leaves.amount(event.type)
            rates[event.type] = amount / seconds
            if event.own and own_key(event) not in selectivities:
                kept = events.source(member.form, event.name).count
                selectivities[own_key(event)] = (kept + 1) / (amount + 2)
        for condition in pattern.conditions:
            key = key_of(pattern, condition)
            if key not in selectivities:
                selectivities[key] = _share(member, condition, events)
    return Statistics(rates, selectivities, total)


def duration(
    members: Mapping[str, Member], patterns: Sequence[Pattern], joined: Mapping[bool, Joined]
) -> tuple[float, float]:
    """Return how many seconds a window's events are apart, and how many events of any type there are in a second.

    Partitions count as if they were one behind another. Where all windows count events, seconds are places.
    """
    window = next(iter(joined.values())).leaves.window
    places = max(int(window.places[-1] - window.places[0]), 1) if len(window) else 1
    partitions = max(1, len(np.unique(window.slots)))
    for pattern in patterns:
        if pattern.window.clock == "time":
            ticks, span = int(window.times[-1] - window.times[0]) if len(window) else 1, members[pattern.name].span
            seconds = max(ticks / span, 1.0) * pattern.window.length
            return seconds * partitions, max(places, len(window)) / seconds
    return float(places * partitions), 1.0


def _share(member: Member, condition: Condition, events: Joined) -> float:
    """Return how many choices of events satisfy all conditions of a clause on the same variables."""
    names, form = frozenset(condition.events), member.form
    guards = (clause for guard in form.guards for clause in guard.clauses)
    stated = dict.fromkeys(one for clause in (*form.clauses, *guards) for one in clause.conditions)
    about = [one for one in stated if one.variables == names and not one.whole and not one.successive]
    drawn = {name: _drawn(events.source(form, name).count, place) for place, name in enumerate(sorted(names))}
    satisfying = np.ones(PAIRS, np.bool_)
    share = 1.0
    for one in about:
        found = _satisfying(form, one, events, drawn)
        if found is None:
            share *= TESTED
        else:
            satisfying &= found
    return share * (int(np.count_nonzero(satisfying)) + 0.5) / (PAIRS + 1)


def _drawn(count: int, seed: int) -> npt.NDArray[np.int64] | None:
    return np.random.default_rng(seed).integers(0, count, PAIRS) if count else None


def _satisfying(
    form: NormalForm, one: Stated, events: Joined, drawn: Mapping[str, npt.NDArray[np.int64] | None]
) -> npt.NDArray[np.bool_] | None:
    """Return which of the choices satisfy a comparison; None where it is none, or there is no event."""
    pair = pair_of(one.expression)
    if pair is None:
        return None
    left, right = drawn[pair.left.variable], drawn[pair.right.variable]
    if left is None or right is None:
        return None
    keys = [events.keys(form, pair, of_left)[1] for of_left in (True, False)]
    return holds(pair.operator, keys[0][left], keys[1][right])
