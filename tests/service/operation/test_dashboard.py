"""The dashboard queries exactly the metrics that the service exports."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from elsinore.cluster.service.metrics import COUNTERS, GAUGES

FILE = Path(__file__).parents[3] / "deploy" / "grafana-dashboard.json"
DASHBOARD: dict[str, Any] = json.loads(FILE.read_text())
DEFINED = {f"ray_elsinore_{name}_total" for name in COUNTERS} | {f"ray_elsinore_{name}" for name in GAUGES}


def charts() -> list[dict[str, Any]]:
    return [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]


def test_it_queries_what_there_is_and_all_of_it() -> None:
    queried = set(re.findall(r"\bray_\w+", FILE.read_text()))
    assert queried == DEFINED


def test_every_query_is_of_the_workloads_that_were_chosen() -> None:
    for panel in charts():
        for target in panel["targets"]:
            metrics = re.findall(r"ray_\w+", target["expr"])
            assert metrics
            assert target["expr"].count('{workload=~"$workload"}') == len(metrics), target["expr"]


def test_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & taken
        assert at["x"] + at["w"] <= 24
        taken |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    assert all(panel["description"] and panel["title"] for panel in charts())
