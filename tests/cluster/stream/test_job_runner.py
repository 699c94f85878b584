"""A job with many appends: Spark's log of them stays bounded, and no append is processed twice."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Lock
from time import monotonic, sleep, time

import pytest

from elsinore.cluster.machines.settings import Settings
from elsinore.cluster.service import job_runner
from elsinore.cluster.service.intake import NDJSON, Append, accept
from elsinore.cluster.service.job_runner import JobRunner
from elsinore.cluster.service.jobs import Jobs, StoredJob
from elsinore.cluster.service.settings import ServiceSettings, service_settings
from elsinore.cluster.service.submitting import submit
from elsinore.cluster.service.web.documents import Submission
from elsinore.connectors.spark.finished_files import log_bytes

pytestmark = pytest.mark.usefixtures("running")

COUNTED = "RETURN COUNT(*) PATTERN A WITHIN 10 seconds SLIDE 10 seconds"

APPENDS = 12


@pytest.fixture
def settings(tmp_path: Path) -> ServiceSettings:
    return service_settings(data=tmp_path)


@pytest.fixture
def job(settings: ServiceSettings) -> StoredJob:
    jobs = Jobs(settings.data)
    jobs.begin()
    return submit(jobs, Submission(workload=COUNTED), None, b"", settings)


@pytest.fixture
def working(job: StoredJob, settings: ServiceSettings) -> Iterator[JobRunner]:
    found = JobRunner(job, Settings(engine="ray", files_at_once=1, trigger=0), settings, Lock())
    yield found
    found.end()


def append(job: StoredJob, settings: ServiceSettings, number: int, keyed: bool) -> None:
    body = json.dumps({"type": "A", "time": number}).encode()
    assert accept(job, Append(body, NDJSON, str(number) if keyed else None), settings).events == 1


def until(working: JobRunner, what: Callable[[JobRunner], bool]) -> None:
    end = monotonic() + 60
    while not what(working):
        assert monotonic() < end, (working.state, working.last, working.error)
        sleep(0.05)


def has_begun_anew(working: JobRunner) -> bool:
    return working.live is not None and working.live.era.number > 1


def test_no_append_is_passed_over_for_the_time_of_its_file(
    job: StoredJob, settings: ServiceSettings, request: pytest.FixtureRequest
) -> None:
    append(job, settings, 0, keyed=False)
    [path] = job.incoming.glob("*.parquet")
    ahead = time() + 8 * 86400
    os.utime(path, (ahead, ahead))
    working: JobRunner = request.getfixturevalue("working")
    for number in range(1, 4):
        until(working, lambda found, number=number: found.last.get("events") == number)  # type: ignore[misc]
        append(job, settings, number, keyed=False)
    until(working, lambda found: found.last["events"] == 4)


def test_a_job_is_ended_at_once_though_its_actors_do_not_answer(
    job: StoredJob, settings: ServiceSettings, working: JobRunner
) -> None:
    append(job, settings, 0, keyed=False)
    until(working, lambda found: found.last.get("events") == 1)
    assert working.live is not None
    actors = working.live.crew.ask("pid")
    for actor in actors:
        os.kill(actor, signal.SIGSTOP)
    append(job, settings, 1, keyed=False)
    begin = monotonic()
    working.end(at_once=True)
    assert monotonic() - begin < job_runner.STOP_SECONDS
    assert not working._thread.is_alive()
    assert working.state != "running"


@pytest.mark.long
def test_what_spark_remembers_is_bounded(
    job: StoredJob, settings: ServiceSettings, working: JobRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_runner, "MAX_LOG_GROWTH_BYTES", 500)
    append(job, settings, 0, keyed=True)
    # This is the state after a crash before the key was recorded: the client retries the append.
    [marker] = job.keys.glob("*/*")
    marker.unlink()
    for number in range(1, APPENDS):
        append(job, settings, number, keyed=number % 2 == 0)
    until(working, lambda found: found.last.get("events") == APPENDS and has_begun_anew(found))
    assert log_bytes(job.checkpoint / "spark") < 500
    for number in range(0, APPENDS, 2):
        append(job, settings, number, keyed=True)
    append(job, settings, APPENDS, keyed=False)
    until(working, lambda found: found.last["events"] > APPENDS)
    sleep(1)
    assert working.last["events"] == APPENDS + 1
    assert working.types == {"A": APPENDS + 1}
