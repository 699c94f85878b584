"""The figures of the A-Seq paper (Section 6)."""

from __future__ import annotations

from elsinore.bench.a_seq.sequences import Sequences
from elsinore.bench.figure import Figure, swept
from elsinore.bench.shapes import Changes, Growth, Ratio, Stops, Widens

SINGLE, NEGATED = (Sequences(setting, "", queries=1) for setting in ("single", "negated"))
PREFIX, SUBSTRING = (Sequences(setting, "", queries=3, events=200_000) for setting in ("prefix", "substring"))
TWO_STEP, APART = ("a-seq", "two-step"), ("prefix", "chop-connect", "a-seq")
WINDOWS, COMMON, QUERIES = (100, 250, 500, 750, 1_000), (2, 3, 4, 5, 6), (2, 3, 4, 5, 6)


def slower(high: str, low: str, at_least: float, paper: str, setting: str | None = None) -> Ratio:
    """Return the claim that one approach takes longer than another, in all settings or in one."""
    return Ratio(metric="execution_time", high=high, low=low, at_least=at_least, paper=paper, setting=setting)


FIGURES = (
    Figure(
        "aseq-fig12",
        "A-Seq, Figure 12: length of the pattern (windows of 1000 ms)",
        TWO_STEP,
        ("execution_time", "memory"),
        swept(SINGLE, types=(2, 3, 4, 5)),
        True,
        "The execution time of the stack-based approach grows exponentially with the length, that of A-Seq stays "
        "fairly constant: at length 5 it is 16,736 times faster. A-Seq stores a prefix counter per start event, the "
        "stack-based approach all events and the pointers between them.",
        "Section 6.2",
        (
            slower("two-step", "a-seq", 10, "16,736 times at length 5"),
            Widens(
                metric="execution_time", high="two-step", low="a-seq", at_least=3, paper="exponential against constant"
            ),
            Growth(metric="execution_time", of="a-seq", at_most=1, paper="fairly constant"),
            Ratio(metric="memory", high="two-step", low="a-seq", at_least=1, paper="significantly more"),
        ),
    ),
    Figure(
        "aseq-fig13",
        "A-Seq, Figure 13: window size (patterns of length 3)",
        TWO_STEP,
        ("execution_time", "memory"),
        swept(SINGLE, window=WINDOWS),
        True,
        "As the window grows, execution time and memory of both approaches do; those of the stack-based one far "
        "faster, as A-Seq is linear in the number of active events.",
        "Section 6.2",
        (
            slower("two-step", "a-seq", 10, "orders of magnitude"),
            Widens(
                metric="execution_time", high="two-step", low="a-seq", at_least=3, paper="polynomial against linear"
            ),
            Growth(metric="execution_time", of="a-seq", at_most=1.2, paper="linear"),
        ),
    ),
    Figure(
        "aseq-fig14",
        "A-Seq, Figure 14: long patterns (windows of 2000 ms), and negation",
        ("a-seq", "cogra", "two-step"),
        ("execution_time",),
        (*swept(Sequences("single", "", 1, window=2_000), types=(6, 7, 8, 9, 10)), *swept(NEGATED, negated=(0, 1))),
        True,
        "From length 6 to 10 no significant degradation of A-Seq is observed; the stack-based approach fails. With a "
        "negated type A-Seq has almost no overhead, as it resets a counter; the stack-based approach, which filters "
        "afterwards, has a significant one.",
        "Section 6.2",
        (
            Growth(metric="execution_time", of="a-seq", axis="types", at_most=1.2, paper="no significant degradation"),
            Stops(of="two-step", other="a-seq", metric="execution_time", axis="types", paper="memory overflow"),
            Changes(metric="execution_time", of="a-seq", axis="negated", at_most=1.3, paper="almost no overhead"),
        ),
        {"cogra": "two stacks (COGRA)"},
    ),
    Figure(
        "aseq-fig15",
        "A-Seq, Figure 15: three queries with a sub-pattern in common",
        ("chop-connect", "a-seq", "two-step"),
        ("execution_time",),
        swept(Sequences("substring", "", queries=3), window=(5, 10, 20)),
        True,
        "ECube, which shares the construction of common sub-patterns, is 2 to 3 times faster than SASE, and at least "
        "100 times slower than A-Seq and Chop-Connect.",
        "Section 6.3",
        (
            slower("two-step", "a-seq", 10, "200 times, SASE"),
            slower("two-step", "chop-connect", 10, "200 times, SASE"),
        ),
    ),
    Figure(
        "aseq-fig16",
        "A-Seq, Figure 16: sharing of prefixes and of sub-patterns at other places",
        APART,
        ("execution_time",),
        (
            *swept(PREFIX, queries=QUERIES, types=COMMON),
            *swept(SUBSTRING, types=COMMON, queries=QUERIES),
        ),
        False,
        "Three queries with a prefix of 2 in common are 3 times as fast as apart, with a prefix of 6 around 5 times; 2 "
        "to 6 queries with a prefix of 3 about 2 times. Chop-Connect gains 1.3 times with a sub-pattern of length 2, "
        "2.6 times with one of 6, and about 2 times with 2 to 6 queries.",
        "Section 6.3",
        (
            slower("a-seq", "prefix", 1.5, "2 to 5 times", setting="prefix"),
            Widens(
                metric="execution_time",
                high="a-seq",
                low="prefix",
                setting="prefix",
                at_least=1.1,
                paper="3 to 5 times with the length",
            ),
            slower("a-seq", "chop-connect", 1.2, "1.3 to 2.6 times", setting="substring"),
            Widens(
                metric="execution_time",
                high="a-seq",
                low="chop-connect",
                setting="substring",
                axis="types",
                at_least=1.1,
                paper="1.3 to 2.6 times",
            ),
        ),
    ),
)
