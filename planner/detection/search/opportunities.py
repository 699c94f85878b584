"""What the patterns of a component may share: edges of the multi-pattern graph, with Γ_ij found when asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from elsinore.planner.detection.common import submasks
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.shape import Identity, Shape, Slots


@dataclass(frozen=True)
class Occurrences:
    """A subpattern, and where each of its patterns has it."""

    number: int
    slots: dict[int, Slots]
    """By pattern, its events in the order of the subpattern's slots."""


class Opportunities:
    """The common subpatterns of a component's patterns, those of at least so many events."""

    def __init__(self, graph: MultiPatternGraph, names: Sequence[str], least: int) -> None:
        self._least = least
        self._graph = graph
        self._place = {name: number for number, name in enumerate(names)}
        self.shapes: list[Shape] = [graph.shapes[name] for name in names]
        self.names = list(names)
        found = [edge for edge in graph.edges(least) if edge.first in self._place and edge.second in self._place]
        self.edges = [(self._place[edge.first], self._place[edge.second]) for edge in found]
        self._maximal = {pair: edge.maximal for pair, edge in zip(self.edges, found, strict=True)}
        self._numbers: dict[Identity, Occurrences] = {}
        self._gamma: dict[tuple[int, int], list[Occurrences]] = {}
        self._vicinities: dict[int, list[Occurrences]] = {}
        self._empty = Occurrences(-1, dict.fromkeys(range(len(self.shapes)), ()))
        for pattern in range(len(self.shapes)):
            self._enter(pattern)

    def _enter(self, pattern: int) -> None:
        """Note where a pattern has each subpattern that it shares with another."""
        shape = self.shapes[pattern]
        for whole in self._graph.maximal_of(self.names[pattern]):
            for mask in submasks(shape, whole, self._least):
                identity, slots = shape.identity(mask)
                if identity not in self._numbers:
                    self._numbers[identity] = Occurrences(len(self._numbers), {})
                self._numbers[identity].slots.setdefault(pattern, slots)

    def gamma(self, pair: tuple[int, int]) -> list[Occurrences]:
        """Return Γ_ij of an edge with the empty subpattern, by which patterns find back to their best local plans."""
        if pair not in self._gamma:
            shape = self.shapes[pair[0]]
            identities = {
                shape.identity(mask)[0]: None
                for whole in self._maximal[pair]
                for mask in submasks(shape, whole, self._least)
            }
            self._gamma[pair] = [self._empty, *(self._numbers[identity] for identity in identities)]
        return self._gamma[pair]

    def vicinity(self, pattern: int) -> list[Occurrences]:
        """Return the subpatterns that a pattern shares with any other, and the empty one."""
        if pattern not in self._vicinities:
            every = self._numbers.values()
            found = [one for one in every if pattern in one.slots and len(one.slots) > 1]
            self._vicinities[pattern] = [self._empty, *found]
        return self._vicinities[pattern]

    @property
    def shared(self) -> list[Occurrences]:
        """Return all subpatterns that several patterns have."""
        return [one for one in self._numbers.values() if len(one.slots) > 1]

    @property
    def neighbours(self) -> int:
        """Return the size of the neighbourhood N_edge, half the sum of all |Γ_ij| over ordered pairs."""
        return sum(len(self.gamma(pair)) for pair in self.edges)
