"""The choice of HAMLET's optimizer against the cheapest of all plans, found by looking at each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from elsinore.planner.hamlet.benefit import BenefitModel, CostModel
from elsinore.planner.hamlet.bursts import APART, OWN, SHARED, Bursts, Choices, Facts
from elsinore.planner.hamlet.calibrated import CalibratedModel, Costs
from elsinore.planner.hamlet.deciding_numba_fns import TRIED, WORTH, apart, graphlet
from elsinore.planner.hamlet.optimizer import Always, Dynamic, Expected, Never, SharingOptimizer, Static
from tests.support.generated import fresh

COSTS = Costs(query=0.0, step=4.0, graphlet=60.0, propagate=3.0, share=14.0)
HERE, PAPER = CalibratedModel(COSTS), BenefitModel()
FACTS = Facts(queries=4, types=2, rows=1.0, lanes=1.0)


@dataclass(frozen=True)
class Burst:
    """One burst; its rows as (queries, snapshots), the base first. All take all of its events."""

    size: int
    window: int
    rows: tuple[tuple[int, int], ...]


Set = frozenset[int]
Column = npt.NDArray[np.float64]


def columns(bursts: Sequence[Burst]) -> Bursts:
    lengths = [len(burst.rows) for burst in bursts]
    rows = [row for burst in bursts for row in burst.rows]
    size = np.array([burst.size for burst in bursts], np.int64)
    return Bursts(
        size,
        np.array([burst.window for burst in bursts], np.int64),
        np.cumsum([0, *lengths]),
        np.array([queries for queries, _ in rows], np.int64),
        np.repeat(size, lengths),
        np.array([snapshots for _, snapshots in rows], np.int64),
    )


class Judge:
    """What a plan for a burst costs, one graphlet and one query at a time."""

    def __init__(self, model: CostModel, burst: Burst) -> None:
        self.model, self.burst = model, burst
        self.everybody = frozenset(range(len(burst.rows)))

    def shared(self, rows: Set) -> float:
        queries = sum(self.burst.rows[row][0] for row in rows)
        snapshots = sum(self.burst.rows[row][1] for row in rows)
        return self._graphlet(queries, snapshots)

    def own(self, row: int) -> float:
        return self._graphlet(self.burst.rows[row][0], 0)

    def apart(self, row: int) -> float:
        queries = float(self.burst.rows[row][0])
        return float(apart(self.model.terms(FACTS), float(self.burst.size), float(self.burst.window), queries))

    def alone(self, row: int) -> float:
        return min(self.own(row), self.apart(row))

    def cost(self, sharing: Set) -> float:
        """One graphlet for some rows, or for none; the others alone."""
        rest = sum(self.alone(row) for row in self.everybody - sharing)
        return rest + (self.shared(sharing) if sharing else 0.0)

    def plans(self) -> list[Set]:
        """All sets of rows that can share, and nobody: the base has to be there, for the rest are told by it."""
        others = sorted(self.everybody - {0})
        some = chain.from_iterable(combinations(others, size) for size in range(1, len(others) + 1))
        return [frozenset(), *(frozenset((0, *more)) for more in some)]

    def best(self) -> float:
        return min(map(self.cost, self.plans()))

    def _graphlet(self, queries: int, snapshots: int) -> float:
        sizes = map(float, (self.burst.size, self.burst.window, queries, snapshots))
        return float(graphlet(self.model.terms(FACTS), *sizes))


def decided(optimizer: SharingOptimizer, *bursts: Burst) -> Choices:
    return optimizer.decide(FACTS, columns(bursts))


def sharing(choices: Choices) -> Set:
    return frozenset(np.flatnonzero(choices.choice == SHARED).tolist())


FIGURE_7 = [frozenset(plan) for size in (4, 3, 2, 0) for plan in combinations(range(4), size)]
"""The search space of four queries, numbered from 0: who shares. The others run by themselves."""

FOUR = Burst(size=1000, window=5000, rows=((1, 0), (1, 1), (1, 0), (1, 3)))
"""Queries 1 and 3 introduce no snapshots; query 2 introduces one, query 4 three."""


def named(plan: Set) -> str:
    shared = "".join(str(query + 1) for query in sorted(plan))
    return (f"({shared})" if plan else "") + "".join(f"({query + 1})" for query in range(4) if query not in plan)


def test_the_search_space_of_figure_7() -> None:
    assert len(FIGURE_7) == 12
    assert [named(plan) for plan in FIGURE_7[:2]] == ["(1234)", "(123)(4)"]


def four(step: float) -> tuple[Judge, CostModel]:
    model = CalibratedModel(replace(COSTS, step=step))
    return Judge(model, FOUR), model


def marked(model: CostModel, burst: Burst, mark: int) -> Set:
    """The rows that got as far as this."""
    return frozenset(np.flatnonzero(Dynamic(model).pruned(FACTS, columns([burst]))[-1] & mark).tolist())


def test_example_4_4() -> None:
    judge, _ = four(step=3.0)
    needed = frozenset(row for row, (_, snapshots) in enumerate(FOUR.rows) if not snapshots)
    left = [plan for plan in FIGURE_7 if needed <= plan]
    assert sorted(map(named, left)) == ["(123)(4)", "(1234)", "(13)(2)(4)", "(134)(2)"]
    assert all(judge.cost(plan | needed) < judge.cost(plan) for plan in FIGURE_7 if plan not in left)


@pytest.mark.parametrize(("step", "alone"), [(3.0, APART), (4.0, OWN)])
def test_example_4_6(step: float, alone: int) -> None:
    judge, model = four(step)
    shared = marked(model, FOUR, WORTH) | {0, 2}
    assert named(shared) == "(123)(4)"
    assert judge.cost(shared) == min(map(judge.cost, FIGURE_7))
    assert decided(Dynamic(model), FOUR).choice.tolist() == [SHARED, SHARED, SHARED, alone]


@st.composite
def bursts(draw: st.DrawFn) -> Burst:
    size = draw(st.sampled_from([1, 2, 5, 20, 100, 1000]))
    queries = sorted(draw(st.lists(st.integers(1, 20), min_size=1, max_size=5)), reverse=True)
    introduced = [0, *(draw(st.integers(1, min(size, 12))) for _ in queries[1:])]
    return Burst(size, size + draw(st.integers(0, 100)), tuple(zip(queries, introduced, strict=True)))


@fresh(100)
@given(st.lists(bursts(), min_size=1, max_size=5))
def test_what_the_paper_counts_is_least(several: list[Burst]) -> None:
    choices = decided(Dynamic(PAPER), *several)
    for burst, choice in zip(several, np.split(choices.choice, columns(several).at[1:-1]), strict=True):
        judge = Judge(PAPER, burst)
        assert judge.cost(frozenset(np.flatnonzero(choice == SHARED).tolist())) == judge.best()


@fresh(100)
@given(
    st.lists(st.integers(0, 3), min_size=3, max_size=3),
    st.integers(1, 30),
    st.integers(0, 60),
    st.permutations([0, 1, 2]),
)
def test_four_queries_of_one_row_each(introduced: list[int], size: int, before: int, order: list[int]) -> None:
    """The whole search space of Figure 7, plans without the base too."""
    rows = ((1, 0), *((1, introduced[i]) for i in order))
    judge = Judge(PAPER, Burst(size, size + before, rows))
    assert judge.cost(sharing(decided(Dynamic(PAPER), judge.burst))) == min(map(judge.cost, FIGURE_7))


@fresh(100)
@given(bursts())
def test_what_is_worth_sharing_is_shared_by_a_cheapest_plan(burst: Burst) -> None:
    """Theorem 4.5 as far as it holds, by the costs of this engine."""
    judge, shared = Judge(HERE, burst), marked(HERE, burst, WORTH)
    assume(len(burst.rows) > 1)
    assert 0 in shared or not shared
    all_that_share = [plan for plan in judge.plans() if plan] or [frozenset({0})]
    least = min(map(judge.cost, all_that_share))
    assert min(judge.cost(plan) for plan in [*all_that_share, frozenset({0})] if shared <= plan) <= least + 1e-6


@fresh(100)
@given(bursts())
def test_a_row_not_worth_trying_is_in_no_cheapest_plan(burst: Burst) -> None:
    judge = Judge(HERE, burst)
    assume(len(burst.rows) > 1)
    hopeless = judge.everybody - marked(HERE, burst, TRIED)
    assert min(judge.cost(plan - hopeless) for plan in judge.plans()) <= judge.best() + 1e-6


@pytest.mark.parametrize("model", [HERE, PAPER])
@fresh(100)
@given(burst=bursts())
def test_sharing_never_costs_more_than_not_to(model: CostModel, burst: Burst) -> None:
    judge, choices = Judge(model, burst), decided(Dynamic(model), burst)
    assert judge.cost(sharing(choices)) <= judge.cost(frozenset()) + 1e-6
    for row, choice in enumerate(choices.choice):
        if choice != SHARED:
            assert {OWN: judge.own(row), APART: judge.apart(row)}[choice] == judge.alone(row)
    assert len(sharing(choices)) != 1
    assert choices.shared == pytest.approx(judge.shared(judge.everybody))
    assert choices.apart == pytest.approx(sum(judge.apart(row) for row in judge.everybody))


def test_one_row_with_many_snapshots_keeps_nobody_from_sharing() -> None:
    """Theorem 4.5 read backwards would refuse row 1 for the snapshots of row 2, which is not shared itself."""
    burst = Burst(size=1000, window=5000, rows=((2, 0), (2, 1), (1, 40)))
    judge = Judge(HERE, burst)
    everybody = judge.everybody
    assert judge.cost(everybody) > judge.cost(everybody - {1})
    assert sharing(decided(Dynamic(HERE), burst)) == {0, 1}
    assert judge.cost(frozenset({0, 1})) == judge.best()


def test_rows_that_are_bad_together_are_all_refused() -> None:
    """What is lost by judging each row once: either of the last two is worth sharing without the other."""
    burst = Burst(size=100, window=200, rows=((4, 0), (3, 1), (3, 1)))
    judge = Judge(HERE, burst)
    everybody = judge.everybody
    for row in (1, 2):
        assert judge.cost(everybody - {row}) < judge.cost(everybody)
        assert judge.cost(frozenset({0, row})) < judge.cost(frozenset())
    assert sharing(decided(Dynamic(HERE), burst)) == frozenset()
    assert (judge.cost(frozenset()), judge.best()) == (1220, 1108)


def test_bursts_are_decided_by_themselves() -> None:
    several = [FOUR, Burst(1, 1, ((3, 0),)), Burst(50, 60, ((9, 0),)), Burst(100, 100, ((8, 0), (3, 1))), FOUR]
    choices = decided(Dynamic(HERE), *several)
    each = [decided(Dynamic(HERE), burst) for burst in several]
    assert choices.choice.tolist() == [choice for one in each for choice in one.choice]
    assert choices.shared.tolist() == [one.shared[0] for one in each]
    assert choices.apart.tolist() == [one.apart[0] for one in each]
    assert choices.choice.dtype == np.uint8


def test_one_row_each() -> None:
    choices = decided(Dynamic(HERE), Burst(1, 1, ((3, 0),)), Burst(50, 60, ((9, 0),)))
    assert choices.choice.tolist() == [APART, OWN]


@pytest.mark.parametrize("optimizer", [Dynamic(HERE), Static(HERE, Expected(10, 100, 1.0)), Always(), Never()])
def test_no_bursts(optimizer: SharingOptimizer) -> None:
    found = decided(optimizer)
    assert [len(column) for column in (found.choice, found.shared, found.apart)] == [0, 0, 0]


def test_rows_that_take_few_events_are_charged_for_few() -> None:
    """A graphlet has the events of its rows, not of all the burst."""
    bursts = Bursts(*(np.array(column) for column in ([1000], [1000], [0, 3], [9, 9, 1], [10, 11, 1000], [0, 1, 990])))
    choice, _, _, marks = Dynamic(HERE).pruned(FACTS, bursts)
    assert choice[0] == OWN
    assert (marks & TRIED).tolist() == [TRIED, 0, 0]
    large = Bursts(
        *(np.array(column) for column in ([9999], [9999], [0, 3], [3, 3, 1], [500, 501, 9999], [0, 1, 9499]))
    )
    assert Dynamic(HERE).decide(FACTS, large).choice.tolist() == [SHARED, SHARED, OWN]


@pytest.mark.parametrize("model", [HERE, CalibratedModel()])
@pytest.mark.parametrize("snapshots", [0, 1])
def test_how_few_queries_with_trends_a_graphlet_still_pays_for(model: CostModel, snapshots: int) -> None:
    burst = Burst(100, 500, ((4, 0), *[(3, 1)] * snapshots))
    choices = decided(Dynamic(model), burst)
    assert set(choices.choice) == {SHARED if snapshots else OWN}
    needed, terms = int(choices.together[0]), model.terms(FACTS)

    def saved(queries: int) -> float:
        return apart(terms, 100.0, 500.0, float(queries)) - graphlet(
            terms, 100.0, 500.0, float(queries), float(snapshots)
        )

    assert 2 <= needed <= 4 + 3 * snapshots
    assert saved(needed) >= 0
    assert needed == 2 or saved(needed - 1) < 0
    assert 2 <= choices.alone[0] <= needed, "queries of one row make no snapshots"


SEVERAL = [Burst(100, 500, ((3, 0), (1, 2))), Burst(2, 2, ((4, 0),)), Burst(100, 500, ((2, 0), (1, 90), (1, 4)))]


def test_always_and_never() -> None:
    always, never = decided(Always(), *SEVERAL), decided(Never(), *SEVERAL)
    assert always.choice.tolist() == [SHARED, SHARED, OWN, SHARED, SHARED, SHARED]
    assert never.choice.tolist() == [APART] * 6
    assert np.isnan([*always.shared, *always.apart, *never.shared, *never.apart]).all()


@pytest.mark.parametrize(("alike", "same"), [(1.0, Always()), (0.99, Always()), (0.5, Never())])
def test_static_decides_once(alike: float, same: SharingOptimizer) -> None:
    choices = decided(Static(HERE, Expected(size=100, window=1000, alike=alike)), *SEVERAL)
    assert choices.choice.tolist() == decided(same, *SEVERAL).choice.tolist()
    assert len({*choices.shared}) == len({*choices.apart}) == 1
