"""The same work done by Flink's SQL MATCH_RECOGNIZE and by Elsinore: one query, the same events, the same counts.

Both read the ridesharing stream from a file, and split it by district, rider and windows of ten minutes. In each
partition they find all runs of Travel that an Arrive follows at once, wherever in the run they begin. They count these
trends and their events by district and window. Flink has no skip-till-any-match, so the query is one of contiguous
trends: a trend is what `PATTERN (T+ Z)` matches from a row, and `AFTER MATCH SKIP TO NEXT ROW` lets it begin at every
row.

Flink runs in batch mode, with as many tasks as the machine has processors, in one JVM that has done the same work
before. It reads CSV, because its Python package has no reader of Parquet. The time that it takes to read and group the
same file is subtracted from its figures. Elsinore's figures are of all that it does, in one process, from Parquet to
rows.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

import elsinore
from benchmarks.figures import Figure
from benchmarks.measure import best
from elsinore.connectors.ridesharing import write

PYTHON = "ELSINORE_FLINK_PYTHON"

HINT = f"""flink: left out. Flink needs other versions of what Elsinore is made of, so an environment of its own:
  python -m venv flink && flink/bin/pip install apache-flink==2.3.0 && export {PYTHON}=$PWD/flink/bin/python"""

WORKLOAD = """
RETURN district, COUNT(*), COUNT(T)
PATTERN SEQ(Travel T+, Arrive)
SEMANTICS contiguous
WHERE [rider]
GROUP-BY district
WITHIN 10 minutes SLIDE 10 minutes
"""

WINDOW = 600_000

CLOCKS = {"wall": perf_counter, "processors": process_time}

Counts = dict[tuple[str, int], tuple[int, int]]
"""By district and window: the number of trends, and of events T in them."""


def flink(events: int) -> Iterator[Figure]:
    """Yield how many times as long Flink takes."""
    python = os.environ.get(PYTHON)
    if not python:
        print(HINT, file=sys.stderr)
        return
    events //= 5
    with TemporaryDirectory() as place:
        folder = Path(place)
        make(folder, events)
        taken_by_flink = asked_of_flink(python, folder)
        result = answered(folder)
        assert counts_of_flink(folder / "out") == counts(result), "Flink and Elsinore do not count alike"
        what_is_measured = f"Flink's MATCH_RECOGNIZE to Elsinore, {events / 1e6:g} M events"
        trends = sum(found for found, _ in counts(result).values())
        for clock, what in enumerate(CLOCKS):
            read, matched = (min(times[clock] for times in taken_by_flink[name]) for name in ("read", "matched"))
            took = best(lambda: answered(folder), clock=CLOCKS[what])
            detail = f"Flink {matched:.1f} s, {read:.1f} s of them to read; Elsinore {took:.3f} s; {trends:,} trends"
            yield Figure(f"flink-{what}", what_is_measured, (matched - read) / took, 100, "x", detail, at_least=True)


def make(folder: Path, events: int) -> None:
    """Write a stream whose times are all different: for Flink, events of one time have no order."""
    write(folder / "rides.parquet", events, seed=3)
    rides = pq.read_table(folder / "rides.parquet", columns=["type", "district", "rider"])
    columns = {name: rides[name].cast(pa.string()) for name in ("type", "district")}
    columns = {"type": columns["type"], "time": pa.array(np.arange(events) * 6), "district": columns["district"]}
    table = pa.table({**columns, "rider": rides["rider"]})
    pq.write_table(table, folder / "events.parquet")
    pacsv.write_csv(table, folder / "events.csv", pacsv.WriteOptions(include_header=False, quoting_style="none"))


def asked_of_flink(python: str, folder: Path) -> dict[str, list[tuple[float, float]]]:
    """Run the Flink job, and return the seconds of each run by kind of work: wall-clock time, and processor time."""
    job = Path(__file__).with_name("flink_job.py")
    words = [python, str(job), str(folder / "events.csv"), str(folder / "out"), str(os.cpu_count())]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    found: dict[str, list[tuple[float, float]]] = json.loads(done.stdout.splitlines()[-1])
    return found


def answered(folder: Path) -> elsinore.Result:
    return elsinore.run(WORKLOAD, folder / "events.parquet", engine="local", time_unit="ms")


def counts(result: elsinore.Result) -> Counts:
    return {
        (row["district"], row["window_start"] // WINDOW): (row["COUNT(*)"], row["COUNT(T)"]) for row in result.rows()
    }


def counts_of_flink(out: Path) -> Counts:
    lines = (line for path in out.rglob("*") if path.is_file() for line in csv.reader(path.open()))
    return {(district, int(window)): (int(trends), int(travels)) for district, window, trends, travels in lines}
