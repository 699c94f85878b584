"""Common subpatterns Γ_ij of two patterns, and the maximal ones (Section 4.1, Appendix A).

Appendix A intersects event types, then conditions, then structures. Where conditions or structures are in conflict
there may be several maximal subpatterns, so they are found as the maximal cliques of a graph: a node for each two
events with equal labels, an edge where their relations are equal in both patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from elsinore.planner.detection.pattern import Pattern, Window
from elsinore.planner.detection.shape import Identity, Shape, bits, shape_of

Mapping = tuple[tuple[int, int], ...]
"""Events of one pattern with those of another that they are equal to."""


def maximal_common(first: Pattern, second: Pattern) -> list[Pattern]:
    """Return the maximal common subpatterns MP_ij, with the smaller window and the names of the first pattern."""
    shape = shape_of(first)
    return [_common(first, second, shape, mask) for mask in maximal_masks(shape, shape_of(second))]


def common_subpatterns(first: Pattern, second: Pattern) -> list[Pattern]:
    """Return Γ_ij: all common subpatterns, each once."""
    shape = shape_of(first)
    found: dict[Identity, int] = {}
    for whole in maximal_masks(shape, shape_of(second)):
        for mask in submasks(shape, whole):
            found.setdefault(shape.identity(mask)[0], mask)
    return [_common(first, second, shape, mask) for mask in found.values()]


def is_subpattern(small: Pattern, large: Pattern) -> bool:
    """Return whether a pattern is a subpattern of another: projections are equal, and its window is not larger."""
    if small.window.clock != large.window.clock or small.window.length > large.window.length:
        return False
    shape, other = shape_of(small), shape_of(large)
    wanted = shape.identity(shape.whole)[0]
    return any(other.identity(mask)[0] == wanted for mask in submasks(other, other.whole))


def _common(first: Pattern, second: Pattern, shape: Shape, mask: int) -> Pattern:
    window = Window(min(first.window.length, second.window.length), first.window.clock)
    names = shape.names(tuple(bits(mask)))
    part = first.projection(names, f"{first.name}, {second.name}")
    return Pattern(part.name, part.events, part.before, part.conditions, window)


def submasks(shape: Shape, whole: int, least: int = 1) -> Iterator[int]:
    """Yield the subpatterns within a set of events, those of at least so many events."""
    mask = whole
    while mask:
        if mask.bit_count() >= least and shape.closed(mask):
            yield mask
        mask = (mask - 1) & whole


def maximal_masks(first: Shape, second: Shape) -> list[int]:
    """Return the maximal common subpatterns as sets of events of the first pattern, largest first."""
    found: dict[Identity, int] = {}
    for mapping in _mappings(first, second):
        mask = sum(1 << x for x, _ in mapping)
        found.setdefault(first.identity(mask)[0], mask)
    masks = sorted(found.values(), key=lambda mask: (-mask.bit_count(), mask))
    return [mask for place, mask in enumerate(masks) if not any(_within(first, mask, other) for other in masks[:place])]


def _within(shape: Shape, small: int, large: int) -> bool:
    """Return whether a set of events is, by identity, a subpattern of another of the same pattern."""
    if small & ~large == 0:
        return True
    if shape.distinct:
        return False
    wanted = shape.identity(small)[0]
    size = small.bit_count()
    return any(mask.bit_count() == size and shape.identity(mask)[0] == wanted for mask in submasks(shape, large, size))


def _mappings(first: Shape, second: Shape) -> Iterator[Mapping]:
    """Yield maximal partial isomorphisms, which have at least one event."""
    pairs = [(x, y) for x, a in enumerate(first.labels) for y, b in enumerate(second.labels) if a == b]
    near = [_neighbours(first, second, pairs, place) for place in range(len(pairs))]
    for clique in _cliques(near, 0, (1 << len(pairs)) - 1, 0):
        yield from _mended(first, second, tuple(pairs[place] for place in bits(clique)))


def _neighbours(first: Shape, second: Shape, pairs: Sequence[tuple[int, int]], place: int) -> int:
    x, y = pairs[place]
    return sum(
        1 << other
        for other, (v, w) in enumerate(pairs)
        if v != x and w != y and first.relations[x][v] == second.relations[y][w]
    )


def _cliques(near: Sequence[int], chosen: int, open_: int, done: int) -> Iterator[int]:
    """Yield maximal cliques (Bron and Kerbosch, with a pivot)."""
    if not open_ | done:
        if chosen:
            yield chosen
        return
    pivot = max(bits(open_ | done), key=lambda place: (near[place] & open_).bit_count())
    for place in bits(open_ & ~near[pivot]):
        yield from _cliques(near, chosen | 1 << place, open_ & near[place], done & near[place])
        open_ &= ~(1 << place)
        done |= 1 << place


def _mended(first: Shape, second: Shape, mapping: Mapping) -> Iterator[Mapping]:
    """Drop events until conditions over more than two of them are equal, and negated events have all that they need."""
    kept = _with_needs(first, second, mapping)
    if not kept:
        return
    conflict = _conflict(first, second, dict(kept))
    if conflict is None:
        yield kept
        return
    for x in conflict:
        yield from _mended(first, second, tuple(pair for pair in kept if pair[0] != x))


def _with_needs(first: Shape, second: Shape, mapping: Mapping) -> Mapping:
    ours, theirs = sum(1 << x for x, _ in mapping), sum(1 << y for _, y in mapping)
    return tuple((x, y) for x, y in mapping if first.needs[x] & ~ours == 0 and second.needs[y] & ~theirs == 0)


def _conflict(first: Shape, second: Shape, mapping: dict[int, int]) -> tuple[int, ...] | None:
    """Return the events of a wider condition that only one of the two patterns has."""
    ours = first.wider_along({x: x for x in mapping})
    theirs = second.wider_along({y: x for x, y in mapping.items()})
    different = sorted(set(ours) ^ set(theirs))
    return different[0][1] if different else None
