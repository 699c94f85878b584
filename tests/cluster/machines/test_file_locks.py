"""A lock held by one process, and its inspection by another."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

from elsinore.cluster.machines import file_locks, session
from elsinore.cluster.machines.file_locks import HeldError, hold, holder
from elsinore.errors import InputError


def test_a_look_at_a_lock_keeps_nobody_from_taking_it(tmp_path: Path) -> None:
    over = Event()

    def look() -> None:
        while not over.is_set():
            holder(tmp_path / "lock")

    lookers = [Thread(target=look) for _ in range(2)]
    for one in lookers:
        one.start()
    try:
        for _ in range(50):
            hold(tmp_path / "lock").close()
    finally:
        over.set()
        for one in lookers:
            one.join()


def test_a_lock_that_stays_taken_is_refused_as_input_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_locks, "PATIENCE_SECONDS", 0.05)
    with hold(tmp_path / "lock"):
        with pytest.raises(HeldError, match="process"):
            hold(tmp_path / "lock")
        assert issubclass(HeldError, InputError)
        assert holder(tmp_path / "lock") is not None
    assert holder(tmp_path / "lock") is None


def test_the_watch_over_spark_goes_on_when_ray_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[str] = []

    def actors(**_: Any) -> dict[str, Any]:
        attempts.append("actors")
        if len(attempts) < 3:
            raise RuntimeError("the GCS does not answer")
        return {"one": {}}

    def actor(_: str) -> Any:
        if not attempts:
            attempts.append("name")
            raise ValueError("there is no such actor")
        return type("Handle", (), {"_actor_id": type("Id", (), {"job_id": "01"})})

    stopped = Event()
    monkeypatch.setattr(session, "WATCH_SECONDS", 0.01)
    monkeypatch.setattr("ray.is_initialized", lambda: True)
    monkeypatch.setattr("ray.get_actor", actor)
    monkeypatch.setattr("ray._private.state.actors", actors)
    watch = session.SparkWatch(SimpleNamespace(stop=stopped.set))
    assert stopped.wait(10)
    assert watch.lost
