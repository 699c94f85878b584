"""HAMLET: the gain of sharing a Kleene sub-pattern, and the cost of deciding about it burst by burst."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from benchmarks.figures import Figure
from benchmarks.measure import Numeric, best, run, yardstick
from benchmarks.papers.hamlet_decisions import diverse_workload, grid
from benchmarks.streams import PARTITIONS, RATE
from elsinore.bench.hamlet.streams import shared_bursts
from elsinore.bench.hamlet.workloads import KLEENE, OTHERS, shared_kleene

QUERIES = 50
WINDOW = 20_000
"""Events in a window of the one partition; counts have as many bits."""

NUMERICS: tuple[Numeric, ...] = ("approximate", "exact")
WARM = 2_000
LINKED_RATE = 20_000
LINKED_PARTITIONS = 10
"""Partitions of 2,000 events each in a window of a minute."""

MOVING_RATE = 750
MOVING_PARTITIONS = 10
"""Partitions of 750 events each in a window of ten minutes: no count is beyond float64."""

MINUTES = "WHERE [partition] WITHIN 1 minute SLIDE 1 minute"
HALF_HOURS = "WHERE [partition] WITHIN 30 minutes SLIDE 30 minutes"


def hamlet(events: int) -> Iterator[Figure]:
    yield from _against_others(events)
    yield from _many_queries(events)
    yield from _consuming(events)
    yield from _neighbours()
    yield from _moving(events)
    yield from diverse_workload(events)
    yield from grid(events)


def _against_others(events: int) -> Iterator[Figure]:
    """Yield the gain over GRETA and COGRA.

    Events cost the same in every window, so a slower strategy is measured on fewer windows. GRETA runs each query
    apart: one query is enough to know what fifty take. With exact counts its windows are shorter, where an event costs
    it less.
    """
    for numeric in NUMERICS:
        shared = _each("hamlet", numeric, QUERIES, max(WINDOW, events // 10))
        apart = _each("cogra", numeric, QUERIES, max(WINDOW, events // 50))
        window = WINDOW if numeric == "approximate" else WINDOW // 4
        one = _each("greta", numeric, 1, window, window, times=1)
        for name, other, limit in (("greta", QUERIES * one, 100), ("cogra", apart, 5)):
            what = f"{QUERIES} queries sharing T+, {name} to hamlet, {numeric}"
            detail = f"{other * 1e9:,.0f} ns to {shared * 1e9:,.0f} ns an event"
            if name == "greta":
                detail += f", greta of one query, times {QUERIES}, {window:,} events in a window"
            yield Figure(f"hamlet-{name}-{numeric}", what, other / shared, limit, "times", detail, at_least=True)


def _many_queries(events: int) -> Iterator[Figure]:
    """Yield the cost of many queries, with some 750 events of a partition in a window: no count is beyond float64."""
    table = shared_bursts(events, RATE, PARTITIONS)
    y = yardstick(table)
    many, one = (_seconds(shared_kleene(queries, HALF_HOURS), table, "hamlet") for queries in (QUERIES, 1))
    detail = f"{many:.3f} s to {one:.3f} s, {many / events * 1e9:.0f} ns an event"
    yield Figure("hamlet-queries", f"{QUERIES} queries to 1, approximate", many / one, 4, "times", detail)
    detail = f"{many:.3f} s, Y {y:.4f} s"
    yield Figure("hamlet-y", f"{QUERIES} queries COUNT(*), 30 minutes, approximate", many / y, 25, "Y", detail)
    yield _decisions(table)


def _consuming(events: int) -> Iterator[Figure]:
    """Yield the gain where an event lengthens trends only once: a shared graphlet then saves the work on each event."""
    table = shared_bursts(events // 3, RATE, PARTITIONS)
    for semantics in ("skip-till-next-match", "contiguous"):
        workload = shared_kleene(QUERIES, f"{HALF_HOURS} SEMANTICS {semantics}")
        shared, apart = (_seconds(workload, table, strategy) for strategy in ("hamlet", "cogra"))
        what = f"{QUERIES} queries, {semantics}, cogra to hamlet, approximate"
        detail = f"{apart:.3f} s to {shared:.3f} s, {shared / len(table) * 1e9:.0f} ns an event"
        yield Figure(f"hamlet-{semantics}", what, apart / shared, 5, "times", detail, at_least=True)


def _neighbours() -> Iterator[Figure]:
    """Yield the gain with predicates between neighbours, where the search for predecessors can be shared."""
    table = shared_bursts(3 * LINKED_RATE, LINKED_RATE, LINKED_PARTITIONS)
    workload = shared_kleene(QUERIES, MINUTES.replace(" WITHIN", " AND T.speed < NEXT(T).speed WITHIN"))
    for numeric in NUMERICS:
        shared, apart = (_seconds(workload, table, strategy, numeric) for strategy in ("hamlet", "cogra"))
        what = f"{QUERIES} queries, neighbours compared, cogra to hamlet, {numeric}"
        detail = f"{apart:.3f} s to {shared:.3f} s"
        yield Figure(f"hamlet-linked-{numeric}", what, apart / shared, 1, "times", detail, at_least=True)


def _moving(events: int) -> Iterator[Figure]:
    """Yield the gain in windows that move with every event, where the effect of a burst on trends is computed once.

    Separate queries are so slow with exact counts that they are measured on fewer events.
    """
    for numeric in NUMERICS:
        shared = _each_moving("hamlet", numeric, QUERIES, events // 10)
        apart = _each_moving("cogra", numeric, QUERIES, events // (50 if numeric == "approximate" else 400))
        what = f"{QUERIES} queries, windows move, cogra to hamlet, {numeric}"
        detail = f"{apart * 1e9:,.0f} ns to {shared * 1e9:,.0f} ns an event"
        yield Figure(f"hamlet-moving-{numeric}", what, apart / shared, 5, "times", detail, at_least=True)
    many, one = (_each_moving("hamlet", "approximate", queries, events // 10) for queries in (QUERIES, 1))
    detail = f"{many * 1e9:,.0f} ns to {one * 1e9:,.0f} ns an event"
    yield Figure(
        "hamlet-moving-queries", f"{QUERIES} queries to 1, windows move, approximate", many / one, 4, "times", detail
    )


def _each_moving(strategy: str, numeric: Numeric, queries: int, events: int) -> float:
    """Return seconds for an event."""
    table = shared_bursts(max(events, 2 * WARM), MOVING_RATE, MOVING_PARTITIONS)
    return _seconds(around_travel(queries), table, strategy, numeric) / len(table)


def around_travel(queries: int) -> str:
    """Return queries with `Travel T+` between two other types, a different pair for each query."""
    count = len(OTHERS)
    patterns = (
        f"SEQ({OTHERS[n % count]}, {KLEENE} T+, {OTHERS[(n + 1 + n // count) % count]})" for n in range(queries)
    )
    return "; ".join(f"RETURN COUNT(*) PATTERN {pattern} WHERE [partition] WITHIN 10 minutes" for pattern in patterns)


def _decisions(table: pa.Table) -> Figure:
    """Return the part of a run's time that decisions take; both times are from the same runs."""
    workload = shared_kleene(QUERIES, HALF_HOURS)
    found = []
    took = best(lambda: found.append(run(workload, table, "approximate", "hamlet")))
    deciding = min(result.metrics.decision_seconds for result in found)
    detail = f"{deciding * 1000:.2f} ms of {took:.3f} s, {sum(map(len, found)) // len(found):,} rows"
    return Figure("hamlet-deciding", "Decisions, in a run of 50 queries", 100 * deciding / took, 0.5, "%", detail)


def _each(strategy: str, numeric: Numeric, queries: int, events: int, window: int = WINDOW, times: int = 3) -> float:
    """Return seconds for an event, in windows of one partition."""
    table = shared_bursts(events - events % window, window, partitions=1)
    return _seconds(shared_kleene(queries, MINUTES), table, strategy, numeric, times) / len(table)


def _seconds(workload: str, table: pa.Table, strategy: str, numeric: Numeric = "approximate", times: int = 3) -> float:
    """Return the seconds of a run, with kernels compiled: `WARM` events of few partitions have wide counts already."""
    run(workload, table.slice(0, WARM), numeric, strategy)
    return best(lambda: run(workload, table, numeric, strategy), times)
