"""Queries without keys are divided by the sub-patterns that they have in common."""

from __future__ import annotations

from collections import Counter

from elsinore.planner.checks.check import check_text
from elsinore.planner.language.syntax import Workload
from elsinore.planner.plans.components import MOST_COMPONENTS, components
from elsinore.planner.plans.routes import Ranges, routes

HOW = "WITHIN 10 seconds"

PAIRS = ("AB", "BC", "DE", "EF", "GH")


def workload(*patterns: str, returned: str = "MATCHES", how: str = HOW) -> Workload:
    """Return a workload with a query for each pattern, which is called like its types."""
    return check_text(
        "; ".join(f"QUERY {types} RETURN {returned} PATTERN SEQ({', '.join(types)}) {how}" for types in patterns)
    )


def groups(found: dict[str, int]) -> list[set[str]]:
    return sorted(({name for name in found if found[name] == one} for one in {*found.values()}), key=min)


def test_queries_with_a_common_sub_pattern_are_together() -> None:
    found = components(workload("ABC", "XAB", "DEF", "YDE", "GH"))
    assert groups(found) == [{"ABC", "XAB"}, {"DEF", "YDE"}, {"GH"}]


def test_one_common_event_connects_no_queries() -> None:
    assert groups(components(workload("AB", "BC"))) == [{"AB"}, {"BC"}]


def test_queries_are_connected_by_way_of_others() -> None:
    assert groups(components(workload("ABC", "BCD", "CDE"))) == [{"ABC", "BCD", "CDE"}]


def test_all_clauses_of_a_query_are_together() -> None:
    text = f"QUERY either RETURN MATCHES PATTERN OR(SEQ(A, B), SEQ(C, D)) {HOW}"
    found = components(Workload((*check_text(text).queries, *workload("ABX", "CDX").queries)))
    assert groups(found) == [{"ABX", "CDX", "either"}]


def test_many_components_share_few_numbers_evenly() -> None:
    names = [f"A{number}B{number}" for number in range(20)]
    text = "; ".join(f"QUERY {name} RETURN MATCHES PATTERN SEQ(A{name}, B{name}) {HOW}" for name in names)
    found = Counter(components(check_text(text)).values())
    assert set(found) == set(range(MOST_COMPONENTS))
    assert max(found.values()) - min(found.values()) <= 1


def test_queries_that_stay_keep_their_numbers() -> None:
    before = components(workload("ABC", "DEF", "GH"))
    after = components(workload("GH", "ABC", "ABCDEF", "DEF", "ZABC"), before)
    assert {name: after[name] for name in before} == before
    assert after["ZABC"] == before["ABC"]
    assert after["ABCDEF"] in (before["ABC"], before["DEF"])


def test_queries_of_a_checkpoint_without_components_stay_on_one_route() -> None:
    assert components(workload("AB", "CD", "EF"), {"AB": 0, "CD": 0}) == {"AB": 0, "CD": 0, "EF": 1}


def test_keys_place_queries_and_components_do_not() -> None:
    assert components(workload(*PAIRS, returned="COUNT(*)", how=f"{HOW} SLIDE {HOW[7:]}")) == {}
    assert components(workload(*PAIRS, how=f"WHERE [k] {HOW}")) == {}


def test_routes_of_components_are_at_different_places() -> None:
    queries = workload(*PAIRS[:4])
    found = routes(queries, components=components(queries))
    assert [route.queries for route in found] == [(name,) for name in PAIRS[:4]]
    assert len(routes(queries)) == 1
    for actors in (2, 4):
        ranges = Ranges.even(128, actors)
        at = [
            next(
                place
                for place in range(actors)
                if ranges.bounds(place)[0] <= route.home(ranges.groups) < ranges.bounds(place)[1]
            )
            for route in found
        ]
        assert max(Counter(at).values()) <= -(-len(found) // actors) + 1
        assert len({*at}) >= actors // 2 + 1
