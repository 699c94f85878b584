"""The two kinds of workloads of HAMLET's evaluation (Section 5.1), with any number of queries."""

from __future__ import annotations

from elsinore.connectors.ridesharing import TYPES

KLEENE = "Travel"
OTHERS = tuple(name for name in TYPES if name != KLEENE)
STRIDE = 77
"""Step between pattern numbers; it is coprime to the number of patterns, 19 * 19, so that all occur before a repeat."""

RECURRING = ("Travel", "Delay", "Wait")
"""The Kleene sub-patterns of the diverse workload."""

STARTS = ("Request", "Offer", "Accept")
ENDS = ("", "Pickup", "Dropoff", "Cancel", "Pay")
WITHIN = (5, 10, 15, 20)
PANE_MINUTES = 5
AGGREGATES = ("COUNT(*)", "SUM(T.duration)", "AVG(T.speed)", "MAX(T.speed)", "COUNT(*)", "COUNT(T), AVG(T.duration)")
SPEEDS = (10, 20, 30, 40)
"""Constants that predicates compare T.speed with. A stream fluctuates between speeds below, above and among them."""

PREDICATES = (
    "",
    *(f" AND T.speed < {speed}" for speed in SPEEDS),
    " AND S.price < 60",
    *(f" AND S.price < 60 AND T.speed < {speed}" for speed in SPEEDS[:2]),
)


def shared_kleene(queries: int, clauses: str) -> str:
    """Return queries with different patterns around one sharable Travel T+, and equal other clauses and aggregates."""
    return "\n".join(
        f"QUERY q{number + 1} RETURN COUNT(*) PATTERN {_around_travel(number)} {clauses}" for number in range(queries)
    )


def _around_travel(number: int) -> str:
    """Return one of 361 patterns: one of the 19 other types before T+, and none or another of them after it."""
    behind, before = divmod(number * STRIDE % len(OTHERS) ** 2, len(OTHERS))
    suffix = f", {OTHERS[(before + behind) % len(OTHERS)]}" if behind else ""
    return f"SEQ({OTHERS[before]}, {KLEENE} T+{suffix})"


def diverse(queries: int) -> str:
    """Return queries with one to three Kleene sub-patterns, windows of 5 to 20 minutes, and various aggregates,
    predicates and groupings."""
    return "\n".join(_diverse_query(number) for number in range(queries))


def _diverse_query(number: int) -> str:
    kleenes = ", ".join(f"{name} {name[0]}+" for name in RECURRING[: 1 + number % len(RECURRING)])
    end = ENDS[number // 3 % len(ENDS)]
    pattern = f"SEQ({STARTS[number // 2 % len(STARTS)]} S, {kleenes}{f', {end}' if end else ''})"
    aggregates = AGGREGATES[number % len(AGGREGATES)]
    where = f"[partition]{PREDICATES[number // 2 % len(PREDICATES)]}"
    group = "GROUP-BY partition" if number % 10 == 9 else ""
    windows = f"WITHIN {WITHIN[number % len(WITHIN)]} minutes SLIDE {PANE_MINUTES} minutes"
    return f"QUERY q{number + 1} RETURN {aggregates} PATTERN {pattern} WHERE {where} {group} {windows}"
