"""Test the papers' figures: their streams and workloads, time limits, and reports of missing points."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import elsinore
from elsinore.api import prepare
from elsinore.bench.command import bench
from elsinore.bench.figure import Figure, swept
from elsinore.bench.figures import FIGURES
from elsinore.bench.gloria.inserting import Inserting
from elsinore.bench.gloria.planning import MODEL, Planning, planned
from elsinore.bench.gloria.settings import MIXED
from elsinore.bench.gloria.workloads import mixed
from elsinore.bench.hamlet.settings import RIDES, STOCKS
from elsinore.bench.hamlet.streams import FLUCTUATING, PHASE_MS, fluctuating, shared_bursts
from elsinore.bench.hamlet.workloads import SPEEDS, diverse, shared_kleene
from elsinore.bench.outcomes import Outcome, outcome
from elsinore.bench.points import ENOUGH_SECONDS, MANY, RUNS, SHORT_SECONDS, Point, repeated
from elsinore.bench.replay import WARM_QUERIES, Run
from elsinore.bench.setting import Setting
from elsinore.bench.settings import SETTINGS
from elsinore.bench.sizes import FULL, SIZES, SMALL, TINY
from elsinore.cli import app
from elsinore.cluster.run.local import LocalRun
from elsinore.planner.gloria.optimizers import sharing_plans
from tests.support.generated import FAST, FEWER

SWEEPS = swept(Run(RIDES.name, "", 0, 2_000, 3), queries=(3, 4))
FIGURE = Figure("small", "Small", ("cogra", "auto"), ("latency", "memory"), SWEEPS, True, "The paper says so.")
PLANNING = Planning("Mixed", "gloria", 30, percent=50)


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
    phase = table["time"].to_numpy() // PHASE_MS % len(FLUCTUATING)
    speeds = [table["speed"].to_numpy()[phase == number] for number in range(len(FLUCTUATING))]
    below = np.array([[np.mean(found < speed) for speed in SPEEDS] for found in speeds])
    assert np.count_nonzero((below == 1).all(axis=1)) == 5
    assert np.count_nonzero((below == 0).all(axis=1)) == 3
    assert np.count_nonzero(((below > 0) & (below < 1)).all(axis=1)) == 2


def test_workloads_have_as_much_kleene_as_is_asked_for() -> None:
    for percent, loops in ((0, 0), (100 / 7, 6), (60, 24), (100, 40)):
        texts = mixed(40, percent / 100)
        assert sum("+" in text for text in texts) == loops
        assert sum(text.count("+") == 2 for text in texts) == loops // 2


@pytest.mark.parametrize("length", [2, 10])
def test_kleene_sub_patterns_are_of_the_length_that_is_asked_for(length: int) -> None:
    flat = [text for text in mixed(20, 1, length) if text.count("+") == 1]
    assert len(flat) == 10
    assert {text.split(")+")[0].rsplit("SEQ(", 1)[1].count(",") for text in flat} == {length - 1}


@pytest.mark.parametrize("name", ["gloria-fig12", "gloria-fig14"])
def test_nearly_all_queries_of_a_figure_of_optimizers_have_something_to_share(name: str) -> None:
    for point in FIGURES[name].points(SMALL):
        assert isinstance(point, Planning)
        if point.strategy == "gloria-greedy":
            queries = planned(mixed(point.queries, point.percent / 100, point.length))
            made, apart = sharing_plans(queries, MODEL, point.strategy)
            assert sum(len(one.template.routes) for one in made) + len(apart) == point.queries
            assert len(apart) <= 0.05 * point.queries
            assert {why.split(",")[0] for _, why in apart} <= {"no other query has one of its transitions"}


@pytest.mark.slow
def test_a_planning_is_measured() -> None:
    """Test in a separate process that an optimizer that prunes more has a smaller graph."""
    found = [outcome(replace(PLANNING, strategy=name), limit=60) for name in FIGURES["gloria-fig13"].strategies]
    assert [one.status for one in found] == ["measured"] * 3
    gloria, unpruned, greedy = (one.metrics for one in found)
    assert unpruned["nodes"] > gloria["nodes"] > greedy["nodes"]
    assert gloria["cost"] <= greedy["cost"] < greedy["apart"] == gloria["apart"]
    assert all(0 < one["optimization_time"] < 10 and "memory" not in one for one in (gloria, unpruned, greedy))


@pytest.mark.slow
def test_memory_of_an_optimizer_is_measured_apart() -> None:
    tracing = replace(PLANNING, metric="memory")
    unpruned, greedy = (replace(tracing, strategy=name).measured() for name in ("gloria-noprune", "gloria-greedy"))
    assert unpruned["memory"] > greedy["memory"] > 10_000
    assert "optimization_time" not in unpruned


def test_a_long_run_is_not_repeated_and_a_short_one_often() -> None:
    for spent, runs in ((ENOUGH_SECONDS / 2, RUNS), (ENOUGH_SECONDS, 1), (SHORT_SECONDS / 8, 8), (0, MANY)):
        assert repeated(partial(dict, spent=spent), "spent") == [{"spent": spent}] * runs


def test_smaller_sizes_take_fewer_values_of_an_axis_and_a_part_of_a_stream() -> None:
    (sweep,) = swept(Run(STOCKS.name, "", 50, 3_000, STOCKS.minutes), rate=(1, 2, 3, 4, 5))
    assert list(sweep.points("auto", SMALL)) == [Run(STOCKS.name, "auto", 50, rate, 20) for rate in (1, 3, 5)]
    assert list(sweep.points("auto", TINY)) == [Run(STOCKS.name, "auto", 50, rate, 6) for rate in (1, 5)]
    assert list(sweep.points("auto", FULL)) == [Run(STOCKS.name, "auto", 50, rate, 60) for rate in range(1, 6)]
    (sweep,) = swept(PLANNING, percent=(10, 20, 60))
    assert list(sweep.points("gloria", TINY)) == [replace(PLANNING, percent=percent) for percent in (10, 60)]


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param(setting, id=name, marks=() if name == RIDES.name else pytest.mark.slow)
        for name, setting in SETTINGS.items()
    ],
)
def test_a_setting_is_measured(setting: Setting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elsinore.bench.points.SHORT_SECONDS", 0)
    metrics = Run(setting.name, "cogra", 20, 2_000 if FAST else 10_000, 2 * setting.pane).measured()
    assert metrics["rows"] > 0
    assert 0 < metrics["latency"] < 10
    assert metrics["throughput"] > 1_000
    if sys.platform == "linux":
        assert metrics["memory"] >= 0


@pytest.mark.slow
def test_the_insertion_of_values_is_measured() -> None:
    found = Inserting(MIXED.name, "gloria", 30, 2_000, 10).measured()
    assert 0 < found["insertion_time"] * found["panes"] < found["sharing_time"] < found["spent"]
    assert found["snapshots"] > 100
    assert Inserting.remark([found]).startswith("insertion is ")


def test_values_that_are_inserted_more_often_are_the_same() -> None:
    point = Inserting(MIXED.name, "gloria", 30, 2_000, 10)
    workload, events = point.workload, point.events()

    def rows(insertions: int) -> list[dict[str, Any]]:
        job = prepare(workload, events, engine="local", strategy="gloria", numeric="exact", lateness=0, time_unit="ms")
        assert isinstance(job.run, LocalRun)
        replace(point, insertions=insertions).begun(job.run)
        found = [zip(one.window_start.tolist(), one.values["COUNT(*)"], strict=True) for one in job.run]
        return [dict(one) for one in found]

    assert rows(1) == rows(3) != []


def test_a_point_that_takes_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy the machine is: it may wait as long as it likes for one second of processor time."""
    monkeypatch.setattr("elsinore.bench.outcomes.BUSY", 1_000)
    slow = replace(PLANNING, strategy="gloria-noprune", queries=2_000)
    stopped = outcome(slow, limit=1)
    assert (stopped.status, stopped.why) == ("timeout", "stopped after 1 seconds of processor time")


def test_a_point_that_waits_too_long_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elsinore.bench.outcomes.BUSY", 0.001)
    slow = replace(PLANNING, strategy="gloria-noprune", queries=2_000)
    stopped = outcome(slow, limit=300)
    assert (stopped.status, stopped.why) == ("timeout", "stopped after 0.3 seconds")


@pytest.mark.parametrize("point", [Run(RIDES.name, "no such", 2, 1_000, 1), replace(PLANNING, strategy="no such")])
def test_a_point_that_fails_says_why(point: Point) -> None:
    failed = outcome(point, limit=60)
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
    image, data, table, *panels, page = bench(["small", "small"], tmp_path / "out", "full", shown=False)
    assert image.read_bytes().startswith(b"\x89PNG")
    document = json.loads(data.read_text())
    assert [point["status"] for point in document["points"]] == ["measured", "measured", "measured", "refused"]
    assert document["points"][3]["why"] == "too many trends"
    assert document["paper"] == "The paper says so."
    compared = "The latency of auto is 10 to 10 times that of COGRA; the memory of auto is 1 to 1 times that of COGRA."
    assert compared in document["here"]
    assert "COGRA: 100% to 100% of bursts shared, 10 to 10 snapshots, decisions at most 0.1% of the" in document["here"]
    assert "auto: refused (too many trends) at 1 of 2 points." in document["here"]
    assert {"latency", "throughput", "memory"} < set(document["definitions"])
    assert [row["why"] for row in csv.DictReader(table.open())] == ["", "", "", "too many trends"]
    assert [path.name for path in panels] == ["small-a.svg", "small-b.svg"]
    assert "var(--c5)" in panels[0].read_text()
    assert page.name == "index.html"


def test_a_figure_of_optimizers_says_what_their_plans_are_worth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made_up(point: Point, limit: float) -> Outcome:
        assert limit == Planning.limit
        worse = {"gloria": 1, "gloria-noprune": 4, "gloria-greedy": 0.1}[point.strategy]
        worth = {"cost": 10.0 * point.queries, "apart": 1_000.0, "nodes": round(100 * worse)}
        return Outcome(point, "measured", {"optimization_time": 0.25 * worse} | worth)

    monkeypatch.setattr("elsinore.bench.command.outcome", made_up)
    _, data, *_ = bench(["gloria-fig11"], tmp_path, "full", shown=False)
    document = json.loads(data.read_text())
    assert document["here"].startswith(
        "GLORIA optimization time 250 ms to 250 ms. The optimization time of NoPrune is 4 to 4 times that of GLORIA. "
        "The optimization time of Greedy is 0.1 to 0.1 times that of GLORIA. "
    )
    worth = "plans cost 40% to 200% of running all queries apart, graphs have 400 to 400 nodes."
    assert f"NoPrune: {worth}" in document["here"]
    assert {point["queries"] for point in document["points"]} == {40, 80, 120, 160, 200}
    assert {"optimization_time", "memory", "cost", "apart", "nodes", "templates"} < set(document["definitions"])
    assert list(document["settings"]) == ["SEQ"]


@pytest.mark.parametrize("step", [FEWER, pytest.param(1, marks=pytest.mark.long)])
def test_figures_can_be_drawn_with_nothing_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    monkeypatch.setattr("elsinore.bench.command.outcome", late)
    names = list(FIGURES)[::step]
    paths = list(bench(names if step > 1 else ["all"], tmp_path, "tiny", shown=False))
    assert [path.name for path in paths if path.suffix == ".json"] == [f"{name}.json" for name in names]
    assert paths[-1].name == "index.html"


def test_a_point_of_several_figures_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Point] = []

    def once(point: Point, limit: float) -> Outcome:
        seen.append(point)
        return late(point, limit)

    monkeypatch.setattr("elsinore.bench.command.outcome", once)
    list(bench(["hamlet-fig8", "hamlet-fig9"], tmp_path, "full", shown=False))
    first = {point for point in seen if point.queries == WARM_QUERIES}
    assert len(first) == len(FIGURES["hamlet-fig8"].strategies)
    assert sorted(map(str, set(seen) - first)) == sorted(map(str, set(FIGURES["hamlet-fig8"].points(FULL))))
    assert len(seen) == len(set(seen))


def test_an_unknown_figure_is_bad_input() -> None:
    done = CliRunner().invoke(app, ["bench", "hamlet-fig7"])
    assert done.exit_code == 2
    assert f"there is no figure 'hamlet-fig7'; there is all, {', '.join(FIGURES)}" in " ".join(done.stderr.split())
    assert {f"hamlet-fig{number}" for number in range(8, 13)} < set(FIGURES)
    assert {f"gloria-fig{number}" for number in range(11, 20)} < set(FIGURES)
    assert {f"aseq-fig{number}" for number in range(12, 17)} < set(FIGURES)
    assert {f"cogra-fig{number}" for number in range(5, 14)} < set(FIGURES)


def test_an_unknown_size_is_bad_input(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["bench", "hamlet-fig8", "--size", "huge", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert f"there is no size 'huge'; there is {', '.join(SIZES)}" in " ".join(done.stderr.split())
