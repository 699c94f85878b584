"""A job with an unreadable file fails, alone, and its error names the file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import time
from typing import Any

import pyarrow as pa
import pytest

from elsinore.cluster.service import job_runner
from elsinore.cluster.service.console.updates import updates
from elsinore.cluster.service.job_runner import JobRunner
from elsinore.cluster.service.jobs import StoredJob
from elsinore.cluster.service.rows import RowsSink
from elsinore.cluster.service.settings import service_settings
from elsinore.cluster.service.submitting import submit
from elsinore.cluster.service.web import console_routes
from elsinore.cluster.service.web.documents import Submission
from elsinore.connectors.storage.safe_files import put_bytes
from tests.service.played import HARMS, WORKLOAD, Played, PlayedLive, played, replaced, until

EVENTS = b'{"type": "A", "time": 1}\n'
LINES = {"Content-Type": "application/x-ndjson"}
ROUTES: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "", {}),
    ("POST", "/events", {"content": EVENTS, "headers": LINES}),
    ("POST", "/events", {"content": EVENTS, "headers": {**LINES, "Idempotency-Key": "one"}}),
    ("GET", "/results", {}),
    ("GET", "/results", {"headers": {"Accept": "application/vnd.apache.arrow.stream"}}),
    ("GET", "/explain", {}),
    ("GET", "/decisions", {}),
    ("GET", "/statistics", {}),
    ("POST", "/pause", {}),
    ("POST", "/resume", {}),
    ("POST", "/queries", {"json": {"workload": "QUERY r RETURN COUNT(*) PATTERN A WITHIN 1 minute SLIDE 1 minute"}}),
    ("DELETE", "/queries/q", {}),
]
FILES = (
    "job.json",
    "columns.json",
    "status.json",
    "keys/marker",
    "rows/part-000000000001.arrow",
    ".lock",
    "rows",
    "keys",
)


SHORT = ["torn", "other fields", "a folder", "missing"]
MANY = [*SHORT, *(pytest.param(harm, marks=pytest.mark.long) for harm in HARMS if harm not in SHORT)]


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Played]:
    started: Any = lambda self: PlayedLive(self.job)  # noqa: E731
    monkeypatch.setattr(JobRunner, "_start_stream", started)
    for name, seconds in (("POLL_SECONDS", 0.01), ("STATUS_SECONDS", 0.02), ("RETRY_SECONDS", 0.02)):
        monkeypatch.setattr(job_runner, name, seconds)
    with played(service_settings(data=tmp_path, rate=100_000)) as found:
        yield found


def begun(fake: Played, name: str) -> StoredJob:
    """Submit a job, send it events, and write a row for it."""
    job = submit(fake.jobs, Submission(workload=WORKLOAD, name=name), None, b"", fake.manager.service)
    sent = fake.ask("POST", f"/v1/workloads/{name}/events", content=EVENTS, headers={**LINES, "Idempotency-Key": "one"})
    assert sent.status_code == 202, sent.text
    rows = pa.table({"query": ["q"], "window_start": [0], "window_end": [60], "COUNT(*)": [1]})
    RowsSink(job.rows, {"q": ["window_start", "window_end", "COUNT(*)"]}).write(1, [rows])
    return job


def harmed(job: StoredJob, name: str, harm: str) -> None:
    path = next(job.keys.glob("*/*")) if name == "keys/marker" else job.folder / name
    if path.is_dir():
        if harm == "missing":
            shutil.rmtree(path)
            return
        path.rename(job.folder / "elsewhere")
        if harm == "a folder":
            path.mkdir()
            return
    replaced(path, harm)


@pytest.mark.parametrize("harm", MANY)
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_no_mistake_of_the_service_and_harms_no_other_job(fake: Played, name: str, harm: str) -> None:
    other, job = begun(fake, "other"), begun(fake, "a-job")
    harmed(job, name, harm)
    fake.look()
    until(lambda: fake.document("other")["state"] == "running")
    for method, route, options in ROUTES:
        answer = fake.ask(method, f"/v1/workloads/a-job{route}", **options)
        assert answer.status_code < 500 or answer.status_code == 503, (method, route, answer.text)
        if answer.status_code == 503:
            assert "a-job" in answer.json()["detail"], (method, route, answer.text)
        listed = fake.ask("GET", "/v1/workloads")
        assert [one["id"] for one in listed.json()["workloads"]] == ["a-job", "other"]
        assert fake.document("other")["state"] == "running"
    assert fake.manager.runners["other"].live is not None
    assert fake.ask("DELETE", "/v1/workloads/a-job").status_code == 204
    assert not job.folder.exists()
    assert other.folder.exists()


@pytest.mark.parametrize("harm", MANY)
@pytest.mark.parametrize("name", FILES)
def test_pages_of_a_damaged_job_are_no_mistake_of_the_service(
    fake: Played, name: str, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console_routes, "updates", partial(updates, seconds=0.1, tick=0.05))
    begun(fake, "other")
    harmed(begun(fake, "a-job"), name, harm)
    fake.look()
    for path in (
        "jobs/a-job/history",
        "jobs/a-job/plan",
        "updates?job=a-job&show=rows",
        "updates?job=a-job&show=bursts",
    ):
        answer = fake.ask("GET", f"/console/{path}")
        assert answer.status_code in (200, 503), (path, answer.text)
        if path.startswith("updates"):
            assert '"other"' in answer.text
        elif answer.status_code == 503:
            assert "a-job" in answer.json()["detail"], (path, answer.text)


@pytest.mark.parametrize("harm", MANY)
@pytest.mark.parametrize("name", ["job.json", "columns.json"])
def test_a_job_that_cannot_be_read_has_failed_and_names_the_file(fake: Played, name: str, harm: str) -> None:
    job = begun(fake, "a-job")
    before = (job.folder / name).read_bytes()
    harmed(job, name, harm)
    fake.look()
    if (name, harm) in {("columns.json", "missing"), ("columns.json", "an empty object")}:
        assert fake.document("a-job")["state"] == "waiting"
        return
    for found in (fake.document("a-job"), fake.ask("GET", "/v1/workloads").json()["workloads"][0]):
        assert found["state"] == "failed"
        assert f"a-job/{name}" in found["error"]["detail"]
    until(lambda: job.status().get("state") == "failed")
    assert f"a-job/{name}" in job.status()["error"]["detail"]
    if (job.folder / name).is_dir():
        (job.folder / name).rmdir()
    put_bytes(job.folder / name, before)
    until(lambda: fake.document("a-job")["state"] == "running")


def test_a_damaged_status_is_written_anew(fake: Played) -> None:
    job = begun(fake, "a-job")
    fake.look()
    for harm in HARMS:
        until(lambda: job.status().get("state") == "running")
        harmed(job, "status.json", harm)
        assert fake.document("a-job")["state"] in ("waiting", "running"), harm
    until(lambda: job.status().get("state") == "running")


def test_a_damaged_sign_of_life_of_the_manager_is_given_anew(fake: Played) -> None:
    begun(fake, "a-job")
    for harm in HARMS:
        fake.look()
        assert fake.ask("GET", "/v1/ready").status_code == 200, harm
        replaced(fake.jobs.data / "manager.json", harm)
        assert fake.ask("GET", "/v1/ready").status_code == 503, harm
        assert fake.document("a-job")["state"] == "recovering", harm


FIELDS: list[tuple[str, Any]] = [
    ("workload", "RETURN"), ("workload", 5), ("strategy", "fast"), ("numeric", None), ("lateness", "-1"),
    ("lateness", "1/0"), ("lateness", 3), ("lateness", "1e99999999"), ("type_column", 1), ("time_unit", "years"),
    ("actors", "2"), ("actors", -1), ("created", "now"), ("created", 1e30), ("paused", "yes"), ("request", None),
    ("of_a_later_version", 1),
]  # fmt: skip


def test_a_field_that_cannot_be_is_damage(fake: Played) -> None:
    job = begun(fake, "a-job")
    path = job.folder / "job.json"
    right = json.loads(path.read_text())
    for name, value in FIELDS:
        path.write_text(json.dumps({**right, name: value}))
        found = fake.document("a-job")
        assert (found["state"], "a-job/job.json" in found["error"]["detail"]) == ("failed", True), (name, value)
    fake.look()
    assert fake.manager.runners["a-job"].state == "failed"
    assert fake.ask("DELETE", "/v1/workloads/a-job").status_code == 204


def test_what_a_key_stood_for_is_not_guessed(fake: Played) -> None:
    """A damaged marker is restored from the events that wait; without them, a retry is refused."""
    job = begun(fake, "a-job")
    [marker] = job.keys.glob("*/*")
    headers = {**LINES, "Idempotency-Key": "one"}
    marker.write_bytes(b"")
    again = fake.ask("POST", "/v1/workloads/a-job/events", content=EVENTS, headers=headers)
    assert (again.status_code, again.json()) == (202, {"events": 1, "repeated": True})
    assert marker.read_bytes()
    marker.write_bytes(b"")
    [events] = job.incoming.glob("*.parquet")
    events.unlink()
    refused = fake.ask("POST", "/v1/workloads/a-job/events", content=EVENTS, headers=headers)
    assert (refused.status_code, "a-job/keys/" in refused.json()["detail"]) == (503, True)
    assert not list(job.incoming.glob("*.parquet"))


def test_a_status_that_cannot_be_written_ends_nothing(fake: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    job = begun(fake, "a-job")
    fake.look()
    until(lambda: fake.document("a-job")["state"] == "running")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(StoredJob, "put_status", full)
        before = time()
        until(lambda: time() - before > 5 * job_runner.STATUS_SECONDS)
        assert fake.manager.runners["a-job"]._thread.is_alive()
        assert fake.ask("POST", "/v1/workloads/a-job/pause").status_code == 200
        assert fake.ask("POST", "/v1/workloads/a-job/resume").status_code == 200
    until(lambda: job.status().get("state") == "running")
    assert fake.ask("DELETE", "/v1/workloads/a-job").status_code == 204
