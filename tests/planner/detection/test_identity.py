"""Identities of subpatterns, what patterns have in common, and the graph of it, against trying everything."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from elsinore.planner.detection.common import common_subpatterns, is_subpattern, maximal_common
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.pattern import Condition, Event, Kind, Pattern, Window, conjunction, sequence
from elsinore.planner.detection.shape import shape_of
from tests.planner.detection.isomorphism import common, isomorphic, maximal, projections
from tests.planner.detection.workloads import conj, random_pattern, seq, shuffled


def identity(pattern: Pattern) -> object:
    shape = shape_of(pattern)
    return shape.identity(shape.whole)[0]


@pytest.mark.parametrize("seed", range(60))
def test_renaming_changes_no_identity(seed: int) -> None:
    rng = Random(seed)
    pattern = random_pattern(rng, "p", "AB", rng.randint(2, 6))
    other = shuffled(rng, pattern)
    assert identity(pattern) == identity(other)
    assert is_subpattern(pattern, other)
    assert len(maximal_common(pattern, other)) == 1


@pytest.mark.parametrize("seed", range(40))
def test_identities_are_equal_only_of_isomorphic_patterns(seed: int) -> None:
    rng = Random(seed)
    patterns = [random_pattern(rng, f"p{number}", "AB", 3) for number in range(12)]
    parts = [part for pattern in patterns for part in projections(pattern)]
    for first in rng.sample(parts, 12):
        for second in parts:
            same = isomorphic(first, second)
            assert (identity(first) == identity(second)) == same, (seed, first, second)


@pytest.mark.parametrize("seed", range(60))
def test_common_subpatterns_are_all_there_are(seed: int) -> None:
    rng = Random(seed)
    first = random_pattern(rng, "p1", "ABC", rng.randint(2, 4))
    second = shuffled(rng, first) if rng.random() < 0.2 else random_pattern(rng, "p2", "ABC", rng.randint(2, 4))
    expected = common(first, second)
    assert {identity(one) for one in common_subpatterns(first, second)} == {identity(one) for one in expected}
    assert {identity(one) for one in maximal_common(first, second)} == {identity(one) for one in maximal(expected)}


def test_a_negated_event_is_shared_with_its_neighbours_alone() -> None:
    first, second = seq("p1", "AxBC"), seq("p2", "AxBD")
    assert {tuple(event.name for event in one.events) for one in common_subpatterns(first, second)} == {
        ("A",),
        ("B",),
        ("A", "B"),
        ("A", "x", "B"),
    }
    assert maximal_common(seq("p1", "AxBC"), seq("p2", "AxC"))[0].negated == ()


def test_a_negated_event_at_the_end_is_shared_under_one_window_alone() -> None:
    whole = maximal_common(seq("p1", "ABx", 10), seq("p2", "ABx", 10))
    other = maximal_common(seq("p1", "ABx", 10), seq("p2", "ABx", 20))
    assert [len(one.negated) for one in (*whole, *other)] == [1, 0]


def test_bounds_of_lists_have_to_be_equal() -> None:
    def listed(most: int | None) -> Pattern:
        events = [Event("A", "A"), Event("B", "B", kind=Kind.KLEENE, most=most), Event("C", "C")]
        return sequence(f"p{most}", events, Window(10))

    assert [len(one.events) for one in maximal_common(listed(None), listed(2))] == [2]
    assert [len(one.events) for one in maximal_common(listed(3), listed(3))] == [3]


def test_windows_of_time_and_of_events_have_nothing_in_common() -> None:
    first = conjunction("p1", [Event("A", "A"), Event("B", "B")], Window(10))
    second = conjunction("p2", [Event("A", "A"), Event("B", "B")], Window(10, "events"))
    assert maximal_common(first, second) == []


def test_many_events_that_can_change_places() -> None:
    """Without looking for twins there would be 12! orders to try."""
    pattern = conjunction("p", [Event(f"v{number}", "A") for number in range(12)], Window(10))
    other = conjunction("q", [Event(f"w{number}", "A") for number in range(12)], Window(10))
    assert identity(pattern) == identity(other)


def test_a_projection_without_the_neighbours_of_a_not_is_refused() -> None:
    with pytest.raises(ValueError, match=r"NOT x forbids more without B: keep them as well"):
        seq("p", "AxBC").projection(["A", "x", "C"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: conj("p", "AA"), "a name stands for two events"),
        (lambda: conj("p", "AB", conditions=[Condition(("A", "C"), "$0.v < $1.v")]), "no event is called C"),
        (lambda: Pattern("p", (Event("A", "A"),), frozenset({("A", "A")}), (), Window(1)), "an event comes before"),
        (lambda: seq("p", "xy"), "all its events are negated"),
    ],
)
def test_what_is_no_pattern_is_refused(make: Callable[[], Pattern], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("seed", range(10))
def test_a_graph_that_changed_is_a_graph_made_anew(seed: int) -> None:
    rng = Random(seed)
    patterns = {f"p{number}": random_pattern(rng, f"p{number}", "ABCD", 3) for number in range(10)}
    graph = MultiPatternGraph(patterns.values())
    for name in rng.sample(list(patterns), 5):
        graph.remove(name)
        del patterns[name]
    for number in range(10, 13):
        patterns[f"p{number}"] = random_pattern(rng, f"p{number}", "ABCD", 3)
        graph.add(patterns[f"p{number}"])
    anew = MultiPatternGraph(patterns.values())
    assert list(graph.edges()) == list(anew.edges())
    assert graph.components() == anew.components()
    for edge in graph.edges():
        first, second = patterns[edge.first], patterns[edge.second]
        shape = graph.shapes[edge.first]
        assert {shape.identity(mask)[0] for mask in edge.maximal} == {
            identity_in(first, one) for one in maximal_common(first, second)
        }
        assert set(graph.peers(edge.first)) >= {edge.second}
    pairs = {(edge.first, edge.second) for edge in graph.edges()}
    for first in patterns.values():
        for second in patterns.values():
            if first is not second and maximal_common(first, second):
                assert {(first.name, second.name), (second.name, first.name)} & pairs


def identity_in(pattern: Pattern, part: Pattern) -> object:
    shape = shape_of(pattern)
    return shape.identity(shape.mask(event.name for event in part.events))[0]
