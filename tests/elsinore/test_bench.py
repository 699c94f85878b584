"""Figures of the papers: streams and workloads are what they should be, points end in time, nothing is hidden."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import elsinore
from elsinore.bench import settings
from elsinore.bench.captions import LABELS
from elsinore.bench.command import FEW, bench
from elsinore.bench.figures import FIGURES, Figure, Sweep
from elsinore.bench.outcomes import Outcome, outcome
from elsinore.bench.plots import STYLES
from elsinore.bench.replay import measured
from elsinore.bench.settings import RIDES, SETTINGS, STOCKS, Point
from elsinore.bench.streams import FLUCTUATING, PHASE, fluctuating, shared_bursts
from elsinore.bench.workloads import SPEEDS, diverse, shared_kleene
from elsinore.cli import app

SMALL = Sweep(RIDES, "queries", (3, 4), 2_000)
FIGURE = Figure("small", "Small", ("cogra", "auto"), ("latency", "memory"), (SMALL,), True, "The paper says so.")


@pytest.mark.parametrize("workload", [lambda queries: shared_kleene(queries, "WITHIN 1 hour"), diverse])
def test_workloads_are_of_distinct_queries_that_pass_all_checks(workload: Callable[[int], str]) -> None:
    for queries in (1, 100):
        text = workload(queries)
        elsinore.check(text)
        assert len({query.split("RETURN")[1] for query in text.split("QUERY")[1:]}) == queries
        assert all("Travel T+" in query for query in text.split("QUERY")[1:])


def test_events_come_in_bursts() -> None:
    frame = pl.DataFrame(pl.from_arrow(shared_bursts(200_000, 20_000, partitions=4, burst=120)))
    runs = frame.sort("partition", maintain_order=True).group_by(pl.struct("partition", "type").rle_id()).agg(
        pl.col("type").first().cast(pl.String), pl.len()
    )  # fmt: skip
    assert runs.filter(pl.col("type") == "Travel")["len"].mean() == pytest.approx(120, rel=0.1)
    assert frame["time"].is_sorted()
    assert frame["type"].n_unique() == 20


def test_a_stream_fluctuates_between_all_none_and_some() -> None:
    table = fluctuating(200_000, 4_000, partitions=4)
    phase = table["time"].to_numpy() // PHASE % len(FLUCTUATING)
    speeds = [table["speed"].to_numpy()[phase == number] for number in range(len(FLUCTUATING))]
    below = np.array([[np.mean(found < speed) for speed in SPEEDS] for found in speeds])
    assert np.count_nonzero((below == 1).all(axis=1)) == 5
    assert np.count_nonzero((below == 0).all(axis=1)) == 3
    assert np.count_nonzero(((below > 0) & (below < 1)).all(axis=1)) == 2


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=list(SETTINGS))
def test_a_setting_is_measured(setting: settings.Setting) -> None:
    metrics = measured(Point(setting.name, "cogra", 1_000, 2, 2 * setting.pane))
    assert metrics["rows"] > 0
    assert 0 < metrics["latency"] < 10
    assert metrics["throughput"] > 1_000
    if sys.platform == "linux":
        assert metrics["memory"] >= 0


def test_a_point_that_takes_too_long_says_so() -> None:
    stopped = outcome(Point(STOCKS.name, "cogra", 1_000, 2, 5), limit=0.05)
    assert (stopped.status, stopped.why) == ("timeout", "stopped after 0.05 seconds")


def test_a_point_that_fails_says_why() -> None:
    failed = outcome(Point(RIDES.name, "no such", 1_000, 2, 1), limit=60)
    assert failed.status == "failed"
    assert "'no such'" in failed.why


def late(point: Point, limit: float) -> Outcome:
    return Outcome(point, "timeout", why="late")


def test_a_figure_shows_who_did_not_come_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def made_up(point: Point, limit: float) -> Outcome:
        if point.strategy == "auto" and point.queries == 4:
            return Outcome(point, "refused", why="too many trends")
        better = 10 if point.strategy == "cogra" else 1
        decided = {"bursts": 10, "shared_bursts": better, "snapshots": 10, "decision_seconds": 0.1, "spent": 100}
        return Outcome(point, "measured", {"latency": 0.5 / better, "throughput": 10.0, "memory": 4096} | decided)

    monkeypatch.setitem(FIGURES, "small", FIGURE)
    monkeypatch.setattr("elsinore.bench.command.outcome", made_up)
    for strategy, label in (("cogra", "COGRA"), ("auto", "AUTO")):
        monkeypatch.setitem(LABELS, strategy, label)
        monkeypatch.setitem(STYLES, strategy, ("black", "o"))
    image, data = bench(["small", "small"], tmp_path / "out", quick=False, shown=False)
    assert image.read_bytes().startswith(b"\x89PNG")
    said = json.loads(data.read_text())
    assert [point["status"] for point in said["points"]] == ["measured", "measured", "measured", "refused"]
    assert said["points"][3]["why"] == "too many trends"
    assert said["paper"] == "The paper says so."
    compared = "The latency of AUTO is 10 to 10 times that of COGRA; the memory of AUTO is 1 to 1 times that of COGRA."
    assert compared in said["here"]
    assert "COGRA: 100% to 100% of bursts shared, 10 to 10 snapshots, decisions at most 0.1% of the" in said["here"]
    assert "AUTO: refused (too many trends) at 1 of 2 points." in said["here"]
    assert {"latency", "throughput", "memory"} < set(said["definitions"])


def test_every_figure_can_be_drawn_with_nothing_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elsinore.bench.command.outcome", late)
    paths = list(bench(list(FIGURES), tmp_path, quick=True, shown=False))
    assert [path.name for path in paths] == [f"{name}.{end}" for name in FIGURES for end in ("png", "json")]


def test_a_point_of_several_figures_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Point] = []

    def once(point: Point, limit: float) -> Outcome:
        seen.append(point)
        return late(point, limit)

    monkeypatch.setattr("elsinore.bench.command.outcome", once)
    list(bench(["hamlet-fig8", "hamlet-fig9"], tmp_path, quick=False, shown=False))
    first = {point for point in seen if point.queries == FEW}
    assert len(first) == len(FIGURES["hamlet-fig8"].strategies)
    assert sorted(map(str, set(seen) - first)) == sorted(map(str, set(FIGURES["hamlet-fig8"].points(quick=False))))
    assert len(seen) == len(set(seen))


def test_an_unknown_figure_is_bad_input() -> None:
    done = CliRunner().invoke(app, ["bench", "hamlet-fig7"])
    assert done.exit_code == 2
    assert "there is no figure 'hamlet-fig7'; there is hamlet-fig8, " in done.stderr
