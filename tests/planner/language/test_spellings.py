"""Everything that may be written, and what it means."""

from __future__ import annotations

from fractions import Fraction

import pytest

from elsinore.planner.language.parse import parse
from elsinore.planner.language.syntax import (
    Aggregate,
    All,
    And,
    Any,
    Arithmetic,
    Attribute,
    Between,
    Comparison,
    Equivalence,
    EventType,
    Expression,
    Grouping,
    In,
    IsNull,
    Item,
    Kleene,
    LiteralValue,
    Matches,
    Minus,
    Negation,
    Not,
    Or,
    Pattern,
    Query,
    Seq,
    Span,
    Summary,
)

A, B, C = EventType("A"), EventType("B"), EventType("C")
V = Attribute("A", "v")
ONE = LiteralValue(1)


def one(text: str) -> Query:
    (query,) = parse(text).queries
    return query


def pattern(text: str) -> Pattern:
    return one(f"RETURN COUNT(*) PATTERN {text} WITHIN 1 minute").pattern


def where(text: str) -> Query:
    return one(f"RETURN COUNT(*) PATTERN A WHERE {text} WITHIN 1 minute")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A", A),
        ("(A)", A),
        ("A a", EventType("A", "a")),
        ("A A", A),
        ("SEQ(A A, A b)", Seq((EventType("A", "A"), EventType("A", "b")))),
        ("A+", Kleene(A, 1, None)),
        ("A*", Kleene(A, 0, None)),
        ("A?", Kleene(A, 0, 1)),
        ("A{2}", Kleene(A, 2, 2)),
        ("A{2,}", Kleene(A, 2, None)),
        ("A { 2 , 3 }", Kleene(A, 2, 3)),
        ("A+?", Kleene(Kleene(A, 1, None), 0, 1)),
        ("Travel T+", Kleene(EventType("Travel", "T"), 1, None)),
        ("(Travel T)+", Kleene(EventType("Travel", "T"), 1, None)),
        ("SEQ(A, B)", Seq((A, B))),
        ("seq (A, B)", Seq((A, B))),
        ("A, B", Seq((A, B))),
        ("(A, B)+", Kleene(Seq((A, B)), 1, None)),
        ("SEQ(A, B)+", Kleene(Seq((A, B)), 1, None)),
        ("A | B | C", Or((A, B, C))),
        ("OR(A, B)", Or((A, B))),
        ("A & B", And((A, B))),
        ("And(A, B)", And((A, B))),
        ("A & B | C", Or((And((A, B)), C))),
        ("A, B | C", Seq((A, Or((B, C))))),
        ("NOT A", Not(A)),
        ("!A", Not(A)),
        ("not A+ | B", Or((Not(Kleene(A, 1, None)), B))),
        ("NOT SEQ(A, B), C", Seq((Not(Seq((A, B))), C))),
        ("SEQ(Return, Within R, where)", Seq((EventType("Return"), EventType("Within", "R"), EventType("where")))),
        ("Return+", Kleene(EventType("Return"), 1, None)),
        ("SEQ(Query q, In, Count)", Seq((EventType("Query", "q"), EventType("In"), EventType("Count")))),
        ("SEQ(Bestätigung, 注文)", Seq((EventType("Bestätigung"), EventType("注文")))),
    ],
)  # fmt: skip
def test_patterns(text: str, expected: Pattern) -> None:
    assert pattern(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A.v = 1", Comparison("=", V, ONE)),
        ("A.v <> 1", Comparison("!=", V, ONE)),
        ("A.v != 1", Comparison("!=", V, ONE)),
        ("A.v<=1", Comparison("<=", V, ONE)),
        ("A.v >= NEXT(A).v", Comparison(">=", V, Attribute("A", "v", next=True))),
        ("A.v < next ( A ) . v", Comparison("<", V, Attribute("A", "v", next=True))),
        ("A.v = -5", Comparison("=", V, LiteralValue(-5))),
        ("A.v = .5", Comparison("=", V, LiteralValue(0.5))),
        ("A.v = 1.5E3", Comparison("=", V, LiteralValue(1500.0))),
        ("A.v = 'it''s'", Comparison("=", V, LiteralValue("it's"))),
        ('A.v = "say ""x"""', Comparison("=", V, LiteralValue('say "x"'))),
        ("A.v = 'a;b -- QUERY q'", Comparison("=", V, LiteralValue("a;b -- QUERY q"))),
        ("A.v = true", Comparison("=", V, LiteralValue(True))),
        ("A.v IN (1, -1, 'x')", In(V, (ONE, LiteralValue(-1), LiteralValue("x")))),
        ("A.v not in (1)", In(V, (ONE,), negated=True)),
        ("A.v BETWEEN 1 AND 1", Between(V, ONE, ONE)),
        ("A.v NOT BETWEEN 1 AND 1", Between(V, ONE, ONE, negated=True)),
        ("A.v IS NULL", IsNull(V)),
        ("A.v is not null", IsNull(V, negated=True)),
        ("NOT A.v IS NULL", Negation(IsNull(V))),
        ("A.v < 1 OR A.v IS NULL", Any((Comparison("<", V, ONE), IsNull(V)))),
        ("A.v + 1 * 1 = 1", Comparison("=", Arithmetic("+", V, Arithmetic("*", ONE, ONE)), ONE)),
        ("(A.v - 1) % 1 = -A.v", Comparison("=", Arithmetic("%", Arithmetic("-", V, ONE), ONE), Minus(V))),
        ("A.count = A.next", Comparison("=", Attribute("A", "count"), Attribute("A", "next"))),
        ("A.within = A.seq", Comparison("=", Attribute("A", "within"), Attribute("A", "seq"))),
        ("Return.v = 1", Comparison("=", Attribute("Return", "v"), ONE)),
    ],
)  # fmt: skip
def test_predicates(text: str, expected: Expression) -> None:
    assert where(text).predicates == (expected,)


def test_conjuncts_are_parted() -> None:
    query = where("[driver, rider] AND A.v BETWEEN 1 AND 1 AND ([x] AND A.v = 1) AND (A.v = 1 AND A.v = 1 OR A.v = 1)")
    equal = Comparison("=", V, ONE)
    assert query.equivalences == (Equivalence(("driver", "rider")), Equivalence(("x",)))
    assert query.predicates == (Between(V, ONE, ONE), equal, Any((All((equal, equal)), equal)))


@pytest.mark.parametrize("keyword", ["GROUP-BY", "GROUPBY", "GROUP BY", "group\n by", "Group-By"])
def test_group_by(keyword: str) -> None:
    query = one(f"RETURN g, COUNT(*) PATTERN A {keyword} g, A.h, query WITHIN 1 minute")
    assert query.group_by == (Grouping("g"), Grouping("h", "A"), Grouping("query"))
    assert query.groups == ("g", "h", "query")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("skip-till-any-match", "any"),
        ("ANY", "any"),
        ("Skip-Till-Next-Match", "next"),
        ("next", "next"),
        ("contiguous", "contiguous"),
        ("cont", "contiguous"),
    ],
)
def test_semantics(text: str, expected: str) -> None:
    assert one(f"RETURN COUNT(*) PATTERN A SEMANTICS {text} WITHIN 1 minute").semantics == expected
    assert one("RETURN COUNT(*) PATTERN A WITHIN 1 minute").semantics == "any"


@pytest.mark.parametrize(
    ("text", "amount", "unit"),
    [
        ("5 ms", 5, "ms"),
        ("1 second", 1, "seconds"),
        ("0.1 seconds", Fraction(1, 10), "seconds"),
        ("30minutes", 30, "minutes"),
        ("1 MINUTE", 1, "minutes"),
        ("2 hours", 2, "hours"),
        ("1 hour", 1, "hours"),
        ("7 days", 7, "days"),
        ("1.5 day", Fraction(3, 2), "days"),
        ("1 event", 1, "events"),
        ("100 events", 100, "events"),
    ],
)
def test_windows(text: str, amount: Fraction, unit: str) -> None:
    query = one(f"RETURN COUNT(*) PATTERN A WITHIN {text} SLIDE {text}")
    assert query.within == query.slide == Span(Fraction(amount), unit)  # type: ignore[arg-type]
    assert one(f"RETURN COUNT(*) PATTERN A WITHIN {text}").slide is None


def test_returns() -> None:
    query = one("return g, T.h, count( * ), Count(T), SUM ( T . duration ), avg(T.v) as pace PATTERN T WITHIN 1 minute")
    assert query.returns == (
        Grouping("g"),
        Grouping("h", "T"),
        Aggregate("COUNT", None, None, "count(*)"),
        Aggregate("COUNT", "T", None, "Count(T)"),
        Aggregate("SUM", "T", "duration", "SUM(T.duration)"),
        Aggregate("AVG", "T", "v", "avg(T.v)", "pace"),
    )
    assert [item.label for item in query.aggregates] == ["count(*)", "Count(T)", "SUM(T.duration)", "pace"]


def test_returns_matches() -> None:
    assert one("RETURN matches PATTERN A WITHIN 1 minute").returns == Matches()
    counted = one("RETURN matches, COUNT(*) PATTERN A GROUP-BY matches WITHIN 1 minute")
    assert counted.returns[0] == Grouping("matches")  # type: ignore[index]


def test_items_of_matches() -> None:
    query = one(
        "RETURN MATCHES T.v as x, count(T), Sum( T . v ), first(T).v, LAST(T).w AS z PATTERN T+ WITHIN 9 events"
    )
    assert query.returns == Matches(
        (
            Item(Attribute("T", "v"), "T.v", "x"),
            Item(Summary("COUNT", "T", None), "count(T)"),
            Item(Summary("SUM", "T", "v"), "Sum(T.v)"),
            Item(Summary("FIRST", "T", "v"), "first(T).v"),
            Item(Summary("LAST", "T", "w"), "LAST(T).w", "z"),
        )
    )
    assert [item.label for item in query.items] == ["x", "count(T)", "Sum(T.v)", "first(T).v", "z"]
    assert query.detects
    assert not query.whole_events
    assert query.counts_events
    assert query.columns == ("v", "w")


def test_conditions_on_lists() -> None:
    query = one(
        "RETURN MATCHES PATTERN T+ WHERE first(T).v < Last( T ).w AND COUNT(T) > 2 AND MIN(T.x) = 1 WITHIN 1 ms"
    )
    assert query.predicates == (
        Comparison("<", Summary("FIRST", "T", "v"), Summary("LAST", "T", "w")),
        Comparison(">", Summary("COUNT", "T", None), LiteralValue(2)),
        Comparison("=", Summary("MIN", "T", "x"), LiteralValue(1)),
    )
    assert query.columns == ("v", "w", "x")
    assert query.whole_events


@pytest.mark.parametrize("clauses", ["PATTERN Limit", "PATTERN SEQ(A, Limit l)", "PATTERN A GROUP-BY limit"])
def test_limit_is_a_name_unless_a_number_follows(clauses: str) -> None:
    assert one(f"RETURN MATCHES {clauses} WITHIN 1 minute").limit is None
    assert one(f"RETURN MATCHES {clauses} WITHIN 1 minute LIMIT 10").limit == 10


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{0}", ["q1"]),
        ("{0};", ["q1"]),
        (";; {0} ; ; {0};", ["q1", "q2"]),
        ("QUERY a {0} QUERY b {0}", ["a", "b"]),
        ("QUERY a {0}; QUERY b {0}; {0}", ["a", "b", "q3"]),
        ("query Query {0}; {0}", ["Query", "q2"]),
        ("-- QUERY x ;\n{0} -- ;\n", ["q1"]),
    ],
)
def test_queries_are_parted(text: str, names: list[str]) -> None:
    workload = parse(text.format("RETURN COUNT(*) PATTERN A WITHIN 1 minute"))
    assert [query.name for query in workload.queries] == names


def test_clauses_in_any_order_and_comments_anywhere() -> None:
    usual = one("RETURN g, COUNT(*) PATTERN A+ WHERE A.v<1 GROUP-BY g WITHIN 2 minutes SLIDE 1 minute")
    other = one(
        "SLIDE -- by\n1 minute WITHIN 2 minutes -- ' \nPATTERN -- (\nA+ WHERE A.v--v\n<1 GROUP-BY g RETURN g, COUNT(*)"
    )
    assert other == usual
