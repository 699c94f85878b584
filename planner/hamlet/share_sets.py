"""Share sets: sharable Kleene sub-patterns and sharable queries (HAMLET, Section 3.1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from elsinore.planner.hamlet.linked_sets import linked_set, linked_sharers, why_links_apart
from elsinore.planner.hamlet.moving_sets import why_not_moving
from elsinore.planner.language.syntax import Expression
from elsinore.planner.machines.lanes import Lane
from elsinore.planner.machines.machine import EventClass, Machine
from elsinore.planner.machines.predicates import anonymous
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.plans.sharing import Kleene, LinkedSet, Member, MovingSet, Sharer, ShareSet

MAX_LANES = 60
"""Most sets of predicates on one type in a share set: while a burst is examined, each is one bit in a word."""

Condition = frozenset[str]
"""Predicates on one event, as texts in which the event has no variable."""


@dataclass(frozen=True)
class Candidate:
    """A counter with Kleene sub-patterns that could be shared, and its sharers by type."""

    member: Member
    plan: QueryPlan
    sharers: dict[str, tuple[Sharer, ...]]

    @property
    def counter(self) -> Counter:
        return self.plan.counters[self.member.counter]

    @property
    def split(self) -> tuple[object, ...]:
        """Return what queries must have in common to be shared.

        That is semantics, grouping, extremes, and whether windows move with every event. Where events are kept until a
        window is over, the windows have to be the same too.
        """
        query = self.plan.query
        windows = (query.within.seconds, query.slide and query.slide.seconds) if self.counter.event_grained else None
        extremes = frozenset(map(self._extreme, self.counter.lanes)) - {None}
        return query.semantics, query.partition, len(query.groups), extremes, self.plan.per_event, windows

    def _extreme(self, lane: Lane) -> tuple[str, str, str | None] | None:
        if lane.kind not in ("min", "max"):
            return None
        types = {p.variable: p.type for whole in self.counter.automata for p in whole.positions}
        return lane.kind, types[lane.variable], lane.attribute


def share_sets(queries: tuple[QueryPlan, ...]) -> tuple[tuple[ShareSet, ...], tuple[tuple[str, str], ...]]:
    """Return all share sets of two counters or more, and the name and reason of each query that is in none."""
    candidates = [
        Candidate(Member(q, c), plan, sharers)
        for q, plan in enumerate(queries)
        for c in range(len(plan.counters))
        if (sharers := sharable(plan, plan.counters[c]))
    ]
    sets = [made for some in _connected(candidates) for made in _share_set(some)]
    sets.sort(key=lambda one: (isinstance(one, MovingSet), isinstance(one, LinkedSet)))
    shared = {member.query for one in sets for member in one.members}
    possible = {candidate.member.query: candidate for candidate in candidates}
    reasons = [
        (plan.query.name, _alone(possible[q], candidates) if q in possible else why_apart(plan))
        for q, plan in enumerate(queries)
        if q not in shared
    ]
    return tuple(sets), tuple(reasons)


def _connected(candidates: list[Candidate]) -> Iterator[list[Candidate]]:
    """Group candidates that may be shared and have a Kleene sub-pattern in common, directly or through others."""
    left = list(candidates)
    while left:
        found = [left.pop(0)]
        for one in found:
            near = [other for other in left if _near(one, other)]
            found += near
            left = [other for other in left if other not in near]
        yield sorted(found, key=lambda one: (one.member.query, one.member.counter))


def _near(one: Candidate, other: Candidate) -> bool:
    return one.split == other.split and bool(one.sharers.keys() & other.sharers.keys())


def _share_set(candidates: list[Candidate]) -> Iterator[ShareSet]:
    """Yield a share set, or several where the queries have more predicates than one set can tell apart."""
    taken: list[Candidate] = []
    for candidate in candidates:
        if _fits([*taken, candidate]):
            taken.append(candidate)
    rest = [candidate for candidate in candidates if candidate not in taken]
    kleenes = tuple(_kleenes(taken))
    if len(taken) > 1 and kleenes:
        kind = MovingSet if taken[0].plan.per_event else ShareSet
        made = kind(tuple(candidate.member for candidate in taken), kleenes, taken[0].plan.query.semantics)
        plans = [(candidate.plan, candidate.counter) for candidate in taken]
        yield linked_set(made, plans) if taken[0].counter.event_grained else made
    if rest and len(rest) < len(candidates):
        yield from _share_set(rest)


def _fits(candidates: list[Candidate]) -> bool:
    conditions: dict[str, set[Condition]] = {}
    for one in candidates:
        for event_class in one.counter.machine.classes:
            known = conditions.setdefault(event_class.type, set())
            known |= {condition(one.plan, variable) for variable in event_class.satisfied}
    lanes = (len(kleene.lanes) for kleene in _kleenes(candidates))
    return max((*map(len, conditions.values()), *lanes), default=0) <= MAX_LANES


def _kleenes(candidates: list[Candidate]) -> Iterator[Kleene]:
    """Yield the Kleene sub-patterns that more than one member has (Definition 3.1).

    With links, those of a single member are included too: the graph has to see their events one by one. So are those
    under windows that move with every event: bursts save work even for one member.
    """
    alone = candidates[0].counter.event_grained or candidates[0].plan.per_event
    for name in dict.fromkeys(name for one in candidates for name in one.sharers):
        sharers = tuple(
            replace(sharer, member=number)
            for number, one in enumerate(candidates)
            for sharer in one.sharers.get(name, ())
        )
        if alone or len({sharer.member for sharer in sharers}) > 1:
            yield Kleene(name, sharers)


def sharable(plan: QueryPlan, counter: Counter) -> dict[str, tuple[Sharer, ...]]:
    """Return, by type, how shared graphlets could take in a counter's events; only types where all of them fit."""
    if plan.per_event and why_not_moving(plan):
        return {}
    if counter.event_grained and plan.query.semantics != "any":
        return {}
    found = {}
    for name in dict.fromkeys(event_class.type for event_class in counter.machine.classes):
        if sharers := _sharers(plan, counter.machine, name):
            found[name] = sharers
    return linked_sharers(plan, counter, found) if counter.event_grained else found


def _sharers(plan: QueryPlan, machine: Machine, name: str) -> tuple[Sharer, ...] | None:
    """Return E+ wherever it stands in a pattern; None if events of E do anything else than continue E+."""
    classes = [c for c, one in enumerate(machine.classes, start=1) if one.type == name]
    if any(machine.symbols[c] for c in classes):
        return None
    ways = _ways(machine, classes)
    ends = [target for target in ways if machine.semantics != "any" and target in machine.accepting]
    targets = ways.keys() - set(ends)
    sharers = []
    for target, way in ways.items():
        if target in ends:
            continue
        own_ends = [end for end in ends if ways[end] == way]
        chained = way and way.sources & (targets - {target})
        if way is None or target not in way.sources or chained or len(own_ends) != len(ends):
            return None
        consumed = _consumed(machine, classes, way.accepts)
        if consumed is None or (machine.semantics != "any" and len(targets) > 1):
            return None
        inputs = tuple(sorted(way.sources - {target}))
        told = _predicates(plan, machine, classes, way.accepts)
        sharers.append(Sharer(0, target, inputs, consumed, next(iter(ends), None), way.bound, way.accepts, told))
    return tuple(sharers)


@dataclass(frozen=True)
class _Way:
    """The way in which events lengthen the trends of one state."""

    sources: frozenset[int]
    accepts: frozenset[int]
    bound: tuple[str, ...]


def _ways(machine: Machine, classes: list[int]) -> dict[int, _Way | None]:
    """Return the way of each target; None where not all classes that are taken lengthen the same trends."""
    found: dict[int, _Way | None] = {}
    for target in dict.fromkeys(append.target for c in classes for append in machine.appends[c]):
        by_class = {c: [append for append in machine.appends[c] if append.target == target] for c in classes}
        taken = {c: frozenset(append.source for append in appends) for c, appends in by_class.items() if appends}
        bounds = {append.bound for appends in by_class.values() for append in appends}
        alike = len(set(taken.values())) == 1 and len(bounds) == 1
        found[target] = _Way(next(iter(taken.values())), frozenset(taken), bounds.pop()) if alike else None
    return found


def _consumed(machine: Machine, classes: list[int], accepts: frozenset[int]) -> tuple[int, ...] | None:
    """Return the states that a taken event empties; None where it empties less or more than E+ requires.

    Under skip-till-next-match an event that is not taken empties nothing, and one that is taken empties all started
    trends that it lengthens. Under contiguous every event empties all trends that can go on.
    """
    if machine.semantics == "any":
        return ()
    by_class = {c: machine.consumes[c] for c in classes if c in accepts or machine.semantics == "contiguous"}
    if any(machine.consumes[c] for c in classes if c not in by_class):
        return None
    emptied = {frozenset(consume.source for consume in consumes) for consumes in by_class.values()}
    if len(emptied) > 1 or any(consume.target != -1 for consumes in by_class.values() for consume in consumes):
        return None
    lengthened = {append.source for c in accepts for append in machine.appends[c]}
    started = {state for state in lengthened if machine.states[state].started}
    states = emptied.pop()
    if machine.semantics == "next" and states != started:
        return None
    return tuple(sorted(states)) if states >= started else None


def _predicates(plan: QueryPlan, machine: Machine, classes: list[int], accepts: frozenset[int]) -> frozenset[str]:
    """Return the predicates that decide whether an event is taken, in a form that is equal for queries that agree."""
    satisfied = {c: machine.classes[c - 1].satisfied for c in classes}
    numbers = {variables: c for c, variables in satisfied.items()}
    tested = frozenset[str]().union(*satisfied.values())

    def matters(variable: str) -> bool:
        return any((c in accepts) != (numbers[satisfied[c] ^ {variable}] in accepts) for c in classes)

    deciding = frozenset(filter(matters, tested))
    ways = (satisfied[c] & deciding for c in accepts)
    shown = {" & ".join(sorted(_shown(condition(plan, variable)) for variable in way)) for way in ways}
    return frozenset() if shown == {""} else frozenset(shown)


def condition(plan: QueryPlan, variable: str) -> Condition:
    """Return the predicates of a variable, as texts that do not depend on its name."""
    return frozenset(map(anonymous, plan.predicates.local[variable]))


def _shown(one: Condition) -> str:
    return " AND ".join(sorted(one))


def why_apart(plan: QueryPlan) -> str:
    """Return why no Kleene sub-pattern of a query could be shared with any other query."""
    if any(counter.event_grained for counter in plan.counters):
        return why_links_apart(plan)
    if plan.per_event and (why := why_not_moving(plan)):
        return why
    if plan.query.semantics != "any":
        return "no Kleene sub-pattern E+ over a single event type that stands at one place of the pattern only"
    return "no Kleene sub-pattern E+ over a single event type"


def _alone(candidate: Candidate, candidates: list[Candidate]) -> str:
    if any(other.member != candidate.member and _near(candidate, other) for other in candidates):
        return f"its share set is full: a set distinguishes at most {MAX_LANES} sets of predicates on a type"
    names = " or ".join(f"{name}+" for name in candidate.sharers)
    if candidate.plan.per_event:
        return f"no other query whose windows move with every event has {names} with the same grouping, MIN and MAX"
    if candidate.counter.event_grained:
        return f"no other query compares neighbours in {names} with the same grouping, windows, MIN and MAX"
    return f"no other query has {names} with the same semantics, grouping, MIN and MAX"


def conditions(plans: Iterable[tuple[QueryPlan, Counter]]) -> dict[str, dict[Condition, tuple[Expression, ...]]]:
    """Return, by type, all sets of predicates that tell classes of a share set apart, each once."""
    found: dict[str, dict[Condition, tuple[Expression, ...]]] = {}
    for plan, counter in plans:
        for event_class in counter.machine.classes:
            known = found.setdefault(event_class.type, {})
            for variable in sorted(event_class.satisfied):
                known.setdefault(condition(plan, variable), plan.predicates.local[variable])
    return found


def class_of(plan: QueryPlan, machine: Machine, name: str, holding: frozenset[Condition]) -> int:
    """Return the class of a type's events for which exactly these conditions hold; 0 if no position takes them."""

    def holds(event_class: EventClass) -> bool:
        return all(condition(plan, variable) in holding for variable in event_class.satisfied)

    alike = [c for c, one in enumerate(machine.classes, start=1) if one.type == name and holds(one)]
    return max(alike, key=lambda c: len(machine.classes[c - 1].satisfied), default=0)
