"""A plan of detection as text: nodes with sharers, windows and cardinalities. It is the same in every run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.plan import DetectionPlan, Node, Root
from elsinore.planner.detection.text import conditions_text, structure_text, window_text

NAMES = 4
"""The most patterns named of those that share a node."""

Seen = Mapping[int, float]
"""Partial matches that a running engine has seen at a time, by node."""


def explained(plan: DetectionPlan, patterns: Sequence[Pattern], seen: Seen | None = None) -> str:
    """Return a plan as text, with what an engine has seen beside what was expected."""
    return "\n".join((_head(plan), *_patterns(plan, patterns), *_nodes(plan, seen or {}))) + "\n"


def _head(plan: DetectionPlan) -> str:
    inner = sum(not node.leaf for node in plan.nodes)
    return (
        f"{plan.strategy}: {len(plan.roots)} patterns, {len(plan.nodes) - inner} leaves, {inner} inner nodes, "
        f"{len(plan.shared)} shared; cost {number(plan.cost)} ({plan.model}), unshared {number(plan.apart)}"
    )


def _patterns(plan: DetectionPlan, patterns: Sequence[Pattern]) -> Iterator[str]:
    yield "patterns"
    for pattern in patterns:
        root = plan.root(pattern.name)
        where = conditions_text(pattern)
        yield (
            f"  {pattern.name}: {structure_text(pattern)}{f' where {where}' if where else ''} "
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


def _nodes(plan: DetectionPlan, seen: Seen) -> Iterator[str]:
    yield "nodes"
    width = len(str(len(plan.nodes)))
    for node in plan.nodes:
        yield f"  {node.number + 1:>{width}}  {_what(node)}: {'; '.join(_facts(node, seen))}"


def _what(node: Node) -> str:
    if node.left is None or node.right is None:
        return node.structure
    where = f" where {node.conditions_text}" if node.conditions_text else ""
    return f"{node.structure}{where} = {node.left + 1} + {node.right + 1}"


def _facts(node: Node, seen: Seen) -> Iterator[str]:
    yield f"{'shared by' if node.shared else 'for'} {_brief(node.patterns)}"
    yield f"within {window_text(node.window)}"
    yield f"{number(node.matches)} expected" + (f", {number(seen[node.number])} seen" if node.number in seen else "")
    if not node.leaf and not node.stored:
        yield "searched"


def _brief(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMES} more" if len(names) > NAMES else ""
    return ", ".join(names[:NAMES]) + more


def number(value: float) -> str:
    """Return a number with four digits."""
    return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
