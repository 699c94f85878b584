"""The optimizer actor as graph actors see it: an optimizer like any other, whose decisions are made remotely.

A question is sent at once; its answer is awaited when it is needed. Where no answer comes in time, the graph actor
decides by the policy that it began with, and sends no questions for a while.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError

from elsinore.actors.shells.optimizer_actor import plan_request, question, read_answer, read_trees, told
from elsinore.planner.costs.drift import Observed
from elsinore.planner.detection.choosing import SEARCH_SECONDS, PlanRequest, chosen_trees
from elsinore.planner.detection.strategies.request import Trees
from elsinore.planner.hamlet.bursts import Bursts, Choices, Facts, Floats
from elsinore.planner.hamlet.optimizer import Pending, SharingOptimizer

PATIENCE_SECONDS = 0.25
"""Seconds to wait for an answer."""

PLAN_SECONDS = 2 * SEARCH_SECONDS
"""Seconds to wait for a plan of patterns."""

PLANS = "plans"
"""The concurrency group of the optimizer actor that searches for plans."""

PAUSE_SECONDS = 2.0
"""Seconds without questions after one that was not answered in time."""


class RemoteOptimizer:
    def __init__(self, actor: Any, policy: SharingOptimizer) -> None:
        self.actor = actor
        self.policy = policy
        self.asked = 0
        self.missed = 0
        """Questions without an answer in time, and those not sent after one."""
        self.waited = 0.0
        """Seconds that were spent waiting for answers."""
        self.silent_until = 0.0

    def decide(self, facts: Facts, bursts: Bursts) -> Choices:
        return self.ask(facts, bursts)()

    def ask(self, facts: Facts, bursts: Bursts) -> Pending:
        if not len(bursts.size):
            return lambda: self.policy.decide(facts, bursts)
        self.asked += 1
        if monotonic() < self.silent_until:
            self.missed += 1
            return lambda: self.policy.decide(facts, bursts)
        reference = self.actor.decide.remote(question(facts, bursts))
        return lambda: self._answer(reference, facts, bursts)

    def choose(self, request: PlanRequest) -> Trees:
        """Return what the optimizer actor chooses for patterns, or the choice of this process if no answer comes."""
        begin = monotonic()
        reference = self.actor.choose.options(concurrency_group=PLANS).remote(plan_request(request))
        try:
            return read_trees(ray.get(reference, timeout=PLAN_SECONDS))
        except (GetTimeoutError, RayError):
            self.missed += 1
            return chosen_trees(request)
        finally:
            self.asked += 1
            self.waited += monotonic() - begin

    def tell(self, stream: str, place: int, batch: int, seen: Sequence[Observed | None]) -> None:
        """Send what engines saw of a stream with a batch, without waiting for it to arrive."""
        self.actor.gather.options(num_returns=0).remote(stream, place, batch, told(seen))

    def _answer(self, reference: Any, facts: Facts, bursts: Bursts) -> Choices:
        begin = monotonic()
        try:
            # Costs are recomputed locally: only recorded decisions have them, and the policy gives the same numbers.
            found = read_answer(ray.get(reference, timeout=PATIENCE_SECONDS), lambda: self._costs(facts, bursts))
        except (GetTimeoutError, RayError):
            self.missed += 1
            self.silent_until = monotonic() + PAUSE_SECONDS
            found = self.policy.decide(facts, bursts)
        self.waited += monotonic() - begin
        return found

    def _costs(self, facts: Facts, bursts: Bursts) -> tuple[Floats, Floats]:
        choices = self.policy.decide(facts, bursts)
        return choices.shared, choices.apart
