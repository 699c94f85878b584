"""Simulated annealing, Tabu search, and the iterative improvement that both extend (Appendix B)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp
from random import Random
from typing import Protocol

from elsinore.planner.detection.search.budget import Meter
from elsinore.planner.detection.search.solution import Neighbour, Solution
from elsinore.planner.detection.search.spaces import Local

Step = Callable[[], "Neighbour | None"]
"""Makes a random neighbour of the present solution."""


class Best:
    """The cheapest solution seen."""

    def __init__(self, solution: Solution) -> None:
        self.cost = solution.cost
        self.plans: Sequence[Local] = tuple(solution.plans)

    def see(self, solution: Solution, meter: Meter) -> None:
        if solution.cost < self.cost * (1 - 1e-12):
            self.cost = solution.cost
            self.plans = tuple(solution.plans)
            meter.improved()


class MetaHeuristic(Protocol):
    @property
    def name(self) -> str: ...

    def search(self, solution: Solution, step: Step, meter: Meter, rng: Random) -> Best:
        """Walk from a solution until the budget is spent; return the best seen."""
        ...


PATTERNS = 100
"""The patterns of the paper's workloads, for which its parameters are meant."""
FROZEN = 1e-7
"""The share of the best cost that the threshold falls below when hardly any worse neighbour is accepted any more."""
REHEATED = 1e-2
"""The share of the best cost that the threshold is raised to then."""
REHEATED_ALPHA = 0.999
"""Alpha from then on: in the first descent, most steps are made far above the thresholds that matter."""


@dataclass(frozen=True)
class SimulatedAnnealing:
    """A worse neighbour by d is accepted with probability exp(-d/c); c shrinks by alpha at each step.

    It starts as the largest difference among some neighbours of the first solution. Whenever it is frozen, the walk
    goes back to the best solution seen, and c is raised a little: a good start is not lost in the beginning, and a
    long search finds more than the first local minimum. Components of few patterns have fewer neighbours to try
    first, and cool faster: their budget is a small part of the whole.
    """

    alpha: float = 0.99
    tried: int = 1000
    """I, the neighbours from which c starts."""
    name: str = "annealing"

    def search(self, solution: Solution, step: Step, meter: Meter, rng: Random) -> Best:
        best = Best(solution)
        part = min(1.0, len(solution.plans) / PATTERNS)
        threshold = self._start(step, meter, round(part * self.tried))
        cooling = self.alpha ** (1 / part)
        while meter.open():
            if threshold < FROZEN * best.cost:
                solution.become(best.plans)
                threshold, cooling = REHEATED * best.cost, REHEATED_ALPHA
            meter.step()
            neighbour = step()
            threshold *= cooling
            if neighbour is not None and self._accepts(neighbour.difference, threshold, rng):
                solution.move(neighbour)
                best.see(solution, meter)
        return best

    def _start(self, step: Step, meter: Meter, tried: int) -> float:
        largest = 0.0
        for _ in range(tried):
            if not meter.open():
                break
            meter.step()
            neighbour = step()
            largest = max(largest, abs(neighbour.difference) if neighbour else 0.0)
        meter.improved()
        return largest

    @staticmethod
    def _accepts(difference: float, threshold: float, rng: Random) -> bool:
        if difference <= 0:
            return True
        return difference < 50 * threshold and rng.random() < exp(-difference / threshold)


@dataclass(frozen=True)
class TabuSearch:
    """The cheapest of some random neighbours is taken, even a worse one, unless it is on the list of those visited."""

    neighbours: int = 100
    """L"""
    remembered: int = 10_000
    """C; the oldest are forgotten."""
    name: str = "tabu"

    def search(self, solution: Solution, step: Step, meter: Meter, rng: Random) -> Best:
        best = Best(solution)
        here = solution.signature
        visited = {here: None}
        while meter.open():
            found = self._cheapest(solution, step, meter, here, visited)
            if found is None:
                continue
            neighbour, here = found
            solution.move(neighbour)
            best.see(solution, meter)
            visited[here] = None
            if len(visited) > self.remembered:
                del visited[next(iter(visited))]
        return best

    def _cheapest(
        self, solution: Solution, step: Step, meter: Meter, here: int, visited: dict[int, None]
    ) -> tuple[Neighbour, int] | None:
        found: tuple[Neighbour, int] | None = None
        for _ in range(self.neighbours):
            if not meter.open():
                break
            meter.step()
            neighbour = step()
            if neighbour is None or (found is not None and neighbour.difference >= found[0].difference):
                continue
            signature = solution.signature_of(neighbour, here)
            if signature not in visited:
                found = (neighbour, signature)
        return found


@dataclass(frozen=True)
class HillClimbing:
    """Iterative improvement: only a cheaper neighbour is accepted."""

    name: str = "climbing"

    def search(self, solution: Solution, step: Step, meter: Meter, rng: Random) -> Best:
        best = Best(solution)
        while meter.open():
            meter.step()
            neighbour = step()
            if neighbour is not None and neighbour.difference < 0:
                solution.move(neighbour)
                best.see(solution, meter)
        return best
