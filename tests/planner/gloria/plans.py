"""Random workloads whose queries overlap in prefixes, suffixes and middles, and random sharing plans for them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from hypothesis import strategies as st

from elsinore.planner.gloria.costs.cost import CostModel
from elsinore.planner.gloria.graph.record import GraphRecord
from elsinore.planner.gloria.plan import QSet, SharingPlan
from elsinore.planner.gloria.templates.template import Template, bits
from tests.oracle.expressions import Attribute, Binary, Expression, Literal
from tests.oracle.grow import variables
from tests.oracle.query import Absent, Aggregate, One, Or, Pattern, Query, Seq
from tests.oracle.sharing import maybe, plus
from tests.oracle.strategies import PARTS

TYPES = "ABCD"
WIDTHS = tuple(map(Fraction, ("40", "40", "20", "20", "10")))
Extremes = tuple[tuple[str, str, str], ...]
"""Function, type and attribute; queries of a plan have the same."""

# Workloads


def _single(name: str) -> st.SearchStrategy[Pattern]:
    one = One(name, name)
    return st.sampled_from((one, one, plus(one)))


def _double(first: str, second: str) -> st.SearchStrategy[Pattern]:
    one, other = One(first, first), One(second, second)
    return st.sampled_from(
        (
            plus(one, other),
            plus(one, other),
            plus(one, plus(other)),
            plus(plus(one), other),
            plus(plus(one), plus(other)),
            plus(one, maybe(other)),
            plus(Or((one, other))),
        )
    )


@st.composite
def _bases(draw: st.DrawFn) -> list[Pattern]:
    """What the queries of a workload have pieces of: types one by one, some in Kleene, alone or two together."""
    left = list(draw(st.permutations(TYPES)))
    found: list[Pattern] = []
    while left:
        if len(left) > 1 and draw(st.integers(0, 2)) == 2:
            found.append(draw(_double(left.pop(), left.pop())))
        else:
            found.append(draw(_single(left.pop())))
    return found


@st.composite
def _patterns(draw: st.DrawFn, base: list[Pattern]) -> Pattern:
    """Draw a piece of the base; sometimes with a part in another form, without it, or with parts that may be absent."""
    start = draw(st.sampled_from((0, 0, 1))) % len(base)
    parts = base[start : start + draw(st.integers(min(2, len(base)), len(base)))]
    odd = draw(st.integers(0, 15))
    place = draw(st.integers(0, len(parts) - 1))
    if odd == 1 and len(parts) > 1:
        parts = parts[:place] + parts[place + 1 :]
    elif odd == 2:
        names = variables(parts[place])
        parts = [*parts[:place], draw(_single(names[0])), *parts[place + 1 :]]
    elif odd == 3 and len(parts) > 1:
        parts = [*parts[:1], Absent(One("X", "X")), *parts[1:]]
    elif odd in (4, 5, 6) and len(parts) > 1:
        left_out = {4: parts[:1], 5: parts[:-1], 6: parts[-1:]}[odd]
        parts = [maybe(part) if part in left_out else part for part in parts]
    return Seq(tuple(parts)) if len(parts) > 1 else parts[0]


THRESHOLDS = st.builds(
    lambda name, symbol, value: (name, symbol, value), st.sampled_from("wv"), st.sampled_from("><"), st.integers(1, 5)
)


@st.composite
def workloads(draw: st.DrawFn) -> tuple[Query, ...]:
    base = draw(_bases())
    pool = draw(st.dictionaries(st.sampled_from(TYPES), THRESHOLDS, max_size=1))
    extremes: Extremes = draw(
        st.sampled_from(((), (), (), (), (("MIN", "A", "v"),), (("MAX", "A", "v"), ("MIN", "B", "w"))))
    )
    groups = draw(st.sampled_from(((), ("g",))))
    return tuple(
        draw(_queries(f"q{number + 1}", base, pool, extremes, groups))
        for number in range(draw(st.sampled_from((6, 4, 3, 5, 8))))
    )


def _sums(name: str) -> st.SearchStrategy[Aggregate]:
    return st.sampled_from((Aggregate("COUNT", name), Aggregate("SUM", name, "v"), Aggregate("AVG", name, "w")))


@st.composite
def _queries(
    draw: st.DrawFn,
    name: str,
    base: list[Pattern],
    pool: dict[str, tuple[str, str, int]],
    extremes: Extremes,
    groups: tuple[str, ...],
) -> Query:
    pattern = draw(_patterns(base))
    named = [one for one in variables(pattern) if one != "X"]
    items = [Aggregate("COUNT")]
    items += [draw(_sums(one)) for one in named if draw(st.integers(0, 4)) == 1]
    items += [Aggregate(function, kind, column) for function, kind, column in extremes if kind in named]
    predicates: list[Expression] = [
        Binary(symbol, Attribute(one, column), Literal(value))
        for one in named
        if one in pool and draw(st.integers(0, 3))
        for column, symbol, value in [pool[one]]
    ]
    within = draw(st.sampled_from(WIDTHS))
    return Query(
        name,
        tuple(dict.fromkeys(items)),
        pattern,
        within,
        within * draw(st.sampled_from(PARTS)),
        predicates=tuple(predicates),
        groups=groups,
    )


# Streams


@st.composite
def streams(draw: st.DrawFn, order: str, most: int) -> list[dict[str, Any]]:
    """Bursts of one type, some of them broken up, some events at equal times."""
    event: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
        {
            "odd": st.integers(0, 9),
            "g": st.sampled_from("ppppppppq"),
            "pause": st.sampled_from((1, 1, 0, 1, 2)),
            "v": st.integers(0, 7) | st.integers(0, 7) | st.none(),
            "w": st.integers(0, 7),
            "h": st.just(1),
        }
    )
    time = draw(st.integers(-4, 4))
    found: list[dict[str, Any]] = []
    while len(found) < most:
        kind = draw(st.sampled_from(order[:1] * 2 + order * 3 + "X"))
        order = order[1:] + order[:1]
        for one in draw(st.lists(event, min_size=1, max_size=3)):
            time += one.pop("pause")
            odd = one.pop("odd")
            found.append({**one, "type": TYPES[odd] if odd < 1 else kind, "time": time})
    return found[:most]


@st.composite
def cases(draw: st.DrawFn, most: int) -> tuple[tuple[Query, ...], list[dict[str, Any]]]:
    """The types come mostly in the order in which the longest query has them."""
    workload = draw(workloads())
    longest = max((variables(query.pattern) for query in workload), key=len)
    return workload, draw(streams("".join(name for name in longest if name != "X"), most))


# Plans


@dataclass(frozen=True)
class Drawn:
    """Any plan there could be: Q-sets of any queries, with snapshots created where that may be, or reused."""

    seed: int

    def plan(self, template: Template, model: CostModel) -> SharingPlan:
        rnd = Random(self.seed)
        found: list[tuple[QSet, ...]] = []
        for stage in range(len(template.stages)):
            found.append(tuple(_q_sets(template, found, stage, rnd)))
        nothing = GraphRecord((), (), 0.0)
        return SharingPlan(template, "drawn", tuple(found), 0.0, 0.0, False, nothing)


def _q_sets(template: Template, found: list[tuple[QSet, ...]], stage: int, rnd: Random) -> list[QSet]:
    own = template.stages[stage]
    local: dict[int, list[int]] = {}
    reused: dict[tuple[int, int, int], list[int]] = {}
    alone = []
    for query in bits(own.queries):
        previous = _previous(template, found, query, stage)
        hope = rnd.choice(("apart", "local", "local", "reused", "reused", "reused", "reused"))
        if own.guarded >> query & 1 or hope == "apart":
            alone.append(query)
        elif hope == "reused" and previous is not None:
            reused.setdefault((rnd.randrange(3) // 2, *previous), []).append(query)
        else:
            local.setdefault(rnd.randrange(3) // 2, []).append(query)
    for queries in list(local.values()):
        if len(queries) == 1 or not own.locals:
            alone += queries
            queries.clear()
    return [
        *(QSet(_mask(queries), rnd.choice(own.locals), True) for queries in local.values() if queries),
        *(QSet(_mask(queries), found[before][n].snapshot, False, n) for (_, before, n), queries in reused.items()),
        *(QSet(_mask([query])) for query in alone),
    ]


def _mask(queries: list[int]) -> int:
    return sum(1 << query for query in queries)


def _previous(template: Template, found: list[tuple[QSet, ...]], query: int, stage: int) -> tuple[int, int] | None:
    """The Q-set that snapshots could be reused of: its stage and number."""
    route = template.routes[query]
    place = route.stages.index(stage)
    before = route.stages[place - 1] if place else len(found)
    if before >= len(found) or route.starts.intersection(route.junctions[place]):
        return None
    number = next(n for n, one in enumerate(found[before]) if one.queries >> query & 1)
    return (before, number) if found[before][number].shared else None


def shares(plan: SharingPlan) -> set[str]:
    """What kinds of sharing a plan has."""
    stages = plan.template.stages
    return {
        f"{'local' if one.local else 'reused'} {'Kleene' if stage.kleene else 'sequence'}"
        for stage, sets in zip(stages, plan.q_sets, strict=True)
        for one in sets
        if one.shared
    }
