"""The results of a load test: numbers, and the rows that are wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import elsinore
from loadtest.stream import END, WORKLOAD, appends

WANTED = 0.5
"""The wanted rate, as a fraction of the embedded stream's."""


@dataclass(frozen=True)
class Summary:
    """The results, as they are written to `summary.json`."""

    users: int
    events: int
    seconds: float
    events_per_second: float
    """Events acknowledged a second."""
    taken_per_second: float
    """Events a second, until the last of them was in its rows."""
    requests: int
    requests_per_second: float
    latencies: dict[str, dict[str, float]]
    """By kind of request: percentiles in milliseconds, and numbers of requests and failures."""
    embedded_events_per_second: float
    ratio: float
    rows: int
    checked: int
    """Number of rows that were compared during the load."""
    wrong: list[str]

    @property
    def told(self) -> str:
        lines = [
            f"{self.users} users sent {self.events:,} events in {self.seconds:.0f} s: "
            f"{self.events_per_second:,.0f} events/s acknowledged, {self.taken_per_second:,.0f} until all rows "
            f"were there, {self.requests_per_second:,.1f} requests/s",
            *(
                f"{name:>8}: {one['requests']:>6,} requests, p50 {one['p50']:,.0f} ms, p95 {one['p95']:,.0f} ms, "
                f"p99 {one['p99']:,.0f} ms, {one['failures']:,} failed"
                for name, one in self.latencies.items()
            ),
            f"the embedded stream: {self.embedded_events_per_second:,.0f} events/s; the service has {self.ratio:.2f} "
            f"of that (wanted: {WANTED})",
            f"{self.rows:,} rows, {self.checked:,} checked while they came; {len(self.wrong):,} wrong or missing",
        ]
        return "\n".join([*lines, *self.wrong[:20]])


def expected(number: int, count: int) -> elsinore.Result:
    """Return the rows for the events that a user has sent, as one process counts them."""
    stream = appends(number)
    sent = [next(stream) for _ in range(count)]
    end = pa.Table.from_pylist(END, pa.schema([(name, sent[0].schema.field(name).type) for name in END[0]]))
    whole = pa.concat_tables([*sent, end], promote_options="default")
    return elsinore.run(WORKLOAD, whole, engine="local")


def differences(number: int, rows: pa.Table, here: pa.Table) -> list[str]:
    """Return messages about a user's rows that are missing, unexpected, different or repeated."""
    had, due = _keyed(rows), _keyed(here)
    missing = [f"user {number} misses the row {key} {due[key]}" for key in due.keys() - had.keys()]
    more = [f"user {number} has a row {key} that is not expected" for key in had.keys() - due.keys()]
    other = [f"user {number} has {key} {had[key]}, not {due[key]}" for key in due if had.get(key, due[key]) != due[key]]
    twice = [f"user {number} has {len(rows) - len(had)} rows twice"] if len(had) < len(rows) else []
    return [*missing, *more, *other, *twice]


def _keyed(rows: pa.Table) -> dict[Any, Any]:
    key = ("query", "window_start", "district")
    return {
        tuple(row[name] for name in key): {name: value for name, value in row.items() if name not in key}
        for row in rows.to_pylist()
    }


def wrong_rows(folder: Path, users: Iterable[dict[str, Any]]) -> list[str]:
    """Return messages about what is wrong for each user, over all queries."""
    found: list[str] = []
    for user in users:
        number = user["number"]
        found += user["wrong"]
        rows = pq.read_table(folder / "users" / f"{number}.parquet")
        found += differences(number, rows, expected(number, user["appends"]).to_arrow())
        if user["missing"]:
            found.append(f"user {number} misses {user['missing']} rows that it counted")
        lost = user["events"] + len(END) - user["metrics"]["events"]
        if lost or user["metrics"]["late"] or user["metrics"]["dead"]:
            found.append(f"user {number}: {lost} events too few, late or dead: {user['metrics']}")
    return found


def summarized(folder: Path, embedded: float) -> Summary:
    """Return the summary of what users and Locust have left in a folder."""
    users = [json.loads(path.read_text()) for path in sorted((folder / "users").glob("*.json"))]
    measured = json.loads((folder / "latencies.json").read_text())
    acknowledged = sorted(tuple(one) for user in users for one in user["acknowledged"])
    events, seconds = _sustained(acknowledged)
    requests = sum(one["requests"] for one in measured["requests"].values())
    failed = [
        f"{one['failures']} requests of the kind {name} failed"
        for name, one in measured["requests"].items()
        if one["failures"]
    ]
    rate = events / seconds if seconds else 0.0
    return Summary(
        users=len(users),
        events=sum(user["events"] for user in users),
        seconds=seconds,
        events_per_second=rate,
        taken_per_second=_taken(acknowledged, users),
        requests=requests,
        requests_per_second=requests / measured["seconds"],
        latencies=measured["requests"],
        embedded_events_per_second=embedded,
        ratio=rate / embedded,
        rows=sum(pq.read_metadata(folder / "users" / f"{user['number']}.parquet").num_rows for user in users),
        checked=sum(user["checked"] for user in users),
        wrong=[*wrong_rows(folder, users), *failed],
    )


def _sustained(acknowledged: Sequence[tuple[float, int]]) -> tuple[int, float]:
    """Return the number of events after the first append, and the seconds in which they were acknowledged."""
    if len(acknowledged) < 2:
        return 0, 0.0
    return sum(events for _, events in acknowledged[1:]), acknowledged[-1][0] - acknowledged[0][0]


def _taken(acknowledged: Sequence[tuple[float, int]], users: Sequence[dict[str, Any]]) -> float:
    if not acknowledged:
        return 0.0
    return sum(user["events"] for user in users) / (max(user["taken_at"] for user in users) - acknowledged[0][0])


def write(summary: Summary, path: Path) -> None:
    path.write_text(json.dumps({**asdict(summary), "wanted_ratio": WANTED}, indent=2) + "\n")
