"""A fake of Ray in this process: calls run synchronously, and fail by a test's script."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf
from threading import Event
from typing import Any, Literal, get_args

import pytest
from ray.exceptions import ActorDiedError, ActorUnavailableError, RayTaskError

from elsinore.actors.shells.optimizer_actor import OptimizerActor
from elsinore.planner.hamlet.optimizer import SharingOptimizer

Fate = Literal["lost", "unanswered", "twice", "dies", "dies after", "out of memory"]
FATES: tuple[Fate, ...] = get_args(Fate)

Script = Callable[[str, "Handle"], Fate | None]
"""Returns the fate of the next call of a method of an actor, None for success."""


@dataclass
class Reply:
    value: Any = None
    error: Exception | None = None


def heard(reply: Reply, _cut: Event | None = None, _seconds: float = inf) -> Any:
    if reply.error is not None:
        raise reply.error
    return reply.value


@dataclass
class Method:
    handle: Handle
    name: str
    returns: int = 1

    def options(self, num_returns: int = 1, concurrency_group: str = "") -> Method:
        return Method(self.handle, self.name, num_returns)

    def remote(self, *arguments: Any) -> Any:
        reply = self.handle.called(self.name, [heard(one) if isinstance(one, Reply) else one for one in arguments])
        if self.returns == 1:
            return reply
        values = reply.value if reply.error is None else [None] * self.returns
        return tuple(Reply(value, reply.error) for value in values)


@dataclass
class Handle:
    """A handle to an actor."""

    ray: Played
    actor: Any
    dead: bool = False

    def __getattr__(self, name: str) -> Method:
        if name.startswith("_"):
            raise AttributeError(name)
        return Method(self, name)

    def called(self, name: str, arguments: list[Any]) -> Reply:
        self.ray.calls += 1
        assert self.ray.calls < 10_000, "calls go on forever"
        if self.dead:
            return Reply(error=ActorDiedError())
        fate = self.ray.script(name, self)
        if fate == "lost":
            return Reply(error=ActorUnavailableError("the call was lost", None))
        if fate == "dies":
            self.dead = True
            return Reply(error=ActorDiedError())
        try:
            if fate == "out of memory":
                raise MemoryError("no room")
            value = getattr(self.actor, name)(*arguments)
            if fate == "twice":
                value = getattr(self.actor, name)(*arguments)
        except Exception as error:  # noqa: BLE001 - Ray hands on whatever a method raises
            return Reply(error=RayTaskError(name, str(error), error).as_instanceof_cause())  # type: ignore[no-untyped-call]
        self.dead = fate == "dies after"
        if fate in ("unanswered", "dies after"):
            return Reply(error=ActorDiedError() if self.dead else ActorUnavailableError("the reply was lost", None))
        return Reply(value)


def all_well(_method: str, _actor: Handle) -> Fate | None:
    return None


@dataclass
class Played:
    """A fake of the module `ray`, and of the pool that hires actors."""

    script: Script = all_well
    calls: int = 0
    hired: list[Handle] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)
    spread = False

    def put(self, value: Any) -> Reply:
        return Reply(value)

    def get(self, reply: Reply, timeout: float | None = None) -> Any:
        return heard(reply)

    def kill(self, actor: Handle) -> None:
        actor.dead = True

    def optimizer(self, policy: SharingOptimizer) -> Handle:
        return Handle(self, OptimizerActor(policy))

    def hire(self, kind: type) -> Handle:
        self.hired.append(Handle(self, kind()))
        return self.hired[-1]

    replace = hire

    def give_back(self, _kind: type, actor: Handle) -> None:
        actor.dead = True


def first(method: str, fates: Iterator[Fate] | list[Fate], place: int | None = None) -> Script:
    """Return a script that gives the next calls of a method these fates, one after another, and then success."""
    left = iter(fates)

    def script(name: str, handle: Handle) -> Fate | None:
        here = place is None or getattr(handle.actor, "place", None) == place
        return next(left, None) if name == method and here else None

    return script


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    return play(monkeypatch)


def play(monkeypatch: pytest.MonkeyPatch) -> Played:
    ray = Played()
    monkeypatch.setattr("elsinore.cluster.run.crew.ray", ray)
    monkeypatch.setattr("elsinore.cluster.run.crew.wait_for_reply", heard)
    monkeypatch.setattr("elsinore.cluster.run.crew.sleep", ray.slept.append)
    monkeypatch.setattr("elsinore.cluster.run.collecting.wait_for_reply", heard)
    monkeypatch.setattr("elsinore.actors.shells.remote_optimizer.ray", ray)
    return ray


class Time:
    """A clock that a test advances."""

    now = 0.0

    def __call__(self) -> float:
        return self.now
