"""The figures of Kolchinsky and Schuster (Section 6.2, Appendix D)."""

from __future__ import annotations

from elsinore.bench.figure import Figure, Sweep, swept
from elsinore.bench.multi.gains import Gain
from elsinore.bench.shapes import Changes, Largest, Ratio

OURS = ("mpm", "mpm-tabu")
RIVALS = ("reorder", "share", "spass", "motto")
QUERIES, SIZES = (10, 25, 50, 100, 200), (3, 4, 5, 6, 7)
MINUTES, PLACES = (5, 10, 15, 20, 25), (300, 600, 900, 1200, 1500)
SEARCH_MS = (10, 30, 100, 300, 1000, 3000)
EVERY = (1_000_000, 300_000, 100_000, 30_000)
PERCENT = (10, 30, 50, 70, 90)
DIFFERENCES = (0, 25, 50, 75, 100)
RESHUFFLED_EVENTS = 4_000_000

LABELS = {
    "mpm": "SA-EDGE (mpm)",
    "mpm-tabu": "TS-EDGE (mpm-tabu)",
    "reorder": "RE (reorder)",
    "share": "SH (share)",
    "spass": "SH-RR (spass, our reading)",
    "motto": "SH-MDT (motto, our reading)",
}
NEIGHBOURHOODS = {"edge": "EDGE", "vertex4": "VERTEX-4", "vertex8": "VERTEX-8", "prefix": "EDGE-PREFIX"}
AXES = {
    "queries": "patterns",
    "size": "event types of a pattern",
    "minutes": "minutes of a window",
    "places": "events of a window",
    "search": "ms of search",
    "every": "events between two reshuffles",
    "density": "% density of the multi-pattern graph",
    "difference": "% normalized difference of rates",
}


def over(setting: str, **factors: tuple[int, ...]) -> tuple[Sweep, ...]:
    return swept(Gain(setting, "", 100), **factors)


def over_both(axis: str, values: tuple[int, ...]) -> tuple[Sweep, ...]:
    """Return a sweep over stocks and one over traffic."""
    return tuple(sweep for setting in ("Stocks", "Traffic") for sweep in over(setting, **{axis: values}))


def reshuffled(setting: str) -> tuple[Sweep, ...]:
    return swept(Gain(setting, "", 100, events=RESHUFFLED_EVENTS), every=EVERY)


def above(high: str, low: str, at_least: float, paper: str, axis: str | None = None) -> Ratio:
    return Ratio(metric="gain", high=high, low=low, at_least=at_least, paper=paper, axis=axis)


FIGURES = (
    Figure(
        "multi-fig10",
        "Kolchinsky and Schuster, Figure 10: neighbourhoods and meta-heuristics, number of patterns",
        ("edge", "vertex4", "vertex8", "prefix"),
        ("gain",),
        tuple(
            sweep
            for setting in ("Stocks, annealing", "Stocks, Tabu", "Traffic, annealing", "Traffic, Tabu")
            for sweep in over(setting, queries=QUERIES)
        ),
        True,
        "Gains of 21 to more than 72 over the trivial plan, which grow with the workload. EDGE is best: up to 72.7 "
        "on stocks, up to 50.7 on traffic. EDGE-PREFIX, which shares prefixes of orders alone, is up to 5 times lower.",
        "Section 6.2.1",
        (
            Largest(metric="gain", of="edge", at_least=20, paper="up to 72.7 and 50.7"),
            Changes(metric="gain", of="edge", at_least=1, paper="grows with the workload"),
            above("edge", "prefix", 1, "up to 5 times"),
            above("edge", "vertex4", 0.9, "EDGE is best"),
            above("edge", "vertex8", 0.9, "EDGE is best"),
        ),
        NEIGHBOURHOODS,
        AXES,
    ),
    Figure(
        "multi-fig11",
        "Kolchinsky and Schuster, Figure 11: size of patterns, time of search, windows",
        OURS,
        ("gain",),
        (
            *over_both("size", SIZES),
            *over_both("search", SEARCH_MS),
            *over_both("minutes", MINUTES),
            *over_both("places", PLACES),
        ),
        True,
        "Longer patterns gain more, up to two orders of magnitude, and so do larger windows, of time or of events. "
        "With more time for the search annealing converges, and Tabu search goes on to improve.",
        "Section 6.2.1",
        (
            Changes(metric="gain", of="mpm", axis="size", at_least=1.5, paper="up to two orders of magnitude"),
            Changes(metric="gain", of="mpm", axis="search", at_least=1, paper="improves, then converges"),
            Changes(metric="gain", of="mpm-tabu", axis="search", at_least=1, paper="keeps improving"),
            Changes(metric="gain", of="mpm", axis="minutes", at_least=1, paper="larger windows gain more"),
            Changes(metric="gain", of="mpm", axis="places", at_least=1, paper="larger windows gain more"),
        ),
        LABELS,
        AXES,
    ),
    Figure(
        "multi-fig12",
        "Kolchinsky and Schuster, Figure 12: other ways to share and to reorder",
        (*OURS, *RIVALS),
        ("gain",),
        tuple(
            sweep
            for setting in ("Stocks", "Traffic")
            for sweep in over(setting, queries=QUERIES, size=SIZES, minutes=MINUTES, places=PLACES)
        ),
        True,
        "SA-EDGE is the best throughout, up to 3 times the runner-up with many patterns or long ones, and at least 25% "
        "over the second best with larger windows. It overtakes RE, which reorders alone, with long patterns.",
        "Section 6.2.2",
        tuple(above("mpm", rival, 1, "1.25 to 3 times the second best") for rival in RIVALS),
        LABELS,
        AXES,
    ),
    Figure(
        "multi-fig13",
        "Kolchinsky and Schuster, Figure 13: types that change places",
        ("mpm", "mpm-static"),
        ("gain",),
        tuple(
            sweep
            for setting in ("Stocks", "Traffic", "Stocks, bursts", "Traffic, bursts")
            for sweep in reshuffled(setting)
        ),
        True,
        "An adaptive system, which looks for another plan when statistics change, has at least 10 times the "
        "throughput of a static one. Changes that are extremely frequent slow down both. The paper changes types "
        "every 1 to 100 events; here they change less often, as a plan is looked for while many events pass. The paper "
        "has panels (a) and (b). There the first plan stays one of the best: it joins first what satisfies selective "
        "predicates, whatever the rates. In (c) and (d) rare types become frequent ones.",
        "Section 6.2.3",
        (Ratio(metric="gain", high="mpm", low="mpm-static", at="first", at_least=3, paper="at least 10 times"),),
        {"mpm": "adaptive (mpm)", "mpm-static": "static (mpm-static)"},
        AXES,
    ),
    Figure(
        "multi-fig14",
        "Kolchinsky and Schuster, Figure 14: density of the graph, difference of rates",
        (*OURS, "reorder", "share"),
        ("gain",),
        (*over_both("density", PERCENT), *over_both("difference", DIFFERENCES)),
        True,
        "Local search is always above the better of RE and SH. SH gains with the density of the multi-pattern graph, "
        "RE does not depend on it. RE gains with the difference of rates, SH loses.",
        "Appendix D",
        (
            above("mpm", "reorder", 1, "always above"),
            above("mpm", "share", 1, "always above"),
            Changes(metric="gain", of="share", axis="density", at_least=1, paper="SH grows with density"),
            Changes(metric="gain", of="reorder", axis="density", at_least=0.5, at_most=2, paper="RE is flat"),
            Changes(metric="gain", of="reorder", axis="difference", at_least=1, paper="RE grows"),
            Changes(metric="gain", of="share", axis="difference", at_most=1, paper="SH falls"),
        ),
        LABELS,
        AXES,
    ),
)
