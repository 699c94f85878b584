"""Workloads like those of GLORIA's evaluation (Section 8.1): sequences, flat and nested Kleene, and mixed ones."""

from __future__ import annotations

from random import Random

from elsinore.planner.gloria.costs.statistics import Statistics

BACKBONES, LENGTH = 8, 14
"""Number and length of the sequences of types from which queries take parts; the parts overlap."""
SHORTEST, LONGEST = 5, 10
ENDS = 6
"""Further types of each backbone that may begin a part, and as many that may end it."""
WINDOWS = "WITHIN 10 minutes SLIDE 5 minutes"
KLEENES = 4
"""Kleene sub-patterns of a workload."""
BEFORE, BEHIND = 3, 6
"""The most types before a Kleene sub-pattern, and after it."""


def statistics(seed: int = 0) -> Statistics:
    """Return statistics by which each type occurs 1 to 100 times in a window."""
    random = Random(seed)
    counts = {f"T{backbone}x{place}": 10 ** random.uniform(0, 2) for backbone, place in _places()}
    return Statistics({name: float(round(count)) for name, count in counts.items()})


def sequences(queries: int, seed: int = 0) -> list[str]:
    return mixed(queries, 0, seed=seed)


def mixed(
    queries: int, kleenes: float = 1 / 7, length: int | None = None, nested: bool | None = None, seed: int = 0
) -> list[str]:
    """Return queries of which the fraction `kleenes` has one of a few Kleene sub-patterns; the others are sequences.

    By default the sub-patterns have 2 to 4 types at random, and are flat and nested in turn.
    """
    random = Random(seed)
    loops = range(round(queries * kleenes))
    found = [
        _kleene(random, length or random.randint(2, 4), bool(number % 2) if nested is None else nested)
        for number in loops
    ]
    return found + [_query(_part(random, random.randint(SHORTEST, LONGEST))) for _ in range(queries - len(loops))]


def _part(random: Random, length: int) -> list[str]:
    """Return a part of a backbone; its first and last type are each replaced by a rarer one half of the time."""
    backbone, first = random.randrange(BACKBONES), random.randrange(LENGTH - length + 1)
    part = [f"T{backbone}x{place}" for place in range(first, first + length)]
    if random.random() < 0.5:
        part[0] = f"T{backbone}x{LENGTH + random.randrange(ENDS)}"
    if random.random() < 0.5:
        part[-1] = f"T{backbone}x{LENGTH + ENDS + random.randrange(ENDS)}"
    return part


def _kleene(random: Random, length: int, nested: bool) -> str:
    """Return a query with a Kleene sub-pattern at a fixed place of its backbone, between sequences that overlap."""
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
