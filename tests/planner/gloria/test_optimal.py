"""The optimizer against every plan there is, on small workloads of sequences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.papers.gloria_bound import bound
from elsinore.bench.gloria.workloads import mixed, statistics
from elsinore.bench.gloria.workloads import sequences as many_sequences
from elsinore.planner.gloria.costs.cost import PaperCost
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.optimizers import sharing_plans
from elsinore.planner.gloria.templates.build import template_of
from elsinore.planner.gloria.templates.members import members_of
from elsinore.planner.gloria.templates.template import Template
from tests.planner.gloria.every_plan import Query, cheapest
from tests.planner.gloria.workloads import optimized, planned
from tests.support.generated import fresh

TYPES = "ABCDEF"


def sequences(queries: list[Query]) -> Template:
    """One template, even of queries that have nothing in common."""
    plans = planned(*(f"SEQ({', '.join(query)})" for query in queries))
    return template_of(plans, members_of(plans)[0])


@st.composite
def workloads(draw: st.DrawFn) -> tuple[list[Query], dict[str, float]]:
    """Queries that all have their types in one order, so that they have many transitions in common."""
    count = draw(st.integers(2, 4))
    picks = st.sets(st.sampled_from(TYPES), min_size=2, max_size=5 if count < 4 else 4).map(sorted).map(tuple)
    queries = draw(st.lists(picks, min_size=count, max_size=count))
    sizes = draw(st.lists(st.integers(1, 40), min_size=len(TYPES), max_size=len(TYPES)))
    return queries, dict(zip(TYPES, map(float, sizes), strict=True))


@fresh(120)
@given(workloads())
def test_no_plan_costs_less(workload: tuple[list[Query], dict[str, float]]) -> None:
    queries, counts = workload
    made = optimized(sequences(queries), counts)
    assert made.proved
    assert made.cost == pytest.approx(cheapest(queries, counts))


@fresh(60)
@given(workloads())
def test_the_lower_bound_is_one(workload: tuple[list[Query], dict[str, float]]) -> None:
    """It holds where every plan is known, so it may be relied on where none is."""
    queries, counts = workload
    made = sequences(queries)
    assert bound(made, PaperCost(Statistics(counts))) <= cheapest(queries, counts) + 1e-6


@pytest.mark.parametrize("texts", [many_sequences(80, seed=2), mixed(80, 0.3, seed=3)], ids=["sequences", "mixed"])
def test_large_workloads_come_near_to_what_no_plan_is_below(texts: list[str]) -> None:
    model = PaperCost(statistics())
    plans, _ = sharing_plans(planned(*texts), model)
    least = sum(bound(plan.template, model) for plan in plans)
    assert least <= sum(plan.cost for plan in plans) <= 1.05 * least
