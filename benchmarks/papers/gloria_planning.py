"""The cost of finding a sharing plan, and the quality of the plan (GLORIA, Section 8.2).

There are no events: workloads are planned, and their templates, their graphs and the search in them are measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from benchmarks.figures import Figure
from benchmarks.papers.gloria_bound import bound
from elsinore.bench.gloria.planning import MODEL, Planning, planned
from elsinore.bench.gloria.workloads import mixed, sequences
from elsinore.planner.gloria.optimizers import sharing_plans

FEW, MANY = 40, 200
MIB = 1 << 20
SEQ = Planning("SEQ", "gloria", MANY, percent=0)
MIXED = Planning("Mixed", "gloria", MANY, percent=100 / 7)


def planning(_: int) -> Iterator[Figure]:
    """Yield all figures; the number of events does not matter."""
    yield from pruning("seq", f"{MANY} sequences", SEQ, 7)
    yield from pruning("kleene", "100 queries, Kleene of 6 types", Planning("Kleene", "gloria", 100, 100, 6), 2)
    yield from pruning("mixed", f"{MANY} queries, every seventh with Kleene", MIXED, 5)
    yield from growth()
    yield from quality()


def pruning(name: str, what: str, point: Planning, times: float) -> Iterator[Figure]:
    """Yield optimization time and peak memory without pruning, relative to those with it (Figures 11 to 13 and 15)."""
    seconds = {
        optimizer: took(replace(point, strategy=optimizer))
        for optimizer in ("gloria", "gloria-noprune", "gloria-greedy")
    }
    detail = ", ".join(f"{optimizer} {1000 * second:,.0f} ms" for optimizer, second in seconds.items())
    ratio = seconds["gloria-noprune"] / seconds["gloria"]
    yield Figure(f"gloria-{name}", f"{what}, noprune to gloria", ratio, times, "times", detail, at_least=True)
    if name != "kleene":
        peaks = {optimizer: peak(replace(point, strategy=optimizer)) for optimizer in ("gloria", "gloria-noprune")}
        detail = ", ".join(f"{optimizer} {size / MIB:.1f} MiB" for optimizer, size in peaks.items())
        ratio = peaks["gloria-noprune"] / peaks["gloria"]
        yield Figure(f"gloria-{name}-memory", f"{what}, peak memory", ratio, 4, "times", detail, at_least=True)


def growth() -> Iterator[Figure]:
    """Yield the growth of optimization time with five times the queries."""
    few, many = (took(replace(SEQ, queries=queries)) for queries in (FEW, MANY))
    yield Figure("gloria-seconds", f"{MANY} sequences", many, 0.5, "s")
    what, detail = f"{FEW} to {MANY} sequences", f"{1000 * few:.0f} ms to {1000 * many:.0f} ms"
    yield Figure("gloria-growth", what, many / few, 6, "times", detail)


def quality() -> Iterator[Figure]:
    """Yield the cost of a plan, relative to a lower bound for all plans."""
    for name, texts in (("seq", sequences(MANY)), ("mixed", mixed(MANY))):
        queries = planned(texts)
        made, _ = sharing_plans(queries, MODEL)
        greedy, _ = sharing_plans(queries, MODEL, "gloria-greedy")
        least = sum(bound(one.template, MODEL) for one in made)
        cost, apart = sum(one.cost for one in made), sum(one.apart for one in made)
        found = sum(one.graph.found for one in made)
        detail = (
            f"cost {cost:,.0f}, path {found:,.0f}, greedy {sum(one.cost for one in greedy):,.0f}, "
            f"apart {apart:,.0f}, no plan below {least:,.0f}"
        )
        yield Figure(
            f"gloria-{name}-cost", f"{MANY} queries ({name}), cost to lower bound", cost / least, 1.1, "times", detail
        )


def took(point: Planning) -> float:
    return float(point.measured()["optimization_time"])


def peak(point: Planning) -> int:
    return int(replace(point, metric="memory").measured()["memory"])
