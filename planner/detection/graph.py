"""The multi-pattern graph MPG (Section 4.1), as the two hash maps of Appendix A.

One map has the patterns of each maximal common subpattern, the other the maximal common subpatterns of each pattern. An
identity may be in the lists of two patterns without being maximal for them; then a larger one is there as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from elsinore.planner.detection.common import maximal_masks, submasks
from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.shape import Identity, Shape, shape_of


@dataclass(frozen=True)
class Edge:
    """Two patterns with their maximal common subpatterns, as sets of events of the first."""

    first: str
    second: str
    maximal: tuple[int, ...]


class MultiPatternGraph:
    """Which patterns have which subpatterns in common. Patterns may be added and removed at any time."""

    def __init__(self, patterns: Iterable[Pattern] = ()) -> None:
        self.shapes: dict[str, Shape] = {}
        self._sharers: dict[Identity, dict[str, int]] = {}
        self._maximal_of: dict[str, set[Identity]] = {}
        self._with_label: dict[str, dict[str, None]] = {}
        for pattern in patterns:
            self.add(pattern)

    def add(self, pattern: Pattern) -> None:
        """Add a pattern, comparing it with those that have one of its labels."""
        if pattern.name in self.shapes:
            raise ValueError(f"a pattern called {pattern.name} is in the graph already; remove it first")
        shape = shape_of(pattern)
        others = {name: None for label in shape.labels for name in self._with_label.get(label, ())}
        self.shapes[pattern.name] = shape
        self._maximal_of[pattern.name] = set()
        for name in others:
            self._connect(pattern.name, name)
        for label in shape.labels:
            self._with_label.setdefault(label, {})[pattern.name] = None

    def _connect(self, name: str, other: str) -> None:
        shape, peer = self.shapes[name], self.shapes[other]
        theirs = {peer.identity(mask)[0]: mask for mask in maximal_masks(peer, shape)}
        for mask in maximal_masks(shape, peer):
            identity = shape.identity(mask)[0]
            self._sharers.setdefault(identity, {}).update({name: mask, other: theirs[identity]})
            self._maximal_of[name].add(identity)
            self._maximal_of[other].add(identity)

    def remove(self, name: str) -> None:
        """Remove a pattern, and the subpatterns that no two others share."""
        for label in set(self.shapes.pop(name).labels):
            del self._with_label[label][name]
        for identity in self._maximal_of.pop(name):
            sharers = self._sharers[identity]
            del sharers[name]
            if len(sharers) == 1:
                (last,) = sharers
                self._maximal_of[last].discard(identity)
                del self._sharers[identity]

    def maximal_of(self, name: str) -> list[int]:
        """Return the maximal common subpatterns of a pattern with any other, as sets of its events."""
        return sorted({self._sharers[identity][name] for identity in self._maximal_of[name]})

    def sharers(self, identity: Identity) -> list[str]:
        """Return the patterns of a maximal common subpattern."""
        return sorted(self._sharers.get(identity, ()))

    def maximal(self, first: str, second: str) -> tuple[int, ...]:
        """Return MP_ij as sets of events of the first pattern, largest first."""
        shape = self.shapes[first]
        both = self._maximal_of[first] & self._maximal_of[second]
        masks = sorted((self._sharers[one][first] for one in both), key=lambda mask: (-mask.bit_count(), mask))
        inner = {shape.identity(part)[0] for mask in masks for part in submasks(shape, mask) if part != mask}
        return tuple(mask for mask in masks if shape.identity(mask)[0] not in inner)

    def peers(self, name: str) -> set[str]:
        """Return the patterns that have anything in common with a pattern."""
        return {other for identity in self._maximal_of[name] for other in self._sharers[identity]} - {name}

    def edges(self, least: int = 1) -> Iterator[Edge]:
        """Yield each two patterns that share a subpattern of at least so many events."""
        names = list(self.shapes)
        place = {name: number for number, name in enumerate(names)}
        for name in names:
            for other in sorted(self.peers(name), key=place.__getitem__):
                if place[other] > place[name]:
                    masks = tuple(mask for mask in self.maximal(name, other) if mask.bit_count() >= least)
                    if masks:
                        yield Edge(name, other, masks)

    def components(self, least: int = 1) -> list[list[str]]:
        """Return the connected components, along edges with subpatterns of at least so many events."""
        group = {name: [name] for name in self.shapes}
        for edge in self.edges(least):
            first, second = group[edge.first], group[edge.second]
            if first is not second:
                first += second
                group.update(dict.fromkeys(second, first))
        place = {name: number for number, name in enumerate(self.shapes)}
        unique = {id(one): one for one in group.values()}
        return [sorted(one, key=place.__getitem__) for one in unique.values()]

    def density(self, least: int = 2) -> float:
        """Return the average share of the other patterns that a pattern is connected with (Appendix D)."""
        count = len(self.shapes)
        return 2 * sum(1 for _ in self.edges(least)) / (count * (count - 1)) if count > 1 else 0.0
