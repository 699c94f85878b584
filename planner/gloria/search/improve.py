"""Local search for a cheaper plan: query by query, then root by root.

The nodes that GLORIA generates split no Q-set and merge all of a node's Q-sets or none (Lemma 5.2), which excludes some
cheaper plans. Here no plan is excluded: given the strands that other queries use, the best segments of a query are a
shortest path over its stages. This is repeated up to `ROUNDS` times, until no query gains, and no group of queries that
could have snapshots in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import inf

from elsinore.planner.gloria.search.choices import Choice, cost_of, lonely
from elsinore.planner.gloria.search.segments import Run, Segment, Space
from elsinore.planner.gloria.templates.template import bits

ROUNDS = 4
"""Most rounds over all queries; two are usually enough."""


class Settler:
    def __init__(self, space: Space) -> None:
        self._space = space
        strands = space.strands
        self._fair = [cost / max(1, who.bit_count()) for cost, who in zip(strands.cost, strands.queries, strict=True)]
        self._alone = [inf if root else cost for cost, root in zip(strands.cost, strands.root, strict=True)]

    def hopeful(self) -> list[Choice]:
        """Return the cheapest choice of every query if all queries that could share with it did."""
        return self.mended([cheapest(self._space, query, self._fair) for query in range(len(self._space.runs))])

    def settled(self, choices: Sequence[Choice]) -> list[Choice]:
        """Return a plan that is no dearer than the given choices, if these are a plan."""
        best = self.mended(list(choices))
        for _ in range(ROUNDS):
            tried = self._regrouped(self.mended(self._answered(best)))
            if cost_of(self._space, tried) >= cost_of(self._space, best):
                break
            best = tried
        return best

    def _answered(self, choices: Sequence[Choice]) -> list[Choice]:
        """Let each query in turn take its best choice, given the choices of the others."""
        now = _Use(self._space, self._alone, choices)
        for query in range(len(choices)):
            now.leave(query)
            now.join(query, cheapest(self._space, query, now.price))
        return now.choices

    def mended(self, choices: Sequence[Choice]) -> list[Choice]:
        """Replace the choices that have Q-sets of a single query."""
        choices = list(choices)
        while roots := lonely(choices):
            now = _Use(self._space, self._alone, choices)
            left = {segment.strands[0] for choice in choices for segment in choice} - roots
            for query, choice in enumerate(choices):
                if any(segment.strands[0] in roots for segment in choice):
                    now.leave(query)
                    now.join(query, cheapest(self._space, query, now.price, left))
            choices = now.choices
        return choices

    def _regrouped(self, choices: list[Choice]) -> list[Choice]:
        """Drop each root for all its users, or take it for all queries that could use it, where that costs less."""
        now = _Use(self._space, self._alone, choices)
        for root, is_root in enumerate(self._space.strands.root):
            if not is_root or self._space.strands.queries[root].bit_count() < 2:
                continue
            if now.users[root]:
                now.attempt(self._users(now, root), partial(self._without, now, root))
            else:
                now.attempt(list(bits(self._space.strands.queries[root])), self._with(now, root))
        return now.choices

    def _users(self, now: _Use, root: int) -> list[int]:
        who = bits(self._space.strands.queries[root])
        return [query for query in who if any(segment.strands[0] == root for segment in now.choices[query])]

    def _without(self, now: _Use, root: int, query: int) -> Choice:
        price = now.price[root]
        now.price[root] = inf
        choice = cheapest(self._space, query, now.price)
        now.price[root] = price
        return choice

    def _with(self, now: _Use, root: int) -> Callable[[int], Choice]:
        """Return a function that chooses for a query; it offers the root's unpaid strands at a fair price."""

        def choose(query: int) -> Choice:
            touched = {
                strand: now.price[strand]
                for run in self._space.runs[query]
                if run.root == root
                for strand in run.segments[-1].strands
            }
            for strand, price in touched.items():
                now.price[strand] = min(price, self._fair[strand])
            choice = cheapest(self._space, query, now.price)
            for strand, price in touched.items():
                now.price[strand] = price
            return choice

        return choose


def cheapest(space: Space, query: int, price: Sequence[float], roots: set[int] | None = None) -> Choice:
    """Return the cheapest way over a query's stages by prices of strands; with `roots`, using no other roots."""
    apart = space.apart[query]
    least = [0.0, *(inf for _ in apart)]
    taken: list[Segment | None] = [None] * len(least)
    by_place: list[list[Run]] = [[] for _ in apart]
    for run in space.runs[query]:
        if price[run.root] < inf and (roots is None or run.root in roots):
            by_place[run.first].append(run)
    for place, alone in enumerate(apart):
        if least[place] + alone <= least[place + 1]:
            least[place + 1], taken[place + 1] = least[place] + alone, None
        for run in by_place[place]:
            paid = least[place]
            for segment in run.segments:
                paid += price[segment.strands[-1]]
                if paid + segment.own < least[segment.last]:
                    least[segment.last], taken[segment.last] = paid + segment.own, segment
    return _traced(taken)


def _traced(taken: Sequence[Segment | None]) -> Choice:
    found, place = [], len(taken) - 1
    while place:
        segment = taken[place]
        if segment is None:
            place -= 1
        else:
            found.append(segment)
            place = segment.first
    return tuple(reversed(found))


class _Use:
    """The strands in use: their users, the price of each for the next query, and the savings of all choices."""

    def __init__(self, space: Space, alone: Sequence[float], choices: Sequence[Choice]) -> None:
        self._space, self._alone = space, alone
        self.choices: list[Choice] = [()] * len(choices)
        self.users = [0] * len(alone)
        self.price = list(alone)
        self.saved = 0.0
        """Savings against all queries apart."""
        for query, choice in enumerate(choices):
            self.join(query, choice)

    def join(self, query: int, choice: Choice) -> None:
        self.choices[query] = choice
        for segment in choice:
            self.saved += segment.saves
            for strand in segment.strands:
                if not self.users[strand]:
                    self.saved -= self._space.strands.cost[strand]
                self.users[strand] += 1
                self.price[strand] = 0.0

    def leave(self, query: int) -> None:
        for segment in self.choices[query]:
            self.saved -= segment.saves
            for strand in segment.strands:
                self.users[strand] -= 1
                if not self.users[strand]:
                    self.saved += self._space.strands.cost[strand]
                    self.price[strand] = self._alone[strand]
        self.choices[query] = ()

    def attempt(self, queries: Sequence[int], choose: Callable[[int], Choice]) -> None:
        """Change the choices of some queries; restore all of them if nothing is saved or a root has a single user."""
        before = [self.choices[query] for query in queries]
        saved = self.saved
        for query in queries:
            self.leave(query)
        for query in queries:
            self.join(query, choose(query))
        touched = (segment for choice in (*before, *map(self.choices.__getitem__, queries)) for segment in choice)
        if self.saved <= saved or any(self.users[segment.strands[0]] == 1 for segment in touched):
            for query, choice in zip(queries, before, strict=True):
                self.leave(query)
                self.join(query, choice)
