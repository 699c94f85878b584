"""Shapes of figures, and the page of all of them: what holds, what does not, and what is missing."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from elsinore.bench.command import bench
from elsinore.bench.figure import Figure, swept
from elsinore.bench.figures import FIGURES
from elsinore.bench.hamlet.settings import RIDES
from elsinore.bench.metrics import METRICS, metric
from elsinore.bench.outcomes import Outcome
from elsinore.bench.plots import style
from elsinore.bench.points import Point
from elsinore.bench.replay import Run
from elsinore.bench.shapes import Below, Changes, Check, Growth, Line, Ratio, Stops, Widens
from elsinore.drawing.themes import COLOURS, DARK

XS = (10, 100, 1_000)
VALUES = {
    ("latency", "linear"): (1.0, 10.0, 100.0),
    ("latency", "square"): (1.0, 100.0, 10_000.0),
    ("latency", "stopped"): (2.0, 200.0, None),
    ("latency", "never"): (None, None, None),
}


def lines(name: str, strategy: str) -> list[Line]:
    ys = VALUES[name, strategy]
    return [Line("rate", "Rides", XS, ys, tuple(y is None and strategy == "stopped" for y in ys))]


@pytest.mark.parametrize(
    ("check", "holds", "measured"),
    [
        (Ratio(metric="latency", high="square", low="linear", at_least=100), True, "100 times at 1,000"),
        (Ratio(metric="latency", high="square", low="linear", at_least=101), False, "100 times at 1,000"),
        (Ratio(metric="latency", high="square", low="linear", at="first", at_most=1), True, "1 times at 10"),
        (Ratio(metric="latency", high="stopped", low="linear", at_least=20), True, "20 times at 100"),
        (Ratio(metric="latency", high="never", low="linear", at_least=1), None, "too little was measured"),
        (Ratio(metric="latency", high="square", low="linear", axis="queries"), None, "too little was measured"),
        (Widens(metric="latency", high="stopped", low="linear", at_least=10), True, "from 2 to 20 times"),
        (Widens(metric="latency", high="linear", low="square", at_least=1), False, "from 1 to 0.01 times"),
        (Growth(metric="latency", of="linear", at_most=1.1), True, "power 1 from 10 to 1,000"),
        (Growth(metric="latency", of="square", at_most=1.1), False, "power 2 from 10 to 1,000"),
        (Growth(metric="latency", of="square", at_least=1.9, at_most=2.1), True, "power 2 from 10 to 1,000"),
        (Changes(metric="latency", of="linear", at_most=99), False, "100 times"),
        (Below(metric="latency", of="linear", value=101), True, "at most 100 s"),
        (Below(metric="latency", of="linear", value=100), False, "at most 100 s"),
        (Stops(of="stopped", other="linear"), True, "it finishes at 10, 100"),
        (Stops(of="linear", other="square"), False, "it finishes at 10, 100, 1,000"),
        (Stops(of="never", other="linear"), None, "too little was measured"),
        (Stops(of="linear", other="stopped"), None, "too little was measured"),
    ],
)
def test_a_shape_is_judged_by_the_numbers(check: Check, holds: bool | None, measured: str) -> None:
    verdict = check.judge(lines, str.upper)
    assert (verdict.holds, verdict.measured) == (holds, measured)
    assert re.search(r"LINEAR|SQUARE|STOPPED|NEVER", verdict.claim)


@pytest.mark.parametrize("figure", FIGURES.values(), ids=list(FIGURES))
def test_every_figure_says_what_its_paper_reports_and_how_to_judge_it(figure: Figure) -> None:
    assert figure.section
    assert figure.shape
    assert all(check.paper for check in figure.shape)
    axes = {sweep.axis for sweep in figure.sweeps}
    settings = {sweep.fixed.setting for sweep in figure.sweeps}
    for check in figure.shape:
        assert check.axis is None or check.axis in axes
        assert check.setting is None or check.setting in settings
        named = {getattr(check, name) for name in ("high", "low", "of", "other") if hasattr(check, name)}
        assert named <= set(figure.strategies)
        assert getattr(check, "metric", "latency") in figure.metrics
    assert set(figure.metrics) <= set(METRICS)


def test_values_have_units_that_suit_them() -> None:
    assert [metric("latency").shown(value) for value in (2.5, 0.025, 2.5e-5)] == ["2.5 s", "25 ms", "25 µs"]
    assert metric("memory").shown(4096) == "4 KiB"
    assert metric("throughput").shown(1_234_567) == "1,234,567 events/s"
    assert metric("plan_cost").words == "plan cost"


def test_strategies_that_nobody_has_named_have_colours_of_their_own() -> None:
    figure = Figure("new", "New", ("cogra", "one", "two"), ("latency",), (), True, "")
    assert len({style(figure, strategy) for strategy in figure.strategies}) == 3
    assert len(COLOURS) == len(DARK) == len(set(DARK))


def small(name: str, shape: tuple[Check, ...]) -> Figure:
    sweeps = swept(Run(RIDES.name, "", 0, 2_000, 3), queries=(3, 4))
    return Figure(
        name, f"Paper, {name}", ("cogra", "greta"), ("latency",), sweeps, True, "It is so.", "Section 1", shape
    )


FASTER = Ratio(metric="latency", high="greta", low="cogra", at_least=5, paper="5 to 10 times")
SLOWER = Ratio(metric="latency", high="cogra", low="greta", at_least=5, paper="never")


class Tags(HTMLParser):
    """The addresses that a page loads or links, and whether each tag that needs it is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "path", "use", "rect", "circle", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            assert self.open.pop() == tag


def measured(point: Point, limit: float) -> Outcome:
    return Outcome(point, "measured", {"latency": 0.5 if point.strategy == "cogra" else 4.0})


def test_the_page_shows_what_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, shape in {"good": (FASTER,), "bad": (SLOWER,), "half": (FASTER, SLOWER), "none": ()}.items():
        monkeypatch.setitem(FIGURES, name, small(name, shape))
    monkeypatch.setattr("elsinore.bench.command.outcome", measured)
    *_, path = bench(["good", "bad", "half", "none"], tmp_path, "tiny", shown=False)
    text = path.read_text()
    for name, mark in {"good": "✓", "bad": "✗", "half": "◐", "none": "?"}.items():
        assert f"{mark} {name}</a>" in text
    assert "8 times at 4" in text
    assert "5 to 10 times" in text
    assert "<b>The paper (Section 1):</b> It is so." in text
    assert f"elsinore bench good bad half none --size tiny --out {tmp_path}" in text
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert all(re.fullmatch(r"#[\w-]+|[\w-]+\.(json|csv|png)", one) for one in tags.addresses), tags.addresses
    assert "@import" not in text
    assert "url(http" not in text
    assert "prefers-color-scheme: dark" in text
    assert not re.search(r"(fill|stroke): ?#[0-9a-f]{6}", text.split("</style>")[1]), "a colour that no scheme changes"


def test_a_stopped_run_leaves_what_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("first", "second", "third"):
        monkeypatch.setitem(FIGURES, name, small(name, (FASTER,)))
        sweeps = swept(Run(RIDES.name, "", 0, {"first": 1, "second": 2, "third": 3}[name] * 1_000, 3), queries=(3, 4))
        monkeypatch.setitem(FIGURES, name, Figure(**{**vars(FIGURES[name]), "sweeps": sweeps}))

    def interrupted(point: Point, limit: float) -> Outcome:
        if isinstance(point, Run) and point.rate == 2_000 and point.queries == 4 and point.strategy == "greta":
            raise KeyboardInterrupt
        return measured(point, limit)

    monkeypatch.setattr("elsinore.bench.command.outcome", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(bench(["first", "second", "third"], tmp_path, "full", shown=False))
    text = (tmp_path / "index.html").read_text()
    assert "✓ first</a>" in text
    assert "missing: stopped before it was run" in text
    assert "○ third</a>" in text
    assert "Not measured: the run was stopped before." in text
    assert (tmp_path / "second.json").exists()
    assert not (tmp_path / "third.json").exists()


@pytest.mark.long
def test_figures_of_every_paper_are_measured_for_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure over a small stream, in processes of its own, from the command to the page."""
    monkeypatch.setitem(FIGURES, "real", small("real", (FASTER,)))
    *_, path = bench(["real"], tmp_path, "tiny", shown=False)
    assert "failed" not in path.read_text()
    assert "too little was measured" not in path.read_text()
