"""The client and the real service together return the rows of a local run, with all digits."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import elsinore
from elsinore.cli import app
from elsinore.connectors import ridesharing
from tests.cluster.streaming import row_of
from tests.elsinore.documents import DOCUMENTS, SERVICE, Shown, commands, printed_by, programs, stdout_of, write_files
from tests.service.serving import TOKEN, Served, descendants

WORKLOAD = """
QUERY not_picked_up
RETURN district, COUNT(*), SUM(T.duration), AVG(T.speed) AS pace
PATTERN SEQ(Request R, Travel T+, NOT Pickup P)
WHERE [driver, rider]
GROUP-BY district
WITHIN 1 minute SLIDE 30 seconds

QUERY gave_up
RETURN COUNT(*), MIN(T.speed)
PATTERN SEQ(Request R, Travel T+, Cancel C)
WITHIN 1 minute SLIDE 1 minute
"""
MORE = "QUERY arrived RETURN COUNT(*) PATTERN SEQ(Travel T+, Arrive) WHERE [rider] WITHIN 1 minute SLIDE 1 minute"
EVENTS = pa.Table.from_batches(ridesharing.generate(60_000, seed=11, groups=50))
END = [{"type": "End", "time": 10**9}]
HERE = elsinore.run(WORKLOAD, EVENTS, engine="local")
EXPECTED = Counter(map(row_of, HERE.rows()))
PATIENCE = 120


@pytest.fixture
def client(service: Served) -> Iterator[elsinore.Client]:
    with elsinore.connect(service.url, token=TOKEN) as found:
        yield found


@contextmanager
def submitted(client: elsinore.Client, workload: str = WORKLOAD, **options: Any) -> Iterator[elsinore.Job]:
    job = client.submit(workload, **options)
    try:
        yield job
    finally:
        job.remove()


def until(said: Callable[[], bool]) -> None:
    end = monotonic() + PATIENCE
    while not said():
        assert monotonic() < end
        sleep(0.1)


def all_rows(job: elsinore.Job, count: int = len(HERE)) -> elsinore.Result:
    until(lambda: len(job.result()) >= count)
    return job.result()


def replicas(service: Served) -> list[int]:
    """Return the process ids of the replicas that accept events, by the names that Ray gives its workers."""
    named = {pid: (Path("/proc") / str(pid) / "cmdline").read_bytes() for pid in descendants(service.process.pid)}
    return [pid for pid, name in named.items() if name.startswith(b"ray::ServeReplica")]


@pytest.mark.parametrize(
    "form",
    [
        lambda events: events,
        lambda events: events.to_pandas(),
        lambda events: pl.from_arrow(events),
        lambda events: events.to_batches(max_chunksize=7_000),
        lambda events: events.to_pylist(),
    ],
    ids=["arrow", "pandas", "polars", "batches", "dicts"],
)
def test_a_result_is_that_of_a_run_here(client: elsinore.Client, form: Callable[[pa.Table], Any]) -> None:
    with submitted(client) as job:
        assert job.send(form(EVENTS)).events == len(EVENTS)
        job.send(END)
        there = all_rows(job)
        assert there.rows() == HERE.rows()
        assert there.to_arrow().equals(HERE.to_arrow(), check_metadata=True)
        assert repr(there) == repr(HERE)
        assert max(row["COUNT(*)"] for row in there.rows()) > 10**20
        until(lambda: job.status().metrics.events == len(EVENTS) + 1)


def test_matches_are_those_of_a_run_here(client: elsinore.Client) -> None:
    query = """
QUERY found RETURN MATCHES PATTERN SEQ(Request R, Travel T, Cancel C) WHERE [rider] AND T.speed < 4 WITHIN 2 minutes
QUERY near RETURN MATCHES R.driver, COUNT(T), T.speed
PATTERN SEQ(Request R, Travel T{1,2}) WHERE [rider] AND T.speed < 5 GROUP-BY district WITHIN 300 events LIMIT 1
"""
    here = elsinore.run(query, EVENTS, engine="local")
    assert all(len(here.query(name)) > 20 for name in here.queries)
    with submitted(client, query) as job:
        for at in range(0, len(EVENTS), 20_000):
            job.send(EVENTS.slice(at, 20_000))
        job.send(END)
        there = all_rows(job, len(here))
    assert Counter(map(repr, map(_sorted, there.rows()))) == Counter(map(repr, map(_sorted, here.rows())))


def _sorted(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row whose events have their attributes in the order of names, as a service's columns may have any."""
    return {name: dict(sorted(value.items())) if isinstance(value, dict) else value for name, value in row.items()}


def test_rows_are_followed_while_events_are_sent(client: elsinore.Client) -> None:
    with submitted(client) as job:
        sender = Thread(
            target=lambda: [job.send(EVENTS.slice(at, 6_000)) for at in range(0, 60_000, 6_000)] + [job.send(END)]
        )
        sender.start()
        rows: list[dict[str, Any]] = []
        cursor = None
        while len(rows) < len(HERE):
            # A new reader for each page resumes at the cursor of the page before.
            page = next(job.pages(follow=True, after=cursor))
            rows, cursor = rows + page.rows(), page.cursor
        sender.join()
        assert Counter(map(row_of, rows)) == EXPECTED
        assert "choice" in job.decisions(5).column_names
        assert "not_picked_up" in job.explain()
        assert job.statistics()


def test_the_asyncio_twin(service: Served) -> None:
    async def both() -> elsinore.Result:
        async with elsinore.connect_async(service.url, token=TOKEN) as client:
            job = await client.submit(WORKLOAD)
            sending = asyncio.create_task(job.send(EVENTS))
            assert (await sending).events == len(EVENTS)
            await job.send(END)
            seen = 0
            async for _ in job.results(follow=True):
                seen += 1
                if seen == len(HERE):
                    break
            result = await job.result()
            await job.remove()
            return result

    assert asyncio.run(both()).rows() == HERE.rows()


def test_the_same_events_sent_again_count_once(client: elsinore.Client) -> None:
    with submitted(client) as job:
        for again in (False, True, True):
            sent = job.send(EVENTS, key="rides")
            assert sent.repeated == (len(EVENTS) if again else 0)
        job.send(END, key="end")
        assert all_rows(job).rows() == HERE.rows()


def test_a_replica_that_dies_while_events_are_sent(client: elsinore.Client, service: Served) -> None:
    with submitted(client) as job:
        for at in range(0, 60_000, 3_000):
            if at == 30_000:
                os.kill(replicas(service)[0], signal.SIGKILL)
            job.send(EVENTS.slice(at, 3_000))
        job.send(END)
        assert all_rows(job).rows() == HERE.rows()
        until(lambda: job.status().metrics.events == len(EVENTS) + 1)


def test_queries_come_and_go_and_a_job_pauses(client: elsinore.Client) -> None:
    with submitted(client) as job:
        job.send(EVENTS.slice(0, 20_000))
        assert job.add(MORE).queries == ("not_picked_up", "gave_up", "arrived")
        with pytest.raises(elsinore.InputError, match="there is a query arrived already"):
            job.add(MORE.replace("30 seconds", "1 minute").replace("Arrive", "Wait"))
        assert job.pause().state == "paused"
        job.send(EVENTS.slice(20_000))
        assert job.drop("arrived").queries == ("not_picked_up", "gave_up")
        job.resume()
        job.send(END)
        until(lambda: len(job.result()) >= len(HERE))
        rows = [row for row in job.result().rows() if row["query"] != "arrived"]
        assert rows == HERE.rows()


def test_what_is_wrong_is_said_as_it_is_here(client: elsinore.Client) -> None:
    wrong = "RETURN COUNT(*), SUM(Travl.speed)\nPATTERN SEQ(Request, Travel+)\nWITHIN 5 minutes SLIDE 10 minutes"
    with pytest.raises(elsinore.WorkloadError) as here:
        elsinore.check(wrong)
    with pytest.raises(elsinore.WorkloadError) as there:
        client.submit(wrong)
    assert str(there.value) == str(here.value)
    assert there.value.problems == here.value.problems
    with pytest.raises(elsinore.InputError, match="there is no job nothing"):
        client.job("nothing")
    with pytest.raises(elsinore.InputError, match="strategy 'fast'"):
        client.submit(WORKLOAD, strategy="fast")
    with submitted(client, name="taken"), pytest.raises(elsinore.InputError, match="taken"):
        client.submit(WORKLOAD, name="taken")


def test_a_wrong_token(service: Served) -> None:
    client = elsinore.connect(service.url, token="guess")
    with pytest.raises(elsinore.RefusedError, match="token"):
        client.jobs()
    client.close()


@pytest.mark.long
def test_a_service_that_was_given_no_token_makes_one(
    stopped: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only its own user can read the token; it survives the service's death; and clients find it by themselves."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        stopped.start(ELSINORE_SERVICE_TOKEN=None)
        [path] = (tmp_path / "elsinore").iterdir()
        with stopped.client(token=None) as stranger:
            assert stranger.get("/v1/workloads").status_code == 401
        with elsinore.connect(stopped.url.replace("127.0.0.1", "localhost")) as client, submitted(client) as job:
            assert job.send(EVENTS.slice(0, 100)).events == 100
        done = CliRunner(env={"ELSINORE_URL": stopped.url}).invoke(app, ["jobs"])
        assert done.exit_code == 0, done.output
        assert path.read_text().strip() not in stopped.log.read_text()
        assert str(path) in stopped.log.read_text()
        stopped.kill()


def test_the_commands(service: Served, tmp_path: Any) -> None:
    workload, events, end = tmp_path / "w.elsinore", tmp_path / "rides.parquet", tmp_path / "end.jsonl"
    workload.write_text(WORKLOAD)
    pa.parquet.write_table(EVENTS, events)
    end.write_text(json.dumps(END[0]) + "\n")
    runner = CliRunner(env={"ELSINORE_URL": service.url, "ELSINORE_TOKEN": TOKEN})

    def said(*words: str) -> Any:
        done = runner.invoke(app, words)
        assert done.exit_code == 0, done.output
        return done

    kinds = {"string": ("type", "district"), "int64": ("time", "driver", "rider", "duration"), "float64": ("speed",)}
    columns = [f"{name}:{kind}" for kind, names in kinds.items() for name in names]
    options = [word for column in columns for word in ("--column", column)]
    assert said("submit", str(workload), "--name", "by-hand", "--actors", "1", *options).stdout == "by-hand\n"
    assert said("send", "by-hand", str(events), str(end)).stderr.startswith("by-hand: 60,001 events in")
    until(lambda: len(said("results", "by-hand").stdout.splitlines()) == len(HERE))
    rows = [json.loads(line) for line in said("results", "by-hand").stdout.splitlines()]
    assert Counter(map(row_of, rows)) == EXPECTED
    assert "by-hand" in said("jobs").stdout
    assert "by-hand" in said("status").stdout
    assert said("remove", "by-hand").stderr == "by-hand: removed\n"


@pytest.mark.parametrize("shown", [shown for name in DOCUMENTS for shown in programs(name, served=True)], ids=str)
def test_a_program_prints_what_the_document_shows(shown: Shown, service: Served) -> None:
    here = f'elsinore.connect("{service.url}", token="{TOKEN}"'
    assert printed_by(shown.code.replace(SERVICE, here)) == shown.output


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if any(shown.served for shown in commands(name))])
def test_commands_print_what_the_document_shows(
    document: str, service: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ELSINORE_URL", service.url)
    monkeypatch.setenv("ELSINORE_TOKEN", TOKEN)
    write_files(document, tmp_path)
    for shown in commands(document):
        if "results" in shown.code:  # it may be early: readers are told to ask a second later
            until(lambda shown=shown: bool(stdout_of(shown.code, tmp_path)))  # type: ignore[misc]
        if shown.served:
            assert stdout_of(shown.code, tmp_path) == shown.output
