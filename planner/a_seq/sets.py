"""Share sets of sequences whose windows move with every event (A-Seq, Section 4), and why other queries run apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elsinore.planner.a_seq.chopping import chopped
from elsinore.planner.a_seq.forest import Forest, ForestStep, forest_of, sequence_of
from elsinore.planner.gloria.templates.members import split_of
from elsinore.planner.hamlet.share_sets import MAX_LANES, conditions
from elsinore.planner.plans.model import QueryPlan
from elsinore.planner.plans.needs import Need, any_match, no_neighbours, why_unmet
from elsinore.planner.plans.sharing import Found, Member, ShareSet

FOREST_NEEDS = (
    Need("moving windows", lambda plan, _: plan.per_event, "its windows have a SLIDE"),
    any_match("its windows move with every event; such sequences are shared under skip-till-any-match only"),
    no_neighbours("it compares neighbours, so each event has predecessors of its own; a counter is of all of a type"),
    Need(
        "sequence",
        lambda plan, _: sequence_of(plan) is not None,
        "its windows move with every event; with such windows sequences of event types are shared, nothing else",
    ),
)
ALONE = {
    "prefix": "no other query whose windows move with every event begins with the same two event types",
    "chop-connect": "no other query whose windows move with every event has two event types in a row with it in common",
}
FULL = f"a set distinguishes at most {MAX_LANES} sets of predicates on a type"


@dataclass(frozen=True)
class ForestSet(ShareSet):
    """Sequences with prefixes or pieces in common, which one forest counts."""

    forest: Forest


def forest_sets(queries: tuple[QueryPlan, ...], optimizer: str) -> Found:
    """Return the sets of two or more queries whose windows move with every event, and the reason of each other one."""
    found: dict[object, dict[int, tuple[ForestStep, ...]]] = {}
    reasons: dict[int, str] = {}
    for number, plan in enumerate(queries):
        if plan.per_event:
            steps = sequence_of(plan)
            if reason := why_unmet(FOREST_NEEDS, plan, plan.counters[0]):
                reasons[number] = reason
            elif steps:
                found.setdefault(split_of(Member(number, 0), plan), {})[number] = steps
    sets = []
    for alike in found.values():
        for numbers in _connected(alike, optimizer):
            made = _set_of({number: alike[number] for number in numbers}, optimizer)
            if len(numbers) < 2:
                reasons[numbers[0]] = ALONE[optimizer]
            elif _tells_too_many_apart(made, queries):
                reasons |= dict.fromkeys(numbers, FULL)
            else:
                sets.append(made)
    return tuple(sets), tuple((queries[number].query.name, reason) for number, reason in sorted(reasons.items()))


def _set_of(steps: dict[int, tuple[ForestStep, ...]], optimizer: str) -> ForestSet:
    sequences = tuple(steps.values())
    return ForestSet(
        tuple(Member(number, 0) for number in steps), (), "any", forest_of(sequences, _cuts(sequences, optimizer))
    )


def _cuts(sequences: Sequence[tuple[ForestStep, ...]], optimizer: str) -> list[set[int]]:
    return chopped(sequences) if optimizer == "chop-connect" else [set() for _ in sequences]


def _connected(steps: dict[int, tuple[ForestStep, ...]], optimizer: str) -> list[list[int]]:
    """Group the queries that have more in common than a start event, directly or through others."""
    forest = _set_of(steps, optimizer).forest
    numbers = list(steps)
    group_of = {number: [number] for number in numbers}
    for node, one in enumerate(forest.nodes):
        if one.parent is not None:
            first, *others = (numbers[user] for user in forest.users(node))
            for other in others:
                _join(group_of, first, other)
    return [sorted(group) for group in {id(group): group for group in group_of.values()}.values()]


def _join(group_of: dict[int, list[int]], one: int, other: int) -> None:
    if group_of[one] is not group_of[other]:
        group_of[one] += group_of[other]
        for number in group_of[other]:
            group_of[number] = group_of[one]


def _tells_too_many_apart(made: ForestSet, queries: tuple[QueryPlan, ...]) -> bool:
    plans = [(queries[member.query], queries[member.query].counters[member.counter]) for member in made.members]
    return max(map(len, conditions(plans).values()), default=0) > MAX_LANES
