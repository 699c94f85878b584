"""Kernels are compiled before they are needed: all of them, once, by several processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest

import elsinore
from elsinore.inputs import checked
from elsinore.warming.samples import MATCHES, OTHERS, SAMPLES, STREAMS, Sample
from elsinore.warming.streams import LARGE_NUMBERS, LONG_BURSTS, SMALL_NUMBERS, TIME, TYPE, UNIT, Shape, made_up
from elsinore.warming.tasks import tasks_of, tasks_of_all
from elsinore.warming.values import values_of
from tests.elsinore.documents import PROGRAM, ROOT

EXAMPLES = sorted(ROOT.glob("examples/*/workload.elsinore"))

UNSATISFIED = {"testing"}
"""It asks for three transfers whose sum is below 500, and another query of its example for one above 1,000."""

TWO_TASKS = """
from elsinore.warming.crew import performed
from elsinore.warming.streams import SMALL_NUMBERS
from elsinore.warming.tasks import Task

TEXT = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 seconds SLIDE 10 seconds"

if __name__ == "__main__":
    tasks = [Task("tiny", TEXT, ("cogra",), numeric, (SMALL_NUMBERS,)) for numeric in ("exact", "approximate")]
    for _ in range(2):
        waiting = [task for task in tasks if not task.done]
        reports = list(performed(waiting, 2)) if waiting else []
        print(len(reports), sum(one.kernels for one in reports), [one.problem for one in reports if one.problem])
"""

THE_SAME_BY_ITSELF = """
import elsinore
from elsinore.planner.kernels.compiled import kernels_compiled

events = [{"type": name, "time": time} for time, name in enumerate("ABAB")]
for numeric in ("exact", "approximate"):
    text = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 seconds SLIDE 10 seconds"
    print(elsinore.run(text, events, engine="local", strategy="cogra", numeric=numeric).rows()[0]["COUNT(*)"])
print(kernels_compiled())
"""

EVERYTHING_SHOWN = """
import contextlib, io, sys
from pathlib import Path

import elsinore
from elsinore.planner.kernels.compiled import kernels_compiled

def run(name, events, **reading):
    for numeric in ("exact", "approximate"):
        before = kernels_compiled()
        count = len(elsinore.run(Path("examples") / name / "workload.elsinore", events, numeric=numeric, **reading))
        print(name, numeric, count > 0, kernels_compiled() - before, flush=True)

folder = Path(sys.argv[1])
for number, program in enumerate(sorted(folder.glob("*.program"))):
    before = kernels_compiled()
    with contextlib.redirect_stdout(io.StringIO()):
        exec(program.read_text(), {})
    print("program", number, kernels_compiled() - before, flush=True)
for rides in ("few.parquet", "many.parquet"):
    run("ridesharing", folder / rides)
    run("board", folder / rides)
run("clicks", "examples/clicks/clicks.csv")
run("fraud", "examples/fraud/events.csv")
run("flights", folder / "flights.parquet")
print("in all", kernels_compiled())
"""


def python(folder: Path, *words: str) -> list[str]:
    """Return what a Python process prints whose kernels are in a folder of their own."""
    done = subprocess.run([sys.executable, *words], env=environment(folder), cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "XDG_CACHE_HOME": str(folder), "PYTHONPATH": str(ROOT), "ELSINORE_ENGINE": "local"}


def run(text: str, shape: Shape, strategy: str = "auto") -> elsinore.Result:
    reading = {"type_column": TYPE, "time_column": TIME, "time_unit": UNIT}
    return elsinore.run(text, made_up(checked(text), shape), strategy=strategy, engine="local", **reading)  # type: ignore[arg-type]


@pytest.mark.slow
def test_two_processes_compile_what_a_third_loads(tmp_path: Path) -> None:
    """What both need is compiled by one of them."""
    code = tmp_path / "two_tasks.py"
    code.write_text(TWO_TASKS)
    first, second = python(tmp_path, str(code))
    assert re.fullmatch(r"2 \d+ \[\]", first)
    assert second == "0 0 []"
    machine_code = list(tmp_path.glob("elsinore/kernels/*/*.nbc"))
    assert int(first.split()[1]) == len(machine_code) > 2
    assert python(tmp_path, "-c", THE_SAME_BY_ITSELF) == ["3", "3.0", "0"]


@pytest.mark.slow
def test_ctrl_c_ends_all_processes_with_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "elsinore", "warm", "--cores", "2"]
    process = subprocess.Popen(
        command, env=environment(tmp_path), cwd=ROOT, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    while not list(tmp_path.glob("elsinore/kernels/compiling-*")):
        assert process.poll() is None
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    _, output = process.communicate(timeout=20)
    assert (process.returncode, output) == (130, "stopped\n")
    deadline = time.monotonic() + 20
    while _lives(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _lives(group: int) -> bool:
    """Return whether any process of a group runs; Python's own tracker of resources ends a moment after the others."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("sample", [STREAMS, *SAMPLES, *MATCHES, *OTHERS], ids=lambda one: one.name)
def test_every_query_of_a_sample_has_rows(sample: Sample) -> None:
    strategy = sample.strategies[0] if sample in OTHERS else "auto"
    result = run(sample.text, SMALL_NUMBERS, strategy)
    assert {row["query"] for row in result.rows()} == {query.name for query in checked(sample.text).queries}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_queries_of_examples_have_rows(path: Path) -> None:
    text = path.read_text()
    names = {row["query"] for row in run(text, SMALL_NUMBERS).rows()}
    assert names == {query.name for query in checked(text).queries} - UNSATISFIED


@pytest.mark.parametrize("shape", [LARGE_NUMBERS, LONG_BURSTS])
def test_numbers_are_beyond_a_word(shape: Shape) -> None:
    text = "RETURN k, COUNT(*) AS n, SUM(b.v) AS total PATTERN SEQ(A, B b+) GROUP-BY k WITHIN 1 minute SLIDE 1 minute"
    assert max(row["total"] for row in run(text, shape).rows()) > 2**64


def test_values_satisfy_some_conditions_and_not_others() -> None:
    workload = checked("""
        RETURN COUNT(*), SUM(b.speed) PATTERN SEQ(A a, B b+)
        WHERE a.kind = 'Pool' AND b.speed < 10 AND a.paid = TRUE AND a.price BETWEEN 3 AND 8 AND b.size < NEXT(b).size
        WITHIN 1 minute SLIDE 1 minute
    """)
    found = {name: values.candidates(1) for name, values in values_of(workload).items()}
    assert found["kind"] == ("Pool", "another text")
    assert found["speed"] == (9, 10, 11, 12, 13)
    assert found["paid"] == (True, False)
    assert found["price"] == tuple(range(2, 12))
    assert len(found["size"]) > 3


def test_attributes_that_are_compared_have_one_kind_of_value() -> None:
    workload = checked("""
        RETURN MATCHES PATTERN SEQ(A a, B b, C c) WHERE a.x = b.y AND b.y = c.z AND c.z != 'none' WITHIN 1 minute
    """)
    values = values_of(workload)
    assert {values[name].candidates(1) for name in "xyz"} == {("none", "another text")}


def test_a_stream_is_in_order_and_as_long_as_it_has_to_be() -> None:
    workload = checked(STREAMS.text)
    events = made_up(workload, Shape(least=5_000))
    times = events[TIME].to_pylist()
    assert len(events) >= 5_000
    assert times == sorted(times)
    assert pa.types.is_dictionary(events.schema.field(TYPE).type)


def test_a_workload_is_compiled_for_exact_and_approximate_numbers() -> None:
    text = (ROOT / "examples/board/workload.elsinore").read_text()
    tasks = tasks_of("board", checked(text).queries, everything=False)
    assert {task.numeric for task in tasks if task.name == "board"} == {"exact", "approximate"}
    assert {task.name for task in tasks} == {"board", STREAMS.name}


def test_all_strategies_are_more_than_auto() -> None:
    assert set(tasks_of_all(False)) < set(tasks_of_all(True))


@pytest.mark.long
def test_after_warm_nothing_shown_is_compiled(tmp_path: Path) -> None:
    """Neither programs of the README nor examples over their own streams compile anything."""
    python(tmp_path, "-m", "elsinore", "warm")
    for number, found in enumerate(PROGRAM.findall((ROOT / "README.md").read_text())):
        (tmp_path / f"{number}.program").write_text(found[1])
    rides = ["-m", "elsinore", "generate", "ridesharing", "--seed", "1", "--groups", "200", "--events"]
    for count, name in (("60000", "few"), ("200000", "many")):
        python(tmp_path, *rides, count, "--out", str(tmp_path / f"{name}.parquet"))
    python(tmp_path, "examples/flights/events.py", str(tmp_path / "flights.parquet"))
    code = tmp_path / "everything_shown.py"
    code.write_text(EVERYTHING_SHOWN)
    *each, in_all = python(tmp_path, str(code), str(tmp_path))
    assert len(each) == 3 + 2 * 7
    assert [line for line in each if "False" in line] == []
    assert in_all == "in all 0", "\n".join(each)
