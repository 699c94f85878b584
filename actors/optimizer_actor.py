"""The optimizer actor: one, central. It decides about the bursts of all graph actors, and sees the whole stream.

A question is the bursts of some panes, an answer what to do with each: one message there, one back, as msgpack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple

import numpy as np

from actors.state import pack, unpack
from planner.bursts import APART, Bursts, Choices, Facts, Floats
from planner.optimizer import SharingOptimizer


def question(facts: Facts, bursts: Bursts) -> bytes:
    return pack({"facts": astuple(facts), "bursts": list(bursts.columns)})


def read_answer(answer: bytes, costs: Callable[[], tuple[Floats, Floats]]) -> Choices:
    choice, together, alone = unpack(answer)
    return Choices(choice, together, alone, costs)


class OptimizerActor:
    """Who starts it anew loses what it has counted, and nothing else."""

    def __init__(self, optimizer: SharingOptimizer) -> None:
        self.optimizer = optimizer
        self.bursts = 0
        self.events = 0
        self.shared = 0
        self.questions = 0

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

    def statistics(self) -> dict[str, int]:
        """Of the stream so far: questions, the bursts that they were about, their events, and how many are shared."""
        return {
            "questions": self.questions,
            "bursts": self.bursts,
            "events": self.events,
            "shared_bursts": self.shared,
        }
