"""A forest of prefix counters as text: which queries count which prefixes, and which pieces are connected."""

from __future__ import annotations

from collections.abc import Iterator

from elsinore.planner.a_seq.sets import ForestSet
from elsinore.planner.explain.member_names import names_of
from elsinore.planner.plans.model import Plan


def explain_forest_set(plan: Plan, share_set: ForestSet) -> Iterator[str]:
    yield "windows that move with every event: a row of prefix counters per start event (A-Seq, Section 3.2)"
    forest = share_set.forest
    prefixes: dict[int, str] = {}
    for number, node in enumerate(forest.nodes):
        before = "" if node.parent is None else f"{prefixes[node.parent]}, "
        prefixes[number] = f"{before}{node.step.node}"
        yield f"prefix ({prefixes[number]}): {names_of(plan, share_set, forest.users(number))}"
    for member, route in enumerate(forest.routes):
        if len(route.cuts) > 1:
            pieces = (f"({prefixes[piece[-1]]})" for piece in route.pieces)
            yield f"connect {' with '.join(pieces)}: {names_of(plan, share_set, [member])}"
