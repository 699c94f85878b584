"""Choices of the queries along a path of the GLORIA graph."""

from __future__ import annotations

from collections.abc import Sequence

from elsinore.planner.gloria.graph.nodes import PoolNode
from elsinore.planner.gloria.search.choices import Choice
from elsinore.planner.gloria.search.segments import Run, Segment, Space
from elsinore.planner.gloria.templates.template import Template, bits


def choices_along(template: Template, space: Space, path: Sequence[PoolNode]) -> list[Choice]:
    """Return the segments of each query; where the path is broken, a query with nothing to reuse does not share."""
    labels = [_snapshots(node) for node in path]
    return [
        _choice(space.runs[query], [labels[stage].get(query) for stage in route.stages])
        for query, route in enumerate(template.routes)
    ]


def _snapshots(node: PoolNode) -> dict[int, int]:
    """Return, by query, the node whose snapshots it shares."""
    return {query: snapshot for queries, snapshot in node.sharing[0] for query in bits(queries)}


def _choice(runs: Sequence[Run], labels: Sequence[int | None]) -> Choice:
    found: list[Segment] = []
    place = 0
    while place < len(labels):
        run = next((run for run in runs if run.first == place and run.segments[0].snapshot == labels[place]), None)
        if run is None:
            place += 1
            continue
        length = 1
        while length < len(run.segments) and labels[place + length] == labels[place]:
            length += 1
        found.append(run.segments[length - 1])
        place += length
    return tuple(found)
