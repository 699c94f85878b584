"""The central optimizer actor, which decides about the bursts of all graph actors and so sees the whole stream.

A question has the bursts of some panes, and its answer says what to do with each burst. Both are single messages in
msgpack. Requests for plans of patterns are answered beside that, in a thread of their own: a search takes seconds.
Graph actors also send statistics of live streams; the optimizer actor adds them up for replanning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple
from fractions import Fraction

import numpy as np

from elsinore.actors.shells.gathering import Gathering
from elsinore.actors.state import pack, unpack
from elsinore.planner.costs.drift import Observed
from elsinore.planner.detection.choosing import PlanRequest, SharedChooser, trees_of
from elsinore.planner.detection.strategies.request import Trees
from elsinore.planner.hamlet.bursts import APART, Bursts, Choices, Facts, Floats
from elsinore.planner.hamlet.optimizer import SharingOptimizer


def question(facts: Facts, bursts: Bursts) -> bytes:
    return pack({"facts": astuple(facts), "bursts": list(bursts.columns)})


def read_answer(answer: bytes, costs: Callable[[], tuple[Floats, Floats]]) -> Choices:
    choice, together, alone = unpack(answer)
    return Choices(choice, together, alone, costs)


def plan_request(request: PlanRequest) -> bytes:
    return pack(request.save())


def read_trees(answer: bytes) -> Trees:
    return trees_of(unpack(answer))


def told(seen: Sequence[Observed | None]) -> bytes:
    return pack([None if one is None else one.save() for one in seen])


class OptimizerActor:
    """An optimizer, and statistics of streams. A restart loses what was counted so far and nothing else."""

    def __init__(self, optimizer: SharingOptimizer) -> None:
        self.optimizer = optimizer
        self.bursts = 0
        self.events = 0
        self.shared = 0
        self.questions = 0
        self.gathered: dict[str, Gathering] = {}
        """Statistics by stream."""
        self.chooser = SharedChooser()

    def decide(self, asked: bytes) -> bytes:
        told = unpack(asked)
        bursts = Bursts(*told["bursts"])
        choices = self.optimizer.decide(Facts(*told["facts"]), bursts)
        self._note(bursts, choices)
        return pack([choices.choice, choices.together, choices.alone])

    def _note(self, bursts: Bursts, choices: Choices) -> None:
        self.questions += 1
        self.bursts += len(bursts.size)
        self.events += int(bursts.size.sum())
        self.shared += int(np.count_nonzero(choices.choice[bursts.first] != APART))

    def choose(self, request: bytes) -> bytes:
        """Return trees for the patterns of a graph actor: the same for all actors that see alike streams."""
        return pack(self.chooser(PlanRequest.load(unpack(request))))

    def gather(self, stream: str, place: int, batch: int, seen: bytes) -> None:
        """Add what the engines of a graph actor saw of a stream with a batch."""
        found = [None if one is None else Observed.read(one) for one in unpack(seen)]
        self.gathered.setdefault(stream, Gathering()).add(place, batch, found)

    def observed(self, stream: str, least: Sequence[Fraction]) -> list[Observed | None]:
        """Return and reset the statistics of a stream, by route; None where they span less than its `least` seconds."""
        return self.gathered.setdefault(stream, Gathering()).read_and_reset(least)

    def forget(self, stream: str) -> None:
        self.gathered.pop(stream, None)

    def statistics(self) -> dict[str, int]:
        """Return the numbers of questions so far, of bursts in them, of their events, of shared bursts, and of searches
        for plans."""
        return {
            "questions": self.questions,
            "bursts": self.bursts,
            "events": self.events,
            "shared_bursts": self.shared,
            "searches": self.chooser.searches,
        }
