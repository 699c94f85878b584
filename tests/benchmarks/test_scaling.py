"""The simulation of a cluster, against costs that can be added up by hand."""

from __future__ import annotations

import math
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.scaling.__main__ import main
from benchmarks.scaling.model import Capacities, Cluster, Stream
from benchmarks.scaling.simulation import limits, parts_of, simulate

FREE = Capacities(
    **{one.name: "" if one.type == "str" else 0.0 for one in fields(Capacities)}  # type: ignore[arg-type]
)


def with_cost(name: str) -> Capacities:
    given: dict[str, Any] = {name: 1000.0}
    return replace(FREE, **given)


CLUSTER = Cluster(nodes=10, actors=4, spark_cores=2, dealer_cores=1, network_bytes=1e9)
STREAM = Stream(events_per_second=1e6, batch_seconds=2.0, skew=1.0)


def test_parts_that_cost_nothing_keep_up_with_any_stream() -> None:
    outcome = simulate(FREE, CLUSTER, STREAM)
    assert outcome.keeps_up
    assert set(outcome.load.values()) == set(outcome.latencies) == {0.0}


@pytest.mark.parametrize(
    ("cost", "part", "seconds"),
    [
        ("spark_event_ns", "Spark executor", 200_000 * 1000e-9 / 2),
        ("spark_block_us", "Spark driver", 20 * 1000e-6),
        ("dealer_event_ns", "dealer", 200_000 * 1000e-9),
        ("dealer_object_us", "dealer", 2 * 40 * 1000e-6),
        ("actor_event_ns", "graph actor", 50_000 * 1000e-9),
        ("actor_batch_us", "graph actor", 1000e-6),
        ("driver_call_us", "driver", 40 * 1000e-6),
        ("collector_answer_us", "collector", 40 * 1000e-6),
    ],
)
def test_a_batch_keeps_a_part_busy_for_its_share_of_the_events(cost: str, part: str, seconds: float) -> None:
    outcome = simulate(with_cost(cost), CLUSTER, STREAM)
    busy = {name: load * STREAM.batch_seconds for name, load in outcome.load.items() if load}
    assert busy == {part: pytest.approx(seconds)}
    assert outcome.latencies[-1] == pytest.approx(seconds)


def test_costs_of_rows_bursts_and_bytes_are_those_of_all_events() -> None:
    some = replace(FREE, rows_per_event=0.1, bursts_per_event=0.2, questions_per_batch=3.0, event_bytes=50.0)
    busy = {
        one.name: one.seconds
        for one in parts_of(
            replace(some, collector_row_us=1.0, optimizer_burst_ns=10.0, optimizer_question_us=5.0), CLUSTER, STREAM
        )
    }
    assert busy["collector"] == pytest.approx(0.2)
    assert busy["optimizer actor"] == pytest.approx(400_000 * 10e-9 + 40 * 3 * 5e-6)
    assert busy["network"] == pytest.approx(200_000 * 50 * 0.9 / 1e9)


def test_a_part_that_takes_longer_than_a_batch_falls_behind_more_with_each() -> None:
    slow = replace(FREE, actor_event_ns=44_000.0)
    outcome = simulate(slow, CLUSTER, STREAM, batches=5)
    assert not outcome.keeps_up
    assert outcome.busiest.name == "graph actor"
    assert outcome.latencies == pytest.approx([2.2, 2.4, 2.6, 2.8, 3.0])


def test_a_part_saturates_at_the_rate_that_fills_its_batches() -> None:
    slow = replace(FREE, actor_event_ns=1000.0, driver_call_us=10.0)
    assert limits(slow, CLUSTER, STREAM)["graph actor"] == pytest.approx(40e6)
    assert limits(slow, replace(CLUSTER, nodes=20), STREAM)["graph actor"] == pytest.approx(80e6)
    assert limits(slow, CLUSTER, STREAM)["driver"] == math.inf, "its calls do not depend on events"
    assert limits(replace(slow, driver_call_us=1e6), CLUSTER, STREAM)["driver"] == 0


def test_what_was_measured_is_simulated_from_the_command_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    measured = tmp_path / "capacities.json"
    replace(FREE, actor_event_ns=2000.0).write(measured)
    main(["simulate", "--capacities", str(measured), "--nodes", "3", "--actors", "2", "--events-per-second", "1e5"])
    told = capsys.readouterr().out
    assert "0.1 M events/s on 3 nodes with 2 graph actors each: keeps up" in told
    assert all(part.name in told for part in parts_of(FREE, CLUSTER, STREAM))
    assert "sustained: 2.7 M events/s" in told
