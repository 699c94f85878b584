"""A plan's share sets as text: which queries may share what, and why the other queries run apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial

from elsinore.planner.a_seq.sets import ForestSet
from elsinore.planner.baselines.explain import explain_tree
from elsinore.planner.baselines.sets import PrefixSet
from elsinore.planner.explain.query_names import listed
from elsinore.planner.gloria.explain import explain_plan
from elsinore.planner.gloria.sets import PlannedSet
from elsinore.planner.hamlet.template import Template, template_of_set
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.sharing import Kleene, LinkedSet, MovingSet, ShareSet
from elsinore.planner.time.spans import common, show_length


def explain_sharing(plan: Plan) -> Iterator[list[str]]:
    """Yield trees: a heading and its nodes."""
    for number, share_set in enumerate(plan.share_sets, 1):
        yield [f"share set {number}: one {_graph(share_set)} for {_members(plan, share_set)}", *_nodes(plan, share_set)]
    if plan.reasons:
        yield ["queries apart", *(f"{name}: {reason}" for name, reason in plan.reasons)]


def _graph(share_set: ShareSet) -> str:
    match share_set:
        case LinkedSet():
            return "event-grained graph"
        case MovingSet():
            return "graph of moving windows"
        case PlannedSet():
            return "planned graph"
        case PrefixSet():
            return "prefix tree"
        case ForestSet():
            return "forest of prefix counters"
        case _:
            return "HAMLET graph"


def counters_in_sets(plan: Plan) -> dict[tuple[int, int], int]:
    """Return the number of the share set by query and counter."""
    return {
        (member.query, member.counter): number
        for number, share_set in enumerate(plan.share_sets, 1)
        for member in share_set.members
    }


def _nodes(plan: Plan, share_set: ShareSet) -> Iterator[str]:
    if isinstance(share_set, LinkedSet | PrefixSet):
        yield "windows one by one: the events of each are kept for all queries, and evaluated when it is over"
    elif isinstance(share_set, MovingSet):
        yield "windows that move with every event: the effect of a burst on trends is computed once for all queries"
    elif isinstance(share_set, ForestSet):
        yield "windows that move with every event: a row of prefix counters per start event (A-Seq, Section 3.2)"
        yield from _forest(plan, share_set)
    else:
        yield f"panes of {show_length(_pane(plan, share_set))}: what all windows and slides are multiples of"
    if isinstance(share_set, PlannedSet):
        yield from explain_plan(share_set.plan)
    elif isinstance(share_set, PrefixSet):
        yield from explain_tree(share_set.tree, partial(_names, plan, share_set))
    for number, kleene in enumerate(share_set.kleenes):
        yield f"share {kleene.type}+: {_sharers(plan, share_set, kleene, range(len(kleene.sharers)))}"
        yield from _lanes(plan, share_set, kleene)
        if isinstance(share_set, LinkedSet):
            yield from _link_lanes(plan, share_set, number)
    yield from _template(template_of_set(plan, share_set))


def _forest(plan: Plan, share_set: ForestSet) -> Iterator[str]:
    """Yield the prefixes with the queries that count them, and the connections of pieces."""
    forest = share_set.forest
    prefixes: dict[int, str] = {}
    for number, node in enumerate(forest.nodes):
        before = "" if node.parent is None else f"{prefixes[node.parent]}, "
        prefixes[number] = f"{before}{node.step.node}"
        yield f"prefix ({prefixes[number]}): {_names(plan, share_set, forest.users(number))}"
    for member, route in enumerate(forest.routes):
        if len(route.cuts) > 1:
            pieces = (f"({prefixes[piece[-1]]})" for piece in route.pieces)
            yield f"connect {' with '.join(pieces)}: {_names(plan, share_set, [member])}"


def _lanes(plan: Plan, share_set: ShareSet, kleene: Kleene) -> Iterator[str]:
    if len(kleene.lanes) == 1:
        yield f"lane {kleene.type}+: all of them always take the same events"
        return
    for lane in kleene.lanes:
        ways = kleene.sharers[lane[0]].predicates
        taken = f"those with {' OR '.join(sorted(ways))}" if ways else "every event"
        yield f"lane {kleene.type}+: {_sharers(plan, share_set, kleene, lane)}; {taken}"


def _link_lanes(plan: Plan, share_set: LinkedSet, number: int) -> Iterator[str]:
    kleene, first = share_set.kleenes[number], 0
    for lane in share_set.lanes[number]:
        compared = [share_set.links[link] for link in lane.links]
        links = [plan.queries[share_set.members[one.member].query].predicates.links[one.link] for one in compared]
        names = _sharers(plan, share_set, kleene, range(first, first + lane.sharers))
        neighbours = f"if {' AND '.join(map(str, links))}" if links else "all of them"
        yield f"neighbours in {kleene.type}+: {names}; {neighbours}"
        first += lane.sharers


def _template(template: Template) -> Iterator[str]:
    for what, by_type in (("start", template.starts), ("end", template.ends), ("NOT", template.negated)):
        for name, queries in by_type.items():
            yield f"template {what} {name}: {listed(queries)}"
    for (before, after), queries in template.transitions.items():
        yield f"template {before} -> {after}: {listed(queries)}"


def _pane(plan: Plan, share_set: ShareSet) -> Fraction:
    queries = [plan.queries[member.query].query for member in share_set.members]
    return common(span.seconds for query in queries for span in (query.within, query.slide) if span)


def _members(plan: Plan, share_set: ShareSet) -> str:
    return _names(plan, share_set, range(len(share_set.members)))


def _sharers(plan: Plan, share_set: ShareSet, kleene: Kleene, sharers: Iterable[int]) -> str:
    return _names(plan, share_set, (kleene.sharers[sharer].member for sharer in sharers))


def _names(plan: Plan, share_set: ShareSet, members: Iterable[int]) -> str:
    """Return each query once; one may have several counters in a set, or the sub-pattern at several places."""
    queries = (plan.queries[share_set.members[member].query].query.name for member in members)
    return listed(dict.fromkeys(queries))
