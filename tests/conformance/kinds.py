"""The table of kinds: every kind of share set, and every way to run a query by itself.

A kind says how workloads are generated that have it, which strategies run it, which long workload shows it, and which
properties it does not have, with the reason. `tests/conformance/test_matrix.py` holds that nothing is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from hypothesis import strategies as st

from elsinore.planner.baselines.sets import PrefixSet
from elsinore.planner.detection.sets import DetectionSet
from elsinore.planner.explain.text import explain
from elsinore.planner.gloria.sets import PlannedSet
from elsinore.planner.plans.sharing import ShareSet
from elsinore.result import Result
from tests.conformance.ways import Way, by_strategy, of_gloria, of_hamlet
from tests.oracle import moving, neighbours, prefixes, sequences, sharing, strategies
from tests.oracle.ambiguity import ambiguous
from tests.oracle.enumerate import CONTIGUOUS, NEXT
from tests.oracle.query import Query, text_of
from tests.planner.gloria import plans
from tests.support.generated import Case
from tests.support.streams import refused

Cases = Callable[[int, bool], st.SearchStrategy[Case]]
"""Returns cases with at most so many events; with only integers, if told so."""
Ways = Callable[[str, int], list[Way]]
"""Returns the ways to run a workload; what is drawn depends on the number."""
LongQuery = tuple[str, str, str]
"""A pattern, predicates, and the lengths of window and slide in seconds; `b` are the events that are added up."""


def _rows(way: Way, result: Result) -> Iterable[str]:
    if result.rows():
        yield "rows"


def _always(query: Query) -> bool:
    return True


@dataclass(frozen=True)
class Generated:
    """Small workloads and streams, for which all trends can be enumerated."""

    cases: Cases
    ways: Ways
    examples: int
    most: int = 12
    """Events."""
    likely: Callable[[Way, Result], Iterable[str]] = _rows
    """What a case is about."""
    covered: Mapping[str, float] = field(default_factory=dict)
    """The share of cases that have to be about something."""
    covered_at_length: Mapping[str, float] = field(default_factory=dict)
    run: Callable[[Query], bool] = _always
    """Whether a drawn query can be run by itself; others are left out."""


@dataclass(frozen=True)
class Kind:
    """A way to keep the state of queries."""

    generated: Generated
    strategies: tuple[str, ...]
    """Those that make it of the long workload."""
    shown: str
    """What `explain` calls it."""
    queries: tuple[LongQuery, ...]
    """Of the long workload, in which several share, or, of queries that run alone, none does."""
    core: str
    """What stands in the middle of the patterns by which features are asked of it."""
    other: str = "cogra"
    """A strategy that has the same rows, and shares nothing with this one."""
    semantics: tuple[str, ...] = ("any",)
    window: str = "20/10"
    """Of the queries by which features are asked of it."""
    where: str = ""
    """Predicates of these."""
    longest: int = 150
    """The size of a burst that it can take, so that the number of trends is beyond any word; 0 without Kleene."""
    blanks: Mapping[str, str] = field(default_factory=dict)
    """By feature that it does not have, what is said of queries that have it: why they run apart, or are refused, or
    what they are shared by instead."""
    meaningless: Mapping[str, str] = field(default_factory=dict)
    """By property, why it cannot be asked."""

    @property
    def shares(self) -> bool:
        return self.shown.startswith("one ")

    def workload(self, *items: str, scale: int = 1, group: str = "k") -> str:
        """Return the long workload, with each of the items in turn, and windows as many times as long."""
        found = []
        for number, (pattern, where, window) in enumerate(self.queries):
            within, _, slide = window.partition("/")
            semantics = self.semantics[number % len(self.semantics)]
            conjuncts = " AND ".join(filter(None, ("[k]", where)))
            ends = f"WITHIN {int(within) * scale} seconds" + (f" SLIDE {int(slide) * scale} seconds" if slide else "")
            found.append(
                f"QUERY q{number} RETURN {group}, {items[number % len(items)]} PATTERN {pattern} "
                f"SEMANTICS {semantics} WHERE {conjuncts} GROUP-BY {group} {ends}"
            )
        return ";\n".join(found)


def _of_hamlet(way: Way, result: Result) -> Iterable[str]:
    if way.plan.share_sets:
        yield "a share set"
    if result.metrics.shared_bursts > 0:
        yield f"bursts shared: {way.name}"
    decisions = result.decisions
    if max(decisions["snapshots_propagated"].to_pylist(), default=0) > 1:
        yield f"snapshots at event level: {way.name}"
    if "partly" in decisions["choice"].to_pylist():
        yield f"bursts partly shared: {way.name}"


def _of_gloria(way: Way, result: Result) -> Iterable[str]:
    for one in way.plan.share_sets:
        if isinstance(one, PlannedSet):
            yield from (f"{way.name}: {kind}" for kind in plans.shares(one.plan))
    if result.metrics.snapshots > 0:
        yield f"{way.name}: snapshots"


def _of_trees(way: Way, result: Result) -> Iterable[str]:
    for one in way.plan.share_sets:
        yield "a share set"
        if isinstance(one, PrefixSet):
            by_query = [set(branch.names.values()) for branch in one.tree.branches]
            names = set[str]().union(*by_query)
            if len({*one.tree.owners[1:]}) > 2:
                yield "branches"
            if len(names) < sum(map(len, by_query)):
                yield "variables that are one"
            if len(names) > max(map(len, by_query)):
                yield "variables that are not"


def _of_forests(way: Way, result: Result) -> Iterable[str]:
    if result.rows():
        yield "rows"
    text = explain(way.plan)
    if "one forest of prefix counters" in text:
        yield f"{way.name}: shared"
    connected = max((line.count(" with ") for line in text.splitlines() if "─ connect (" in line), default=0)
    if connected:
        yield f"{way.name}: connected"
    if connected > 1:
        yield f"{way.name}: connected twice"


def _only_sharing(shown: str) -> Ways:
    """Return plans of HAMLET that have this kind; there are none if the workload has none."""

    def found(text: str, seed: int) -> list[Way]:
        return [way for way in by_strategy(text, "hamlet", seed=seed) if shown in explain(way.plan)]

    return found


def _strategies(*names: str) -> Ways:
    return lambda text, seed: by_strategy(text, *names, seed=seed)


def _runs(strategy: str) -> Callable[[Query], bool]:
    return lambda query: not ambiguous(query) and not refused(text_of((query,)), strategy)


def _consuming(most: int, whole: bool) -> st.SearchStrategy[Case]:
    return st.sampled_from((NEXT, CONTIGUOUS)).flatmap(partial(sharing.cases, most, whole))


def _always_whole(cases: Callable[[int], st.SearchStrategy[Case]]) -> Cases:
    return lambda most, _: cases(most)


def _any_sequences(most: int, whole: bool) -> st.SearchStrategy[Case]:
    drawn = sequences.cases(most)
    return drawn | drawn.map(lambda case: (sequences.sliding(case[0]), case[1]))


CONSTRUCTED = "every trend is constructed: a window of too many ends with an error, as a test of the strategy holds"
FEW = "a trend that is consumed has one successor, so a window has at most as many trends as pairs of events"

FOREST = "one forest of prefix counters for"
ANY_ONLY = "such queries are shared under skip-till-any-match only"
LINKS_ANY_ONLY = "predicates on neighbours are shared under skip-till-any-match only"
LINKS_SLIDE = "those that compare neighbours are shared where they have a SLIDE"
LINKS_ELSEWHERE = "neighbours are compared elsewhere than within one E+ over a single event type"
LINKS_IN_NOT = "they stand in a negation, whose matches have to be found event by event"
PAIRED_UP = "the trends of an AND are counted by partition and then paired up"
END_SLIDES = "NOT at the end of the pattern needs a SLIDE"
SNAPSHOTS = "only skip-till-any-match lets every event before another be its predecessor, as snapshots take it"
COMPARES = "it compares neighbours, so each event has predecessors of its own"
NEGATED = "a match of NOT moves the trends of one query, while those of a plan move together"
CHOICE = "its pattern can choose or leave something out; a plan is for sequences and Kleene sub-patterns of them"
DEARER = "its sharing plan shares nothing: every plan that shares costs more"
SEQUENCES_ONLY = "with such windows sequences of event types are shared, nothing else"
OF_A_FOREST = {
    "sliding windows": "one planned graph for",
    **dict.fromkeys(("next", "contiguous"), "such sequences are shared under skip-till-any-match only"),
    **dict.fromkeys(("neighbours", "other neighbours", "neighbours in NOT"), COMPARES),
    **dict.fromkeys(("NOT of a sequence", "Kleene", "Kleene of a sequence", "optional", "OR", "AND"), SEQUENCES_ONLY),
    "NOT at the end": END_SLIDES,
}
OF_A_SEQ = {
    "next": "strategy a-seq cannot run SEMANTICS skip-till-next-match",
    "contiguous": "strategy a-seq cannot run SEMANTICS contiguous",
    "neighbours": "strategy a-seq cannot run the predicate on neighbours A.v < b.v",
    "other neighbours": "strategy a-seq cannot run the predicate on neighbours A.v < b.v",
    "neighbours in NOT": "strategy a-seq cannot run NOT over more than one event type: NOT X x+",
    "NOT of a sequence": "strategy a-seq cannot run NOT over more than one event type: NOT SEQ(X, Y)",
    "NOT at the end": END_SLIDES,
    "Kleene": "strategy a-seq cannot run repeated or optional parts: B b+",
    "Kleene of a sequence": "strategy a-seq cannot run repeated or optional parts: (SEQ(A, B b))+",
    "optional": "strategy a-seq cannot run repeated or optional parts: A?",
    "OR": "strategy a-seq cannot run OR: A | X",
    "AND": "strategy a-seq cannot run AND",
}
OF_SHARON = {
    "moving windows": "strategy sharon cannot run windows that move with every event: WITHIN without SLIDE",
    "next": "strategy sharon cannot run SEMANTICS skip-till-next-match",
    "contiguous": "strategy sharon cannot run SEMANTICS contiguous",
    "neighbours": "strategy sharon cannot run the predicate on neighbours b.v < NEXT(b).v",
    "other neighbours": "strategy sharon cannot run the predicate on neighbours A.v < b.v",
    "neighbours in NOT": "strategy sharon cannot run the predicate on neighbours x.v < NEXT(x).v",
    "Kleene of a sequence": "strategy sharon cannot run Kleene over more than one event type: (SEQ(A, B b+))+",
    "AND": "strategy sharon cannot run AND",
}

ALONE: tuple[LongQuery, ...] = (
    ("SEQ(A, B b+, C)", "", "40/40"),
    ("SEQ(A, B b+, C)", "b.w > 2", "40/20"),
    ("SEQ(A, B b+, C)", "", "30/3"),
    ("SEQ(A, B b+)", "", "30"),
    ("SEQ(A, B b+, C)", "b.v < NEXT(b).v", "40/20"),
    ("SEQ(A, NOT X, B b+)", "b.v <= NEXT(b).v", "30"),
    ("SEQ(A, NOT X, (B b | C)+)", "", "40/10"),
    ("SEQ(A, B b+) & C", "", "20/10"),
)
SEQUENCES: tuple[LongQuery, ...] = tuple(
    (f"SEQ({types})", "b.w > 1" if number in (3, 7) else "", window)
    for number, (types, window) in enumerate(
        (
            ("A, B b, C", "30"), ("A, B b, D", "45"), ("A, B b, NOT X, C, D", "12"), ("C, A, B b, D", "60"),
            ("D, C, A, B b", "30"), ("A, B b", "5"), ("D, C, B b, A, B", "30"), ("C, A a1, A a2, B b", "45"),
        )
    )
)  # fmt: skip


def _generated_alone(strategy: str, examples: int, most: int) -> Generated:
    return Generated(strategies.cases, _strategies(strategy), examples, most, _rows, {"rows": 0.3}, run=_runs(strategy))


KINDS: dict[str, Kind] = {
    "HAMLET": Kind(
        Generated(
            sharing.cases,
            of_hamlet,
            90,
            likely=_of_hamlet,
            covered={
                "a share set": 0.7,
                "bursts shared: drawn": 0.5,
                "snapshots at event level: static": 0.02,
                "bursts partly shared: drawn": 0.02,
            },
            covered_at_length={
                "snapshots at event level: static": 0.2,
                "snapshots at event level: drawn": 0.1,
                "bursts partly shared: drawn": 0.05,
            },
        ),
        ("hamlet", "hamlet-static"),
        "one HAMLET graph for",
        (
            ("SEQ(A, B b+)", "", "60/60"),
            ("SEQ(A, B b+, C)", "b.w < 5", "60/30"),
            ("SEQ(C, NOT X, B b+)", "b.w < 5", "30/10"),
            ("SEQ(D, B b+, NOT X, C)", "", "60/15"),
            ("(SEQ(B b+, C))+", "b.v != 3", "15/15"),
            ("SEQ(A, B b+) & C", "", "30/15"),
            ("SEQ(A+, B b+, D?)", "", "60/12"),
        ),
        "B b+",
        blanks={
            "moving windows": "one graph of moving windows for",
            "neighbours": "one event-grained graph for",
            "other neighbours": LINKS_ELSEWHERE,
            "neighbours in NOT": LINKS_IN_NOT,
        },
    ),
    "HAMLET, trends consumed": Kind(
        Generated(
            _consuming,
            of_hamlet,
            110,
            likely=_of_hamlet,
            covered={"a share set": 0.7, "bursts shared: drawn": 0.5, "snapshots at event level: drawn": 0},
            covered_at_length={"snapshots at event level: drawn": 0.1},
        ),
        ("hamlet", "hamlet-static"),
        "one HAMLET graph for",
        (
            ("SEQ(A, B b+)", "", "60/60"),
            ("B b+", "b.w < 5", "60/30"),
            ("SEQ(C, B b+, D)", "", "30/10"),
            ("SEQ(D, B b+, C)", "b.w < 5", "60/15"),
            ("SEQ(NOT C, B b+, D)", "", "15/15"),
            ("SEQ(A, B b+, C)", "", "30/15"),
        ),
        "B b+",
        semantics=("next", "contiguous"),
        meaningless={"beyond any word": FEW},
        blanks={
            "moving windows": ANY_ONLY,
            **dict.fromkeys(("neighbours", "other neighbours", "neighbours in NOT"), LINKS_ANY_ONLY),
        },
    ),
    "neighbours": Kind(
        Generated(neighbours.cases, _only_sharing("one event-grained graph for"), 100, 11, _rows, {"rows": 0.3}),
        ("hamlet",),
        "one event-grained graph for",
        (
            ("SEQ(A, B b+, C)", "b.v <= NEXT(b).v", "60/25"),
            ("SEQ(D, B b+)", "b.v != NEXT(b).v AND b.w > 1", "60/25"),
            ("(SEQ(B b+, C))+", "b.v <= NEXT(b).v", "60/25"),
            ("SEQ(A, NOT D, B b+, X+)", "b.v <= NEXT(b).v AND b.w != NEXT(b).w", "60/25"),
            ("SEQ(X+, C, B b+)", "b.v + 1 > NEXT(b).v - 9", "60/25"),
            ("SEQ(X, B b+)", "b.t <= NEXT(b).t", "60/25"),
        ),
        "B b+",
        where="b.v < NEXT(b).v",
        blanks={
            "moving windows": LINKS_SLIDE,
            "several windows": "no other query compares neighbours in B+ with the same grouping, windows, MIN and MAX",
            **dict.fromkeys(("next", "contiguous"), LINKS_ANY_ONLY),
            "other neighbours": LINKS_ELSEWHERE,
            "neighbours in NOT": LINKS_IN_NOT,
            "AND": PAIRED_UP,
        },
    ),
    "moving windows": Kind(
        Generated(moving.cases, _only_sharing("one graph of moving windows for"), 120, 12, _rows, {"rows": 0.3}),
        ("hamlet",),
        "one graph of moving windows for",
        (
            ("SEQ(A, B b+, C)", "", "30"),
            ("SEQ(D, B b+)", "b.w > 2", "45"),
            ("B b+", "", "12"),
            ("(SEQ(B b+, C))+", "b.w > 2 AND b.v != 3", "60"),
            ("SEQ(A, NOT D, B b+, X+)", "", "30"),
            ("SEQ(B b+, NOT D, C)", "b.w > 2", "5"),
            ("SEQ(X+, C, B b+)", "", "30"),
            ("SEQ(A?, B b+, C?)", "", "45"),
        ),
        "B b+",
        window="20",
        blanks={
            "sliding windows": "one HAMLET graph for",
            **dict.fromkeys(("next", "contiguous"), ANY_ONLY),
            **dict.fromkeys(("neighbours", "other neighbours", "neighbours in NOT"), LINKS_SLIDE),
            "NOT at the end": END_SLIDES,
            "AND": PAIRED_UP,
        },
    ),
    "GLORIA": Kind(
        Generated(
            _always_whole(plans.cases),
            of_gloria,
            80,
            likely=_of_gloria,
            covered={
                **{f"drawn: {what} {part}": 0.1 for what in ("local", "reused") for part in ("sequence", "Kleene")},
                "drawn: snapshots": 0.5,
                "gloria: snapshots": 0.3,
            },
            covered_at_length={"drawn: snapshots": 0.5},
        ),
        ("gloria", "gloria-greedy", "prefix", "chop-connect"),
        "one planned graph for",
        (
            ("SEQ(A, B b, C, D)", "", "60/60"),
            ("SEQ(A, B b, C, X)", "", "60/20"),
            ("SEQ(X, B b, C, D)", "b.w > 1", "40/10"),
            ("SEQ(A, B b, C)", "", "60/60"),
            ("SEQ(A, B b+, C, D)", "", "60/20"),
            ("SEQ(X, B b+, C, D)", "", "40/10"),
            ("SEQ(A, B b+, C)", "b.w > 1", "60/60"),
            ("SEQ(A, (SEQ(B b, C))+, D)", "", "60/20"),
            ("SEQ(X, (SEQ(B b, C))+, D)", "", "40/10"),
            ("SEQ(A, (SEQ(B b, C))+)", "", "60/60"),
        ),
        "B b",
        blanks={
            "moving windows": "its windows move with every event; a plan is for windows of WITHIN and SLIDE",
            **dict.fromkeys(
                ("moving windows, prefix", "moving windows, chop-connect"), "one forest of prefix counters"
            ),
            **dict.fromkeys(("next", "contiguous"), SNAPSHOTS),
            **dict.fromkeys(("neighbours", "other neighbours", "neighbours in NOT"), COMPARES),
            **dict.fromkeys(("predicates, gloria", "optional, gloria"), DEARER),
            **dict.fromkeys(("NOT", "NOT of a sequence", "NOT at the end"), NEGATED),
            "OR": CHOICE,
            "AND": "AND counts trends of several patterns; a template has one pattern per query",
            "a type twice": "A stands at several places of the pattern; a template has each type once",
        },
    ),
    "A-Seq, a forest": Kind(
        Generated(
            _always_whole(sequences.cases),
            _strategies("prefix", "chop-connect"),
            60,
            20,
            _of_forests,
            {
                "rows": 0.5,
                "prefix: shared": 0.1,
                "chop-connect: connected": 0.2,
                "chop-connect: connected twice": 0.02,
            },
            {"chop-connect: connected twice": 0.02},
        ),
        ("prefix", "chop-connect"),
        FOREST,
        SEQUENCES,
        "B b",
        window="20",
        longest=0,
        blanks=OF_A_FOREST,
    ),
    "SHARON, a prefix tree": Kind(
        Generated(
            prefixes.cases,
            _strategies("sharon"),
            60,
            likely=_of_trees,
            covered={
                "a share set": 0.6,
                "branches": 0.4,
                "variables that are one": 0.1,
                "variables that are not": 0.02,
            },
            covered_at_length={"a share set": 0.6},
        ),
        ("sharon",),
        "one prefix tree for",
        (
            ("SEQ(A, B b+, C)", "", "20/10"),
            ("SEQ(A, B b+, D)", "", "20/10"),
            ("SEQ(A, B b+)", "b.w > 1", "20/10"),
            ("SEQ(A, (D | SEQ(B b, C)))", "", "20/10"),
            ("B b+", "", "20/10"),
            ("SEQ(B b+, X, A)", "", "20/10"),
        ),
        "B b+",
        longest=100,
        blanks={
            **OF_SHARON,
            "several windows": "begin alike, but in other windows",
            **dict.fromkeys(
                ("NOT", "NOT of a sequence", "NOT at the end"),
                "a match of NOT moves trends between counters, independently of the other queries",
            ),
        },
    ),
    "alone, COGRA": Kind(
        Generated(strategies.cases, _strategies("auto", "cogra"), 150, 12, _rows, {"rows": 0.3}),
        ("cogra",),
        "every query apart at its coarsest granularity",
        ALONE,
        "B b+",
        other="greta",
    ),
    "alone, A-Seq": Kind(
        Generated(_any_sequences, _strategies("a-seq"), 60, 16, _rows, {"rows": 0.4}),
        ("a-seq",),
        "every query apart, a counter for each prefix of its sequence",
        (*SEQUENCES, ("SEQ(A, B b, C)", "", "30/10")),
        "B b",
        window="20",
        longest=0,
        blanks=OF_A_SEQ,
    ),
    "alone, GRETA": Kind(
        _generated_alone("greta", 40, 10),
        ("greta",),
        "every query apart, a node for every event",
        ALONE,
        "B b+",
    ),
    "alone, two-step": Kind(
        _generated_alone("two-step", 40, 10),
        ("two-step",),
        "every query apart, all trends constructed",
        (
            ("SEQ(A, B b+, C)", "", "12/6"),
            ("SEQ(A, B b+)", "b.w > 1", "10"),
            ("SEQ(A, NOT X, B b+)", "b.v <= NEXT(b).v", "12/12"),
            ("SEQ(A, B b+) & C", "", "8/4"),
        ),
        "B b+",
        blanks={
            "neighbours in NOT": (
                "strategy two-step cannot run the predicate on neighbours x.v < NEXT(x).v inside of NOT"
            )
        },
        meaningless={"beyond any word": CONSTRUCTED},
    ),
    "alone, SHARON": Kind(
        _generated_alone("sharon", 40, 10),
        ("sharon",),
        "every query apart, Kleene flattened into sequences of fixed length",
        (("SEQ(A, B b+, C)", "", "20/10"), ("SEQ(C, NOT X, B b+)", "b.w > 1", "20/10"), ("B b+", "", "10/5")),
        "B b+",
        longest=100,
        blanks=OF_SHARON,
    ),
}

JUDGED_ELSEWHERE: dict[type[ShareSet], tuple[str, tuple[str, ...]]] = {
    DetectionSet: (
        "its queries return matches: there are no numbers to add up, to compare, or to overflow, and no other strategy "
        "that has the same rows",
        ("actors/detection", "test_detecting.py", "test_detection.py"),
    )
}
"""Kinds of share sets that do not count trends: why no property here has a meaning for them, and what judges them."""
