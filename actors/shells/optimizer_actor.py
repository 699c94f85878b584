"""The optimizer actor: one, central. It decides about the bursts of all graph actors, and sees the whole stream.

A question is the bursts of some panes, an answer what to do with each: one message there, one back, as msgpack. Beside
that graph actors tell what they have seen of live streams; it adds that up, for whoever looks for better plans.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple
from fractions import Fraction

import numpy as np

from elsinore.actors.shells.gathering import Gathering
from elsinore.actors.state import pack, unpack
from elsinore.planner.costs.drift import Observed
from elsinore.planner.hamlet.bursts import APART, Bursts, Choices, Facts, Floats
from elsinore.planner.hamlet.optimizer import SharingOptimizer


def question(facts: Facts, bursts: Bursts) -> bytes:
    return pack({"facts": astuple(facts), "bursts": list(bursts.columns)})


def read_answer(answer: bytes, costs: Callable[[], tuple[Floats, Floats]]) -> Choices:
    choice, together, alone = unpack(answer)
    return Choices(choice, together, alone, costs)


def told(seen: Sequence[Observed | None]) -> bytes:
    return pack([None if one is None else one.save() for one in seen])


class OptimizerActor:
    """Who starts it anew loses what it has counted, and nothing else: what comes later is counted again."""

    def __init__(self, optimizer: SharingOptimizer) -> None:
        self.optimizer = optimizer
        self.bursts = 0
        self.events = 0
        self.shared = 0
        self.questions = 0
        self.gathered: dict[str, Gathering] = {}
        """By stream."""

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

    def gather(self, stream: str, place: int, batch: int, seen: bytes) -> None:
        """What the engines of a graph actor saw of a stream with a batch."""
        found = [None if one is None else Observed.read(one) for one in unpack(seen)]
        self.gathered.setdefault(stream, Gathering()).add(place, batch, found)

    def observed(self, stream: str, least: Sequence[Fraction]) -> list[Observed | None]:
        """By route, what a stream was like since somebody last asked, where so many seconds of it are over."""
        return self.gathered.setdefault(stream, Gathering()).take(least)

    def forget(self, stream: str) -> None:
        self.gathered.pop(stream, None)

    def statistics(self) -> dict[str, int]:
        """Of the stream so far: questions, the bursts that they were about, their events, and how many are shared."""
        return {
            "questions": self.questions,
            "bursts": self.bursts,
            "events": self.events,
            "shared_bursts": self.shared,
        }
