"""Supervise the graph actors of a run: send batches to all of them, of which each takes its part.

Ray's own retries are off, because they repeat calls in any order. Instead a place keeps the batches that its actor's
last saved state does not contain. Where a call fails, the actor is asked which batch it has reached, or replaced, and
the batches after that are sent again.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from threading import Event
from time import sleep
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from elsinore.actors.shells.graph_actor import Duty, GraphActor, Legacy, More, OutOfOrderError, Receipt
from elsinore.actors.streams.places import Beginning
from elsinore.cluster.machines.pool import Pool, wait_for_reply
from elsinore.cluster.run.budget import Budget
from elsinore.planner.plans.routes import Ranges

BATCHES_PER_SNAPSHOT = 16
"""Number of batches between two saved states, so that few have to be repeated."""

RETRIED_ERRORS = RayError | OutOfOrderError | MemoryError
"""Errors of an actor after which the call is retried; any other error is one of the events, the queries or the disk."""

PAUSE_SECONDS, MAX_PAUSE_SECONDS = 0.1, 5.0
"""Seconds of the pause before a second retry, doubled each time, and the longest pause; Spark may have to restart."""


REQUEST_SECONDS = 30.0
"""Timeout of a request to an actor on which no batch depends."""


@dataclass(frozen=True)
class NumberedBatch:
    number: int
    watermark: int
    blocks: Callable[[int], Sequence[Any]]
    """Returns the blocks of a place, or references to them; they contain its events, and maybe those of others. Called
    again when the batch is sent again."""
    last: bool = False
    """Whether the stream ends with this batch, which then has no blocks."""
    snapshot: bool = False
    """Whether every place saves its state after the batch; set by `Crew.send`."""


class AheadError(Exception):
    """An actor has taken a batch that was interrupted, so its state is not that after the last batch done."""


@dataclass
class SupervisedActor:
    """A graph actor, with all that a replacement would need: its last saved state, and the batches since."""

    actor: Any
    pending_begin: Any = None
    """Reference to the reply of the pending `begin` call; None once that is received. No other call before that."""
    state: Any = None
    """Reference to the state that it saved after all batches before those that are `sent`; None if there is none."""
    sent: deque[NumberedBatch] = field(default_factory=deque)
    answers: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    """By batch, references to its receipt and its partial rows."""
    states: dict[int, Any] = field(default_factory=dict)
    """By batch, a reference to the state saved after it; used once the rows of that batch are safe."""
    arrived: dict[int, Counter[str]] = field(default_factory=dict)
    """By batch, the matches of each query that were handed on."""
    failed: int = 0
    """Number of consecutive failures."""


class Crew:
    def __init__(
        self, duty: Duty, ranges: Ranges, pool: Pool, optimizer: Any, restarts: int, cut: Event | None = None
    ) -> None:
        self.cut = cut
        """When set, no actor is waited for any more."""
        self.duty = duty
        self.ranges = ranges
        self.pool = pool
        self.optimizer = optimizer
        self.failures = Budget(restarts)
        self.replaced = 0
        """How many actors were replaced."""
        self.committed = 0
        """The last batch whose rows are safe."""
        self.unsaved = False
        """Whether the last snapshot failed at any place, so that one has to follow the next batch."""
        self.places = [SupervisedActor(pool.hire(GraphActor)) for _ in range(ranges.places)]
        for number, place in enumerate(self.places):
            self._begin(number, place)
        self.waiting: deque[int] = deque()

    def _reply(self, reference: Any) -> Any:
        return wait_for_reply(reference, self.cut)

    def restore(self, states: Sequence[bytes]) -> None:
        """Restore the saved states of actors with the same duty, and wait for all replies."""
        for place, state in zip(self.places, states, strict=True):
            place.state = ray.put(state)
        for number, place in enumerate(self.places):
            self._call_begun(number, place, "restore", place.state)

    def inherit(self, batch: int, since: Beginning | None, left: Sequence[Legacy | None]) -> None:
        """Take over the states of other actors after a batch, by range and route, and fetch the new states.

        New queries begin at the time `since`, before which the stream had so many events.
        """
        self.committed = batch
        routes = len(self.duty.routes)
        for number, place in enumerate(self.places):
            own = self.ranges.of(number)
            legacies = left[own.start * routes : own.stop * routes]
            while place.state is None:
                self._call_begun(number, place, "inherit", batch, since, legacies)
                try:
                    place.state = ray.put(self._reply(place.actor.save.remote(batch)))
                except RayError as error:
                    self._forgive_and_replace(number, place, error)

    def states(self, batch: int) -> list[bytes]:
        """Return the states of the actors after the last batch; raise AheadError where one has taken a later batch."""
        return [self._state(number, place, batch) for number, place in enumerate(self.places)]

    def _state(self, number: int, place: SupervisedActor, batch: int) -> bytes:
        if place.pending_begin is not None:
            self._call_begun(number, place, "reached")
        while True:
            try:
                found: bytes = self._reply(place.actor.save.remote(batch))
            except RayError as error:
                if self._recover(number, place, error) > batch:
                    raise AheadError(f"the actor at place {number} has taken batch {batch + 1}") from None
            else:
                place.failed = 0
                return found

    def send(self, batch: NumberedBatch) -> None:
        """Send a batch to every place, without waiting for replies."""
        batch = replace(batch, snapshot=self.unsaved or batch.number % BATCHES_PER_SNAPSHOT == 0)
        self.waiting.append(batch.number)
        for number, place in enumerate(self.places):
            place.sent.append(batch)
            self._send(number, place, batch)

    def receive(self) -> tuple[int, list[Receipt]]:
        """Wait for the oldest pending batch, and return its number and its receipts."""
        batch = self.waiting.popleft()
        return batch, [self._receipt(number, place, batch) for number, place in enumerate(self.places)]

    def rows(self, batch: int) -> Iterator[list[Any]]:
        """Yield references to the partial rows of a batch that was received: those of all places, then more matches.

        An actor searches the next matches while the caller is busy with the last ones, and then waits. Called again,
        this goes on behind the rows that the caller was done with.
        """
        receipts = [self._receipt(number, place, batch) for number, place in enumerate(self.places)]
        left = [number for number, receipt in enumerate(receipts) if receipt.more]
        fresh = not any(batch in place.arrived for place in self.places)
        for number in () if fresh else left:
            self._take_again(number)
        behind = [
            place.arrived.get(batch, receipt.matches) for place, receipt in zip(self.places, receipts, strict=True)
        ]
        asked = {number: self._ask_more(number, batch, behind[number]) for number in left}
        if fresh:
            yield [place.answers[batch][1] for place in self.places]
        for place, matches in zip(self.places, behind, strict=True):
            place.arrived[batch] = matches
        while asked:
            for number in list(asked):
                (matches, more), rows = self._more(number, batch, asked.pop(number))
                arrived = self.places[number].arrived[batch] + matches
                if more:
                    asked[number] = self._ask_more(number, batch, arrived)
                if matches:
                    yield [rows]
                self.places[number].arrived[batch] = arrived

    def repeat(self, batch: int) -> None:
        """Have the rows of a batch handed out again, from the first, because the receiver lost some."""
        for number, place in enumerate(self.places):
            if place.arrived.pop(batch, None) is not None and self._receipt(number, place, batch).more:
                self._take_again(number)

    def _take_again(self, number: int) -> None:
        """Restart an actor from its last saved state, and send the batches since: their matches are found again."""
        place = self.places[number]
        self._begin(number, place)
        self._send_after(number, place, self._resumed(number, place))

    def _ask_more(self, number: int, batch: int, arrived: Counter[str]) -> Any:
        """Ask for the matches behind those that have arrived; return references to their numbers, and to them."""
        return self.places[number].actor.more.options(num_returns=2).remote(batch, arrived)

    def _more(self, number: int, batch: int, asked: Any) -> tuple[More, Any]:
        """Wait for matches of a batch; return how many there are, and a reference to them."""
        place = self.places[number]
        while True:
            try:
                found: More = self._reply(asked[0])
                self._fetch(asked[1])
            except RayError as error:
                self._recover(number, place, error)
                asked = self._ask_more(number, batch, place.arrived[batch])
            else:
                place.failed = 0
                return found, asked[1]

    def _fetch(self, rows: Any) -> None:
        """Fetch a copy of the rows, so that they are not lost with the node of the actor."""
        if self.pool.spread:
            ray.get(rows)

    def withdraw(self, batch: int) -> None:
        """Forget this batch and all after it, which the caller sends again.

        An actor that has taken one repeats its reply.
        """
        self.waiting.clear()
        self.committed = min(self.committed, batch - 1)
        for place in self.places:
            place.answers.pop(batch, None)
            place.states.pop(batch, None)
            while place.sent and place.sent[-1].number >= batch:
                place.sent.pop()

    def commit(self, batch: int) -> bool:
        """Release a batch whose rows are safe; return whether every place has saved its state after it.

        If one failed to, all save again after the next batch: a snapshot needs states after the same batch.
        """
        self.committed = batch
        for place in self.places:
            del place.answers[batch]
            place.arrived.pop(batch, None)
        saved = [self._saved(number, place, batch) for number, place in enumerate(self.places) if batch in place.states]
        whole = len(saved) == len(self.places) and all(saved)
        if saved:
            self.unsaved = not whole
        return whole

    def _saved(self, number: int, place: SupervisedActor, batch: int) -> bool:
        """Fetch the state that a place saved after a batch, so that it is not lost with the node of its actor.

        Return whether that succeeded, and then drop the batches that the state contains.
        """
        try:
            place.state = ray.put(self._reply(place.states.pop(batch)))
        except RayError as error:
            self._recover(number, place, error)
            return False
        while place.sent and place.sent[0].number <= batch:
            place.sent.popleft()
        return True

    def save_again(self, error: Exception) -> None:
        """Count a failure, and have all places save after the next batch: the last snapshot cannot be read."""
        self.failures.forgive(error, self.committed)
        self.unsaved = True

    def ask(self, method: str) -> list[Any]:
        """Call a method of every actor, and return the replies."""
        return [
            wait_for_reply(getattr(place.actor, method).remote(), self.cut, REQUEST_SECONDS) for place in self.places
        ]

    def dismiss(self) -> None:
        """Return the idle actors to the pool, and kill those with batches that were not committed."""
        for place in self.places:
            if place.answers:
                ray.kill(place.actor)
            else:
                self.pool.give_back(GraphActor, place.actor)

    def _begin(self, number: int, place: SupervisedActor) -> None:
        ranges = [self.ranges.bounds(one) for one in self.ranges.of(number)]
        place.pending_begin = place.actor.begin.remote(self.duty, self.optimizer, number, ranges)

    def _call_begun(self, number: int, place: SupervisedActor, method: str, *arguments: Any) -> Any:
        """Call a method of an actor once its `begin` has returned, and return the reply; replace it if it fails."""
        while True:
            try:
                if place.pending_begin is not None:
                    self._reply(place.pending_begin)
                reply = self._reply(getattr(place.actor, method).remote(*arguments))
            except RayError as error:
                self._forgive_and_replace(number, place, error)
            else:
                place.pending_begin = None
                return reply

    def _forgive_and_replace(self, number: int, place: SupervisedActor, error: RayError) -> None:
        self._forgive(error)
        self._replace(number, place)

    def _replace(self, number: int, place: SupervisedActor) -> None:
        self.replaced += 1
        place.actor = self.pool.replace(GraphActor)
        self._begin(number, place)

    def _forgive(self, error: RayError) -> None:
        """Count a failure. Raise an error of the events or the queries, and FailedError where failures are too many."""
        cause = error.cause if isinstance(error, RayTaskError) else error
        if not isinstance(cause, RETRIED_ERRORS):
            raise cause from None
        self.failures.forgive(cause, self.committed)

    def _send(self, number: int, place: SupervisedActor, batch: NumberedBatch) -> None:
        if place.pending_begin is not None:
            self._call_begun(number, place, "reached")
        take, watermark = place.actor.take.options(num_returns=2), None if batch.last else batch.watermark
        answer = take.remote(batch.number, watermark, *batch.blocks(number))
        if batch.number <= self.committed:
            return  # repeated only to restore the state of a replacement; its reply is not needed
        place.answers[batch.number] = answer
        if batch.snapshot:
            place.states[batch.number] = place.actor.save.remote(batch.number)

    def _receipt(self, number: int, place: SupervisedActor, batch: int) -> Receipt:
        while True:
            try:
                receipt: Receipt = self._reply(place.answers[batch][0])
                self._fetch(place.answers[batch][1])
            except RayError as error:
                self._recover(number, place, error)
            else:
                place.failed = 0
                return receipt

    def _recover(self, number: int, place: SupervisedActor, error: RayError) -> int:
        """Ask the actor which batch it has reached, replace it where it is gone, and send it the batches after that.

        Return the batch that it had reached. The failure counts once, even if the actor has died.
        """
        self._forgive(error)
        if place.failed:
            sleep(min(PAUSE_SECONDS * 2**place.failed, MAX_PAUSE_SECONDS))
        place.failed += 1
        known = self._reached(place)
        if known is None:
            self._replace(number, place)
            known = self._resumed(number, place)
        self._send_after(number, place, known)
        return known

    def _send_after(self, number: int, place: SupervisedActor, known: int) -> None:
        """Send the batches again that an actor has not taken, and those whose replies are needed."""
        for batch in place.sent:
            needed = batch.number in place.answers and batch.number not in place.arrived
            if batch.number > known or needed:
                self._send(number, place, batch)

    def _resumed(self, number: int, place: SupervisedActor) -> int:
        """Restore an actor that begins anew, and return the last batch of its state."""
        return self._call_begun(number, place, "reached") if place.state is None else self._restored(number, place)

    def _reached(self, place: SupervisedActor) -> int | None:
        """Return the last batch that an actor has taken, or None if it is gone or failed in the middle of one."""
        try:
            known: int = self._reply(place.actor.reached.remote())
        except RayError:
            return None
        return known

    def _restored(self, number: int, place: SupervisedActor) -> int:
        known: int = self._call_begun(number, place, "restore", place.state)
        return known
