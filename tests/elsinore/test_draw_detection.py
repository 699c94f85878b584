"""Drawings of what detection shares: complete, and with nothing on top of anything else."""

from __future__ import annotations

from dataclasses import replace

import pytest

from elsinore.drawing.detection import draw_graph, draw_plan, graph_picture, multitree_picture, tree_picture
from elsinore.planner.detection.costs.paper import Instances
from elsinore.planner.detection.generator import STOCKS, workload
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.planning import detection_plan
from elsinore.planner.detection.search.budget import Budget
from tests.planner.detection.workloads import FIGURE_9, SLOW, STEPS, figure_7
from tests.support.drawings import check_layout, texts

MANY = workload(replace(STOCKS, patterns=30, types=9, conjunctions=0), 1)


def test_figure_7_is_drawn() -> None:
    graph = MultiPatternGraph(figure_7())
    for names in graph.components(2):
        picture = graph_picture(graph, names, 2)
        check_layout(picture.layout, picture.edges)
    found = texts(draw_graph(graph))
    assert {"SEQ(A, B, C)", "SEQ(A, F)", "SEQ(H, I, J)", "component 2", "p1-p4"} <= found


def test_figure_9_is_drawn() -> None:
    plan = detection_plan(FIGURE_9, SLOW, "mpm", STEPS)
    picture = multitree_picture(plan, ["p1", "p2", "p3"])
    check_layout(picture.layout, picture.edges)
    assert len(picture.edges) == 2 * 7
    assert {"SEQ(A, C)", "SEQ(B, D)", "finds p1", "450, 10 s"} <= texts(draw_plan(plan))


def test_orders_are_drawn_as_a_tree_of_states() -> None:
    plan = detection_plan(FIGURE_9, SLOW, "mpt", STEPS)
    picture = tree_picture(plan, ["p1", "p2", "p3"])
    check_layout(picture.layout, picture.edges)
    found = texts(draw_plan(plan))
    assert {"start", "A", "finds p3"} <= found


@pytest.mark.parametrize("strategy", ["share", "mpm"])
def test_large_plans_are_cut(strategy: str) -> None:
    plan = detection_plan(MANY.patterns, Instances(MANY.statistics), strategy, Budget(steps=500))
    drawing = draw_plan(plan)
    assert any("6 patterns are not shown" in one for one in texts(drawing))
    assert any("more are not shown" in one for one in texts(draw_graph(MultiPatternGraph(MANY.patterns))))
