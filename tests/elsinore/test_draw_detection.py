"""Drawings of queries that return matches: what they have in common, and the plans that share it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from elsinore.api import draw, explain
from elsinore.bench.multi.generator import STOCKS, workload
from elsinore.cli import app
from elsinore.drawing.detection import PATTERNS, BlockPicture, graph_picture, multitree_picture, tree_picture
from elsinore.errors import InputError
from elsinore.planner.detection.clauses import queries_of
from elsinore.planner.detection.costs.paper import Instances
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.known import Known
from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.planning import detection_plan
from elsinore.planner.detection.search.budget import Budget
from elsinore.planner.detection.strategies.strategies import STRATEGIES
from tests.planner.detection.workloads import FIGURE_9, figure_7
from tests.support.drawings import check_layout, texts

MANY = workload(replace(STOCKS, patterns=12, types=10), 0).patterns
WORKLOADS = {"Figure 7": figure_7(), "Figure 9": FIGURE_9, "generated": MANY}
TEXT = queries_of(FIGURE_9)
COUNT = "QUERY n RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 9 seconds SLIDE 3 seconds"


def check_picture(picture: BlockPicture) -> None:
    check_layout(picture.layout, picture.edges)


@pytest.mark.parametrize("patterns", WORKLOADS.values(), ids=WORKLOADS)
def test_nothing_is_on_top_of_anything_else_in_a_graph(patterns: list[Pattern]) -> None:
    graph = MultiPatternGraph(patterns)
    for names in graph.components(2):
        check_picture(graph_picture(graph, names, 2))


@pytest.mark.parametrize("patterns", WORKLOADS.values(), ids=WORKLOADS)
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_nothing_is_on_top_of_anything_else_in_a_plan(strategy: str, patterns: list[Pattern]) -> None:
    plan = detection_plan(patterns, Instances(Known().of(patterns)), strategy, Budget(steps=300))
    names = [pattern.name for pattern in patterns]
    check_picture(tree_picture(plan, names) if STRATEGIES[strategy].ordered else multitree_picture(plan, names))


def test_the_graph_of_figure_7() -> None:
    found = texts(draw(queries_of(figure_7())))
    assert {"share set 1, component 1 of 2", "share set 1, component 2 of 2"} <= found
    assert {"SEQ(A, C)", "SEQ(A, F, C)", "SEQ(H, I, J)"} & found


def test_the_multitree_of_figure_9() -> None:
    found = texts(draw(TEXT, plan=True, strategy="mpm"))
    assert any(one.startswith("share set 1, mpm: 3 patterns") for one in found)
    assert {"SEQ(A, C)", "SEQ(B, D)", "finds p1", "finds p2", "finds p3"} <= found
    assert any("assumed" in one for one in found)


def test_orders_are_drawn_as_a_tree() -> None:
    found = texts(draw(TEXT, plan=True, strategy="mpt"))
    assert {"start", "finds p1"} <= found
    assert "SEQ(B, D)" not in found


def test_a_mixed_workload_has_a_section_for_each_kind() -> None:
    text = f"{TEXT}; {COUNT}"
    assert {"n", "share set 1, component 1 of 1"} <= texts(draw(text))
    assert {"n", "finds p1"} <= texts(draw(text, plan=True))


def test_patterns_that_share_nothing_are_drawn_together() -> None:
    patterns = [f"SEQ(A{number}, B{number})" for number in range(30)]
    found = texts(draw("; ".join(f"RETURN MATCHES PATTERN {one} WITHIN 9 seconds" for one in patterns)))
    assert "share set 1, by themselves" in found
    assert f"nothing to share, 30 patterns; {30 - PATTERNS} of them are not shown" in found


@pytest.mark.parametrize("plan", [True, False])
def test_nothing_to_draw_is_an_error(plan: bool) -> None:
    with pytest.raises(InputError, match="no query of this workload has two events"):
        draw("RETURN MATCHES PATTERN A+ WITHIN 9 seconds", plan=plan)


EVENTS = [{"type": "ABCDEFGH"[n % 8], "time": n, "v": n * 7 % 10} for n in range(400)]


def test_events_tell_what_to_expect() -> None:
    text = "QUERY q RETURN MATCHES PATTERN SEQ(A, B) WHERE A.v < 5 AND A.v < B.v WITHIN 80 seconds"
    told, assumed = (explain(text, "mpm", events) for events in (EVENTS, None))
    assert "statistics estimated from 400 events" in told
    assert "A[v < 5]: for q; within 80 s; 6.068 expected, 6.107 seen" in told
    assert "B: for q; within 80 s; 10.18 expected, 10.18 seen" in told
    assert "statistics assumed: 10 events of each type" in assumed
    assert any("estimated from 400 events" in one for one in texts(draw(text, EVENTS, plan=True)))


def test_events_of_a_stream_of_places() -> None:
    told = explain("QUERY q RETURN MATCHES PATTERN SEQ(A, B) WITHIN 80 events", "mpm", EVENTS)
    assert "A by place: for q; within 80 events; 10.18 expected" in told


def test_the_selectivity_of_a_condition_is_estimated() -> None:
    values = [n % 2 if n % 20 < 2 else n % 20 for n in range(2000)]
    events = [{"type": "AB"[n % 2], "time": n, "k": value} for n, value in enumerate(values)]
    told = explain("QUERY q RETURN MATCHES PATTERN AND(A, B) WHERE A.k > B.k WITHIN 100 seconds", "mpm", events)
    (line,) = [line for line in told.splitlines() if "AND(A, B)" in line and "expected" in line]
    expected = float(line.rpartition("; ")[2].split()[0].replace(",", ""))
    exact = sum(one > other for one in values[::2] for other in values[1::2]) / 1000**2 * 50**2
    assert expected == pytest.approx(exact, rel=0.05)


def test_events_for_aggregates_are_refused() -> None:
    with pytest.raises(InputError, match="leave them out"):
        explain(COUNT, events=EVENTS)
    with pytest.raises(InputError, match="leave out one"):
        draw(f"{TEXT}; {COUNT}", EVENTS, plan=True)


def test_no_events_tell_nothing() -> None:
    with pytest.raises(InputError, match="no events from which"):
        explain(TEXT, "mpm", [])


def test_the_commands(tmp_path: Path) -> None:
    (tmp_path / "w.elsinore").write_text(TEXT)
    (tmp_path / "e.csv").write_text("kind,at\n" + "".join(f"{one['type']},{one['time']}\n" for one in EVENTS))
    reading = ["--type-column", "kind", "--time-column", "at", "--events", str(tmp_path / "e.csv")]
    command = [str(tmp_path / "w.elsinore"), "--strategy", "mpm"]
    options: dict[str, Any] = {"type_column": "kind", "time_column": "at", "events": str(tmp_path / "e.csv")}
    drawn = CliRunner().invoke(app, ["draw", *command, "--plan", *reading])
    assert drawn.stdout == draw(TEXT, plan=True, strategy="mpm", **options).svg
    assert CliRunner().invoke(app, ["explain", *command, *reading]).stdout == f"{explain(TEXT, 'mpm', **options)}\n"
    assert CliRunner().invoke(app, ["explain", *command]).stdout == f"{explain(TEXT, 'mpm')}\n"
