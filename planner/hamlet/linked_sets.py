"""Share sets of queries with predicates on neighbours: E+ where only events of E are compared with each other.

The neighbours of an event then differ from event to event and from query to query, so each event ends trends of its own
(HAMLET, Definition 3.11). Such queries share the events, and the search for neighbours that satisfy the predicates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from elsinore.planner.machines.machine import Machine
from elsinore.planner.machines.predicates import Link, anonymous
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.plans.needs import Need, any_match, no_conjunction, slides, unmet, why_unmet
from elsinore.planner.plans.sharing import Compared, Kleene, LinkedSet, LinkLane, Member, Sharer

LINKED_NEEDS = (
    Need("neighbours", lambda _, counter: counter.event_grained, "it compares no neighbours"),
    slides("its windows move with every event; those that compare neighbours are shared where they have a SLIDE"),
    any_match(
        "predicates on neighbours are shared under skip-till-any-match only: otherwise events end trends, "
        "so which events there are to compare with differs from query to query"
    ),
    Need(
        "no neighbours in NOT",
        lambda _, counter: not counter.machine.closes,
        "they stand in a negation, whose matches have to be found event by event",
    ),
    no_conjunction("the trends of an AND are counted by partition and then paired up, each query for itself"),
)

Counted = Sequence[tuple[QueryPlan, Counter]]
"""By member, its query and its counter."""

Text = tuple[str, str, str, str]
"""A link as a text that is the same for all queries: type, operator and both sides."""


def linked_sharers(
    plan: QueryPlan, counter: Counter, sharers: Mapping[str, tuple[Sharer, ...]]
) -> dict[str, tuple[Sharer, ...]]:
    """Return the Kleene sub-patterns with links, of those that could be shared but for them.

    There are none if the counter has links elsewhere.
    """
    machine = counter.machine
    if unmet(LINKED_NEEDS, plan, counter) or set(_linked(machine)) - _own(machine, sharers):
        return {}
    targets = {target for _, target in _linked(machine)}
    return {name: some for name, some in sharers.items() if any(one.target in targets for one in some)}


def _linked(machine: Machine) -> list[tuple[int, int]]:
    return [(append.source, append.target) for one in machine.appends for append in one if append.links]


def _own(machine: Machine, sharers: Mapping[str, tuple[Sharer, ...]]) -> set[tuple[int, int]]:
    """Return the steps from an event of E to the next in one E+, but for trends that a negation moves."""
    moved = {state for moves in machine.advances for pair in moves for state in pair}
    return {(one.target, one.target) for some in sharers.values() for one in some if one.target not in moved}


def why_links_apart(plan: QueryPlan) -> str:
    """Return why no Kleene sub-pattern of a query with links could be shared with any other query."""
    compared = ", ".join(map(str, plan.predicates.links))
    whys = (why_unmet(LINKED_NEEDS, plan, counter) for counter in plan.counters if counter.event_grained)
    other = "neighbours are compared elsewhere than within one E+ over a single event type that nothing interrupts"
    return f"{compared}: {next(filter(None, whys), other)}"


def linked_set(members: tuple[Member, ...], kleenes: Sequence[Kleene], counted: Counted) -> LinkedSet:
    """Return the set with the sharers of each Kleene grouped by their links, and with each link once."""
    numbers: dict[Text, int] = {}
    links: list[Compared] = []
    grouped, lanes = [], []
    for kleene in kleenes:
        by_links: dict[tuple[int, ...], list[Sharer]] = {}
        for sharer in kleene.sharers:
            plan, counter = counted[sharer.member]
            own = _links_of(counter.machine, sharer)
            for number in own:
                text = _text(kleene.type, plan.predicates.links[number])
                if text not in numbers:
                    numbers[text] = len(links)
                    links.append(Compared(sharer.member, number))
            texts = (_text(kleene.type, plan.predicates.links[number]) for number in own)
            by_links.setdefault(tuple(sorted({numbers[text] for text in texts})), []).append(sharer)
        sharers = [_with_own_trends(sharer, bool(own)) for own, some in by_links.items() for sharer in some]
        grouped.append(Kleene(kleene.type, tuple(sharers)))
        lanes.append(tuple(LinkLane(own, len(some)) for own, some in by_links.items()))
    return LinkedSet(members, tuple(grouped), "any", tuple(links), tuple(lanes))


def _with_own_trends(sharer: Sharer, linked: bool) -> Sharer:
    """Add the target to the inputs of a sharer without links: an event then lengthens all trends of its own E+."""
    return sharer if linked else replace(sharer, inputs=(*sharer.inputs, sharer.target))


def _links_of(machine: Machine, sharer: Sharer) -> tuple[int, ...]:
    """Return the links of a sharer's step; they belong to variables, so all classes that E+ takes have the same."""
    step = (sharer.target, sharer.target)
    appends = (append for c in sharer.accepts for append in machine.appends[c])
    return next(append.links for append in appends if (append.source, append.target) == step)


def _text(name: str, link: Link) -> Text:
    return name, link.operator, anonymous(link.left), anonymous(link.right)


def without_linked(machine: Machine, names: frozenset[str]) -> Machine:
    """Return a machine in which events of these types lengthen no trends, as these are counted elsewhere."""
    appends = [() if c and machine.classes[c - 1].type in names else one for c, one in enumerate(machine.appends)]
    return replace(machine, appends=tuple(appends))
