"""Test that drawings are well-formed, complete, and without overlaps."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner

from elsinore.api import draw
from elsinore.cli import app
from elsinore.drawing.graph import PartitionPicture, active, columns, draw_graph
from elsinore.drawing.ranks import ranks
from elsinore.drawing.template import TemplatePicture
from elsinore.drawing.words import brief, brief_of
from elsinore.drawing.workload import draw_plan
from elsinore.errors import InputError
from elsinore.planner.checks.check import check_text
from elsinore.planner.hamlet.graph_record import DrawnEvent, DrawnGraphlet, DrawnSnapshot, GraphRecord
from elsinore.planner.hamlet.template import Template, template
from elsinore.planner.plans.planning import plan
from tests.support.drawings import SVG, check_layout, text_of, texts
from tests.support.one_workload import WORKLOAD

BOTH = ("q1", "q2")
WORKLOADS = {
    "Figure 3": ["SEQ(A, B+)", "SEQ(C, B+)"],
    "Figure 1": ["SEQ(R, T+, NOT P)", "SEQ(R, T+, D)", "SEQ(R, T+, C)"],
    "one type": ["A+"],
    "loops": ["(SEQ(A, B+, NOT X, C?))+", "SEQ(NOT S, A, NOT A, B, C+, D)", "SEQ(D, B+, SEQ(A|E, F)+, NOT SEQ(Y+, Z))"],
    "against each other": ["SEQ(A, B+, C)", "SEQ(C, B+, A)", "SEQ(B, A, C+)"],
    "all of all": ["(A|B|C|D|E|F|G|H|I|J|K|L)+"],
    "many queries": [f"SEQ(T{number % 5}, Travel+, T{5 + number % 6})" for number in range(60)],
    "long names": [f"SEQ({'Request' * 9}{number}, {'Travel' * 20}+, Dropoff*, Rate)" for number in range(4)],
}


def merged(patterns: list[str]) -> Template:
    queries = plan(check_text(text_of(patterns)), "cogra").queries
    return template(
        {query.query.name: [whole for counter in query.counters for whole in counter.automata] for query in queries}
    )


@pytest.mark.parametrize("patterns", WORKLOADS.values(), ids=WORKLOADS)
def test_nothing_in_a_template_is_on_top_of_anything_else(patterns: list[str]) -> None:
    picture = TemplatePicture(merged(patterns))
    check_layout(picture.layout, [(arrow.before, arrow.after) for arrow in picture.arrows])


@pytest.mark.parametrize("patterns", WORKLOADS.values(), ids=WORKLOADS)
def test_every_type_and_every_set_of_queries_is_in_it(patterns: list[str]) -> None:
    drawing = draw(text_of(patterns))
    found = texts(drawing)
    planned = plan(check_text(text_of(patterns)))
    for query in planned.queries:
        assert query.query.types <= found
    if len(planned.share_sets) == 1 and not planned.reasons:
        for (before, after), queries in merged(patterns).transitions.items():
            assert f"{before} -> {after}: {', '.join(queries)}" in found


def test_the_signs_of_figure_3() -> None:
    root = ET.fromstring(draw(text_of(WORKLOADS["Figure 3"])).svg)
    kinds = {
        group.findtext(f"{SVG}title"): [
            (box.get("fill"), box.get("stroke-dasharray")) for box in group.iter(f"{SVG}rect")
        ]
        for group in root.iter(f"{SVG}g")
        if group.findtext(f"{SVG}title") in ("A", "B", "C")
    }
    single, double_and_gray = [("#ffffff", None)], [("#d9d9d9", None), ("none", None)]
    assert kinds == {"A": single, "B": double_and_gray, "C": single}
    assert {"q1", "q2", "q1, q2"} <= texts(draw(text_of(WORKLOADS["Figure 3"])))


def test_a_negated_type_is_dashed() -> None:
    assert draw(text_of(["SEQ(A, B)"])).svg.count("dasharray") == 0
    assert draw(text_of(["SEQ(A, NOT X, B)"])).svg.count("dasharray") == 3


def test_a_drawing_for_each_share_set_and_for_each_query_apart() -> None:
    text = text_of(["SEQ(A, B+)", "SEQ(C, D)", "SEQ(C, B+)"])
    for strategy in ("auto", "hamlet"):
        made = plan(check_text(text), strategy)
        found = texts(draw_plan(made))
        assert {"share set 1: q1, q3", "may share B+", "q2"} <= found
        assert [query for query, _ in made.reasons] == ["q2"]
        assert {f"apart: {reason}" for _, reason in made.reasons} <= found
    assert draw(text).svg == draw_plan(plan(check_text(text), "auto")).svg


def test_patterns_read_from_left_to_right() -> None:
    assert ranks("ABC", [("A", "B"), ("B", "C"), ("A", "C"), ("C", "A"), ("B", "B")]) == {"A": 0, "B": 1, "C": 2}
    assert ranks("ABCX", [("A", "B"), ("B", "C"), ("X", "C")])["X"] == 1
    assert ranks("A", []) == {"A": 0}


def test_many_queries_in_the_room_that_there_is() -> None:
    assert brief([f"q{number}" for number in range(1, 51)]) == "q1-q50"
    assert brief(["q1", "q3", *(f"r{number}" for number in range(0, 24, 2))], 8) == "q1, q3 +12"
    assert brief(["a" * 99, "b"], 10) == f"{'a' * 9}… +1"
    assert brief_of(["a" * 20, "b" * 20], BOTH) == "both queries"
    assert brief_of(["a" * 20, "b" * 20], ("1", "2", "3")) == f"{'a' * 20} +1"


# HAMLET graphs


def events(names: str, *expressions: str, start: int) -> tuple[DrawnEvent, ...]:
    pairs = zip(names.split(), expressions, strict=True)
    return tuple(DrawnEvent(name, str(time), expression) for time, (name, expression) in enumerate(pairs, start))


def graphlet(
    name: str,
    queries: tuple[str, ...],
    taken: tuple[DrawnEvent, ...],
    *snapshots: str,
    partition: str = "",
    pane: int = 0,
) -> DrawnGraphlet:
    return DrawnGraphlet(name, name[0], queries, len(queries) > 1, partition, pane, taken, snapshots)


def figure_5(event_level: bool) -> GraphRecord:
    """Return the graph of Figure 5 (b) with Table 4, or (c) with Table 5."""
    z = DrawnSnapshot("z", "event", "B3", (("q1", "8"), ("q2", "2")), ("x",))
    last, y = (("z", "4x + z"), "15") if event_level else (("4x", "8x"), "19")
    graphlets = (
        graphlet("A1", ("q1",), events("a1 a2", "1", "1", start=1)),
        graphlet("C2", ("q2",), events("c1", "1", start=3)),
        graphlet("B3", BOTH, events("b3 b4 b5 b6", "x", "2x", *last, start=4), *("xz" if event_level else "x")),
        graphlet("A4", ("q1",), events("a3 a4", "1", "1", start=8)),
        graphlet("C5", ("q2",), events("c2 c3 c4", "1", "1", "1", start=10)),
        graphlet("B6", BOTH, events("b7 b8", "y", "2y", start=13), "y"),
    )
    x = DrawnSnapshot("x", "graphlet", "B3", (("q1", "2"), ("q2", "1")), ("A1", "C2"))
    last_one = DrawnSnapshot("y", "graphlet", "B6", (("q1", "34"), ("q2", y)), ("x", "B3", "A4", "C5"))
    return GraphRecord(graphlets, (x, z, last_one) if event_level else (x, last_one))


@pytest.mark.parametrize("event_level", [False, True], ids=["b", "c"])
def test_figure_5(event_level: bool) -> None:
    record = figure_5(event_level)
    found = texts(draw_graph(record))
    assert {one.name for one in record.graphlets} <= found
    for one in record.graphlets:
        assert {part for event in one.events for part in (event.name, event.expression)} <= found
    assert {"x", "y", "34", "15" if event_level else "19", "shared by q1, q2, inactive"} <= found
    assert {"x -> B3", "A1 -> x", "C2 -> x", "x -> y", "B3 -> y", "A4 -> y", "C5 -> y", "y -> B6"} <= found
    assert ("z = count(b5)" in found) == event_level
    picture = PartitionPicture(record.graphlets, record.snapshots)
    check_layout(picture.layout, picture.edges)


def test_shared_graphlets_are_gray() -> None:
    root = ET.fromstring(draw_graph(figure_5(True)).svg)
    gray = {
        group.findtext(f"{SVG}text")
        for group in root.iter(f"{SVG}g")
        if (box := group.find(f"{SVG}rect")) is not None and box.get("fill") == "#d9d9d9"
    }
    assert gray == {"B3", "B6"}


def test_graphlets_of_different_queries_may_be_active_at_the_same_time() -> None:
    graphlets = figure_5(False).graphlets
    assert columns(graphlets) == {"A1": 0, "C2": 0, "B3": 1, "A4": 2, "C5": 2, "B6": 3}
    assert active(graphlets) == {"B6"}
    assert active(graphlets[:-1]) == {"A4", "C5"}


def test_panes_are_one_behind_the_other() -> None:
    graphlets = (
        graphlet("A1", ("q1",), events("a1", "1", start=1), pane=3),
        graphlet("A2", ("q1",), events("a2", "2", start=2), pane=3),
        graphlet("C3", ("q2",), events("c1", "1", start=9), pane=5),
    )
    assert columns(graphlets) == {"A1": 0, "A2": 1, "C3": 2}
    assert {"pane 3", "pane 5"} <= texts(draw_graph(GraphRecord(graphlets, ())))


def test_a_long_graph_of_several_partitions() -> None:
    many = tuple(f"q{number}" for number in range(50))
    graphlets, snapshots = [], []
    for pane in range(4):
        for partition in ("west", "east"):
            name = f"B{pane}{partition}"
            taken = events(
                " ".join(f"b{number}" for number in range(13)), *("x" * number for number in range(13)), start=pane
            )
            graphlets.append(graphlet(name, many, taken, f"x{name}", partition=partition, pane=pane))
            graphlets.append(graphlet(f"A{name}", ("q1",), taken[:1], partition=partition, pane=pane))
            graphlets.append(graphlet(f"C{name}", ("q2",), taken[:1], partition=partition, pane=pane))
            values = tuple((query, str(2**200 * place)) for place, query in enumerate(many))
            before = (f"AB{pane - 1}{partition}", f"xB{pane - 1}{partition}") if pane else ()
            snapshots.append(DrawnSnapshot(f"x{name}", "graphlet", name, values, before))
            snapshots += [DrawnSnapshot(f"{z}{name}", "event", name, values[:9]) for z in "uvw"]
    record = GraphRecord(tuple(graphlets), tuple(snapshots))
    found = texts(draw_graph(record))
    assert {"partition west", "partition east", "+42 values", "b12"} <= found
    for partition in ("west", "east"):
        own = [one for one in graphlets if one.partition == partition]
        picture = PartitionPicture(own, snapshots)
        check_layout(picture.layout, picture.edges)


def test_no_graph_at_all_is_a_drawing() -> None:
    assert texts(draw_graph(GraphRecord((), ())))


HOSTILE = '</text><script>alert("1")</script>&amp;\x00\ud800'


def test_hostile_names_are_texts_and_nothing_else() -> None:
    name = "A" + HOSTILE
    one = graphlet(name, (HOSTILE, "q2"), (DrawnEvent(HOSTILE, HOSTILE, HOSTILE),), HOSTILE, partition=HOSTILE)
    snapshot = DrawnSnapshot(HOSTILE, "graphlet", name, ((HOSTILE, HOSTILE),))
    drawing = draw_graph(GraphRecord((one,), (snapshot,)))
    assert "<script" not in drawing.svg
    assert drawing.svg.encode()
    seen = HOSTILE.replace("\x00", "\ufffd").replace("\ud800", "\ufffd")
    assert f"{seen} at {seen}: {seen}" in texts(drawing)


# The public functions


def test_a_drawing_is_shown_and_saved(tmp_path: Path) -> None:
    drawing = draw(WORKLOAD)
    assert drawing._repr_svg_() == drawing.svg
    drawing.save(tmp_path / "rides.svg")
    assert (tmp_path / "rides.svg").read_text(encoding="utf-8") == drawing.svg
    for name, message in (("rides.png", r"must end in \.svg"), ("none/rides.svg", "cannot be written")):
        with pytest.raises(InputError, match=message):
            drawing.save(tmp_path / name)


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "rides.elsinore").write_text(WORKLOAD)
    drawing = draw(WORKLOAD)
    command = ["draw", str(tmp_path / "rides.elsinore")]
    assert CliRunner().invoke(app, command).stdout == drawing.svg
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "rides.svg")])
    assert (done.exit_code, done.stdout) == (0, "")
    assert (tmp_path / "rides.svg").read_text(encoding="utf-8") == drawing.svg
    assert CliRunner().invoke(app, [*command, "--out", str(tmp_path / "rides.doc")]).exit_code == 2


def test_the_same_picture_every_time() -> None:
    code = "import sys; from elsinore.api import draw; sys.stdout.write(draw(sys.argv[1]).svg)"
    text = text_of(WORKLOADS["loops"])
    runs = {
        subprocess.run(
            [sys.executable, "-c", code, text], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert runs == {draw(text).svg}
