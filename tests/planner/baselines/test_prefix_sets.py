"""Which queries share prefixes under strategy sharon, which prefixes, and why the other queries run apart."""

from __future__ import annotations

import pytest

from elsinore.planner.baselines import sets as prefix_sets
from elsinore.planner.baselines.sets import MAX_KINDS, NEGATED, NOBODY, OTHER_GROUPING, OTHER_WINDOWS, PrefixSet
from elsinore.planner.baselines.unroll import LENGTH
from elsinore.planner.checks.check import check_text
from elsinore.planner.explain.text import explain
from elsinore.planner.machines.machine import Append
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan

WINDOW = "WITHIN 10 minutes SLIDE 5 minutes"


def planned(*queries: str) -> Plan:
    texts = [query if query.startswith("RETURN") else f"RETURN COUNT(*) {query}" for query in queries]
    return plan(check_text("; ".join(texts)), "sharon")


def tree_of(made: Plan) -> PrefixSet:
    (found,) = made.share_sets
    assert isinstance(found, PrefixSet)
    return found


def members(made: Plan) -> list[list[int]]:
    return [[member.query for member in one.members] for one in made.share_sets]


def counters(*queries: str) -> int:
    """Of the tree, without that of the empty trend."""
    return len(tree_of(planned(*(f"PATTERN {query} {WINDOW}" for query in queries))).tree.prefixes) - 1


@pytest.mark.parametrize("queries", [2, 20])
def test_a_common_prefix_is_counted_once(queries: int) -> None:
    """And an event of it does as much as for one query."""
    made = planned(*(f"PATTERN SEQ(P, T+, X{number}) {WINDOW}" for number in range(queries)))
    found = tree_of(made)
    assert len(found.tree.prefixes) == 1 + 1 + LENGTH + queries
    assert [len(owners) for owners in found.tree.owners].count(queries) == 1 + 1 + LENGTH
    machines = [query.counters[0].machine for query in made.queries]
    classes = [[one.type for one in machine.classes].index("T") + 1 for machine in machines]
    merged = found.tree.machine(machines, [[0] * queries, classes])
    assert len(merged.appends[1]) == len(machines[0].appends[classes[0]]) == LENGTH


@pytest.mark.parametrize(
    ("one", "other", "count"),
    [
        ("SEQ(A, B, C)", "SEQ(A, B, D)", 4),
        ("SEQ(A, B)", "SEQ(A, B, C)", 3),
        ("SEQ(A x, B y)", "SEQ(A, B)", 2),
        ("A+", "SEQ(A x, A y, A z)", LENGTH),
        ("SEQ(A+, B)", "SEQ(A+, C)", LENGTH + 2),
        ("SEQ(A, B)", "SEQ(A, (B | C))", 3),
        ("SEQ((A | B), C)", "SEQ((B | A), D)", 3),
        ("SEQ(A, B, C)", "SEQ(A, D, C)", 5),
    ],
)
def test_what_two_queries_have_in_common(one: str, other: str, count: int) -> None:
    """What comes behind a prefix, and what its variables are called, makes no difference."""
    assert counters(one, other) == count


def test_the_same_events_are_those_with_the_same_predicates() -> None:
    assert counters("SEQ(A, B) WHERE A.v > 3", "SEQ(A x, C) WHERE x.v > 3") == 3
    found = planned(f"PATTERN SEQ(A, B) WHERE A.v > 3 {WINDOW}", f"PATTERN SEQ(A, C) WHERE A.v > 4 {WINDOW}")
    assert not found.share_sets
    assert counters("SEQ(P, A, B) WHERE A.v > 3", "SEQ(P, A, B) WHERE A.v > 4") == 5


def test_what_holds_of_events_and_what_does_not() -> None:
    """Behind P, an A may be x, with which the trend ends, or y, or both; the other query takes x and both as one."""
    several = "SEQ(P, (A x | SEQ(A y, C))) WHERE x.v > 3 AND y.v > 5"
    assert counters(several, "SEQ(P, A) WHERE A.v > 3") == 1 + 3 + 1
    assert counters(several, several) == 1 + 3


def bound(made: Plan, name: str) -> list[Append]:
    """What an event of a type does to the tree, without its predicates."""
    machines = [query.counters[0].machine for query in made.queries]
    classes = [
        next((c for c, one in enumerate(machine.classes, start=1) if one.type == name), 0) for machine in machines
    ]
    return list(tree_of(made).tree.machine(machines, [classes]).appends[0])


def test_who_aggregates_the_same_events_has_one_variable_for_them() -> None:
    made = planned(
        f"RETURN SUM(T.v) PATTERN SEQ(P, T+, X) {WINDOW}",
        f"RETURN AVG(y.v) PATTERN SEQ(P, T y+) {WINDOW}",
        f"RETURN COUNT(*) PATTERN SEQ(P, T+, X) {WINDOW}",
    )
    branches = tree_of(made).tree.branches
    assert [dict(branch.names) for branch in branches] == [{"T": "0"}, {"y": "0"}, {}]
    assert {append.bound for append in bound(made, "T")} == {("0",)}


def test_who_aggregates_others_has_a_variable_of_its_own() -> None:
    made = planned(
        f"RETURN SUM(x.v) PATTERN SEQ(T x, T y, A) {WINDOW}",
        f"RETURN SUM(y.v) PATTERN SEQ(T x, T y, B) {WINDOW}",
        f"RETURN SUM(x.v), SUM(y.v) PATTERN SEQ(T x, T y, C) {WINDOW}",
        f"RETURN SUM(D.v) PATTERN SEQ(T x, T y, D) {WINDOW}",
        f"RETURN SUM(E.v) PATTERN SEQ(T x, T y, E) {WINDOW}",
    )
    names = [dict(branch.names) for branch in tree_of(made).tree.branches]
    assert names == [{"x": "0"}, {"y": "1"}, {"x": "0", "y": "1"}, {"D": "2"}, {"E": "2"}]
    assert [append.bound for append in bound(made, "T")] == [("0",), ("1",)]


def test_what_one_query_keeps_apart_stays_so() -> None:
    """Whether an event of B is x shows only in what comes behind it."""
    either = "PATTERN SEQ(A, (SEQ(B x, C) | SEQ(B y, D)))"
    made = planned(f"RETURN SUM(x.v) {either} {WINDOW}", f"RETURN COUNT(*) {either} {WINDOW}")
    assert [append.bound for append in bound(made, "B")] == [("0",), ()]


def test_queries_that_begin_alike_by_way_of_others_are_one_set() -> None:
    made = planned(
        f"PATTERN SEQ(A, X) {WINDOW}",
        f"PATTERN SEQ(B, X) {WINDOW}",
        f"PATTERN (SEQ(A, Y) | SEQ(B, Z)) {WINDOW}",
        f"PATTERN SEQ(C, X) {WINDOW}",
        f"PATTERN SEQ(C, Y) {WINDOW}",
    )
    assert members(made) == [[0, 1, 2], [3, 4]]
    assert not made.reasons


@pytest.mark.parametrize(
    ("query", "why"),
    [
        (f"PATTERN SEQ(A, NOT N, T+) {WINDOW}", NEGATED),
        (f"PATTERN SEQ(B, T+) {WINDOW}", NOBODY),
        (f"PATTERN SEQ(A, T+) WHERE A.v = 1 {WINDOW}", NOBODY),
        ("PATTERN SEQ(A, T+) WITHIN 10 minutes SLIDE 10 minutes", f"q1, q2 begin alike, but {OTHER_WINDOWS}"),
        (f"PATTERN SEQ(A, T+) WHERE [k] {WINDOW}", f"q1, q2 begin alike, but {OTHER_GROUPING}"),
        (f"RETURN k, COUNT(*) PATTERN SEQ(A, T+) GROUP-BY k {WINDOW}", f"q1, q2 begin alike, but {OTHER_GROUPING}"),
    ],
)
def test_why_a_query_runs_apart(query: str, why: str) -> None:
    made = planned(f"PATTERN SEQ(A, T+, X) {WINDOW}", f"PATTERN SEQ(A, T+, Y) {WINDOW}", query)
    assert members(made) == [[0, 1]]
    assert made.reasons == (("q3", why),)


def test_a_set_has_no_more_kinds_of_events_than_there_are_numbers() -> None:
    """Those with the same predicates are together, whatever comes between them."""
    thresholds = [*range(20), 3, 19]
    made = planned(*(f"PATTERN SEQ(P, T) WHERE T.v > {value} {WINDOW}" for value in thresholds))
    assert members(made) == [[*range(14), 20], [*range(14, 20), 21]]
    made = planned(*(f"PATTERN SEQ(P, T) WHERE T.v > {value} {WINDOW}" for value in range(15)))
    assert members(made) == [[*range(14)]]
    assert made.reasons == (("q15", prefix_sets.FULL),)
    assert f"{MAX_KINDS:,}" in prefix_sets.FULL


def test_explain_says_who_shares_which_prefixes() -> None:
    made = planned(
        f"RETURN SUM(T.v) PATTERN SEQ(P, T+, X) WHERE T.v < 5 {WINDOW}",
        f"PATTERN SEQ(P, T x+, Y) WHERE x.v < 5 {WINDOW}",
        f"PATTERN SEQ(P, Q, Y) {WINDOW}",
        f"PATTERN SEQ(P, Q, Z) {WINDOW}",
        f"PATTERN SEQ(R, Y) {WINDOW}",
    )
    lines = explain(made).splitlines()
    assert lines[:7] == [
        "plan: strategy sharon, 1 share set; 1 query apart",
        "share set 1: one prefix tree for q1-q4",
        "├─ windows one by one: the events of each are kept for all queries, and evaluated when it is over",
        "├─ share P: q1-q4; 1 counter",
        "├─ share P, 8 T (event.v < 5): q1, q2; 8 counters",
        "├─ share P, Q: q3, q4; 1 counter",
        "├─ tree of 14 counters; every query by itself would have 26 in all",
    ]
    assert lines[lines.index("queries apart") + 1] == f"└─ q5: {NOBODY}"
    counted = [line.rpartition("; ")[2] for line in lines if "─ count " in line]
    assert counted[:4] == ["in the graph of share set 1"] * 4
    assert counted[4].startswith("the events of a window are kept")
