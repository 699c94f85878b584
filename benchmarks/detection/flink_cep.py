"""The same matches found by Flink CEP and by Elsinore: `python -m benchmarks.detection.flink_cep`.

`SEQ(A, B, C)` over ten types with about six events of each in a window: every choice is a match (`followedByAny`),
and the numbers of its events are handed out. Flink takes events from arrays in its JVM, with parallelism 1, and has
done the same work before; the time that it takes to emit the events alone is subtracted. Elsinore's figure is that of a
whole `elsinore.run`, from Arrow to rows. `benchmarks/runtime/flink.py` says how to get the Python that has Flink.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa

import elsinore
from benchmarks.detection.matches import TYPES, stream
from benchmarks.figures import HEADER, Figure, line
from benchmarks.measure import best
from benchmarks.runtime.flink import HINT, PYTHON

FLINK_EVENTS, EVENTS = 100_000, 1_000_000
WINDOW_SECONDS = 90
FACTORS = {"no predicate": 0, "A.v < C.v": 1, "A.v * 100 < C.v": 100}
LIMIT = 200
CLOCKS = {"wall": perf_counter, "processors": process_time}
JAVA = ["java", "-Xmx6g", "--add-opens=java.base/java.util=ALL-UNNAMED", "--add-opens=java.base/java.lang=ALL-UNNAMED"]

Seconds = dict[str, float]
"""By clock, seconds of an event."""


def figures(python: str) -> Iterator[Figure]:
    with TemporaryDirectory() as place:
        folder = Path(place)
        jars = compiled(python, folder)
        table = events_of()
        written(folder / "events", FLINK_EVENTS)
        for name, factor in FACTORS.items():
            theirs, matches = by_flink(jars, folder, factor)
            few = answered(factor, table.slice(0, FLINK_EVENTS))
            assert few.metrics.rows == matches, "Flink CEP and Elsinore do not find the same number of matches"
            for clock, what in CLOCKS.items():
                ours = best(lambda factor=factor: answered(factor, table), clock=what) / EVENTS  # type: ignore[misc]
                told = f"Flink {theirs[clock] * 1e6:.2f} us, Elsinore {ours * 1e6:.3f} us an event; {matches:,} matches"
                what_is_measured = f"Flink CEP to Elsinore, SEQ of 3, {name}, {clock}"
                yield Figure("flink-cep", what_is_measured, theirs[clock] / ours, LIMIT, "x", told, at_least=True)


def compiled(python: str, folder: Path) -> str:
    """Compile the job, and return the class path to run it with."""
    found = subprocess.run(
        [python, "-c", "import pyflink; print(pyflink.__path__[0])"], check=True, capture_output=True, text=True
    )
    jars = f"{found.stdout.strip()}/lib/*"
    subprocess.run(
        ["javac", "-cp", jars, "-d", str(folder), str(Path(__file__).with_name("FlinkCep.java"))], check=True
    )
    return f"{folder}{os.pathsep}{jars}"


def written(path: Path, events: int) -> None:
    """Write the first events for Flink."""
    codes, times, values = (column[:events] for column in stream(EVENTS))
    rows = np.empty(events, np.dtype([("type", "i1"), ("time", ">i8"), ("value", ">i4")]))
    rows["type"], rows["time"], rows["value"] = codes, times, values
    path.write_bytes(rows.tobytes())


def by_flink(jars: str, folder: Path, factor: int) -> tuple[Seconds, int]:
    """Return the seconds of an event, of the fastest runs, and the number of matches."""
    words = [*JAVA, "-cp", jars, "FlinkCep", str(folder / "events"), str(1000 * WINDOW_SECONDS), str(factor)]
    lines = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split("\n")
    runs = [one.split() for one in lines if one.startswith(("read ", "matched "))]
    least = {
        kind: [min(float(run[place]) for run in runs if run[0] == kind) for place in (1, 2)]
        for kind in ("read", "matched")
    }
    spent = [(all_of_it - read) / FLINK_EVENTS for all_of_it, read in zip(least["matched"], least["read"], strict=True)]
    return dict(zip(CLOCKS, spent, strict=True)), int(runs[-1][3])


def events_of() -> pa.Table:
    codes, times, values = stream(EVENTS)
    names = pa.array([chr(ord("A") + code) for code in range(TYPES)])
    types = pa.DictionaryArray.from_arrays(pa.array(codes), names)
    return pa.table({"type": types, "time": times, "v": values, "id": np.arange(EVENTS)})


def answered(factor: int, table: pa.Table) -> elsinore.Result:
    where = f"WHERE A.v * {factor} < C.v" if factor else ""
    text = f"RETURN MATCHES A.id, B.id, C.id PATTERN SEQ(A, B, C) {where} WITHIN {WINDOW_SECONDS} seconds"
    return elsinore.run(text, table, engine="local", time_unit="ms", most_matches=None)


def main() -> None:
    python = os.environ.get(PYTHON)
    if not python:
        print(HINT, file=sys.stderr)
        return
    print(HEADER)
    for figure in figures(python):
        print(line(figure), flush=True)


if __name__ == "__main__":
    main()
