"""The plan of the patterns of many queries: chosen by what is seen of the stream, and changed when that drifts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import pyarrow as pa

from elsinore.actors.detection.joins.changes import Changes
from elsinore.actors.detection.joins.join_search import StoredSearch
from elsinore.actors.detection.joins.measured import measured
from elsinore.actors.detection.joins.sources import Joined, MatchSource
from elsinore.actors.detection.joins.stores import Joining, Member, Multitree, Stored, StoresFullError, join_searches
from elsinore.actors.detection.term_search import JoinedSearch
from elsinore.planner.detection.choosing import Chooser, PlanRequest, longest_window
from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.plan import Node
from elsinore.planner.detection.statistics import is_like
from elsinore.planner.detection.strategies.request import Trees

AUTO = "auto"
"""The strategy that knows the costs of this engine."""

CHECK_EVENTS = 1 << 16
"""Events after which drift is looked for, beside each doubling of the events at first, and changes of rates."""

FIRST_SLICE, LEAST_SLICE, UNLIMITED = 1 << 14, 1 << 10, 1 << 62
"""Events that are taken in at once at first, and at least: stored matches grow with them."""

WATCHED_SLICE, SEARCHING_SLICE = 1 << 18, 1 << 16
"""The most events that are taken in at once where a plan may change, as drift of selectivities is seen between slices;
and while another plan is looked for, which is entered between slices."""

SLICE_NUMBERS = 1 << 22
"""Events of stored matches that a slice should make at most."""

MOST_NUMBERS = 1 << 25
"""Events of stored matches above which they are forgotten, and a run does without them if slices are short already."""

SHRINKING = 16
"""How many times shorter the next slice is then."""


Chosen = tuple[PlanRequest, Trees]
"""Trees, and the request that they were chosen for."""


class Planned:
    """The plan of clauses of single events under skip-till-any-match, which may share parts."""

    def __init__(self, members: Sequence[Mapping[int, tuple[Member, Pattern]]], strategy: str, choose: Chooser) -> None:
        """Plan the clauses of `members`: by query, the patterns of its clauses by number."""
        found = [(number, member, pattern) for some in members for number, (member, pattern) in some.items()]
        self.members = {pattern.name: member for _, member, pattern in found}
        self.patterns = tuple(pattern for _, _, pattern in found)
        self._places = {pattern.name: (member.form.query.name, number) for number, member, pattern in found}
        """By name of a pattern, its query and the number of its clause."""
        self.strategy = strategy
        self.choose = choose
        self.chosen: Chosen | None = None
        self.tree: Multitree | None = None
        self.slice_events = FIRST_SLICE if self.patterns else UNLIMITED
        self._changes = Changes({event.type for pattern in self.patterns for event in pattern.events})
        self._next: Future[Chosen] | None = None
        self._events = 0
        self._check = 0

    def next_slice(self, types: pa.DictionaryArray) -> int:
        """Return how many of the next events, which have these types, should be taken in at once.

        Where the rates change, few events follow before a better plan is looked for, and until it is found.
        """
        if self.chosen is None or not self.chosen[0].chosen_by.adaptive:
            return self.slice_events
        most = WATCHED_SLICE if self._next is None else SEARCHING_SLICE
        steady, changed = self._changes.steady(types, min(self.slice_events, most))
        if not changed:
            return steady
        self._check = 0
        return min(steady, FIRST_SLICE)

    def extend(
        self, joined: Mapping[bool, Joined], lo: int, hi: int, own: tuple[int, int]
    ) -> dict[str, dict[int, list[JoinedSearch]]]:
        """Find the matches of stored nodes that end with some rows.

        Return the searches of the clauses that are planned, by query and number, for matches that end with `own` rows;
        none where the stored matches are too many, which leaves the clauses to their queries.
        """
        if not self.patterns:
            return {}
        self._events += hi - lo
        if self._next is not None and self._next.done():
            self._enter(self._next.result())
            self._next = None
        if self._events >= self._check:
            self._check = min(2 * self._events, self._events + CHECK_EVENTS)
            self._look(joined)
        if self.tree is None:
            return {}
        before = self.tree.numbers
        try:
            sources = self.tree.extend(joined, lo, hi, MOST_NUMBERS)
        except StoresFullError:
            self._shrink(hi - lo)
            return {}
        self._adapt(self.tree.numbers - before, hi - lo)
        found: dict[str, dict[int, list[JoinedSearch]]] = {}
        for name, joining in self.tree.roots.items():
            query, clause = self._places[name]
            found.setdefault(query, {})[clause] = _searches(joining, sources, *own)
        return found

    def stored(self) -> dict[str, int]:
        """Return the number of matches of each stored node so far, by its identity."""
        return {node.identity: seen for node, _, seen in self.stored_nodes()}

    def stored_nodes(self) -> Iterator[tuple[Node, tuple[str, ...], int]]:
        """Yield each stored node with the names of its queries, and the number of its matches so far."""
        if self.tree is not None:
            for number, seen in self.tree.seen():
                node = self.tree.plan.nodes[number]
                yield node, tuple(dict.fromkeys(self._places[name][0] for name in node.patterns)), seen

    def drop(self, count: int) -> None:
        """Forget the first rows of the window."""
        if self.tree is not None:
            self.tree.drop(count)

    def clear(self) -> None:
        """Forget all that is stored; it is found again in the window."""
        if self.tree is not None:
            self.tree.clear()

    def _shrink(self, events: int) -> None:
        """Forget what is stored, and take in fewer events at once; do without a plan if these were few already."""
        if events > LEAST_SLICE:
            self.clear()
            self.slice_events = max(LEAST_SLICE, events // SHRINKING)
        else:
            self.tree, self.patterns = None, ()

    def _adapt(self, numbers: int, events: int) -> None:
        """Take in as many events at once as make about `SLICE_NUMBERS`."""
        wanted = SLICE_NUMBERS * events // max(numbers, 1)
        self.slice_events = max(LEAST_SLICE, min(wanted, 4 * self.slice_events))

    def _look(self, joined: Mapping[bool, Joined]) -> None:
        """Choose a plan, or look for a better one beside the stream."""
        request = self._request(joined)
        if self.chosen is None:
            self._enter(self._answered(request))
        elif self._next is None and request.chosen_by.adaptive and self._has_drifted(request):
            executor = ThreadPoolExecutor(1, "detection-plan")
            self._next = executor.submit(self._answered, request)
            executor.shutdown(wait=False)

    def _request(self, joined: Mapping[bool, Joined]) -> PlanRequest:
        singles = tuple(self.members[one.name].clause.variables for one in self.patterns)
        present = None if self.chosen is None else self.chosen[1]
        return PlanRequest(
            self.strategy, self.patterns, singles, measured(self.members, self.patterns, joined), present
        )

    def _answered(self, request: PlanRequest) -> Chosen:
        return request, self.choose(request)

    def _has_drifted(self, request: PlanRequest) -> bool:
        assert self.chosen is not None
        return not is_like(self.chosen[0].statistics, request.statistics, longest_window(self.patterns))

    def _enter(self, chosen: Chosen) -> None:
        """Use these trees; what is stored already of their nodes is kept."""
        request, trees = chosen
        if self.chosen is None or trees != self.chosen[1]:
            tree = Multitree(request.plan(trees), self.members, lean=self.strategy == AUTO)
            if self.tree is not None:
                tree.keep_from(self.tree)
            self.tree = tree
        self.chosen = chosen


def _searches(joining: Joining, sources: Stored, lo: int, hi: int) -> list[JoinedSearch]:
    """Return the searches for the matches of a pattern that end with some rows."""
    member = joining.member
    shown = member.shown
    if len(joining.parts) == 1:
        (part,) = joining.parts
        source = sources.of(part, member)
        assert isinstance(source, MatchSource)
        slots = [part.variables.index(name) for name in shown]
        return [StoredSearch(member.clause, shown, source, slots, member.span, lo, hi)]
    return [*join_searches(joining, sources, lo, hi)]
