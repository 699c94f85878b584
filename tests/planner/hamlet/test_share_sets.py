"""Who may share what with whom, and why not the others (HAMLET, Definitions 3.1 and 3.2)."""

from __future__ import annotations

import pytest

from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import PLANNED, plan
from elsinore.planner.plans.sharing import Kleene, ShareSet
from elsinore.planner.plans.strategies import METHODS

WINDOW = "WITHIN 10 seconds SLIDE 5 seconds"


def query(pattern: str, *, items: str = "COUNT(*)", where: str = "", group: str = "", window: str = WINDOW) -> str:
    clauses = [f"RETURN {items}", f"PATTERN {pattern}", where and f"WHERE {where}", group and f"GROUP-BY {group}"]
    return " ".join([*filter(None, clauses), window])


def planned(*texts: str, strategy: str = "hamlet") -> Plan:
    """Queries q1, q2, ...; a pattern alone is a whole query."""
    return plan(check_text("; ".join(text if " " + WINDOW[:6] in text else query(text) for text in texts)), strategy)


def sets(made: Plan) -> list[list[str]]:
    """The queries of each share set."""
    return [[made.queries[member.query].query.name for member in one.members] for one in made.share_sets]


def sharing(made: Plan, one: ShareSet) -> dict[str, list[str]]:
    """By type, who has it as a sharable Kleene sub-pattern."""
    names = [made.queries[member.query].query.name for member in one.members]
    return {kleene.type: [names[sharer.member] for sharer in kleene.sharers] for kleene in one.kleenes}


def lanes(made: Plan) -> list[list[str]]:
    """The lanes of the only Kleene sub-pattern, as queries."""
    (share_set,) = made.share_sets
    (kleene,) = share_set.kleenes
    return [[f"q{share_set.members[kleene.sharers[s].member].query + 1}" for s in lane] for lane in kleene.lanes]


def why(made: Plan) -> dict[str, str]:
    return dict(made.reasons)


# Definition 3.1: what is shared


def test_example_3_2_one_kleene_sub_pattern_of_two_queries() -> None:
    made = planned("SEQ(A, B+)", "SEQ(C, B+)")
    (share_set,) = made.share_sets
    assert sharing(made, share_set) == {"B": ["q1", "q2"]}
    assert made.reasons == ()


def test_only_what_two_queries_have_is_shared() -> None:
    made = planned("SEQ(A+, B+)", "SEQ(B+, C+)", "SEQ(C+, D+)")
    (share_set,) = made.share_sets
    assert sharing(made, share_set) == {"B": ["q1", "q2"], "C": ["q2", "q3"]}


def test_a_query_is_in_a_set_by_way_of_another() -> None:
    """q1 and q4 have nothing in common; the sets are the connected ones."""
    made = planned("SEQ(A, B+)", "SEQ(X+, Y)", "SEQ(B+, C+)", "SEQ(C+, D)", "SEQ(Z, X+)")
    assert sets(made) == [["q1", "q3", "q4"], ["q2", "q5"]]


@pytest.mark.parametrize(
    "pattern",
    [
        "SEQ(A, B*, C)",
        "SEQ(A?, B+)",
        "SEQ(A, NOT C, B+)",
        "SEQ(NOT C, B+)",
        "SEQ(A, B+, NOT C)",
        "SEQ(A, C | B+)",
        "(SEQ(B+, C))+",
        "(SEQ(A, B+))+",
        "(B+ | C)+",
        "SEQ(A+, B+)",
        "B{1,}",
        "(B+)+",
    ],
)
def test_kleene_wherever_it_stands(pattern: str) -> None:
    made = planned("SEQ(X, B+)", pattern)
    assert sets(made) == [["q1", "q2"]]
    assert sharing(made, made.share_sets[0]) == {"B": ["q1", "q2"]}


@pytest.mark.parametrize("pattern", ["SEQ(A, B)", "SEQ(A, B{2,}, C)", "SEQ(A, NOT B+, C)", "SEQ(A, NOT B, B+)"])
def test_events_that_do_anything_but_go_on_in_kleene_are_not_shared(pattern: str) -> None:
    """A negation takes the events too, or they go from position to position."""
    made = planned("SEQ(X, B+)", "SEQ(Y, B+)", pattern)
    assert sets(made) == [["q1", "q2"]]
    assert why(made) == {"q3": "no Kleene sub-pattern E+ over a single event type"}


def test_a_type_at_two_places_of_a_pattern() -> None:
    """Apart, each is a sharer of its own; of one after the other, an event could go from the first to the second."""
    made = planned("SEQ(A, B X+, C, B Y+)", "SEQ(C, B+)")
    assert sharing(made, made.share_sets[0]) == {"B": ["q1", "q1", "q2"]}
    first, second, _ = made.share_sets[0].kleenes[0].sharers
    assert first.target != second.target
    assert planned("SEQ(A, B X+, B Y+)", "SEQ(C, B+)").share_sets == ()


def test_both_places_with_predicates_of_their_own() -> None:
    where = "X.v < 3 AND Y.v > 5"
    made = planned(query("SEQ(A, B X+, C, B Y+)", where=where), query("SEQ(C, B+)", where="B.v > 5"))
    assert lanes(made) == [["q1"], ["q1", "q2"]]


def test_a_query_never_shares_with_itself_alone() -> None:
    made = planned("SEQ(A, B X+, C, B Y+)", "SEQ(A, C)")
    assert made.share_sets == ()
    assert why(made)["q1"] == "no other query has B+ with the same semantics, grouping, MIN and MAX"


# Trends that are consumed

CONSUMING = ["skip-till-next-match", "contiguous"]


def consuming(semantics: str, *patterns: str) -> Plan:
    return planned(*(query(pattern, window=f"SEMANTICS {semantics} {WINDOW}") for pattern in patterns))


@pytest.mark.parametrize("semantics", CONSUMING)
def test_kleene_whose_events_consume_what_they_lengthen(semantics: str) -> None:
    """q1 ends with B+: such trends have a state of their own, for the next event takes the others along."""
    made = consuming(semantics, "SEQ(A, B+)", "SEQ(C, B+, D)", "B+", "SEQ(NOT C, B+, D)")
    assert sets(made) == [["q1", "q2", "q3", "q4"]]
    for sharer in made.share_sets[0].kleenes[0].sharers:
        machine = made.queries[sharer.member].counters[0].machine
        assert sharer.target in sharer.consumed
        assert {state for state in sharer.inputs if machine.states[state].started} <= set(sharer.consumed)
        assert all(machine.states[state].started for state in sharer.consumed)
    ends = [sharer.end is not None for sharer in made.share_sets[0].kleenes[0].sharers]
    assert ends == [True, False, True, False]


@pytest.mark.parametrize("semantics", CONSUMING)
@pytest.mark.parametrize("pattern", ["SEQ(A, B X+, C, B Y+)", "SEQ(A, B{2,}, C)", "SEQ(A, NOT B, B+)"])
def test_consumed_at_one_place_only(semantics: str, pattern: str) -> None:
    made = consuming(semantics, "SEQ(A, B+)", "SEQ(C, B+)", pattern)
    assert sets(made) == [["q1", "q2"]]
    assert why(made) == {
        "q3": "no Kleene sub-pattern E+ over a single event type that stands at one place of the pattern only"
    }


def test_queries_of_one_semantics_share() -> None:
    windows = [f"SEMANTICS {semantics} {WINDOW}" for semantics in ("any", "next", "contiguous")]
    made = planned(*(query(pattern, window=window) for pattern in ("SEQ(A, B+)", "SEQ(C, B+)") for window in windows))
    assert sets(made) == [["q1", "q4"], ["q2", "q5"], ["q3", "q6"]]
    assert [one.semantics for one in made.share_sets] == ["any", "next", "contiguous"]


# Definition 3.2: who may share


def test_windows_may_differ_grouping_and_equivalence_may_not() -> None:
    made = planned(
        query("SEQ(A, B+)", group="g"),
        query("SEQ(C, B+)", group="g", window="WITHIN 9 seconds SLIDE 3 seconds"),
        query("SEQ(A, B+)", where="[g]"),
        query("SEQ(C, B+)", where="[g]"),
        query("SEQ(A, B+)", where="[h]", group="g"),
        query("SEQ(A, B+)", group="g, h"),
        "SEQ(A, B+)",
    )
    assert sets(made) == [["q1", "q2"], ["q3", "q4"]]
    alone = "no other query has B+ with the same semantics, grouping, MIN and MAX"
    assert why(made) == dict.fromkeys(("q5", "q6", "q7"), alone)


def test_count_sum_and_avg_share() -> None:
    items = ("COUNT(*)", "COUNT(B)", "SUM(B.v)", "AVG(B.w)", "SUM(C.v)")
    made = planned(*(query("SEQ(B+, C)", items=item) for item in items))
    assert sets(made) == [["q1", "q2", "q3", "q4", "q5"]]


def test_min_and_max_share_with_the_same_only() -> None:
    made = planned(
        query("SEQ(A, B X+)", items="MIN(X.v), COUNT(*)"),
        query("SEQ(C, B+)", items="MIN(B.v)"),
        query("SEQ(A, B+)", items="MAX(B.v)"),
        query("SEQ(A, B+)", items="SUM(B.v), MIN(B.w)"),
        query("SEQ(C, B+)", items="MAX(B.v), MIN(B.v)"),
        query("SEQ(D, B+)", items="MIN(B.v), MAX(B.v)"),
        "SEQ(A, B+)",
        "SEQ(D, B+)",
        query("SEQ(A, B+)", items="MIN(A.v)"),
    )
    assert sets(made) == [["q1", "q2"], ["q5", "q6"], ["q7", "q8"]]
    alone = "no other query has B+ with the same semantics, grouping, MIN and MAX"
    assert why(made) == dict.fromkeys(("q3", "q4", "q9"), alone)


# Why not


def test_all_the_reasons() -> None:
    made = planned(
        query("SEQ(A, B+)", where="B.v < NEXT(B).v"),
        query("SEQ(A, B+)", window="WITHIN 10 seconds"),
        query("SEQ(A, B+)", window=f"SEMANTICS contiguous {WINDOW}"),
        "SEQ(A, B)",
        "SEQ(A+, B+)",
        query("SEQ(A, B+)", where="A.v < B.v"),
    )
    assert made.share_sets == ()
    elsewhere = "neighbours are compared elsewhere than within one E+ over a single event type that nothing interrupts"
    assert why(made) == {
        "q1": "no other query compares neighbours in B+ with the same grouping, windows, MIN and MAX",
        "q2": "no other query whose windows move with every event has B+ with the same grouping, MIN and MAX",
        "q3": "no other query has B+ with the same semantics, grouping, MIN and MAX",
        "q4": "no Kleene sub-pattern E+ over a single event type",
        "q5": "no other query has A+ or B+ with the same semantics, grouping, MIN and MAX",
        "q6": f"A.v < B.v: {elsewhere}",
    }


@pytest.mark.parametrize("strategy", [name for name in METHODS if name not in (*PLANNED, "sharon", "a-seq")])
def test_strategies_that_share(strategy: str) -> None:
    made = planned("SEQ(A, B+)", "SEQ(C, B+)", "SEQ(A, C)", strategy=strategy)
    shares = strategy in ("auto", "hamlet", "hamlet-static")
    assert sets(made) == ([["q1", "q2"]] if shares else [])
    assert list(why(made)) == (["q3"] if shares else [])


# Lanes: those that always take the same events


def test_lanes_are_told_by_predicates_whatever_variables_are_called() -> None:
    made = planned(
        query("SEQ(A, B+)", where="B.v < 5"),
        query("SEQ(C, B X+)", where="X.v < 5"),
        query("SEQ(D, B+)", where="B.v <= 5"),
        "SEQ(E, B+)",
        query("SEQ(F, B Y+)", where="Y.v < 5 AND F.v > 1"),
        query("SEQ(G, B Z+)"),
    )
    assert lanes(made) == [["q1", "q2", "q5"], ["q3"], ["q4", "q6"]]


def test_lanes_of_the_same_conjuncts_in_another_order() -> None:
    made = planned(
        query("SEQ(A, B+)", where="B.v < 5 AND B.w = 1"),
        query("SEQ(C, B X+)", where="X.w = 1 AND X.v < 5"),
        query("SEQ(C, B+)", where="B.v < 5"),
    )
    assert lanes(made) == [["q1", "q2"], ["q3"]]


def kleene_of(made: Plan) -> Kleene:
    (share_set,) = made.share_sets
    return share_set.kleenes[0]


@pytest.mark.parametrize(("count", "sizes"), [(60, [60]), (61, [60]), (62, [60, 2]), (130, [60, 60, 10])])
def test_so_many_predicates_that_they_need_several_sets(count: int, sizes: list[int]) -> None:
    """One left over has nobody to share with."""
    made = planned(*(query("SEQ(A, B+)", where=f"B.v < {n}") for n in range(count)))
    assert [len(one.members) for one in made.share_sets] == sizes
    assert all(len(kleene.lanes) <= 60 for one in made.share_sets for kleene in one.kleenes)
    alone = "its share set is full: a set distinguishes at most 60 sets of predicates on a type"
    assert why(made) == ({f"q{count}": alone} if count % 60 == 1 else {})


def test_queries_without_a_predicate_of_their_own_still_fit_in_a_full_set() -> None:
    """Sixty predicates and no predicate: 61 lanes are one too many, but more queries with one of the sixty are not."""
    texts = [query("SEQ(A, B+)", where=f"B.v < {n % 60}") for n in range(100)]
    made = planned(*texts, "SEQ(A, B+)", "SEQ(C, B+)")
    assert [len(one.members) for one in made.share_sets] == [100, 2]


def test_many_predicates_on_a_type_that_is_not_shared_count_too() -> None:
    made = planned(*(query("SEQ(A, B+)", where=f"A.v < {n}") for n in range(70)))
    assert [len(one.members) for one in made.share_sets] == [60, 10]
    assert all(len(kleene.lanes) == 1 for one in made.share_sets for kleene in one.kleenes)


# AND


def test_both_sides_of_and_are_members_and_so_is_what_matches_both() -> None:
    made = planned("SEQ(A, B+) & B+", "SEQ(C, B+)", "A+ & C")
    (share_set,) = made.share_sets
    assert [(member.query, member.counter) for member in share_set.members] == [(0, 0), (0, 1), (1, 0)]
    assert len(made.queries[0].counters) == 2
    assert why(made) == {"q3": "no other query has A+ with the same semantics, grouping, MIN and MAX"}


def test_trends_that_match_both_sides_are_counted_with_the_others() -> None:
    made = planned("SEQ(A?, B+) & B+", "SEQ(C, B+)")
    counters = [counter.operands for counter in made.queries[0].counters]
    assert counters == [(0,), (1,), (0, 1)]
    assert [(member.query, member.counter) for member in made.share_sets[0].members] == [(0, 0), (0, 1), (0, 2), (1, 0)]


def test_one_query_with_and_may_share_with_itself() -> None:
    made = planned("SEQ(A, B+) & SEQ(C, B+)", "SEQ(A, C)")
    assert sets(made) == [["q1", "q1"]]
