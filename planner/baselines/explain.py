"""A prefix tree as text: which prefixes are counted once, and for which queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby

from elsinore.planner.baselines.prefix_tree import PrefixTree, TakenEvent
from elsinore.planner.baselines.sets import PrefixSet
from elsinore.planner.explain.member_names import WINDOWS_ONE_BY_ONE, names_of
from elsinore.planner.plans.model import Plan

Names = Callable[[Iterable[int]], str]
"""Lists the queries of some members, which are given by number."""


def explain_prefix_set(plan: Plan, share_set: PrefixSet) -> Iterator[str]:
    yield WINDOWS_ONE_BY_ONE
    yield from explain_tree(share_set.tree, partial(names_of, plan, share_set))


def explain_tree(tree: PrefixTree, names: Names) -> Iterator[str]:
    """Yield the longest prefixes that queries have in common; the prefixes that these begin with are shared too."""
    paths = _paths(tree)
    owners = tree.owners
    for some in dict.fromkeys(one for one in owners[1:] if len(one) > 1):
        own = {place for place, members in enumerate(owners) if members == some} - {0}
        inner = {before for place in own for before, _ in tree.prefixes[place]}
        longest = " | ".join(_shown(paths[place]) for place in sorted(own - inner))
        yield f"share {longest}: {names(some)}; {_counters(len(own))}"
    apart = sum(len(branch.places) - 1 for branch in tree.branches)
    yield f"tree of {_counters(len(tree.prefixes) - 1)}; every query by itself would have {apart} in all"


def _paths(tree: PrefixTree) -> list[tuple[TakenEvent, ...]]:
    """Return, by counter, the longest sequence of events that leads to it."""
    found: list[tuple[TakenEvent, ...]] = [()]
    for prefix in tree.prefixes[1:]:
        ways = ((*found[before], taken) for before, taken in prefix)
        found.append(max(ways, key=lambda path: (len(path), _shown(path))))
    return found


def _shown(path: tuple[TakenEvent, ...]) -> str:
    runs = [(taken, len(list(same))) for taken, same in groupby(path)]
    return ", ".join(f"{count} {taken}" if count > 1 else str(taken) for taken, count in runs)


def _counters(count: int) -> str:
    return f"{count} counter" if count == 1 else f"{count} counters"
