"""Workloads like those of GLORIA's evaluation (Section 8.1): sequences, flat and nested Kleene, and all mixed."""

from __future__ import annotations

from random import Random

from elsinore.planner.gloria.costs.statistics import Statistics

BACKBONES, LENGTH = 8, 14
"""Sequences of types that queries have parts of: prefixes, suffixes and middles overlap."""
SHORTEST, LONGEST = 5, 10
ENDS = 6
"""Types that stand before or behind a part, of each backbone."""
WINDOWS = "WITHIN 10 minutes SLIDE 5 minutes"
KLEENES = 4
"""Kleene sub-patterns of a workload."""
BEFORE, BEHIND = 3, 6
"""Types before one, and behind it."""


def statistics(seed: int = 0) -> Statistics:
    """Types that come one to a hundred times in a window."""
    random = Random(seed)
    counts = {f"T{backbone}x{place}": 10 ** random.uniform(0, 2) for backbone, place in _places()}
    return Statistics({name: float(round(count)) for name, count in counts.items()})


def sequences(queries: int, seed: int = 0) -> list[str]:
    return mixed(queries, 0, seed=seed)


def mixed(
    queries: int, kleenes: float = 1 / 7, length: int | None = None, nested: bool | None = None, seed: int = 0
) -> list[str]:
    """So large a part of the queries has one of a few Kleene sub-patterns, the others are sequences.

    Where nobody says, the sub-patterns are of 2 to 4 types by chance, flat and nested in turn.
    """
    random = Random(seed)
    loops = range(round(queries * kleenes))
    found = [
        _kleene(random, length or random.randint(2, 4), bool(number % 2) if nested is None else nested)
        for number in loops
    ]
    return found + [_query(_part(random, random.randint(SHORTEST, LONGEST))) for _ in range(queries - len(loops))]


def _part(random: Random, length: int) -> list[str]:
    """A part of a backbone, and often a type of its own before and behind it."""
    backbone, first = random.randrange(BACKBONES), random.randrange(LENGTH - length + 1)
    part = [f"T{backbone}x{place}" for place in range(first, first + length)]
    if random.random() < 0.5:
        part[0] = f"T{backbone}x{LENGTH + random.randrange(ENDS)}"
    if random.random() < 0.5:
        part[-1] = f"T{backbone}x{LENGTH + ENDS + random.randrange(ENDS)}"
    return part


def _kleene(random: Random, length: int, nested: bool) -> str:
    """The sub-pattern stands at the same place of all that have it, between sequences that overlap."""
    backbone = random.randrange(KLEENES)
    loop = [f"T{backbone}x{place}" for place in range(BEFORE, BEFORE + length)]
    inside = f"SEQ({', '.join(loop)})+"
    if nested:
        inside = f"SEQ({', '.join([*loop[:1], _loop(loop[1:-1]), *loop[-1:]])})+" if length > 2 else f"({inside})+"
    before = [f"T{backbone}x{place}" for place in range(random.randint(0, BEFORE), BEFORE)]
    behind = [f"T{backbone}x{BEFORE + length + place}" for place in range(random.randint(0, BEHIND))]
    return _query([*before, inside, *behind])


def _loop(types: list[str]) -> str:
    return f"SEQ({', '.join(types)})+" if len(types) > 1 else f"{types[0]}+"


def _query(parts: list[str]) -> str:
    return f"RETURN COUNT(*) PATTERN SEQ({', '.join(parts)}) {WINDOWS}"


def _places() -> list[tuple[int, int]]:
    return [(backbone, place) for backbone in range(BACKBONES) for place in range(LENGTH + 2 * ENDS)]
