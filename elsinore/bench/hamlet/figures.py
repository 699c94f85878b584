"""The figures of the HAMLET paper (Section 5.2)."""

from __future__ import annotations

from elsinore.bench.figure import Figure, swept
from elsinore.bench.hamlet.settings import HOMES, RIDES, STOCKS, TAXIS
from elsinore.bench.replay import Run
from elsinore.bench.setting import Setting
from elsinore.bench.shapes import Ratio, Widens


def over(setting: Setting, rate: int, queries: int) -> Run:
    return Run(setting.name, "", queries, rate, setting.minutes)


LOW = swept(over(RIDES, 10_000, 15), rate=(10_000, 12_500, 15_000, 17_500, 20_000), queries=(5, 10, 15, 20, 25))
HIGH = (
    *swept(over(TAXIS, 200, 50), rate=(200, 250, 300, 350, 400), queries=(10, 20, 30, 40, 50)),
    *swept(over(HOMES, 20_000, 50), rate=(20_000, 25_000, 30_000, 35_000, 40_000), queries=(10, 20, 30, 40, 50)),
)
FLUCTUATING = swept(over(STOCKS, 3_000, 50), rate=(2_000, 2_500, 3_000, 3_500, 4_000), queries=(20, 40, 60, 80, 100))

ALL = ("hamlet", "greta", "sharon", "two-step")
STATIC = ("hamlet", "hamlet-static")

MCEP = {"two-step": "two-step (in place of MCEP)"}

FIGURES = (
    Figure(
        "hamlet-fig8",
        "HAMLET, Figure 8: versus state-of-the-art approaches",
        ALL,
        ("latency", "throughput"),
        LOW,
        True,
        "HAMLET's throughput is higher than SHARON's by 3-5 orders of magnitude, than GRETA's by 1-2, and than "
        "MCEP's 7-76-fold. HAMLET terminates within 25 milliseconds in all cases; SHARON needs up to 50 minutes, "
        "GRETA up to 3 seconds, MCEP up to 1 second.",
        "Section 5.2",
        (
            Ratio(metric="throughput", high="hamlet", low="sharon", at_least=10, paper="3-5 orders of magnitude"),
            Ratio(metric="throughput", high="hamlet", low="greta", at_least=2, paper="1-2 orders of magnitude"),
            Ratio(metric="throughput", high="hamlet", low="two-step", at_least=2, paper="7-76-fold"),
            Widens(
                metric="latency",
                high="two-step",
                low="hamlet",
                axis="rate",
                at_least=1.5,
                paper="MCEP grows exponentially",
            ),
        ),
        MCEP,
    ),
    Figure(
        "hamlet-fig9",
        "HAMLET, Figure 9: memory versus state-of-the-art approaches",
        ALL,
        ("memory",),
        LOW,
        True,
        "HAMLET, GRETA and MCEP perform similarly; SHARON requires 2-3 orders of magnitude more memory.",
        "Section 5.2",
        (
            Ratio(metric="memory", high="sharon", low="hamlet", at_least=2, paper="2-3 orders of magnitude"),
            Ratio(metric="memory", high="greta", low="hamlet", at_least=0.3, at_most=3, paper="similar"),
            Ratio(metric="memory", high="two-step", low="hamlet", at_least=0.3, at_most=3, paper="similar"),
        ),
        MCEP,
    ),
    Figure(
        "hamlet-fig10",
        "HAMLET, Figure 10: versus GRETA, at the rates of the NYC and smart home data",
        ("hamlet", "greta"),
        ("latency", "throughput"),
        HIGH,
        True,
        "HAMLET outperforms GRETA with respect to throughput and latency by 3-5 orders of magnitude: it responds "
        "within half a second, while GRETA runs up to 2 hours and 17 minutes for 400 events a minute (NYC).",
        "Section 5.2",
        (
            Ratio(metric="throughput", high="hamlet", low="greta", at_least=10, paper="3-5 orders of magnitude"),
            Ratio(metric="latency", high="greta", low="hamlet", at_least=10, paper="3-5 orders of magnitude"),
            Widens(
                metric="latency",
                high="greta",
                low="hamlet",
                axis="queries",
                at_least=1.2,
                paper="shared against one by one",
            ),
        ),
    ),
    Figure(
        "hamlet-fig11",
        "HAMLET, Figure 11: dynamic versus static sharing decisions",
        STATIC,
        ("latency", "throughput"),
        FLUCTUATING,
        False,
        "Dynamic decisions achieve 21-34% speed-up and 27-52% throughput improvement over static ones. 90% of "
        "bursts are shared, which reduces the number of snapshots by 50% (4K-8K, where static decisions make "
        "10K-20K). Decisions take less than 0.2% of the latency.",
        "Section 5.2",
        (
            Ratio(metric="latency", high="hamlet-static", low="hamlet", at_least=1.05, paper="21-34% speed-up"),
            Ratio(metric="throughput", high="hamlet", low="hamlet-static", at_least=1.05, paper="27-52% more"),
        ),
    ),
    Figure(
        "hamlet-fig12",
        "HAMLET, Figure 12: memory of dynamic versus static sharing decisions",
        STATIC,
        ("memory",),
        FLUCTUATING,
        False,
        "Dynamic decisions reduce memory by 25% compared to static ones, as fewer snapshots are introduced.",
        "Section 5.2",
        (Ratio(metric="memory", high="hamlet-static", low="hamlet", at_least=1, paper="25% less"),),
    ),
)
