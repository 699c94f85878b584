"""Each append is on disk exactly once, wherever the process that writes it dies."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from elsinore.cluster.service import intake
from elsinore.cluster.service.intake import NDJSON, Append, AppendReceipt, Backlog, accept
from elsinore.cluster.service.jobs import Jobs, StoredJob, digest
from elsinore.cluster.service.settings import ServiceSettings, service_settings
from elsinore.cluster.service.submitting import submit, with_queries, without_query
from elsinore.cluster.service.web.documents import Queries, Submission
from elsinore.cluster.service.web.refusals import RefusalError
from elsinore.connectors.errors import InputError
from elsinore.planner.language.errors import WorkloadError

SIMPLE = "QUERY pairs RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 seconds"


class DeadError(Exception):
    """A stand-in for the death of the process."""


@pytest.fixture
def settings(tmp_path: Path) -> ServiceSettings:
    return service_settings(data=tmp_path, columns=5, backlog_files=3)


@pytest.fixture
def job(settings: ServiceSettings) -> StoredJob:
    return submitted(settings, SIMPLE)


def submitted(settings: ServiceSettings, workload: str, **more: Any) -> StoredJob:
    jobs = Jobs(settings.data)
    jobs.begin()
    return submit(jobs, Submission(workload=workload, **more), None, b"", settings)


def append(*events: dict[str, Any], key: str | None = "key") -> Append:
    return Append("\n".join(map(json.dumps, events)).encode(), NDJSON, key)


def on_disk(job: StoredJob) -> list[dict[str, Any]]:
    return [row for path in sorted(job.incoming.glob("*.parquet")) for row in pq.read_table(path).to_pylist()]


EVENT = {"type": "A", "time": 1, "x": 5}


def test_a_key_is_one_append(job: StoredJob, settings: ServiceSettings) -> None:
    assert accept(job, append(EVENT), settings) == AppendReceipt(1, False)
    assert accept(job, append(EVENT), settings) == AppendReceipt(1, True)
    assert on_disk(job) == [EVENT]
    with pytest.raises(RefusalError, match="another body"):
        accept(job, append(EVENT, EVENT), settings)
    accept(job, append(EVENT, key=None), settings)
    assert on_disk(job) == [EVENT, EVENT]


def test_a_key_is_known_when_its_events_are_taken(job: StoredJob, settings: ServiceSettings) -> None:
    accept(job, append(EVENT), settings)
    for path in job.incoming.iterdir():
        path.unlink()
    assert accept(job, append(EVENT), settings) == AppendReceipt(1, True)
    assert on_disk(job) == []


@pytest.mark.parametrize("step", ["write", "sync", "put_bytes"])
def test_whoever_dies_on_the_way_has_done_nothing_or_all(
    job: StoredJob, settings: ServiceSettings, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    accept(job, append(EVENT, key="before"), settings)

    def dies(*_: Any) -> None:
        raise DeadError

    with monkeypatch.context() as patched:
        patched.setattr(intake, step, dies)
        with pytest.raises(DeadError):
            accept(job, append(EVENT), settings)
    assert accept(job, append(EVENT), settings).events == 1
    assert accept(job, append(EVENT), settings) == AppendReceipt(1, True)
    assert on_disk(job) == [EVENT, EVENT]


def test_drafts_of_the_dead_are_swept(job: StoredJob, settings: ServiceSettings) -> None:
    accept(job, append(EVENT), settings)
    old, new = job.incoming / ".old", job.incoming / ".new"
    for draft in (old, new):
        draft.write_bytes(b"half")
    os.utime(old, (0, 0))
    intake.sweep(job)
    assert (old.exists(), new.exists(), on_disk(job)) == (False, True, [EVENT])


def test_keys_are_forgotten_but_not_where_a_path_is_known(job: StoredJob, settings: ServiceSettings) -> None:
    for key in ("old", "seen", "new"):
        accept(job, append(EVENT, key=key), settings)
    old, seen, new = (intake._marker(job, digest(key.encode())) for key in ("old", "seen", "new"))
    for marker in (old, seen):
        os.utime(marker, (1000, 1000))
    intake.forget_keys(job, 2000, [job.incoming / f"{seen.name}.parquet"])
    assert [marker.exists() for marker in (old, seen, new)] == [False, True, True]


def test_of_many_with_one_key_one_is_taken(job: StoredJob, settings: ServiceSettings) -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: accept(job, append(EVENT), settings), range(32)))
    assert sum(not one.repeated for one in found) == 1
    assert on_disk(job) == [EVENT]


def test_columns_that_come_later_are_added(job: StoredJob, settings: ServiceSettings) -> None:
    accept(job, append(EVENT), settings)
    accept(job, append({"type": "A", "time": 2.0, "y": "text"}, key=None), settings)
    assert job.columns() == {"type": "string", "time": "int64", "x": "int64", "y": "string"}
    with pytest.raises(InputError, match="at most 5 columns"):
        accept(job, append({"type": "A", "time": 2, "u": 1, "v": 2}, key=None), settings)


def test_single_bad_events_are_dead_letters(job: StoredJob, settings: ServiceSettings) -> None:
    accept(job, append(EVENT), settings)
    assert accept(job, append({"time": 3}, {"type": 7, "time": "x"}, key="bad"), settings).events == 2
    assert sorted(map(str, on_disk(job)))[0] == "{'time': 3, 'type': None}" or len(on_disk(job)) == 3


REFUSED: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no time": ({"type": "A", "x": 1}, InputError, "no event has a value in the column 'time'"),
    "a time that is none": ({"type": "A", "time": True}, InputError, "the time column 'time' holds bool"),
    "no attribute": ({"type": "A", "time": 1}, WorkloadError, "has an attribute `v`"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_first_events_that_tell_too_little(settings: ServiceSettings, kind: str) -> None:
    event, error, says = REFUSED[kind]
    job = submitted(settings, "RETURN SUM(A.v) PATTERN A+ WITHIN 10 seconds")
    with pytest.raises(error, match=says):
        accept(job, append(event), settings)
    assert on_disk(job) == []
    assert job.columns() == {}
    assert accept(job, append({"type": "A", "time": 1, "v": 2}), settings) == AppendReceipt(1, False)


def test_what_waits_has_a_bound(job: StoredJob, settings: ServiceSettings) -> None:
    backlog = Backlog(settings)
    for number in range(4):
        backlog.check(job, float(number))
        accept(job, append(EVENT, key=None), settings)
    with pytest.raises(RefusalError, match="are waiting to be processed") as raised:
        backlog.check(job, 4.0)
    assert (raised.value.status, raised.value.headers) == (429, {"Retry-After": "2"})
    next(job.incoming.iterdir()).unlink()
    backlog.check(job, 5.0)


def test_submits(settings: ServiceSettings) -> None:
    jobs = Jobs(settings.data)
    jobs.begin()
    asked = Submission(workload=SIMPLE, name="one")
    first = submit(jobs, asked, "key", b"one", settings)
    assert submit(jobs, asked, "key", b"one", settings) == first
    refused: list[tuple[Callable[[], Any], int]] = [
        (lambda: submit(jobs, asked, "key", b"other", settings), 409),
        (lambda: submit(jobs, asked, None, b"one", settings), 409),
        (lambda: submit(jobs, Submission(workload=SIMPLE), None, b"", few), 429),
    ]
    few = service_settings(data=settings.data, workloads=1)
    for call, status in refused:
        with pytest.raises(RefusalError) as raised:
            call()
        assert raised.value.status == status
    jobs.remove(first)
    assert jobs.all() == []


def test_queries_keep_their_names(settings: ServiceSettings) -> None:
    text = "RETURN COUNT(*) PATTERN A+ WITHIN 10 seconds;\nRETURN COUNT(*) PATTERN B+ WITHIN 10 seconds"
    job = submitted(settings, text)
    job.put_spec(without_query(job, "q1", settings))
    assert "QUERY q2" in job.spec().workload
    more = Queries(workload=f"QUERY q1 {text.splitlines()[0]}")
    spec = with_queries(job, more, False, settings)
    assert spec is not None
    job.put_spec(spec)
    assert with_queries(job, more, True, settings) is None
    with pytest.raises(RefusalError, match="there is a query q1 already"):
        with_queries(job, more, False, settings)
