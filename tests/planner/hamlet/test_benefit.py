"""The costs of HAMLET: Definition 4.2 by the paper's own numbers, its two theorems, and the costs of this engine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from elsinore.planner.hamlet.benefit import BenefitModel, CostModel, benefit, non_shared, shared
from elsinore.planner.hamlet.bursts import Facts
from elsinore.planner.hamlet.calibrated import CalibratedModel, Costs
from elsinore.planner.hamlet.deciding_numba_fns import apart, graphlet

FACTS = Facts(queries=2, types=2, rows=1.0, lanes=1.0)


@pytest.mark.parametrize(
    ("n", "s_p", "g", "costs"),
    [(7, 1, 4, (44, 56)), (11, 2, 8, (120, 88)), (15, 1, 4, (76, 120))],
    ids=["Equation 8: share", "Equation 9: split", "Equation 10: merge"],
)
def test_equations_8_to_10(n: int, s_p: int, g: int, costs: tuple[int, int]) -> None:
    """Two queries of two types, bursts of four events; one snapshot is created each time."""
    assert (shared(4, n, s_p, 1, 2, g, 2), non_shared(2, 4, n)) == costs
    assert benefit(4, n, s_p, 1, 2, g, 2) == costs[1] - costs[0]


def test_the_same_over_columns() -> None:
    n, s_p, g = (np.array(column, np.float64) for column in ([7, 11, 15], [1, 2, 1], [4, 8, 4]))
    b, s_c, k = (np.full(3, x, np.float64) for x in (4, 1, 2))
    assert benefit(b, n, s_p, s_c, k, g, 2).tolist() == [12, -32, 44]


def test_the_model_is_the_definition_with_a_graphlet_per_burst() -> None:
    events, window, queries = (np.array(column, np.float64) for column in ([4, 4], [7, 15], [2, 2]))
    assert graphlet(BenefitModel().terms(FACTS), events, window, queries, 0.0).tolist() == [44, 76]
    assert graphlet(BenefitModel().terms(FACTS), events, window, queries, np.array([0.0, 2.0])).tolist() == [44, 3 * 76]
    assert apart(BenefitModel().terms(FACTS), events, window, queries).tolist() == [56, 120]


@dataclass(frozen=True)
class Burst:
    """A burst of the theorems: who introduces how many snapshots. They add up, to the one at graphlet level."""

    b: int
    n: int
    t: int
    introduced: tuple[int, ...]

    def cost(self, sharing: Iterable[int]) -> int:
        """Shared(sharing) + NonShared(the others)."""
        k, s = 0, 1
        for query in sharing:
            k, s = k + 1, s + self.introduced[query]
        together = int(shared(self.b, self.n, s, s, k, self.b, self.t)) if k else 0
        return together + int(non_shared(len(self.introduced) - k, self.b, self.n))

    def saved(self, query: int, sharing: frozenset[int]) -> int:
        """What it saves that the query shares with the others of `sharing`."""
        return self.cost(sharing - {query}) - self.cost(sharing)

    def snapshots(self, sharing: Iterable[int]) -> int:
        return 1 + sum(self.introduced[query] for query in sharing)


@st.composite
def bursts(draw: st.DrawFn) -> Burst:
    b = draw(st.integers(1, 12))
    introduced = draw(st.lists(st.integers(0, 3), min_size=2, max_size=6))
    return Burst(b, b + draw(st.integers(0, 40)), draw(st.integers(1, 4)), tuple(introduced))


@st.composite
def one_in_a_set(draw: st.DrawFn) -> tuple[Burst, int, frozenset[int]]:
    """A burst, one of its queries, and a set of queries with at least that one and another."""
    burst = draw(bursts())
    everybody = range(len(burst.introduced))
    sharing = draw(st.frozensets(st.sampled_from(everybody), min_size=2))
    return burst, draw(st.sampled_from(sorted(sharing))), sharing


SMALL = Burst(b=5, n=5, t=1, introduced=(0, 0, 5))
"""Five snapshots, in a window that has only seen the five events of the burst."""


@given(one_in_a_set())
def test_theorem_4_3_holds_where_the_window_outweighs_the_snapshots(case: tuple[Burst, int, frozenset[int]]) -> None:
    """A query that introduces none saves b(n - st): the looks of its own, less its value of each snapshot."""
    burst, query, sharing = case
    assume(burst.introduced[query] == 0)
    s = burst.snapshots(sharing)
    assert burst.saved(query, sharing) == burst.b * (burst.n - s * burst.t)


def test_theorem_4_3_fails_where_they_outweigh_it() -> None:
    assert SMALL.saved(0, frozenset({0, 1, 2})) < 0


@given(bursts())
def test_snapshot_driven_pruning_loses_nothing_all_the_same(burst: Burst) -> None:
    """Where s * t > n, nobody gains by sharing. So a cheapest plan shares all who introduce none, or nobody."""
    everybody = frozenset(range(len(burst.introduced)))
    none = frozenset(query for query in everybody if not burst.introduced[query])
    best = min(map(burst.cost, subsets(everybody)))
    assert best == min([burst.cost(()), *(burst.cost(none | more) for more in subsets(everybody - none))])


@given(one_in_a_set())
def test_theorem_4_5_holds_for_those_that_are_worth_sharing(case: tuple[Burst, int, frozenset[int]]) -> None:
    burst, query, sharing = case
    if burst.saved(query, frozenset(range(len(burst.introduced)))) >= 0:
        assert burst.saved(query, sharing) >= 0


def test_theorem_4_5_fails_the_other_way_round() -> None:
    """With all, query 0 is not worth sharing; with query 1 alone it is: the snapshots of query 2 are not there."""
    assert SMALL.saved(0, frozenset({0, 1, 2})) < 0 < SMALL.saved(0, frozenset({0, 1}))


@given(one_in_a_set())
def test_who_introduces_a_snapshot_alone_never_shares(case: tuple[Burst, int, frozenset[int]]) -> None:
    """To propagate it costs b * n, as much as the query does by itself. Sharing pays for several that differ alike."""
    burst, query, sharing = case
    if burst.introduced[query]:
        assert burst.saved(query, sharing) < 0


def subsets(queries: frozenset[int]) -> list[frozenset[int]]:
    found = [frozenset[int]()]
    for query in queries:
        found += [some | {query} for some in found]
    return found


@pytest.mark.parametrize("model", [BenefitModel(), CalibratedModel()])
def test_no_model_shares_for_free(model: CostModel) -> None:
    """A graphlet costs more with every event, query and snapshot; queries apart with every event and query."""
    events, window, queries, snapshots = (np.array([x], np.float64) for x in (10, 50, 4, 2))
    least = graphlet(model.terms(FACTS), events, window, queries, snapshots)
    assert least < graphlet(model.terms(FACTS), events + 1, window, queries, snapshots)
    assert least < graphlet(model.terms(FACTS), events, window, queries + 1, snapshots)
    assert least < graphlet(model.terms(FACTS), events, window, queries, snapshots + 1)
    assert apart(model.terms(FACTS), events, window, queries) < apart(model.terms(FACTS), events + 1, window, queries)
    assert apart(model.terms(FACTS), events, window, queries) < apart(model.terms(FACTS), events, window, queries + 1)


def test_what_a_graphlet_costs_here() -> None:
    """Ten events, four queries with two windows each, three numbers a counter, two states before: by hand."""
    facts = replace(FACTS, rows=2.0, lanes=3.0)
    lanes = {"query_lane": 2, "step_lane": 3, "propagate_lane": 4, "share_lane": 5}
    model = CalibratedModel(Costs(query=7, step=1, graphlet=0.5, propagate=10, share=100, **lanes))
    events, window, queries = (np.array([x], np.float64) for x in (10, 50, 4))
    plain = graphlet(model.terms(facts), events, window, queries, 0.0)
    propagate, share = 10 + 2 * 4, 4 * 2 * (100 + 2 * 5)
    assert plain == 0.5 + 10 * propagate + share
    assert graphlet(model.terms(facts), events, window, queries, 2.0) - plain == 10 * propagate + share * 5 / 2
    assert apart(model.terms(facts), events, window, queries) == 4 * 2 * (7 + 2 * 2 + 10 * (1 + 2 * 3))


def test_costs_as_a_dict() -> None:
    costs = Costs(step=1.5, graphlet=80)
    assert Costs.from_dict(costs.to_dict()) == costs
    assert Costs.from_dict({"step": 2}) == Costs(step=2)
    with pytest.raises(ValueError, match="there is no cost 'steps'; choose among query, query_lane"):
        Costs.from_dict({"steps": 2})
