"""Neighbourhoods N_edge and N_vertex^k (Section 4.2; with the choice of what is kept, Section 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from elsinore.planner.detection.search.opportunities import Occurrences, Opportunities
from elsinore.planner.detection.search.solution import Neighbour, Solution


class Neighbourhood(Protocol):
    @property
    def name(self) -> str: ...

    def random(self, solution: Solution, chances: Opportunities, rng: Random) -> Neighbour | None:
        """Return a random neighbour; None where the choice leads to the solution itself."""
        ...


@dataclass(frozen=True)
class EdgeNeighbourhood:
    """N_edge: two patterns are planned anew, so that they share one of their common subpatterns."""

    name: str = "edge"

    def random(self, solution: Solution, chances: Opportunities, rng: Random) -> Neighbour | None:
        pair = rng.choice(chances.edges)
        part = rng.choice(chances.gamma(pair))
        return _shared(solution, part, pair if rng.random() < 0.5 else pair[::-1], rng)


@dataclass(frozen=True)
class VertexNeighbourhood:
    """N_vertex^k: up to k patterns are planned anew, so that they share a subpattern of one pattern's vicinity."""

    k: int

    @property
    def name(self) -> str:
        return f"vertex-{self.k}"

    def random(self, solution: Solution, chances: Opportunities, rng: Random) -> Neighbour | None:
        pattern = rng.randrange(len(chances.shapes))
        part = rng.choice(chances.vicinity(pattern))
        others = [other for other in part.slots if other != pattern]
        return _shared(solution, part, [pattern, *rng.sample(others, min(self.k - 1, len(others)))], rng)


def _shared(solution: Solution, part: Occurrences, patterns: Sequence[int], rng: Random) -> Neighbour | None:
    if _is_shared(solution, part, patterns):
        return None
    keeping = {pattern: rng.random() < 0.5 for pattern in patterns}
    now = [solution.plans[pattern] for pattern in patterns]
    plans = solution.space.sharing(part, patterns, now, lambda x, node: keeping[x] and solution.shares(node))
    return solution.neighbour(patterns, plans)


def _is_shared(solution: Solution, part: Occurrences, patterns: Sequence[int]) -> bool:
    """Return whether the patterns share just this subpattern already."""
    nodes = set()
    for pattern in patterns:
        found = solution.plans[pattern].inner.get(sum(1 << x for x in part.slots[pattern]))
        if found is None:
            return False
        nodes.add(found[0])
    return len(nodes) == 1
