"""Workloads that together need all kernels: every kind of share set, and every way to run a query by itself."""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.planner.plans.strategies import DETECTING, METHODS

CHOSEN = ("auto", "hamlet", "gloria", "cogra")
"""`auto`, and what it may choose for aggregates once it has seen events of the stream."""

ALL = (*METHODS, *DETECTING)
"""All strategies. Those that refuse a workload are left out."""


@dataclass(frozen=True)
class Sample:
    """A workload, and the strategies by which it is run."""

    name: str
    text: str
    strategies: tuple[str, ...] = CHOSEN
    long: bool = False
    """Whether it needs a stream that is long enough for several threads."""
    counted: bool = False
    """Whether its matches are counted without a list, too."""


def _shared(name: str, clauses: str, *queries: str, strategies: tuple[str, ...] = CHOSEN) -> Sample:
    """Return a workload of queries that have some clauses in common."""
    return Sample(name, ";\n".join(f"{query} {clauses}" for query in queries), strategies)


ITEMS = "RETURN k, COUNT(*), COUNT(b), SUM(b.v), AVG(b.w) PATTERN"
EXTREMES = "RETURN k, COUNT(*), MIN(b.v), MAX(b.v) PATTERN"
COUNTS = "RETURN k, COUNT(*) PATTERN"
SLIDING = "GROUP-BY k WITHIN 40 seconds SLIDE 10 seconds"
TUMBLING = "GROUP-BY k WITHIN 40 seconds SLIDE 40 seconds"
MOVING = "GROUP-BY k WITHIN 40 seconds"

STREAMS = Sample(
    "streams",
    """
    QUERY texts RETURN a, COUNT(*) PATTERN SEQ(A, B+, C) GROUP-BY a WITHIN 40 seconds SLIDE 40 seconds
    QUERY numbers RETURN n, COUNT(*) PATTERN SEQ(A, B+, C) WHERE A.n < 100 GROUP-BY n WITHIN 40 seconds SLIDE 40 seconds
    QUERY tuples RETURN a, n, COUNT(*) PATTERN SEQ(A, B+, D) WHERE [b] GROUP-BY a, n WITHIN 40 seconds SLIDE 10 seconds
    QUERY truths RETURN t, COUNT(*) PATTERN SEQ(A, B+, D) WHERE A.t = TRUE GROUP-BY t WITHIN 40 seconds SLIDE 10 seconds
    """,
    long=True,
)
"""What numbers partitions and counts events, which every workload needs."""

SAMPLES = (
    _shared(
        "bursts",
        SLIDING,
        f"{ITEMS} SEQ(A, B b+, C)",
        f"{ITEMS} SEQ(A, B b+, D) WHERE b.w < 3",
        f"{ITEMS} SEQ(C, NOT X, B b+)",
        f"{ITEMS} SEQ(A, B b+) & C",
    ),
    _shared(
        "plans",
        SLIDING,
        f"{ITEMS} SEQ(A, B b, C, D)",
        f"{ITEMS} SEQ(A, B b, C, X)",
        f"{ITEMS} SEQ(X, B b, C, D)",
        f"{ITEMS} SEQ(A, (SEQ(B b, C))+, D)",
        f"{ITEMS} SEQ(X, (SEQ(B b, C))+, D)",
    ),
    _shared(
        "neighbours",
        f"WHERE b.v <= NEXT(b).v {SLIDING}",
        f"{ITEMS} SEQ(A, B b+, C)",
        f"{ITEMS} SEQ(D, B b+)",
        f"{ITEMS} SEQ(A, NOT X, B b+, D)",
    ),
    _shared("moving", MOVING, f"{ITEMS} SEQ(A, B b+, C)", f"{ITEMS} SEQ(D, B b+)", f"{ITEMS} SEQ(A, NOT X, B b+, D)"),
    _shared("extremes", SLIDING, f"{EXTREMES} SEQ(A, B b+, C)", f"{EXTREMES} SEQ(A, B b+, D)"),
    _shared("next", f"SEMANTICS next {SLIDING}", f"{ITEMS} SEQ(A, B b+, C)", f"{ITEMS} SEQ(A, B b+, D)"),
    _shared("contiguous", f"SEMANTICS contiguous {SLIDING}", f"{ITEMS} SEQ(A, B b+, C)", f"{ITEMS} SEQ(A, B b+, D)"),
    _shared("sequences", MOVING, f"{ITEMS} SEQ(A, B b, C)", f"{ITEMS} SEQ(A, B b, D)", strategies=("auto",)),
    _shared("alone", "", f"{COUNTS} SEQ(A, B+, C) {TUMBLING}", strategies=("auto",)),
    _shared("alone-sum", "", f"{ITEMS} SEQ(A, NOT X, (B b | C)+) {TUMBLING}", strategies=("auto",)),
    _shared("alone-sliding", "", f"{EXTREMES} SEQ(A, B b+, NOT C) {SLIDING}", strategies=("auto",)),
    _shared("alone-moving", "", f"{ITEMS} SEQ(A, B b+) {MOVING}", strategies=("auto",)),
    _shared("alone-next", "", f"{ITEMS} SEQ(A, B b+, C) SEMANTICS next {MOVING}", strategies=("auto",)),
    _shared(
        "alone-neighbours",
        "",
        f"{ITEMS} SEQ(A, NOT X, B b+) WHERE b.v <= NEXT(b).v {TUMBLING}",
        f"{EXTREMES} SEQ(A, B b+) WHERE A.v < b.v {SLIDING}",
        f"{ITEMS} SEQ(A, B b+, NOT X x+, C) WHERE x.v < NEXT(x).v {SLIDING}",
        strategies=("auto",),
    ),
    _shared(
        "alone-neighbours-moving", "", f"{ITEMS} SEQ(A, B b+) WHERE b.v < NEXT(b).v {MOVING}", strategies=("auto",)
    ),
    _shared(
        "alone-neighbours-contiguous",
        "",
        f"{ITEMS} SEQ(A, B b+, C) SEMANTICS contiguous WHERE b.v < NEXT(b).v {TUMBLING}",
        f"{ITEMS} SEQ(A, B b+, C) SEMANTICS next WHERE b.v < NEXT(b).v {MOVING}",
        strategies=("auto",),
    ),
    _shared(
        "events",
        "GROUP-BY k WITHIN 20 events SLIDE 10 events",
        f"{ITEMS} SEQ(A, B b+, C)",
        f"{ITEMS} SEQ(A, B b+, D)",
    ),
)
"""Aggregates as `auto` runs them; what takes long is first."""

MATCHES = (
    Sample(
        "matches",
        """
        QUERY lists RETURN MATCHES PATTERN SEQ(A, B b+, NOT X, C) WHERE [k] AND A.v < C.v WITHIN 10 seconds
        QUERY items RETURN MATCHES COUNT(b) AS n, FIRST(b).v, LAST(b).v, SUM(b.v) AS total PATTERN SEQ(A, B b{2,}, C)
            WHERE [k] AND b.v < NEXT(b).v AND SUM(b.v) < 500 AND COUNT(b) < 4 WITHIN 10 seconds LIMIT 2
        QUERY joined RETURN MATCHES A.v, C.v PATTERN SEQ(A, C, D) WHERE [k] AND A.v < C.v AND C.t = D.t
            WITHIN 10 seconds
        QUERY joined_too RETURN MATCHES A.v, C.v PATTERN SEQ(A, C, X) WHERE [k] AND A.v < C.v WITHIN 10 seconds
        QUERY choices RETURN MATCHES PATTERN SEQ((A | C) , B b?, D) GROUP-BY k WITHIN 10 seconds
        QUERY next RETURN MATCHES PATTERN SEQ(A, B b+, C) SEMANTICS next WHERE [k] WITHIN 10 seconds
        QUERY contiguous RETURN MATCHES PATTERN SEQ(A, B b+, C) SEMANTICS contiguous WHERE b.f < 2.5 WITHIN 10 seconds
        QUERY at_the_end RETURN MATCHES PATTERN SEQ(A, B b, NOT X) WHERE [k] WITHIN 10 seconds
        """,
        ("auto",),
        counted=True,
    ),
    Sample(
        "matches-in-any-order",
        "RETURN MATCHES PATTERN SEQ(AND(A, C), NOT X, D) WHERE [k] AND X.v > A.v WITHIN 30 events",
        ("auto",),
    ),
)
"""Queries that return matches; they have no numbers to represent, exact or not."""

OTHERS = (
    _shared(
        "forest",
        MOVING,
        f"{ITEMS} SEQ(A, B b, C)",
        f"{ITEMS} SEQ(A, B b, NOT X, D)",
        f"{ITEMS} SEQ(C, A, B b, D)",
        f"{EXTREMES} SEQ(D, C, A, B b)",
        strategies=("prefix", "chop-connect", "a-seq", "greta"),
    ),
    _shared(
        "prefixes",
        SLIDING,
        f"{ITEMS} SEQ(A, B b+, C)",
        f"{ITEMS} SEQ(A, B b+, D)",
        f"{ITEMS} SEQ(C, NOT X, B b+)",
        strategies=("sharon", "hamlet-static", "gloria-greedy", "gloria-noprune", "prefix", "chop-connect"),
    ),
    _shared("every-event", "", f"{ITEMS} SEQ(A, B b+, C) {SLIDING}", strategies=("greta", "two-step")),
    _shared("every-event-moving", "", f"{ITEMS} SEQ(A, B b) {MOVING}", strategies=("greta", "two-step", "a-seq")),
    _shared(
        "every-trend",
        "",
        f"{ITEMS} SEQ(A, NOT X, B b+) WHERE b.v <= NEXT(b).v {TUMBLING}",
        strategies=("greta", "two-step"),
    ),
)
"""Aggregates as only strategies to compare with run them."""
