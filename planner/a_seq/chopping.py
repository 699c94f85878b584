"""Chopping of sequences, so that they have pieces in common (A-Seq, Section 4.2: Chop-Connect).

The paper takes a sharing plan as given. Here sub-patterns that several sequences have are chosen greedily, the one that
saves most first. A piece begins where such a sub-pattern does. The steps behind the sub-pattern continue in the same
tree, as behind a prefix, so no connection is needed there.
"""

from __future__ import annotations

from collections.abc import Sequence

from elsinore.planner.a_seq.forest import ForestStep

Part = tuple[ForestStep, ...]
Place = tuple[int, int]
"""A sequence by number, and the place in it where a sub-pattern begins."""


def chopped(sequences: Sequence[Part]) -> list[set[int]]:
    """Return, for each sequence, where its pieces begin, without the first one."""
    taken: list[set[int]] = [set() for _ in sequences]
    cuts: list[set[int]] = [set() for _ in sequences]
    found = _common(sequences)
    while found:
        best = max(found, key=lambda part: (_saved(part, found[part]), -min(found[part])[0], -min(found[part])[1]))
        for sequence, first in found.pop(best):
            if _is_free(taken[sequence], first, best):
                taken[sequence].update(range(first, first + len(best)))
                cuts[sequence].add(first)
        found = {
            part: free
            for part, places in found.items()
            if len(free := [(s, first) for s, first in places if _is_free(taken[s], first, part)]) > 1
        }
    return [own - {0} for own in cuts]


def _common(sequences: Sequence[Part]) -> dict[Part, list[Place]]:
    """Return the sub-patterns of two types or more that occur in several sequences, or at several places of one."""
    found: dict[Part, list[Place]] = {}
    for number, sequence in enumerate(sequences):
        for first in range(len(sequence)):
            for end in range(first + 2, len(sequence) + 1):
                found.setdefault(sequence[first:end], []).append((number, first))
    return {part: places for part, places in found.items() if len(places) > 1}


def _saved(part: Part, places: list[Place]) -> int:
    """Return the number of counters that are saved."""
    return (len(part) - 1) * (len(places) - 1)


def _is_free(taken: set[int], first: int, part: Part) -> bool:
    return taken.isdisjoint(range(first, first + len(part)))
