"""The figures of the GLORIA paper (Section 8.2): its optimizers, and the execution of their plans."""

from __future__ import annotations

from dataclasses import replace

from elsinore.bench.figure import Figure, swept
from elsinore.bench.gloria.inserting import Inserting
from elsinore.bench.gloria.planning import Planning
from elsinore.bench.gloria.settings import BURSTY
from elsinore.bench.gloria.settings import MIXED as MIXED_STREAM
from elsinore.bench.gloria.sharing_plans import Bursty, Planned
from elsinore.bench.shapes import Below, Growth, Ratio, Widens

OPTIMIZERS = ("gloria", "gloria-noprune", "gloria-greedy")
QUERIES, PERCENT = (40, 80, 120, 160, 200), (10, 20, 30, 40, 50, 60)
SEQ = Planning("SEQ", "", queries=100, percent=0)
KLEENE = Planning("Kleene", "", queries=100, percent=100)
MIXED = Planning("Mixed", "", queries=100, percent=100 / 7)

RATE = 2_000
"""Events per minute of the mixed stream."""
RUN = (12, 30, 60, 90, 120)
EXECUTED = swept(Planned(MIXED_STREAM.name, "", 120, RATE, MIXED_STREAM.minutes), queries=RUN)
INSERTED = swept(Inserting(MIXED_STREAM.name, "", 120, RATE, MIXED_STREAM.minutes), queries=RUN)
PLANS = ("gloria", "gloria-greedy")
SIMPLE, COMPLEX = (Bursty(BURSTY.name, "", 100, 50_000, BURSTY.minutes, percent) for percent in (0.0, 100.0))


def slower(high: str, low: str, at_least: float, paper: str) -> Ratio:
    """Return the claim that one optimizer takes longer than another."""
    return Ratio(metric="optimization_time", high=high, low=low, at_least=at_least, paper=paper)


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
        "Section 8.2",
        (
            slower("gloria-noprune", "gloria", 2, "5 to 7 times"),
            slower("gloria", "gloria-greedy", 1, "1.2 orders of magnitude"),
        ),
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
        "Section 8.2",
        (
            slower("gloria-noprune", "gloria", 2, "13-fold at length 10"),
            Widens(
                metric="optimization_time",
                high="gloria-noprune",
                low="gloria",
                at_least=2,
                paper="from 2-fold to 13-fold",
            ),
            slower("gloria", "gloria-greedy", 1, "Greedy is the fastest"),
            Growth(metric="optimization_time", of="gloria", at_most=0.7, paper="hardly grows"),
        ),
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
        "Section 8.2",
        (
            slower("gloria-noprune", "gloria", 2, "5-fold"),
            slower("gloria", "gloria-greedy", 1, "1 order of magnitude"),
        ),
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
        "Section 8.2",
        (
            slower("gloria-noprune", "gloria", 2, "6-fold to 1.2 orders of magnitude"),
            Growth(metric="optimization_time", of="gloria", at_most=0, paper="decreases throughout"),
        ),
    ),
    Figure(
        "gloria-fig15",
        "GLORIA, Figure 15: memory of the optimizers (mixed)",
        OPTIMIZERS,
        ("memory",),
        swept(replace(MIXED, metric="memory"), queries=QUERIES, percent=PERCENT),
        True,
        "Due to the pruning rules, the GLORIA optimizer consumes only 25% of the memory of NoPrune.",
        "Section 8.2",
        (Ratio(metric="memory", high="gloria-noprune", low="gloria", at_least=2, paper="4-fold"),),
    ),
    Figure(
        "gloria-fig16",
        "GLORIA, Figure 16: execution with different sharing plans (mixed)",
        (*PLANS, "auto", "greta"),
        ("latency", "throughput"),
        EXECUTED,
        True,
        "GLORIA's sharing plan has 3 times the throughput of the greedy plan and 10 times that of GRETA, which shares "
        "nothing. From 12 to 120 queries its latency is 77-91% and 68-93% below theirs. GRETA outperforms the greedy "
        "plan or performs similarly.",
        "Section 8.2",
        (
            Ratio(metric="throughput", high="gloria", low="gloria-greedy", at_least=1.05, paper="3-fold"),
            Ratio(metric="throughput", high="gloria", low="greta", at_least=2, paper="10-fold"),
            Ratio(metric="latency", high="gloria-greedy", low="gloria", at_least=1.05, paper="77-91% less"),
            Ratio(metric="latency", high="greta", low="gloria", at_least=1.05, paper="68-93% less"),
        ),
    ),
    Figure(
        "gloria-fig17",
        "GLORIA, Figure 17: time of value insertion and snapshot maintenance next to latency (mixed)",
        ("gloria",),
        ("latency", "insertion_time"),
        INSERTED,
        True,
        "On the Stock data the latency of GLORIA's sharing plan increases with the number of queries, while the time "
        "of value insertion stays under 1 millisecond.",
        "Section 8.2",
        (
            Growth(metric="latency", of="gloria", at_least=0.05, paper="increases with the number of queries"),
            Below(metric="insertion_time", of="gloria", value=1e-3, paper="under 1 millisecond"),
        ),
    ),
    Figure(
        "gloria-fig18",
        "GLORIA, Figure 18: snapshots that are made (mixed)",
        PLANS,
        ("snapshots",),
        EXECUTED,
        False,
        "GLORIA's sharing plan makes fewer snapshots than the greedy one on the Bus data, and more on the Stock data; "
        "it is faster on both, as what counts are the snapshots that events use.",
        "Section 8.2",
        (Ratio(metric="snapshots", high="gloria", low="gloria-greedy", at_most=1, paper="fewer (Bus), more (Stock)"),),
    ),
    Figure(
        "gloria-fig19",
        "GLORIA, Figure 19: GLORIA and HAMLET, simple and complex queries (bursts; share of complex ones)",
        ("auto", "hamlet", "gloria"),
        ("latency", "throughput"),
        (
            *swept(SIMPLE, burst=(1, 50, 100, 150, 200)),
            *swept(COMPLEX, burst=(1, 50, 100, 150, 200)),
            *swept(SIMPLE, percent=(0, 20, 40, 60, 80, 100)),
        ),
        False,
        "HAMLET wins on simple queries; on complex ones GLORIA's latency is a third of HAMLET's. With bursts of 100 "
        "HAMLET wins without complex queries; from 20% to 100% of them GLORIA wins by 30% to 3-fold. The latency of "
        "both falls with longer bursts.",
        "Section 8.2",
        (
            Ratio(metric="latency", high="hamlet", low="gloria", axis="percent", at_least=1.3, paper="30% to 3-fold"),
            Ratio(
                metric="latency",
                high="gloria",
                low="hamlet",
                axis="percent",
                at="first",
                at_least=1,
                paper="HAMLET wins",
            ),
            Growth(metric="latency", of="hamlet", axis="burst", at_most=0, paper="falls with longer bursts"),
            Growth(metric="latency", of="gloria", axis="burst", at_most=0, paper="falls with longer bursts"),
        ),
    ),
)
