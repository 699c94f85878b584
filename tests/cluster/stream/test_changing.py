"""A change of queries is applied, whenever it is requested."""

from __future__ import annotations

from fractions import Fraction
from threading import Event, Lock, Thread
from typing import Any

import pytest

from elsinore.cluster.stream.live import Live, LiveMetrics, StreamRequest


class Begun(Live):
    """A stream that has lost Spark and restarts it when `go` is set, without all other parts."""

    def __init__(self) -> None:
        self.asked = StreamRequest("before", "auto", "exact", Fraction(0))
        self.go, self.opening, self.ended_by_test = Event(), Event(), Event()
        self.error: BaseException | None = None
        self.metrics = LiveMetrics(waiting=True)
        self.turned: list[str] = []
        self.query = None
        self.replanning: Any = None
        self.terms: Any = None
        self._stopping, self._requested = Event(), None
        self._busy, self._changing = Lock(), Lock()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        self._start_when_ready()
        self.ended_by_test.wait(10)

    def _opened(self) -> Any:
        self.opening.set()
        assert self.go.wait(10)
        return object()

    def _begin_changed_era(self, asked: StreamRequest, better: Any = None) -> None:
        self.turned.append(asked.workload)
        self.asked = asked

    def _start_query(self, stream: Any) -> Any:
        return stream

    @property
    def _lost(self) -> bool:
        return True


def test_a_change_is_made_while_spark_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elsinore.cluster.stream.live._check_form", lambda *_: None)
    live = Begun()
    assert live.opening.wait(10)
    asking = Thread(target=lambda: live.change("after"), daemon=True)
    asking.start()
    while live._requested is None:
        asking.join(0.01)
    live.go.set()
    asking.join(10)
    live.ended_by_test.set()
    live._thread.join(10)
    assert (live.turned, live.asked.workload) == (["after"], "after")
    assert live._requested is None
    assert not live.metrics.waiting
