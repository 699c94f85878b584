"""The graph actors of a run, supervised: batches go to all of them, and each takes its part.

Ray's own retries are off: they run calls again in any order. Here a place remembers the batches that its actor's last
saved state does not hold. Where a call fails, whoever is there is asked how far he is, and gets the rest again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ray
from ray.exceptions import RayActorError, RayError, RayTaskError

from actors.graph_actor import Duty, GraphActor, OutOfOrderError, Receipt
from cluster.pool import Pool

SAVE_EVERY = 16
"""Batches between two states, so that few are taken again."""


@dataclass(frozen=True)
class Batch:
    number: int
    watermark: int
    blocks: Callable[[int], Sequence[Any]]
    """By place, references to a block for each route; asked for again when a batch is sent again."""
    last: bool = False
    """The stream is over, and there are no blocks."""


class FailedError(RuntimeError):
    """The machine failed more often than a run puts up with."""


@dataclass
class Place:
    """An actor, and what it would have to be told again."""

    actor: Any
    state: Any = None
    """Reference to what it saved when it had taken all batches before those that are `sent`."""
    sent: deque[Batch] = field(default_factory=deque)
    answers: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """By batch: references to its receipt, and to its rows."""
    states: dict[int, Any] = field(default_factory=dict)
    """By batch, what it saved; to be relied on when the rows of that batch are safe."""


class Crew:
    def __init__(self, duty: Duty, places: int, pool: Pool, optimizer: Any, restarts: int) -> None:
        self.duty = duty
        self.pool = pool
        self.optimizer = optimizer
        self.left = restarts
        self.places = [Place(pool.hire(GraphActor)) for _ in range(places)]
        for place in self.places:
            place.actor.begin.remote(duty, optimizer)
        self.waiting: deque[int] = deque()

    def send(self, batch: Batch) -> None:
        """To every place; nobody waits for it."""
        self.waiting.append(batch.number)
        for number, place in enumerate(self.places):
            place.sent.append(batch)
            self._send(number, place, batch)

    def receive(self) -> tuple[int, list[Receipt], list[Any]]:
        """The oldest batch that was sent: what places say of it, and references to their rows."""
        batch = self.waiting.popleft()
        receipts = [self._receipt(number, place, batch) for number, place in enumerate(self.places)]
        return batch, receipts, [place.answers[batch][1] for place in self.places]

    def commit(self, batch: int) -> None:
        """The rows of this batch are safe, and will not be asked for again."""
        for place in self.places:
            del place.answers[batch]
            if batch in place.states:
                place.state = place.states.pop(batch)
                while place.sent and place.sent[0].number <= batch:
                    place.sent.popleft()

    def ask(self, method: str) -> list[Any]:
        """Something of every actor."""
        return [ray.get(getattr(place.actor, method).remote()) for place in self.places]

    def dismiss(self) -> None:
        """Those that have nothing left to do can be of use to others."""
        for place in self.places:
            if place.answers:
                ray.kill(place.actor)
            else:
                self.pool.give_back(GraphActor, place.actor)

    def _send(self, number: int, place: Place, batch: Batch) -> None:
        take, watermark = place.actor.take.options(num_returns=2), None if batch.last else batch.watermark
        place.answers[batch.number] = take.remote(batch.number, watermark, *batch.blocks(number))
        if batch.number % SAVE_EVERY == 0:
            place.states[batch.number] = place.actor.save.remote(batch.number)

    def _receipt(self, number: int, place: Place, batch: int) -> Receipt:
        while True:
            try:
                receipt: Receipt = ray.get(place.answers[batch][0])
            except RayTaskError as error:
                if not isinstance(error.cause, RayError | OutOfOrderError):
                    raise error.cause from None
                self._recover(number, place, error)
            except RayError as error:
                self._recover(number, place, error)
            else:
                return receipt

    def _recover(self, number: int, place: Place, error: RayError) -> None:
        """Find out how far the actor is, or begin another one; and send what it does not know."""
        if not self.left:
            raise FailedError(f"a process of this run died once too often: {error}") from error
        self.left -= 1
        try:
            known = ray.get(place.actor.reached.remote())
        except RayActorError:
            place.actor = self.pool.replace(GraphActor)
            place.actor.begin.remote(self.duty, self.optimizer)
            known = ray.get(place.actor.restore.remote(place.state)) if place.state is not None else 0
        for batch in place.sent:
            if batch.number > known or batch.number in place.answers:
                self._send(number, place, batch)
