"""The two kinds of workloads of HAMLET's evaluation (Section 5.1), of as many queries as are asked for."""

from __future__ import annotations

from elsinore.connectors.ridesharing import TYPES

KLEENE = "Travel"
OTHERS = tuple(name for name in TYPES if name != KLEENE)
STRIDE = 77
"""No common factor with the number of patterns, 19 * 19: all of them come before one comes again."""

RECURRING = ("Travel", "Delay", "Wait")
"""The Kleene sub-patterns of the diverse workload."""

STARTS = ("Request", "Offer", "Accept")
ENDS = ("", "Pickup", "Dropoff", "Cancel", "Pay")
WITHIN = (5, 10, 15, 20)
PANE_MINUTES = 5
AGGREGATES = ("COUNT(*)", "SUM(T.duration)", "AVG(T.speed)", "MAX(T.speed)", "COUNT(*)", "COUNT(T), AVG(T.duration)")
SPEEDS = (10, 20, 30, 40)
"""What T.speed is compared with. Below all of them, above all, or between: that is how a stream fluctuates."""

PREDICATES = (
    "",
    *(f" AND T.speed < {speed}" for speed in SPEEDS),
    " AND S.price < 60",
    *(f" AND S.price < 60 AND T.speed < {speed}" for speed in SPEEDS[:2]),
)


def shared_kleene(queries: int, clauses: str) -> str:
    """Different patterns around one sharable Travel T+; all other clauses, aggregates and predicates are the same."""
    return "\n".join(
        f"QUERY q{number + 1} RETURN COUNT(*) PATTERN {_around_travel(number)} {clauses}" for number in range(queries)
    )


def _around_travel(number: int) -> str:
    """No two of 361 are alike: each of the 19 other types before T+, with none or another of them behind."""
    behind, before = divmod(number * STRIDE % len(OTHERS) ** 2, len(OTHERS))
    suffix = f", {OTHERS[(before + behind) % len(OTHERS)]}" if behind else ""
    return f"SEQ({OTHERS[before]}, {KLEENE} T+{suffix})"


def diverse(queries: int) -> str:
    """Kleene patterns of one to three types, windows of 5 to 20 minutes, and aggregates, predicates and
    groupings of many kinds."""
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
