"""Numbers of matches without a list, pages and samples, against all matches in order."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

import elsinore
from elsinore.actors.detection import searching
from elsinore.actors.detection.frames import frame_search
from elsinore.actors.detection.matches import Matches
from elsinore.actors.detection.searching import Search
from tests.actors.detection.support import Routes, batches_of, clock_of, queries_of, run
from tests.oracle.detecting import cases
from tests.oracle.detection import matches, numbered
from tests.oracle.query import Query, text_of
from tests.oracle.read import read
from tests.support.generated import fresh

Case = tuple[tuple[Query, ...], list[dict[str, Any]]]
Listed = list[tuple[Any, ...]]

SEQUENCE = "QUERY q\nRETURN MATCHES\nPATTERN SEQ(A a+, B b)\nWHERE a.v < b.v\nWITHIN 9 seconds"


def searches_of(text: str, events: list[dict[str, Any]]) -> list[Search]:
    """Return the searches of a stream that comes in one batch."""
    queries = queries_of(text)
    routes = Routes(queries, clock_of(queries, pa.array([event["time"] for event in events])))
    return [search for batch in batches_of(events) for search in routes.begin(*batch)]


def listed(found: Matches) -> Listed:
    columns = [np.split(one.rows, one.offsets[1:-1]) if one.offsets is not None else one.rows for one in _bound(found)]
    return [tuple(np.asarray(column[m]).tolist() for column in columns) for m in range(len(found))]


def _bound(found: Any) -> list[Any]:
    return list(found.bound.values())


@fresh(60)
@given(cases(9, 2))
def test_counts_pages_and_samples(case: Case) -> None:
    workload, events = case
    for search in searches_of(text_of(workload), events):
        whole = [one for some in search.matches() for one in listed(some)]
        assert search.count() == len(whole)
        for first in (0, 1, len(whole) // 2, len(whole)):
            assert listed(search.page(first, 3)) == whole[first : first + 3]
        sample = listed(search.sample(4, 1))
        assert len(sample) == min(4, len(whole))
        assert [one for one in whole if one in sample] == sample


def test_samples_are_uniform() -> None:
    events = [{"id": n, "type": "AAB"[n % 3], "time": n, "v": n * 7 % 5} for n in range(30)]
    (search,) = searches_of(SEQUENCE, events)
    counts = np.zeros(search.count())
    whole = listed(search.page(0, search.count()))
    rounds, size = 1000, len(whole) // 4
    for seed in range(rounds):
        for one in listed(search.sample(size, seed)):
            counts[whole.index(one)] += 1
    expected = rounds * size / len(whole)
    assert abs(counts / expected - 1).max() < 6 / np.sqrt(expected)


def test_counting_lists_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [{"id": n, "type": "A" if n < 24 else "B", "time": n, "v": 0} for n in range(25)]
    (search,) = searches_of("QUERY q\nRETURN MATCHES\nPATTERN SEQ(A a+, B b)\nWITHIN 100 seconds", events)
    monkeypatch.setattr(Search, "matches", None)
    assert search.count() == 2**24 - 1


@fresh(80)
@given(cases(9, 2))
def test_matches_by_number_without_a_list(case: Case) -> None:
    workload, events = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "LISTED", 0)
        for search in searches_of(text_of(workload), events):
            whole = [one for some in search.matches() for one in listed(some)]
            assert listed(search.page(0, len(whole))) == whole
            assert listed(search.page(len(whole) // 3, 2)) == whole[len(whole) // 3 :][:2]


TALLIED = {
    "a list alone": ("A a+", "", 0.1),
    "lists behind lists": ("SEQ(A a+, B b*, A c+)", "", 0.1),
    "a list between events": ("SEQ(A a, B b+, A c)", "WHERE b.v >= a.v AND b.v <= c.v + 1", 0.3),
    "neighbours": ("SEQ(A a+, B b)", "WHERE a.v < NEXT(a).v", 0.3),
    "a nested list": ("SEQ((SEQ(A a, B b))+, A c)", "WHERE b.v != c.v", 0.1),
    "beside each other": ("AND(A a+, B b{2,})", "", 0.1),
    "alternatives": ("SEQ(A a, OR(B b+, C c)?, A d+)", "WHERE a.v < b.v", 0.1),
    "a gap": ("SEQ(A a, NOT C c, B b, A d+)", "", 0.1),
}


@pytest.mark.parametrize("name", TALLIED)
def test_pages_of_many_lists(name: str) -> None:
    pattern, where, ties = TALLIED[name]
    draw = np.random.default_rng(3)
    times = np.cumsum(draw.random(17) > ties).tolist()
    events = [
        {"id": n, "type": draw.choice(["A", "A", "B", "B", "C"]), "time": t, "v": n * 5 % 7}
        for n, t in enumerate(times)
    ]
    (search,) = searches_of(f"QUERY q\nRETURN MATCHES\nPATTERN {pattern}\n{where}\nWITHIN 14 seconds", events)
    whole = [one for some in search.matches() for one in listed(some)]
    assert search.is_quick_to_count
    assert search.count() == len(whole) > 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "LISTED", 0)
        patch.setattr(Search, "matches", None)
        for first in (0, len(whole) // 3, max(0, len(whole) - 40)):
            assert listed(search.page(first, 40)) == whole[first : first + 40]


@pytest.mark.parametrize("count", [60, 61, 62, 63, 64, 200])
def test_numbers_of_any_size(count: int) -> None:
    events = [{"id": n, "type": "A" if n < count else "B", "time": n, "v": 0} for n in range(count + 1)]
    (search,) = searches_of("QUERY q\nRETURN MATCHES\nPATTERN SEQ(A a+, B b)\nWITHIN 1000 seconds", events)
    total = 2**count - 1
    assert search.count() == total
    # The first lists are that of the first event alone and with the second; the last one has the last event alone.
    assert listed(search.page(0, 2)) == [([0], count), ([0, 1], count)]
    assert listed(search.page(total - 1, 5)) == [([count - 1], count)]
    assert listed(search.page(2 ** (count - 1), 1)) == [([1], count)]
    assert len({str(one) for one in listed(search.sample(5, 1))}) == 5


LIMITED = {
    "events that follow one another": "SEQ(A a, B b, C c)",
    "with NOT": "SEQ(A a, NOT D, B b, C c)",
    "a list": "SEQ(A a+, B b)",
    "lists beside each other": "AND(A a+, B b+)",
    "alternatives": "SEQ(OR(A a, B b), C c)",
    "two in any order": "AND(A a, B b)",
    "two of one type in any order": "AND(A a, A b)",
    "three in any order": "AND(A a, B b, C c)",
    "any order behind an event": "SEQ(A a, AND(B b, C c))",
    "any order before an event": "SEQ(AND(A a, B b), C c)",
    "any order behind a list": "SEQ(A a+, AND(B b, C c))",
    "a list between events": "SEQ(A a, B b{2,}, C c)",
    "two lists": "SEQ(A a+, B b{1,2}, C c)",
    "lists that may be absent": "SEQ(A a*, B b*, C c)",
    "nested lists": "SEQ((SEQ(A a, B b))+, C c)",
    "a list behind an event": "SEQ(A a, B b+)",
    "a list with NOT behind it": "SEQ(A a+, NOT D, B b)",
}


@pytest.mark.parametrize("cut", [0, 1 << 16], ids=["by number", "by search"])
@pytest.mark.parametrize("where", ["", "WHERE [k]"])
@pytest.mark.parametrize("name", LIMITED)
def test_the_first_matches_of_each_end(name: str, where: str, cut: int) -> None:
    draw = np.random.default_rng(5)
    types, keys = draw.choice(list("AABBCD"), 24).tolist(), draw.integers(0, 2, 24).tolist()
    events = [{"id": n, "type": types[n], "time": n // 2, "k": keys[n]} for n in range(24)]
    text = f"QUERY q\nRETURN MATCHES\nPATTERN {LIMITED[name]}\n{where}\nWITHIN 6 seconds\nLIMIT 3"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(searching, "LISTED", cut)
        found = run(text, events, (4, 8))
    assert found == numbered(matches(read(text), events))


CONDITIONS = {
    "a sum": "SUM(a.id) > 11",
    "neighbours": "a.id + 1 < NEXT(a).id",
    "texts": "LAST(a).t = 'x'",
    "texts and numbers": "LAST(a).t = 'x' AND COUNT(a) > 1 AND AVG(a.id) < b.id - 4",
}


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("semantics", ["any", "next"])
@pytest.mark.parametrize("name", ["a list", "a list with NOT behind it", "any order behind a list", "two lists"])
def test_the_first_matches_that_satisfy_a_condition_on_lists(name: str, semantics: str, condition: str) -> None:
    draw = np.random.default_rng(6)
    types, texts = draw.choice(list("AAABBCD"), 26).tolist(), draw.choice(list("xyz"), 26).tolist()
    events = [{"id": n, "type": types[n], "time": n // 2, "t": texts[n]} for n in range(26)]
    how = "SEMANTICS skip-till-next-match\n" if semantics == "next" and "AND(" not in LIMITED[name] else ""
    where = f"{how}WHERE {CONDITIONS[condition]}"
    text = f"QUERY q\nRETURN MATCHES\nPATTERN {LIMITED[name]}\n{where}\nWITHIN 8 seconds\nLIMIT 2"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame_search, "ROOM", 64)
        found = run(text, events, (4, 8))
    assert found or semantics == "next"
    assert found == numbered(matches(read(text), events))


@pytest.mark.parametrize("condition", ["SUM(a.id) >= 4", "LAST(a).t = 'x'"], ids=["in the search", "on whole matches"])
def test_a_limit_ends_the_search_of_lists_with_conditions(condition: str) -> None:
    """There are 2^200 lists, of which some of the first ones satisfy the condition."""
    events = [
        {"id": n, "type": "A" if n < 200 else "B", "time": n, "t": "y" if n in (0, 3) else "x"} for n in range(202)
    ]
    text = f"QUERY q\nRETURN MATCHES\nPATTERN SEQ(A a+, B b)\nWHERE {condition}\nWITHIN 1000 seconds\nLIMIT 2"
    lists = [[0, 1, 2, 3], [0, 1, 2, 3, 4]] if "SUM" in condition else [[0, 1], [0, 1, 2]]
    assert [(row["a"], row["b"]) for row in run(text, events)] == [(one, end) for end in (200, 201) for one in lists]


@pytest.mark.parametrize("pattern", ["AND(A a, B b)", "SEQ(C c, AND(A a, B b))"])
@pytest.mark.parametrize("where", ["", "WHERE a.id + b.id < 1000000"], ids=["join", "frames"])
def test_a_limit_ends_the_search_of_events_in_any_order(
    pattern: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each event as many matches are read as are asked for, and not one for each other event."""
    count, limit, read_rows = 600, 2, 0
    events = [{"id": n, "type": "C" if n < 5 else "AB"[n % 2], "time": n} for n in range(count)]
    whole = Search.read

    def counted(self: Search, term: Any, chunk: Any) -> Matches:
        nonlocal read_rows
        read_rows += chunk.count
        return whole(self, term, chunk)

    monkeypatch.setattr(Search, "read", counted)
    found = run(f"QUERY q\nRETURN MATCHES\nPATTERN {pattern}\n{where}\nWITHIN 10000 seconds\nLIMIT {limit}", events)
    assert len(found) <= read_rows <= limit * count
    assert {min(row["a"], row["b"]) for row in found[-20:]} == {5, 6, 7, 8}


def test_a_limit_ends_the_search() -> None:
    """With LIMIT a list of 200 events has its first matches, though all of them could never be listed."""
    events = [{"id": n, "type": "A" if n < 200 else "B", "time": n} for n in range(202)]
    found = run("QUERY q\nRETURN MATCHES\nPATTERN SEQ(A a+, B b)\nWITHIN 1000 seconds\nLIMIT 2", events)
    assert [(row["a"], row["b"]) for row in found] == [([0], 200), ([0, 1], 200), ([0], 201), ([0, 1], 201)]


@pytest.mark.parametrize("where", ["", "WHERE a.id + b.id < c.id + 1000000"], ids=["join", "frames"])
def test_a_limit_ends_the_search_of_an_event(where: str) -> None:
    count = 4000
    events = [{"id": n, "type": "ABC"[n * 3 // count], "time": n} for n in range(count)]
    text = f"QUERY q\nRETURN MATCHES\nPATTERN SEQ(A a, B b, C c)\n{where}\nWITHIN 10000 seconds\nLIMIT 2"
    found = run(text, events)
    ends = [row["c"] for row in found]
    assert ends == [n for n in range(count) if events[n]["type"] == "C" for _ in range(2)]
    assert {(row["a"], row["b"]) for row in found} == {(0, 1334), (0, 1335)}


@pytest.mark.parametrize("seed", range(10, 20))
def test_pages_of_single_events_that_a_join_finds_before_not(seed: int) -> None:
    random = Random(seed)
    events = [
        {"type": random.choice("ACXD"), "time": time, "k": random.randrange(4), "v": random.randrange(5)}
        for time in range(60)
    ]
    query = "RETURN MATCHES PATTERN SEQ(AND(A, C), NOT X, D) WHERE [k] AND X.v > A.v WITHIN 30 events"
    found = elsinore.matches(query, events)
    pages = [row for number in range(found.count()) for row in found.page(number, 1).rows()]
    assert pages == elsinore.run(query, events, engine="local").rows()
