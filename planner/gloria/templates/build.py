"""Templates of a workload: one for each set of queries that have transitions in common."""

from __future__ import annotations

from collections.abc import Iterable

from elsinore.planner.gloria.templates.chains import Chain, Link
from elsinore.planner.gloria.templates.members import members_of, split_of
from elsinore.planner.gloria.templates.order import ordered
from elsinore.planner.gloria.templates.template import Stage, StageRoute, Template, Transition, TypeNode
from elsinore.planner.plans.model import QueryPlan
from elsinore.planner.plans.sharing import Member

Key = tuple[bool, tuple[tuple[TypeNode, TypeNode, str], ...]]
"""Identity of a stage in all routes: whether it is Kleene, and its transitions."""


def templates(queries: tuple[QueryPlan, ...]) -> tuple[tuple[Template, ...], tuple[tuple[str, str], ...]]:
    """Return all templates of two queries or more, and the name and reason of each query that is in none."""
    chains, apart = members_of(queries)
    keys = {member: tuple(_key(chain, link) for link in chain.links) for member, chain in chains.items()}
    found = []
    for members in _connected(queries, chains, keys):
        if len(members) > 1:
            found.append(template_of(queries, {member: chains[member] for member in members}))
        else:
            apart[members[0].query] = "no other query has one of its transitions, with the same predicates and grouping"
    return tuple(found), tuple((queries[number].query.name, apart[number]) for number in sorted(apart))


def template_of(queries: tuple[QueryPlan, ...], chains: dict[Member, Chain]) -> Template:
    """Return one template of the queries, whether or not they have anything in common."""
    nodes: dict[TypeNode, int] = {}
    stages: dict[Key, tuple[tuple[Transition, ...], bool]] = {}
    places: dict[Key, int] = {}
    queries_of: list[int] = []
    guarded_of: list[int] = []
    taken = []
    for number, chain in enumerate(chains.values()):
        for node in chain.nodes:
            nodes.setdefault(node, len(nodes))
        route = []
        for link in chain.links:
            key = _key(chain, link)
            if key not in places:
                places[key] = len(places)
                stages[key] = _transitions(nodes, chain, link), link.kleene
                queries_of.append(0)
                guarded_of.append(0)
            place = places[key]
            queries_of[place] |= 1 << number
            guarded_of[place] |= link.guarded << number
            route.append(place)
        taken.append(route)
    order = ordered(len(places), taken)
    kept = list(stages.values())
    renumbered = {old: new for new, old in enumerate(order)}
    return Template(
        tuple(chains),
        tuple(queries[member.query].query.name for member in chains),
        tuple(nodes),
        tuple(Stage(*kept[old], queries_of[old], guarded_of[old]) for old in order),
        tuple(
            _route(nodes, chain, tuple(renumbered[old] for old in route))
            for chain, route in zip(chains.values(), taken, strict=True)
        ),
    )


def _key(chain: Chain, link: Link) -> Key:
    return link.kleene, tuple(sorted((chain.nodes[p], chain.nodes[r], kind) for p, r, kind in link.edges))


def _transitions(nodes: dict[TypeNode, int], chain: Chain, link: Link) -> tuple[Transition, ...]:
    return tuple(Transition(nodes[chain.nodes[p]], nodes[chain.nodes[r]], kind) for p, r, kind in link.edges)


def _route(nodes: dict[TypeNode, int], chain: Chain, stages: tuple[int, ...]) -> StageRoute:
    def numbers(positions: Iterable[int]) -> tuple[int, ...]:
        return tuple(nodes[chain.nodes[p]] for p in positions)

    return StageRoute(
        stages,
        tuple(map(numbers, chain.junctions)),
        frozenset(numbers(chain.starts)),
        frozenset(numbers(chain.ends)),
        frozenset(place for place, link in enumerate(chain.links) if link.guarded),
    )


def _connected(
    queries: tuple[QueryPlan, ...], chains: dict[Member, Chain], keys: dict[Member, tuple[Key, ...]]
) -> list[list[Member]]:
    """Group the members of the same grouping that have a stage in common, directly or through other members."""
    having: dict[tuple[object, ...], list[Member]] = {}
    for member, chain in chains.items():
        split = split_of(member, queries[member.query])
        for key, link in zip(keys[member], chain.links, strict=True):
            if not link.guarded:
                having.setdefault((split, key), []).append(member)
    leader = {member: member for member in chains}

    def lead(member: Member) -> Member:
        while leader[member] != member:
            leader[member] = member = leader[leader[member]]
        return member

    for first, *others in having.values():
        for other in others:
            leader[lead(other)] = lead(first)
    sets: dict[Member, list[Member]] = {}
    for member in chains:
        sets.setdefault(lead(member), []).append(member)
    return list(sets.values())
