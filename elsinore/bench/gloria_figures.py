"""The figures of the GLORIA paper on its optimizers (Section 8.2)."""

from __future__ import annotations

from dataclasses import replace

from elsinore.bench.figure import Figure, swept
from elsinore.bench.planning import Planning

OPTIMIZERS = ("gloria", "gloria-noprune", "gloria-greedy")
QUERIES, PERCENT = (40, 80, 120, 160, 200), (10, 20, 30, 40, 50, 60)
SEQ = Planning("SEQ", "", queries=100, percent=0)
KLEENE = Planning("Kleene", "", queries=100, percent=100)
MIXED = Planning("Mixed", "", queries=100, percent=100 / 7)

FIGURES = (
    Figure(
        "gloria-fig11",
        "GLORIA, Figure 11: optimization time, number of queries (SEQ)",
        OPTIMIZERS,
        ("optimization_time",),
        swept(SEQ, queries=QUERIES),
        True,
        "The GLORIA optimizer consistently outperforms NoPrune by a factor of 5 to 7, and is slower than Greedy by 1.2 "
        "orders of magnitude.",
    ),
    Figure(
        "gloria-fig12",
        "GLORIA, Figure 12: optimization time, length of Kleene sub-patterns (100 queries with Kleene)",
        OPTIMIZERS,
        ("optimization_time",),
        swept(KLEENE, length=(2, 4, 6, 8, 10)),
        True,
        "As the length of Kleene sub-patterns increases, the difference between GLORIA and NoPrune increases from "
        "2-fold to 13-fold, as longer ones have no more cycle sharing plans: GLORIA's optimization time hardly grows. "
        "Greedy is the fastest.",
    ),
    Figure(
        "gloria-fig13",
        "GLORIA, Figure 13: optimization time, number of queries (mixed, one with Kleene to six without)",
        OPTIMIZERS,
        ("optimization_time",),
        swept(MIXED, queries=QUERIES),
        True,
        "The GLORIA optimizer constantly outperforms NoPrune by 5-fold, and is slower than Greedy by 1 order of "
        "magnitude.",
    ),
    Figure(
        "gloria-fig14",
        "GLORIA, Figure 14: optimization time, percentage of Kleene queries (mixed, 100 queries)",
        OPTIMIZERS,
        ("optimization_time",),
        swept(MIXED, percent=PERCENT),
        True,
        "GLORIA outperforms NoPrune by 6-fold to 1.2 orders of magnitude. From 10% to 40% the optimization time of "
        "NoPrune drops, as fewer SEQ queries are shared; above 40% Kleene queries dominate it. That of GLORIA "
        "decreases throughout.",
    ),
    Figure(
        "gloria-fig15",
        "GLORIA, Figure 15: memory of the optimizers (mixed)",
        OPTIMIZERS,
        ("memory",),
        swept(replace(MIXED, metric="memory"), queries=QUERIES, percent=PERCENT),
        True,
        "Due to the pruning rules, the GLORIA optimizer consumes only 25% of the memory of NoPrune.",
    ),
)
