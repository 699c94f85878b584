"""Drawing plans of detection: multi-pattern graphs, trees and multitrees (Kolchinsky, Schuster, Figures 7, 5, 9).

What is shared is gray. Drawings take the planner's values and change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from elsinore.drawing.drawing import Section, Titled
from elsinore.drawing.layout import Edge, Layout, Node, layered
from elsinore.drawing.lines import draw_route
from elsinore.drawing.svg import GRAY, PALE, SIZE, SMALL, WHITE, Box, Picture, cut, group, rectangle, text, width_of
from elsinore.drawing.words import brief
from elsinore.errors import InputError
from elsinore.planner.detection.explain import number
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.known import Known
from elsinore.planner.detection.pattern import Window
from elsinore.planner.detection.plan import DetectionPlan
from elsinore.planner.detection.planned_sets import patterns_of_set, planned_sets
from elsinore.planner.detection.sets import DetectionSet
from elsinore.planner.detection.shape import Shape, bits
from elsinore.planner.detection.text import structure_text, window_text
from elsinore.planner.plans.model import Plan

SHARED = 2
"""The fewest events of a subpattern that is drawn; leaves are shared in any case."""
LETTERS = 44
"""The most characters shown of a line."""
LINE = 15
PATTERNS = 24
"""The most patterns drawn of a graph or plan; the others are counted in the caption."""
GRAPH_LEGEND = "left: patterns; right: maximal common subpatterns, gray where more than two patterns have them"
PLAN_LEGEND = (
    "gray: shared by several patterns; bold: matches of a pattern are found here; below: expected matches, window"
)


@dataclass(frozen=True)
class Block:
    """A box with lines of text; the first is its title."""

    lines: tuple[str, ...]
    hint: str
    gray: bool = False
    bold: bool = False

    @property
    def width(self) -> float:
        return 14 + max(width_of(self.lines[0]), *(width_of(one, SMALL) for one in self.lines))

    @property
    def height(self) -> float:
        return SIZE + 10 + LINE * (len(self.lines) - 1)

    def draw(self, parent: ET.Element, at: Box) -> None:
        made = group(parent, hint=self.hint)
        rectangle(made, at, GRAY if self.gray else WHITE, 6, line=2.4 if self.bold else 1.2)
        text(made, at.middle, at.y + SIZE + 3, self.lines[0], bold=self.bold)
        for place, one in enumerate(self.lines[1:], 1):
            text(made, at.middle, at.y + SIZE + 3 + LINE * place, one, SMALL, PALE)


class BlockPicture:
    """Blocks in columns, and lines between them from left to right."""

    def __init__(self, blocks: dict[str, tuple[int, Block]], edges: Sequence[tuple[str, str]]) -> None:
        self._blocks = blocks
        self.edges = list(edges)
        self.layout: Layout = layered(
            [
                Node(name, 2 * rank, one.width, one.height, one.width, one.height / 2, one.height - 12)
                for name, (rank, one) in blocks.items()
            ],
            [Edge(first, second) for first, second in edges],
        )

    def draw(self) -> Picture:
        whole = group()
        for route in self.layout.routes:
            draw_route(whole, route)
        for name, (_, block) in self._blocks.items():
            block.draw(whole, self.layout.boxes[name])
        return Picture(whole, self.layout.width, self.layout.height)


def graphs(plan: Plan) -> Section:
    """Return the multi-pattern graphs of the sets of a plan."""
    parts: list[Titled] = []
    for place, one in enumerate(plan.share_sets, 1):
        if isinstance(one, DetectionSet):
            patterns, _ = patterns_of_set(plan, one)
            parts += _graphs(MultiPatternGraph(patterns), f"share set {place}")
    return _section(parts, GRAPH_LEGEND)


def multitrees(plan: Plan, known: Known) -> Section:
    """Return the plans of the sets of a plan: order-based ones as multi-pattern trees, others as multitrees."""
    found = planned_sets(plan, known)
    return _section([_multitree(one.plan, f"share set {one.number}", known.source) for one in found], PLAN_LEGEND)


def _section(parts: Sequence[Titled], legend: str) -> Section:
    if not parts:
        raise InputError(
            "no query of this workload has two events by themselves, so there is no plan to draw; "
            "`elsinore explain` says how each is run"
        )
    return Section(tuple(parts), legend)


def _graphs(graph: MultiPatternGraph, title: str) -> Iterator[Titled]:
    """Yield each component with the subpatterns that it shares, then the patterns that share nothing."""
    components = graph.components(SHARED)
    together = [names for names in components if len(names) > 1]
    alone = [name for names in components if len(names) == 1 for name in names]
    for place, names in enumerate(together, 1):
        yield _component(graph, names, f"{title}, component {place} of {len(together)}", "")
    if alone:
        yield _component(graph, alone, f"{title}, by themselves", "nothing to share, ")


def _component(graph: MultiPatternGraph, names: Sequence[str], title: str, what: str) -> Titled:
    more = f"; {len(names) - PATTERNS} of them are not shown" if len(names) > PATTERNS else ""
    count = f"{len(names)} {'pattern' if len(names) == 1 else 'patterns'}"
    return Titled(title, f"{what}{count}{more}", graph_picture(graph, names[:PATTERNS], SHARED).draw())


def graph_picture(graph: MultiPatternGraph, names: Sequence[str], least: int) -> BlockPicture:
    """Return the patterns of a component on the left, and what they share on the right."""
    blocks = {name: (0, _pattern_block(graph.shapes[name])) for name in names}
    edges = []
    for name in names:
        shape = graph.shapes[name]
        for mask in graph.maximal_of(name):
            identity = shape.identity(mask)[0]
            if mask.bit_count() >= least:
                key = f"shared {identity}"
                sharers = graph.sharers(identity)
                blocks.setdefault(key, (1, _part_block(shape, mask, sharers)))
                edges.append((name, key))
    return BlockPicture(blocks, edges)


def _pattern_block(shape: Shape) -> Block:
    pattern = shape.pattern
    structure = structure_text(pattern)
    lines = (cut(pattern.name, LETTERS), cut(structure, LETTERS), window_text(pattern.window))
    return Block(lines, f"{pattern.name}: {structure}")


def _part_block(shape: Shape, mask: int, sharers: Sequence[str]) -> Block:
    part = structure_text(shape.pattern.projection(shape.names(tuple(bits(mask)))))
    return Block((cut(part, LETTERS), brief(sharers)), f"{part}: {', '.join(sharers)}", len(sharers) > 2)


def _multitree(plan: DetectionPlan, title: str, source: str) -> Titled:
    shown = [root.pattern for root in plan.roots[:PATTERNS]]
    more = f"; {len(plan.roots) - PATTERNS} patterns are not shown" if len(plan.roots) > PATTERNS else ""
    caption = f"costs {number(plan.cost)} ({plan.model}), unshared {number(plan.apart)}; statistics {source}{more}"
    chains = all(root.order is not None for root in plan.roots)
    picture = tree_picture(plan, shown) if chains else multitree_picture(plan, shown)
    what = f"{plan.strategy}: {len(plan.roots)} patterns, {len(plan.shared)} of {len(plan.nodes)} nodes shared"
    return Titled(f"{title}, {what}", caption, picture.draw())


def multitree_picture(plan: DetectionPlan, patterns: Sequence[str]) -> BlockPicture:
    """Return the nodes that some patterns use, each to the right of what it joins (Figure 9)."""
    kept = [node for node in plan.nodes if set(node.patterns) & set(patterns)]
    roots = _roots(plan)
    ranks: dict[int, int] = {}
    blocks: dict[str, tuple[int, Block]] = {}
    edges = []
    for node in kept:
        sides = [side for side in (node.left, node.right) if side is not None]
        ranks[node.number] = 1 + max((ranks[side] for side in sides), default=-1)
        block = _block(node.structure, node.matches, node.window, node.patterns, roots.get(node.number, []))
        blocks[str(node.number)] = (ranks[node.number], block)
        edges += [(str(side), str(node.number)) for side in sides]
    return BlockPicture(blocks, edges)


def tree_picture(plan: DetectionPlan, patterns: Sequence[str]) -> BlockPicture:
    """Return the states that some patterns pass, each to the right of the state before (Figure 5)."""
    roots = _roots(plan)
    blocks: dict[str, tuple[int, Block]] = {"start": (0, Block(("start",), "the state without a match"))}
    edges: dict[tuple[str, str], None] = {}
    for name in patterns:
        chain = [plan.nodes[plan.root(name).node]]
        while chain[-1].left is not None:
            chain.append(plan.nodes[chain[-1].left])
        before = "start"
        for rank, node in enumerate(reversed(chain), 1):
            accepted = node if node.right is None else plan.nodes[node.right]
            users = node.patterns if node.right is not None else _starting(plan, node.number)
            block = _block(accepted.structure, node.matches, node.window, users, roots.get(node.number, []))
            blocks.setdefault(str(node.number), (rank, block))
            edges[before, str(node.number)] = None
            before = str(node.number)
    return BlockPicture(blocks, list(edges))


def _starting(plan: DetectionPlan, leaf: int) -> list[str]:
    """Return the patterns whose orders begin with a leaf."""
    found = []
    for root in plan.roots:
        node = plan.nodes[root.node]
        while node.left is not None:
            node = plan.nodes[node.left]
        if node.number == leaf:
            found.append(root.pattern)
    return found


def _roots(plan: DetectionPlan) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for root in plan.roots:
        found.setdefault(root.node, []).append(root.pattern)
    return found


def _block(title: str, matches: float, window: Window, users: Sequence[str], found: Sequence[str]) -> Block:
    lines = [cut(title, LETTERS), f"{number(matches)}, {window_text(window)}"]
    lines += [f"finds {brief(found)}"] if found else []
    return Block(tuple(lines), f"{title}: {', '.join(users)}", len(users) > 1, bool(found))
