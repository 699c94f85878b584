"""A plan of detection as text: nodes with sharers, windows and cardinalities. It is the same in every run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from elsinore.planner.detection.known import Known, Seen
from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.plan import DetectionPlan, Node, Root
from elsinore.planner.detection.planned_sets import planned_sets
from elsinore.planner.detection.text import conditions_text, structure_text, window_text
from elsinore.planner.explain.counted import Counts
from elsinore.planner.plans.model import Plan

NAMES = 4
"""The most patterns named of those that share a node."""

LARGEST = 1e9
"""The numbers from which on powers of ten are shown."""


def explained(plan: DetectionPlan, patterns: Sequence[Pattern], seen: Seen | None = None) -> str:
    """Return a plan as text, with what an engine has seen beside what was expected."""
    lines = (
        _head(plan),
        "patterns",
        *_indented(_patterns(plan, patterns)),
        "nodes",
        *_indented(_nodes(plan, seen or {}, {})),
    )
    return "\n".join(lines) + "\n"


def _indented(lines: Iterator[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def explain_plans(plan: Plan, known: Known, counts: Counts) -> Iterator[list[str]]:
    """Yield a tree for the plan of each set of queries that return matches: a heading and its nodes."""
    for one in planned_sets(plan, known):
        seen, found = known.seen(one.plan), counts.found(one.number)
        yield [
            f"plan of share set {one.number}: {_head(one.plan)}",
            f"statistics {known.source}",
            *(f"pattern {line}" for line in _patterns(one.plan, one.patterns)),
            *(f"node {line}" for line in _nodes(one.plan, seen, found)),
            *(
                f"{name}: searched without a plan, as it has no two events by themselves under skip-till-any-match"
                for name in one.unplanned
            ),
        ]


def _head(plan: DetectionPlan) -> str:
    inner = sum(not node.leaf for node in plan.nodes)
    return (
        f"{plan.strategy}: {len(plan.roots)} {'pattern' if len(plan.roots) == 1 else 'patterns'}, "
        f"{len(plan.nodes) - inner} leaves, {inner} inner nodes, "
        f"{len(plan.shared)} shared; cost {number(plan.cost)} ({plan.model}), unshared {number(plan.apart)}"
    )


def _patterns(plan: DetectionPlan, patterns: Sequence[Pattern]) -> Iterator[str]:
    for pattern in patterns:
        root = plan.root(pattern.name)
        where = conditions_text(pattern)
        yield (
            f"{pattern.name}: {structure_text(pattern)}{f' where {where}' if where else ''} "
            f"within {window_text(pattern.window)}, {_way(plan, root)}"
        )


def _way(plan: DetectionPlan, root: Root) -> str:
    if root.order is not None:
        return f"in the order {', '.join(root.order)}: node {root.node + 1}"
    return f"as {_tree(plan, plan.nodes[root.node])}: node {root.node + 1}"


def _tree(plan: DetectionPlan, node: Node) -> str:
    if node.left is None or node.right is None:
        return node.structure
    return f"({_tree(plan, plan.nodes[node.left])} {_tree(plan, plan.nodes[node.right])})"


def _nodes(plan: DetectionPlan, seen: Seen, found: Mapping[str, int]) -> Iterator[str]:
    width = len(str(len(plan.nodes)))
    for node in plan.nodes:
        yield f"{node.number + 1:>{width}}  {_what(node)}: {'; '.join(_facts(node, seen, found))}"


def _what(node: Node) -> str:
    if node.left is None or node.right is None:
        return node.structure
    return f"{node.text} = {node.left + 1} + {node.right + 1}"


def _facts(node: Node, seen: Seen, found: Mapping[str, int]) -> Iterator[str]:
    yield f"{'shared by' if node.shared else 'for'} {_brief(node.patterns)}"
    yield f"within {window_text(node.window)}"
    yield f"{number(node.matches)} expected" + (f", {number(seen[node.number])} seen" if node.number in seen else "")
    if not node.leaf and not node.stored:
        yield "searched"
    if node.identity in found:
        yield f"{found[node.identity]:,} stored by the run"


def _brief(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return ", ".join(names[:NAMES]) + more


def number(value: float) -> str:
    """Return a number with four digits."""
    if abs(value) >= LARGEST:
        return f"{value:.4g}"
    return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
