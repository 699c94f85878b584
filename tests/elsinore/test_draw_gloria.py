"""Test that drawings of sharing plans are complete, and without overlaps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from elsinore.api import draw
from elsinore.bench.gloria.workloads import mixed, sequences
from elsinore.cli import app
from elsinore.drawing.gloria import MAX_NODES, GloriaPicture, draw_plans
from elsinore.errors import InputError
from elsinore.planner.checks.check import check_text
from elsinore.planner.gloria.optimizers import sharing_plans
from elsinore.planner.gloria.sets import PlannedSet
from elsinore.planner.plans.planning import plan as plan_of
from tests.planner.gloria.workloads import figure_7, planned
from tests.support.drawings import SVG, check_layout, text_of, texts

WORKLOADS = {
    "Figure 7": text_of(["SEQ(F, A, B, C, D)", "SEQ(A, B, C, D)", "SEQ(E, C, D)"]),
    "loops": text_of(["SEQ(X, SEQ(Y, Z)+, W)", "SEQ(X, SEQ(Y, Z)+, W)", "SEQ(X, SEQ(Y, Z)+)", "SEQ(K, L?, M)"]),
    "early ends": text_of(["SEQ(A?, B, C, D?)", "SEQ(A, B, C, D)", "SEQ(B, C, D)"]),
    "long names": text_of([f"SEQ({'Request' * 9}, {'Travel' * 20}, Dropoff)"] * 3),
    "many queries": "; ".join(sequences(60)),
    "mixed": "; ".join(mixed(30, 0.4)),
}


@pytest.mark.parametrize("text", WORKLOADS.values(), ids=WORKLOADS)
def test_nothing_is_on_top_of_anything_else(text: str) -> None:
    for plan in sharing_plans(planned(text))[0]:
        picture = GloriaPicture(plan)
        check_layout(picture.layout, [picture.ends_of(edge) for edge in picture.edges])


@pytest.mark.parametrize("text", WORKLOADS.values(), ids=WORKLOADS)
def test_the_plan_is_in_it_from_start_to_end(text: str) -> None:
    for plan in sharing_plans(planned(text))[0]:
        picture = GloriaPicture(plan)
        chosen = [edge for edge in plan.graph.edges if edge.chosen]
        assert set(chosen) <= set(picture.edges)
        assert {edge.target for edge in chosen if isinstance(edge.target, str)} <= picture.boxes.keys()
        shown = [sum(node.name in picture.boxes for node in pool.nodes) for pool in plan.graph.pools]
        assert all(1 <= count <= MAX_NODES for count in shown)


def test_the_numbers_of_figure_7() -> None:
    drawing = draw_plans([figure_7()], [], [])
    found = texts(drawing)
    assert {"n1", "A -> B", "(q1, q2) A", "q1, q2 apart", "d = 70", "start q3", "end q1, q2, q3"} <= found
    assert "gloria: costs 307, apart 588; the cheapest of all plans" in found
    weights = [edge.text for edge in ET.fromstring(drawing.svg).iter(f"{SVG}text") if edge.get("font-weight") == "bold"]
    assert sorted(text for text in weights if text and text.isdigit()) == ["10", "148", "3", "36", "5", "5", "50", "50"]


def test_queries_that_are_in_no_plan_are_drawn_with_the_reason() -> None:
    found = texts(draw(WORKLOADS["loops"], plan=True))
    assert "q4" in found
    assert any(text.startswith("apart: its pattern can choose") for text in found)


def test_no_plan_at_all_is_a_drawing() -> None:
    assert "q1" in texts(draw(text_of(["SEQ(A, B)"]), plan=True))


def test_names_cannot_break_out() -> None:
    """Test conditions, which contain texts of the user."""
    text = "RETURN COUNT(*) PATTERN SEQ(A, B, C) WHERE A.v = '<script>' WITHIN 9 seconds SLIDE 9 seconds"
    assert "<script" not in draw(f"{text}; {text}", plan=True).svg


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "w.elsinore").write_text(WORKLOADS["Figure 7"])
    (tmp_path / "e.csv").write_text("type,time\nA,1\n")
    command = ["draw", str(tmp_path / "w.elsinore"), "--plan"]
    assert CliRunner().invoke(app, command).stdout == draw(WORKLOADS["Figure 7"], plan=True).svg
    both = CliRunner().invoke(app, [*command, "--events", str(tmp_path / "e.csv")])
    assert both.exit_code == 2
    assert "leave out" in both.stderr


def test_events_and_plan_are_two_drawings() -> None:
    with pytest.raises(InputError, match="leave out one"):
        draw(WORKLOADS["Figure 7"], [{"type": "A", "time": 1}], plan=True)


@pytest.mark.slow
def test_the_same_picture_every_time() -> None:
    code = "import sys; from elsinore.api import draw; sys.stdout.write(draw(sys.argv[1], plan=True).svg)"
    runs = {
        subprocess.run(
            [sys.executable, "-c", code, WORKLOADS["mixed"]],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert runs == {draw(WORKLOADS["mixed"], plan=True).svg}


def test_the_path_is_that_of_the_plan_that_auto_chose() -> None:
    text = text_of(["SEQ(A, B, C, D)", "SEQ(A, B, C, E)"] * 15)
    (found,) = plan_of(check_text(text), "auto").share_sets
    assert isinstance(found, PlannedSet)
    assert draw(text, plan=True).svg == draw_plans([found.plan], [], []).svg
