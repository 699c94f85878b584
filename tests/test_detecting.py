"""Random workloads of RETURN MATCHES: the checks accept them, and the judge finds each match once, in order."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import given

from elsinore.planner.checks.check import check_text
from elsinore.planner.language.parse import parse
from tests.oracle.answer import answer
from tests.oracle.detecting import cases, has_and, workloads
from tests.oracle.detection import matches, numbered
from tests.oracle.expressions import Attribute, Expression, readers
from tests.oracle.query import Aggregate, Query, text_of
from tests.support.generated import fresh

WHOLE = Fraction(1000)

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]


@fresh(100)
@given(workloads())
def test_random_workloads_are_accepted(workload: tuple[Query, ...]) -> None:
    text = text_of(workload)
    checked = check_text(text)
    assert check_text(str(checked)) == checked
    assert len(parse(text).queries) == len(workload)


@fresh(50)
@given(cases(8, 3))
def test_the_judge_finds_each_match_once(case: Case) -> None:
    workload, events = case
    for query in workload:
        rows = numbered(matches([query], events))
        if not query.items:
            assert len({repr(row) for row in rows}) == len(rows)
        assert [row["end"] for row in rows] == sorted(row["end"] for row in rows)


@fresh(100)
@given(cases(8, 2))
def test_distinct_sequences_of_events_are_the_trends_that_are_counted(case: Case) -> None:
    """In one window that holds everything, and with predicates on single events, which mean the same to both."""
    workload, events = case
    later = [{**event, "time": event["time"] + 10} for event in events]
    for query in workload:
        if has_and(query.pattern):
            continue
        single = tuple(
            each
            for each in query.predicates
            if len({reader.variable for reader in readers(each)}) == 1 and _is_plain(each)
        )
        whole = replace(query, predicates=single, within=WHOLE, unit="seconds", items=(), limit=None, groups=())
        sequences = {_sequence(row) for row in numbered(matches([whole], later))}
        counted = answer([replace(whole, aggregates=(Aggregate("COUNT"),), slide=WHOLE)], later)
        assert sum(row["COUNT(*)"] for row in counted) == len(sequences)


def _is_plain(expression: Expression) -> bool:
    return all(isinstance(reader, Attribute) and not reader.next for reader in readers(expression))


def _sequence(row: dict[str, Any]) -> tuple[int, ...]:
    ids: list[int] = []
    for name, value in row.items():
        if name not in ("query", "start", "end") and value is not None:
            ids += value if isinstance(value, list) else [value]
    return tuple(sorted(ids))
