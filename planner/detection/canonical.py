"""A canonical order of events with equal labels, by refining and branching, as for graph isomorphism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

Colours = dict[int, int]

Wider = tuple[int, tuple[int, ...], str]
"""A condition over more than two events: as a set, in the order of its text, and the text."""


class Related(Protocol):
    """Numbered events with labels and relations."""

    labels: tuple[str, ...]
    relations: tuple[tuple[str, ...], ...]
    wider: tuple[Wider, ...]

    def along(self, slots: Sequence[int]) -> tuple[object, ...]:
        """Return all that is known of events in an order of slots; it can be compared."""
        ...


def canonical_slots(shape: Related, members: Sequence[int]) -> tuple[int, ...]:
    """Return the members in an order that is the same, up to a renaming, in every pattern that has this subpattern."""
    ranks = {label: rank for rank, label in enumerate(sorted({shape.labels[x] for x in members}))}
    start = _refined(shape, {x: ranks[shape.labels[x]] for x in members})
    return min(_orders(shape, start), key=shape.along)


def _orders(shape: Related, colours: Colours) -> Iterator[tuple[int, ...]]:
    cell = _first_cell(colours)
    if not cell:
        yield tuple(sorted(colours, key=colours.__getitem__))
        return
    tried: list[int] = []
    for x in cell:
        if any(_twins(shape, x, y, colours) for y in tried):
            continue
        tried.append(x)
        apart = {y: 2 * colour + (colour == colours[x] and y != x) for y, colour in colours.items()}
        yield from _orders(shape, _refined(shape, apart))


def _first_cell(colours: Colours) -> list[int]:
    """Return the events of the first colour that several have."""
    cells: dict[int, list[int]] = {}
    for x, colour in sorted(colours.items()):
        cells.setdefault(colour, []).append(x)
    return next((cells[colour] for colour in sorted(cells) if len(cells[colour]) > 1), [])


def _refined(shape: Related, colours: Colours) -> Colours:
    """Split colours by how their events relate to the others, until nothing changes."""
    while True:
        signs = {x: (colours[x], _around(shape, x, colours), _wider(shape, x, colours)) for x in colours}
        ranks = {sign: rank for rank, sign in enumerate(sorted(set(signs.values())))}
        refined = {x: ranks[sign] for x, sign in signs.items()}
        if len(ranks) == len(set(colours.values())):
            return refined
        colours = refined


def _around(shape: Related, x: int, colours: Colours) -> tuple[tuple[int, str], ...]:
    return tuple(sorted((colours[y], shape.relations[x][y]) for y in colours if y != x))


def _wider(shape: Related, x: int, colours: Colours) -> tuple[tuple[str, tuple[int, ...], int], ...]:
    found = ((text, events) for _, events, text in shape.wider if x in events and colours.keys() >= set(events))
    return tuple(sorted((text, tuple(colours[y] for y in events), events.index(x)) for text, events in found))


def _twins(shape: Related, x: int, y: int, colours: Colours) -> bool:
    """Return whether two events can change places without anything being different."""
    if any(x in events or y in events for _, events, _ in shape.wider):
        return False
    if shape.relations[x][y] != shape.relations[y][x]:
        return False
    return all(shape.relations[x][z] == shape.relations[y][z] for z in colours if z not in (x, y))
