"""Whatever fails, a job has at most one stream at a time, and its checkpoint one owner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from py4j.protocol import Py4JNetworkError  # type: ignore[import-untyped]

from elsinore.cluster.machines.file_locks import HeldError
from elsinore.cluster.service import job_runner
from elsinore.cluster.service.intake import NDJSON, Append, accept
from elsinore.cluster.service.job_runner import JobRunner
from elsinore.cluster.service.jobs import Spec, StoredJob
from elsinore.cluster.service.settings import service_settings
from elsinore.cluster.service.submitting import submit
from elsinore.cluster.service.web.documents import Submission
from elsinore.cluster.service.web.refusals import STALE, RefusalError
from elsinore.cluster.stream.checkpoint import BatchRecord, Checkpoint
from elsinore.connectors.errors import FailedError, InputError
from elsinore.planner.time.clock import Clock
from tests.service.played import WORKLOAD, Played, PlayedLive, played, until

MORE = f"{WORKLOAD};\n\nQUERY r RETURN COUNT(*) PATTERN B+ WITHIN 1 minute SLIDE 1 minute"


class Streams:
    """All streams that were started, which fails if two run at a time."""

    def __init__(self) -> None:
        self.all: list[PlayedLive] = []
        self.kind: Any = PlayedLive

    def begin(self, work: JobRunner) -> PlayedLive:
        assert not [one for one in self.all if one.going], "two streams at a time"
        self.all.append(self.kind(work.job))
        return self.all[-1]


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> Streams:
    found = Streams()
    started: Any = lambda work: found.begin(work)  # noqa: E731 - a method of the class, not of `found`
    monkeypatch.setattr(JobRunner, "_start_stream", started)
    for name, seconds in (
        ("POLL_SECONDS", 0.01), ("STATUS_SECONDS", 0.02), ("RETRY_SECONDS", 0.02), ("MAX_PAUSE_SECONDS", 0.02),
        ("STOP_SECONDS", 0.5),
    ):  # fmt: skip
        monkeypatch.setattr(job_runner, name, seconds)
    return found


@pytest.fixture
def fake(tmp_path: Path, streams: Streams) -> Iterator[Played]:
    with played(service_settings(data=tmp_path)) as found:
        yield found


@pytest.fixture
def job(fake: Played) -> StoredJob:
    found = submit(fake.jobs, Submission(workload=WORKLOAD, name="job"), None, b"", fake.manager.service)
    accept(found, Append(b'{"type": "A", "time": 1}', NDJSON, None), fake.manager.service)
    return found


def working(fake: Played) -> JobRunner:
    fake.look()
    found = fake.manager.runners["job"]
    until(lambda: found.state == "running")
    return found


def broken_change(workload: str) -> None:
    raise Py4JNetworkError("Answer from Java side is empty")


def test_a_change_that_fails_leaves_one_owner_with_the_new_queries(
    fake: Played, job: StoredJob, streams: Streams
) -> None:
    work = working(fake)
    streams.all[0].change = broken_change  # type: ignore[method-assign]
    work.change(replace(job.spec(), workload=MORE), job.spec().workload)
    until(lambda: work.state == "running")
    assert [one.going for one in streams.all] == [False, True]
    assert (job.spec().workload, work.error) == (MORE, None)


def test_a_stream_that_cannot_be_stopped_is_kept_and_waited_for(fake: Played, job: StoredJob, streams: Streams) -> None:
    work = working(fake)
    [first] = streams.all
    first.change = broken_change  # type: ignore[method-assign]
    stop, may, tried = first.stop, Event(), []

    def stubborn() -> None:
        tried.append(1)
        if not may.wait(0.05):
            raise Py4JNetworkError("still not")
        stop()

    first.stop = stubborn  # type: ignore[method-assign]
    work.change(replace(job.spec(), workload=MORE), job.spec().workload)
    until(lambda: len(tried) > 2)
    live: Any = work.live
    assert (work.state, live is first, len(streams.all)) == ("recovering", True, 1)
    assert fake.ask("POST", "/v1/workloads/job/pause").status_code == 503
    assert fake.document("job")["state"] == "paused"
    assert fake.ask("POST", "/v1/workloads/job/resume").status_code == 200
    may.set()
    until(lambda: work.state == "running" and len(streams.all) == 2)
    assert [one.going for one in streams.all] == [False, True]


def test_a_batch_without_an_end_does_not_keep_anybody_waiting(fake: Played, job: StoredJob, streams: Streams) -> None:
    """Pause and remove report a stop that does not return, and a later removal succeeds."""
    work = working(fake)
    [first] = streams.all
    stop, over = first.stop, Event()

    def endless() -> None:
        over.wait()
        stop()

    first.stop = endless  # type: ignore[method-assign]
    paused = fake.ask("POST", "/v1/workloads/job/pause")
    assert (paused.status_code, "DELETE" in paused.json()["detail"]) == (503, True)
    removed = fake.ask("DELETE", "/v1/workloads/job")
    assert (removed.status_code, work._cut.is_set(), job.folder.exists()) == (503, True, True)
    over.set()
    until(lambda: not first.going and work.live is None)
    assert fake.ask("DELETE", "/v1/workloads/job").status_code == 204
    assert len(streams.all) == 1


def test_a_stream_that_failed_begins_again_by_itself(fake: Played, job: StoredJob, streams: Streams) -> None:
    work = working(fake)
    streams.all[0].fail(FailedError("Spark gave up"))
    until(lambda: len(streams.all) == 2 and work.state == "running")
    streams.all[1].fail(InputError("times are int64, but those of the source float64"))
    until(lambda: work.state == "failed")
    assert fake.ask("POST", "/v1/workloads/job/resume").status_code == 200
    until(lambda: len(streams.all) == 3 and work.state == "running")


def test_a_checkpoint_that_another_process_holds_is_tried_again_for_ever(
    fake: Played, job: StoredJob, streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elsinore.cluster.machines.file_locks.PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(job_runner, "MAX_FAILURES", 1)
    held = Checkpoint(str(job.checkpoint))
    fake.look()
    work = fake.manager.runners["job"]
    until(lambda: work.failures > 3)
    assert (work.state, work.error) == ("recovering", None)
    held.close()
    until(lambda: work.state == "running")
    with pytest.raises(HeldError, match="already uses the checkpoint"):
        Checkpoint(str(job.checkpoint))


FAR = [253_402_300_800 * 10**6, 569_000_000_000 * 10**6, 2**63 - 1, -(2**63), -62_135_596_801 * 10**6]


@pytest.mark.parametrize("form", [pa.timestamp("us", "UTC"), pa.timestamp("us")], ids=str)
@pytest.mark.parametrize("time", FAR)
def test_a_job_whose_latest_event_no_calendar_holds_can_be_told_of_paused_and_removed(
    fake: Played, job: StoredJob, streams: Streams, time: int, form: pa.DataType
) -> None:
    """Such a job took the event before such events became dead letters."""
    clock = Clock.of(form, "s", [Fraction(60)])
    assert clock.show(np.array([time])).type == form
    streams.kind = lambda job: PlayedLive(job, clock, BatchRecord(1, 0, True, time, time))
    work = working(fake)
    found = until(lambda: fake.document("job")["metrics"]["latest"])
    assert isinstance(found, str)
    assert "T" in found
    assert work._thread.is_alive()
    for call in ("pause", "resume"):
        assert fake.ask("POST", f"/v1/workloads/job/{call}").status_code == 200
    assert fake.ask("GET", "/v1/workloads").status_code == 200
    assert fake.ask("DELETE", "/v1/workloads/job").status_code == 204


def test_whatever_fails_in_telling_how_far_a_job_is_ends_nothing(
    fake: Played, job: StoredJob, streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = working(fake)

    def broken(*_: Any) -> None:
        raise OverflowError("date value out of range")

    monkeypatch.setattr(job_runner, "metrics_of", broken)
    streams.all[0].fail(FailedError("Spark gave up"))
    until(lambda: len(streams.all) == 2)
    assert work._thread.is_alive()
    for call in ("pause", "resume", "pause"):
        assert fake.ask("POST", f"/v1/workloads/job/{call}").status_code == 200
    assert fake.ask("DELETE", "/v1/workloads/job").status_code == 204
    assert not job.folder.exists()


def test_a_change_of_other_queries_than_there_are_is_refused(fake: Played, job: StoredJob) -> None:
    work, before = working(fake), job.spec()
    work.change(replace(before, workload=MORE), before.workload)
    with pytest.raises(RefusalError, match="were changed by another request") as refused:
        work.change(before, before.workload)
    assert refused.value.kind == STALE
    work.pause()
    work.change(before, MORE)
    assert (job.spec().workload, job.spec().paused) == (before.workload, True)


def test_a_change_is_computed_anew_when_another_comes_between(fake: Played, job: StoredJob) -> None:
    work, others = working(fake), [MORE]
    change = work.change

    def late(spec: Spec, before: str) -> None:
        """Refuse the change: another replica was first."""
        if others:
            change(replace(spec, workload=others.pop()), before)
        change(spec, before)

    work.change = late  # type: ignore[method-assign]
    query = "QUERY s RETURN COUNT(*) PATTERN C+ WITHIN 1 minute SLIDE 1 minute"
    answer = fake.ask("POST", "/v1/workloads/job/queries", json={"workload": query})
    assert answer.status_code < 300, answer.text
    assert fake.document("job")["queries"][-2:] == ["r", "s"]


def test_what_happened_is_in_the_history(fake: Played, job: StoredJob, streams: Streams) -> None:
    work = working(fake)
    work.change(replace(job.spec(), workload=MORE), job.spec().workload)
    live = streams.all[0]
    live.replaced += 1
    until(lambda: job.history()[-1]["what"] == "recovered")
    live.metrics.replanned += 1
    until(lambda: job.history()[-1]["what"] == "replanned")
    live.fail(FailedError("the disk is gone"))
    until(lambda: len(streams.all) == 2 and job.history()[-1]["what"] == "started")
    work.pause()
    work.resume()
    until(lambda: job.history()[-1]["what"] == "started")
    streams.all[-1].fail(InputError("no such column"))
    until(lambda: work.state == "failed")
    found = [(entry["what"], entry["why"]) for entry in job.history()]
    assert [what for what, _ in found] == [
        *("submitted", "started", "queries added", "recovered", "replanned"),
        *("interrupted", "started", "paused", "resumed", "started", "failed"),
    ]
    assert dict(found)["queries added"] == "r"
    assert dict(found)["interrupted"].startswith("the disk is gone")
    assert dict(found)["failed"] == "no such column"
    assert dict(found)["started"] == "it continues after batch 3"
