"""Queries with predicates on neighbours in one graph: the rows are those of each query by itself."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

import elsinore
from elsinore.actors.engine import Engine
from elsinore.errors import WorkloadError
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.kinds import LINKED
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.plans.sharing import LinkedSet
from elsinore.planner.time.clock import Clock
from tests.actors.streams import Row, batch, cut, fed, shown
from tests.oracle.ambiguity import ambiguous
from tests.oracle.answer import answer
from tests.oracle.compare import Numeric, differences
from tests.oracle.expressions import Attribute, Binary, Expression
from tests.oracle.grow import variables
from tests.oracle.query import Aggregate, Query, negations, text_of
from tests.oracle.sharing import KLEENE, PATTERNS, called, streams
from tests.oracle.strategies import COMPARISONS, neighbours, single_predicates
from tests.test_batches import cut as cut_anywhere
from tests.test_batches import fed as fed_saved
from tests.test_batches import shown as shown_rows
from tests.test_enumerator import NUMERIC, QUICK

Links = tuple[tuple[str, str], ...]
"""Operators and attributes."""

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]

LINKS: st.SearchStrategy[Links] = st.lists(
    st.tuples(st.sampled_from(COMPARISONS), st.sampled_from("vvw")), min_size=1, max_size=2
).map(tuple)


def compared(variable: str, links: Links) -> list[Expression]:
    return [Binary(symbol, Attribute(variable, name), Attribute(variable, name, next=True)) for symbol, name in links]


@st.composite
def one_query(draw: st.DrawFn, name: str, pool: list[Links], extremes: tuple[str, ...]) -> Query:
    """Every Kleene over A compares its neighbours, and some over B."""
    pattern = called(draw(st.sampled_from(PATTERNS)), draw(st.sampled_from(("A", "a"))))
    near = {first for first, second in neighbours(pattern) if first == second}
    hidden = {leaf for part in negations(pattern) for leaf in variables(part)}
    named = [variable for variable in variables(pattern) if variable in KLEENE and variable not in hidden]
    predicates, aggregates = [], [Aggregate("COUNT")]
    for variable in variables(pattern):
        if variable in near and draw(st.integers(0, 5)) < (5 if variable in KLEENE else 2):
            predicates += compared(variable, draw(st.sampled_from(pool)))
        if draw(st.integers(0, 5)) == 0:
            predicates.append(draw(single_predicates(variable)))
    for variable in named:
        if draw(st.integers(0, 2)) == 0:
            aggregates.append(Aggregate(draw(st.sampled_from(("SUM", "AVG"))), variable, draw(st.sampled_from("vw"))))
        if draw(st.integers(0, 3)) == 0:
            aggregates.append(Aggregate("COUNT", variable))
        aggregates += [Aggregate(function, variable, "v") for function in extremes]
    query = Query(name, tuple(dict.fromkeys(aggregates)), pattern, Fraction(20), predicates=tuple(predicates))
    return query if not ambiguous(query) else replace(query, aggregates=query.aggregates[:1], predicates=())


@st.composite
def cases(draw: st.DrawFn, most: int, whole: bool = False) -> Case:
    """Queries with the same windows and grouping, whose links are the same or not."""
    pool = draw(st.lists(LINKS, min_size=1, max_size=3))
    extremes = draw(st.sampled_from(((), (), ("MIN",), ("MAX", "MIN"))))
    groups = draw(st.sampled_from(((), ("g",))))
    slide = draw(st.sampled_from((Fraction(20), Fraction(10), Fraction(7))))
    queries = [draw(one_query(f"q{n + 1}", pool, extremes)) for n in range(draw(st.sampled_from((2, 2, 3, 5))))]
    return tuple(replace(one, slide=slide, groups=groups) for one in queries), draw(streams(most, whole))


def planned(queries: tuple[Query, ...]) -> Plan:
    made = plan(check_text(text_of(queries)), "hamlet")
    assume(any(isinstance(one, LinkedSet) for one in made.share_sets))
    return made


@settings(QUICK, max_examples=100)
@given(cases(11), NUMERIC)
def test_rows_are_those_of_the_enumeration(case: Case, numeric: Numeric) -> None:
    queries, events = case
    planned(queries)
    note(f"{text_of(queries)}\n" + "\n".join(map(str, events)) + f"\nnumeric={numeric}")
    rows = elsinore.run(text_of(queries), events, engine="local", strategy="hamlet", numeric=numeric).rows()
    assert differences(answer(queries, events), rows, numeric) == []


@settings(QUICK, max_examples=60)
@given(cases(11, whole=True), st.randoms(use_true_random=False), st.booleans())
def test_batches_and_snapshots_never_show(case: Case, random: Random, saved: bool) -> None:
    queries, events = case
    made = planned(queries)
    batches = list(cut_anywhere(events, random))
    note(text_of(queries) + "\n" + "\n".join(map(str, batches)))
    clock = Clock.of(pa.int64(), "s", made.spans)
    rows = [row for part in fed_saved(made, clock, batches, saved) for row in shown_rows(part, clock)]
    assert differences(answer(queries, events), rows, "exact") == []


# Longer streams, against each query by itself

ITEMS = ("COUNT(*)", "COUNT(*), SUM(T.v)", "COUNT(T), AVG(T.w)", "COUNT(*)")
SEQUENCES = ("SEQ(P, T+, S)", "SEQ(Q, T+)", "(SEQ(T+, S))+", "SEQ(P, NOT Q, T+, U+)", "SEQ(U+, S, T+)")
WINDOWS = ("WITHIN 60 seconds SLIDE 60 seconds", "WITHIN 60 seconds SLIDE 25 seconds")


def workload(*links: str, window: str = WINDOWS[1], items: tuple[str, ...] = ITEMS) -> str:
    """Each pattern with the next of the links and items."""
    return "; ".join(
        f"RETURN k, {items[n % len(items)]} PATTERN {pattern} WHERE [k] AND {links[n % len(links)]} GROUP-BY k {window}"
        for n, pattern in enumerate(SEQUENCES)
    )


def stream(count: int, seed: int = 1) -> pa.RecordBatch:
    rnd = np.random.default_rng(seed)
    types = rnd.choice(list("PQSUTTTTTT"), count).tolist()
    columns = {name: rnd.integers(0, 9, count).tolist() for name in "vw"}
    missing = rnd.random(count) < 0.1
    columns["v"] = [None if gone else value for value, gone in zip(columns["v"], missing, strict=True)]
    texts = [None if gone else "pqrst"[value % 5] for value, gone in zip(columns["w"], missing[::-1], strict=True)]
    times = np.sort(rnd.integers(0, count // 3, count))
    return batch(types, times, **columns, f=rnd.integers(0, 30, count) / 4, t=texts, k=rnd.integers(0, 4, count))


EVENTS = stream(900)


def engine(text: str, strategy: str, numeric: str = "exact") -> Engine:
    made = plan(check_text(text), strategy)
    assert strategy != "hamlet" or isinstance(made.share_sets[-1], LinkedSet)
    return Engine(made, Clock.of(pa.int64(), "s", made.spans), numeric)


def run(text: str, strategy: str, events: pa.RecordBatch = EVENTS, numeric: str = "exact") -> list[Row]:
    return fed(engine(text, strategy, numeric), cut(events, 117))


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize(
    "links",
    [
        *[(f"T.v {operator} NEXT(T).v",) for operator in COMPARISONS],
        ("T.v < NEXT(T).v", "T.v != NEXT(T).v", "T.f <= NEXT(T).f AND T.w > 2"),
        ("T.v < NEXT(T).v AND T.w != NEXT(T).w", "T.v + 1 >= NEXT(T).v"),
        ("T.t < NEXT(T).t", "T.t != NEXT(T).t", "T.t = NEXT(T).t"),
    ],
    ids=" and ".join,
)
def test_rows_are_those_of_each_query_by_itself(links: tuple[str, ...], window: str) -> None:
    text = workload(*links, window=window)
    expected = run(text, "cogra")
    assert len(expected) > 60
    assert run(text, "hamlet") == expected


def test_extremes() -> None:
    text = workload("T.v < NEXT(T).v", "T.w > NEXT(T).w", items=("COUNT(*), MIN(T.f), MAX(T.f)",))
    assert run(text, "hamlet") == run(text, "cogra")


def test_approximate_numbers() -> None:
    text = workload("T.v <= NEXT(T).v", "T.v != NEXT(T).v", window=WINDOWS[0])
    rows, expected = run(text, "hamlet", numeric="approximate"), run(text, "cogra", numeric="approximate")
    for row, other in zip(rows, expected, strict=True):
        for name, value in row.items():
            assert value == (pytest.approx(other[name]) if isinstance(value, float) else other[name])


def test_counts_beyond_any_word() -> None:
    """Of n rising events every subset is a trend, and none of two or more is where they have to fall."""
    text = "; ".join(
        f"RETURN COUNT(*), SUM(T.v) PATTERN {pattern} WHERE T.v {operator} NEXT(T).v "
        "WITHIN 900 seconds SLIDE 900 seconds"
        for pattern, operator in (("T+", "<"), ("SEQ(P, T+)", "<"), ("T+", ">"), ("T+", "!="))
    )
    rows = run(text, "hamlet", batch(["P", *"T" * 800], range(801), v=range(801)))
    rising, falling = (2**800 - 1, 2**799 * sum(range(801))), (800, sum(range(801)))
    found = {row["query"]: (row["COUNT(*)"], row["SUM(T.v)"]) for row in rows}
    assert found == {"q1": rising, "q2": rising, "q3": falling, "q4": rising}


def test_floats_that_come_late() -> None:
    """What was compared and added up as integers is so as floats from then on, and needs digits of its own."""
    text = workload("T.v < NEXT(T).v", "T.v != NEXT(T).v", items=("SUM(T.v), MAX(T.v)",))
    whole = stream(300)
    column = pa.array([None if v is None else v + 2.0**-40 for v in whole.column("v").to_pylist()])
    later = whole.set_column(whole.schema.get_field_index("v"), "v", column).slice(150)
    one, other = engine(text, "hamlet"), engine(text, "cogra")
    batches = [whole.slice(0, 150), later]
    assert fed(one, batches) == fed(other, batches)


def test_saved_and_restored_between_batches() -> None:
    text = workload("T.v < NEXT(T).v", "T.t >= NEXT(T).t", items=("COUNT(*), SUM(T.f)",))
    one, rows = engine(text, "hamlet"), []
    for part in cut(EVENTS, 150):
        rows += one.feed(part)
        one = Engine.restore(one.plan, one.save())
    assert shown(one, [*rows, *one.finish()]) == run(text, "cogra")


def test_partitions_that_are_forgotten() -> None:
    text = workload("T.v < NEXT(T).v", "T.v >= NEXT(T).v", window=WINDOWS[0])
    count = 6000
    rnd = np.random.default_rng(3)
    types, times = rnd.choice(list("PQSUTTTT"), count).tolist(), np.arange(count) // 2
    events = batch(types, times, v=rnd.integers(0, 9, count), w=[1] * count, k=times // 4)
    assert run(text, "hamlet", events) == run(text, "cogra", events)


def test_an_error_names_the_query_that_compares() -> None:
    text = (
        f"QUERY fine RETURN COUNT(*) PATTERN T+ WHERE T.v < NEXT(T).v {WINDOWS[0]}; "
        f"QUERY odd RETURN COUNT(*) PATTERN T+ WHERE T.v < NEXT(T).t {WINDOWS[0]}"
    )
    with pytest.raises(WorkloadError, match=r"query odd.*\n?.*T.v < NEXT\(T\).t compares int with text values"):
        run(text, "hamlet")


def test_events_and_what_is_compared_are_kept_once_for_all() -> None:
    one = engine(workload("T.v < NEXT(T).v", "T.w >= NEXT(T).w"), "hamlet")
    one.feed(EVENTS.slice(0, 30))
    (sharing,) = one.runs(LINKED)
    assert len(sharing.graph.buffer) > 20
    assert len(sharing.graph.buffer.links.left) == 2
    assert all(state["graph"] is None for state in map(sharing.save_member, range(len(sharing.members))))
