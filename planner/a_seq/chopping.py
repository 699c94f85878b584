"""Where sequences are chopped, so that they have pieces in common (A-Seq, Section 4.2: Chop-Connect).

The paper takes a sharing plan as given. Here sub-patterns that several sequences have are chosen one by one, the one
that saves most first. A piece begins where such a sub-pattern does; what comes behind it goes on in the same tree, as
it does behind a prefix, so that nothing has to be connected there.
"""

from __future__ import annotations

from collections.abc import Sequence

from elsinore.planner.a_seq.forest import Step

Part = tuple[Step, ...]
Place = tuple[int, int]
"""A sequence, and where in it a sub-pattern begins."""


def chopped(sequences: Sequence[Part]) -> list[set[int]]:
    """For each sequence, where its pieces begin, but for the first."""
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
    """Sub-patterns of two types or more that several sequences have, or one at several places."""
    found: dict[Part, list[Place]] = {}
    for number, sequence in enumerate(sequences):
        for first in range(len(sequence)):
            for end in range(first + 2, len(sequence) + 1):
                found.setdefault(sequence[first:end], []).append((number, first))
    return {part: places for part, places in found.items() if len(places) > 1}


def _saved(part: Part, places: list[Place]) -> int:
    """Counters that are not kept again."""
    return (len(part) - 1) * (len(places) - 1)


def _is_free(taken: set[int], first: int, part: Part) -> bool:
    return taken.isdisjoint(range(first, first + len(part)))
