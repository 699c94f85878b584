"""The graph actors of a run, supervised: batches go to all of them, and each takes its part.

Ray's own retries are off: they run calls again in any order. Here a place remembers the batches that its actor's last
saved state does not hold. Where a call fails, whoever is there is asked how far he is, and gets the rest again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from time import sleep
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from elsinore.actors.shells.graph_actor import Duty, GraphActor, Legacy, OutOfOrderError, Receipt
from elsinore.cluster.machines.pool import Pool, heard
from elsinore.cluster.run.budget import Budget
from elsinore.planner.plans.routes import Ranges

SAVE_EVERY = 16
"""Batches between two states, so that few are taken again."""

FORGIVEN = RayError | OutOfOrderError | MemoryError
"""What an actor may raise and be asked again; any other error is one of the events, the queries or the disk."""

PAUSE, LONGEST = 0.1, 5.0
"""Seconds before what failed twice is tried again, and always twice as many; it may be Spark that has to come back."""


ASK_SECONDS = 30.0
"""How long an actor may take to answer a question that no batch depends on."""


@dataclass(frozen=True)
class Batch:
    number: int
    watermark: int
    blocks: Callable[[int], Sequence[Any]]
    """By place, blocks or references to them that hold its events, and maybe others'; asked for again when a batch is
    sent again."""
    last: bool = False
    """The stream is over, and there are no blocks."""
    snapshot: bool = False
    """Every place saves its state after it; `Crew.send` decides that."""


class AheadError(Exception):
    """An actor has taken a batch that was cut short, so its state is not that after the last batch done."""


@dataclass
class Place:
    """An actor, and what it would have to be told again."""

    actor: Any
    begun: Any = None
    """Reference to the end of its beginning, until somebody has seen it: before that nothing may be asked of it."""
    state: Any = None
    """Reference to what it saved when it had taken all batches before those that are `sent`."""
    sent: deque[Batch] = field(default_factory=deque)
    answers: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """By batch: references to its receipt, and to its rows."""
    states: dict[int, Any] = field(default_factory=dict)
    """By batch, what it saved; to be relied on when the rows of that batch are safe."""
    failed: int = 0
    """Times in a row."""


class Crew:
    def __init__(
        self, duty: Duty, ranges: Ranges, pool: Pool, optimizer: Any, restarts: int, cut: Event | None = None
    ) -> None:
        self.cut = cut
        """When it is set, no actor is waited for any more."""
        self.duty = duty
        self.ranges = ranges
        self.pool = pool
        self.optimizer = optimizer
        self.failures = Budget(restarts)
        self.committed = 0
        """The last batch whose rows are safe."""
        self.unsaved = False
        """Whether the last snapshot failed at any place, so that the next batch has to end with another one."""
        self.places = [Place(pool.hire(GraphActor)) for _ in range(ranges.places)]
        for number, place in enumerate(self.places):
            self._begin(number, place)
        self.waiting: deque[int] = deque()

    def _heard(self, reference: Any) -> Any:
        return heard(reference, self.cut)

    def restore(self, states: Sequence[bytes]) -> None:
        """Go on where actors of the same duty were; without a word from them it did not work."""
        for place, state in zip(self.places, states, strict=True):
            place.state = ray.put(state)
        for number, place in enumerate(self.places):
            self._first(number, place, "restore", place.state)

    def inherit(self, batch: int, since: int | None, left: Sequence[Legacy | None]) -> None:
        """Go on where other actors were after a batch; for each range and route, what is taken over."""
        self.committed = batch
        routes = len(self.duty.routes)
        for number, place in enumerate(self.places):
            own = self.ranges.of(number)
            legacies = left[own.start * routes : own.stop * routes]
            while place.state is None:
                self._first(number, place, "inherit", batch, since, legacies)
                try:
                    place.state = ray.put(self._heard(place.actor.save.remote(batch)))
                except RayError as error:
                    self._another(number, place, error)

    def states(self, batch: int) -> list[bytes]:
        """Return what the actors know after the last batch; raise AheadError where one has taken a later batch."""
        return [self._state(number, place, batch) for number, place in enumerate(self.places)]

    def _state(self, number: int, place: Place, batch: int) -> bytes:
        if place.begun is not None:
            self._first(number, place, "reached")
        while True:
            try:
                found: bytes = self._heard(place.actor.save.remote(batch))
            except RayError as error:
                if self._recover(number, place, error) > batch:
                    raise AheadError(f"the actor at place {number} has taken batch {batch + 1}") from None
            else:
                place.failed = 0
                return found

    def send(self, batch: Batch) -> None:
        """To every place; nobody waits for it."""
        batch = replace(batch, snapshot=self.unsaved or batch.number % SAVE_EVERY == 0)
        self.waiting.append(batch.number)
        for number, place in enumerate(self.places):
            place.sent.append(batch)
            self._send(number, place, batch)

    def receive(self) -> tuple[int, list[Receipt], list[Any]]:
        """The oldest batch that was sent: what places say of it, and references to their rows."""
        batch = self.waiting.popleft()
        receipts = [self._receipt(number, place, batch) for number, place in enumerate(self.places)]
        return batch, receipts, [place.answers[batch][1] for place in self.places]

    def withdraw(self, batch: int) -> None:
        """What was sent last will be sent again; who has taken it will say so."""
        self.waiting.clear()
        self.committed = min(self.committed, batch - 1)
        for place in self.places:
            place.answers.pop(batch, None)
            place.states.pop(batch, None)
            while place.sent and place.sent[-1].number >= batch:
                place.sent.pop()

    def commit(self, batch: int) -> bool:
        """Let go of a batch whose rows are safe; return whether every place has saved its state after it.

        Where one has not, all are asked again with the next batch: only states of the same batch are a snapshot.
        """
        self.committed = batch
        for place in self.places:
            del place.answers[batch]
        saved = [self._saved(number, place, batch) for number, place in enumerate(self.places) if batch in place.states]
        whole = len(saved) == len(self.places) and all(saved)
        if saved:
            self.unsaved = not whole
        return whole

    def _saved(self, number: int, place: Place, batch: int) -> bool:
        """Fetch the state that a place saved after a batch, so that it does not go with the node of its actor."""
        try:
            place.state = ray.put(self._heard(place.states.pop(batch)))
        except RayError as error:
            self._recover(number, place, error)
            return False
        while place.sent and place.sent[0].number <= batch:
            place.sent.popleft()
        return True

    def save_again(self, error: Exception) -> None:
        """Save with the next batch, because what was saved with the last one cannot be read."""
        self.failures.forgive(error, self.committed)
        self.unsaved = True

    def ask(self, method: str) -> list[Any]:
        """Something of every actor."""
        return [heard(getattr(place.actor, method).remote(), self.cut, ASK_SECONDS) for place in self.places]

    def dismiss(self) -> None:
        """Those that have nothing left to do can be of use to others."""
        for place in self.places:
            if place.answers:
                ray.kill(place.actor)
            else:
                self.pool.give_back(GraphActor, place.actor)

    def _begin(self, number: int, place: Place) -> None:
        ranges = [self.ranges.bounds(one) for one in self.ranges.of(number)]
        place.begun = place.actor.begin.remote(self.duty, self.optimizer, number, ranges)

    def _first(self, number: int, place: Place, method: str, *arguments: Any) -> Any:
        """What an actor says that has just begun; where it cannot say it, another one."""
        while True:
            try:
                if place.begun is not None:
                    self._heard(place.begun)
                said = self._heard(getattr(place.actor, method).remote(*arguments))
            except RayError as error:
                self._another(number, place, error)
            else:
                place.begun = None
                return said

    def _another(self, number: int, place: Place, error: RayError) -> None:
        self._forgive(error)
        self._replace(number, place)

    def _replace(self, number: int, place: Place) -> None:
        place.actor = self.pool.replace(GraphActor)
        self._begin(number, place)

    def _forgive(self, error: RayError) -> None:
        """Count a failure; raise what is wrong with the events or the queries, and a failure that is one too many."""
        cause = error.cause if isinstance(error, RayTaskError) else error
        if not isinstance(cause, FORGIVEN):
            raise cause from None
        self.failures.forgive(cause, self.committed)

    def _send(self, number: int, place: Place, batch: Batch) -> None:
        if place.begun is not None:
            self._first(number, place, "reached")
        take, watermark = place.actor.take.options(num_returns=2), None if batch.last else batch.watermark
        answer = take.remote(batch.number, watermark, *batch.blocks(number))
        if batch.number <= self.committed:
            return  # taken once more by an actor that replaces another; nothing of it is asked for
        place.answers[batch.number] = answer
        if batch.snapshot:
            place.states[batch.number] = place.actor.save.remote(batch.number)

    def _receipt(self, number: int, place: Place, batch: int) -> Receipt:
        while True:
            try:
                receipt: Receipt = self._heard(place.answers[batch][0])
                if self.pool.spread:
                    # Now they are here, too: rows do not go with the node of the actor whose they are.
                    ray.get(place.answers[batch][1])
            except RayError as error:
                self._recover(number, place, error)
            else:
                place.failed = 0
                return receipt

    def _recover(self, number: int, place: Place, error: RayError) -> int:
        """Ask the actor which batch it has reached, replace it where it is gone, and send it what it does not know.

        Return the batch that it had reached. What failed counts once, also where it was the death of the actor.
        """
        self._forgive(error)
        if place.failed:
            sleep(min(PAUSE * 2**place.failed, LONGEST))
        place.failed += 1
        known = self._reached(place)
        if known is None:
            self._replace(number, place)
            known = self._first(number, place, "reached") if place.state is None else self._restored(number, place)
        for batch in place.sent:
            if batch.number > known or batch.number in place.answers:
                self._send(number, place, batch)
        return known

    def _reached(self, place: Place) -> int | None:
        """Return the last batch that an actor has taken, or None where it is gone or has taken one by half."""
        try:
            known: int = self._heard(place.actor.reached.remote())
        except RayError:
            return None
        return known

    def _restored(self, number: int, place: Place) -> int:
        known: int = self._first(number, place, "restore", place.state)
        return known
