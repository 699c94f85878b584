"""A query's automaton as a chain of single types and Kleene sub-patterns."""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.planner.gloria.templates.template import Kind, TypeNode
from elsinore.planner.hamlet.share_sets import condition
from elsinore.planner.machines.automaton import Automaton
from elsinore.planner.plans.model import Counter, QueryPlan

Edge = tuple[int, int, Kind]
_ByPart = dict[int, list[tuple[int, int]]]


@dataclass(frozen=True)
class Link:
    """A stage of one query, in positions of its automaton."""

    edges: tuple[Edge, ...]
    kleene: bool
    guarded: bool


@dataclass(frozen=True)
class Chain:
    nodes: tuple[TypeNode, ...]
    """By position."""
    links: tuple[Link, ...]
    junctions: tuple[tuple[int, ...], ...]
    """Positions before the first link, between two links and behind the last."""
    starts: frozenset[int]
    ends: frozenset[int]


def chain_of(plan: QueryPlan, counter: Counter) -> Chain | None:
    """Return the chain of a counter; None if trends may choose between ways that meet in no Kleene sub-pattern."""
    whole = counter.automata[0]
    parts = _loops(whole)
    place = {p: number for number, part in enumerate(parts) for p in part}
    edges = [(p, r) for p, following in whole.follow.items() for r in following]
    kinds = _kinds(edges)
    if any(place[r] - place[p] not in (0, 1) for p, r in edges):
        return None
    inner, outer = _by_part(edges, place)
    links, junctions = [], [_entries(whole, parts, 0)]
    for number in range(len(parts)):
        inside = tuple((p, r, kinds[p, r]) for p, r in inner.get(number, ()))
        if inside:
            links.append(_link(whole, inside, True))
            junctions.append(_exits(whole, parts, number))
        across = tuple((p, r, _SEQUENCE) for p, r in outer.get(number, ()))
        if across:
            links.append(_link(whole, across, False))
            junctions.append(_entries(whole, parts, number + 1))
    if len(set(place.values())) != 1 + sum(not link.kleene for link in links):
        return None
    local = plan.predicates.local
    nodes = (
        TypeNode(one.type, condition(plan, one.variable) if one.variable in local else frozenset())
        for one in whole.positions
    )
    return Chain(tuple(nodes), tuple(links), tuple(junctions), frozenset(whole.first), frozenset(whole.last))


_SEQUENCE: Kind = "sequence"


def _by_part(edges: list[tuple[int, int]], place: dict[int, int]) -> tuple[_ByPart, _ByPart]:
    """Group the edges by the part that they start in: those that stay there, and those that lead to the next part."""
    inner: _ByPart = {}
    outer: _ByPart = {}
    for p, r in edges:
        (inner if place[p] == place[r] else outer).setdefault(place[p], []).append((p, r))
    return inner, outer


def _link(whole: Automaton, edges: tuple[Edge, ...], kleene: bool) -> Link:
    return Link(edges, kleene, any(frozenset() not in whole.follow[p][r] for p, r, _ in edges))


def _loops(whole: Automaton) -> list[list[int]]:
    """Group the positions that can reach one another, in the order of the pattern.

    Positions are numbered as they stand in the pattern, so a loop is a run of positions: all between its first and its
    last belong to it.
    """
    ends = {p: p for p in range(len(whole.positions))}
    for p, following in whole.follow.items():
        for r in following:
            if r < p:
                ends[r] = max(ends[r], p)
    loops: list[list[int]] = []
    reach = -1
    for p in range(len(whole.positions)):
        if p <= reach:
            loops[-1].append(p)
        else:
            loops.append([p])
        reach = max(reach, ends[p])
    return loops


def _kinds(edges: list[tuple[int, int]]) -> dict[tuple[int, int], Kind]:
    """Return the kind of each edge; an edge back is nested where another one starts and ends within its range.

    Of the edges back that start at one position, the one that reaches least far back decides, so a running maximum
    replaces the comparison of each edge with every other.
    """
    nearest: dict[int, int] = {}
    for p, r in edges:
        if r <= p:
            nearest[p] = max(nearest.get(p, -1), r)
    before: dict[int, int] = {}
    reached = -1
    for p in sorted(nearest):
        before[p] = reached
        reached = max(reached, nearest[p])

    def kind(p: int, r: int) -> Kind:
        if r > p:
            return _SEQUENCE
        return "nested feedback" if before[p] >= r or nearest[p] > r else "feedback"

    return {(p, r): kind(p, r) for p, r in edges}


def _entries(whole: Automaton, parts: list[list[int]], number: int) -> tuple[int, ...]:
    """Return the positions where trends enter a part: from the part before, or as they start."""
    before = parts[number - 1] if number else []
    return tuple(p for p in parts[number] if p in whole.first or any(p in whole.follow[b] for b in before))


def _exits(whole: Automaton, parts: list[list[int]], number: int) -> tuple[int, ...]:
    behind = parts[number + 1] if number + 1 < len(parts) else []
    return tuple(p for p in parts[number] if p in whole.last or any(r in whole.follow[p] for r in behind))
