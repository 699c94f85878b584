"""The choice of a plan for the patterns of many queries, in one process or by the central optimizer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from threading import Lock
from typing import Any

from elsinore.planner.detection.costs.engine import Engine
from elsinore.planner.detection.costs.model import CostModel
from elsinore.planner.detection.costs.paper import Instances
from elsinore.planner.detection.mpm import restricted
from elsinore.planner.detection.pattern import Condition, Event, Kind, Pattern, Window
from elsinore.planner.detection.plan import DetectionPlan
from elsinore.planner.detection.planning import AUTO, plan_of_trees
from elsinore.planner.detection.search.budget import Budget
from elsinore.planner.detection.statistics import Statistics, is_like
from elsinore.planner.detection.strategies.request import Request, Trees
from elsinore.planner.detection.strategies.strategies import STRATEGIES, Strategy
from elsinore.planner.detection.subtrees import Tree

SEARCH_SECONDS = 2.0
"""The longest time of a search."""

STEPS_PER_PATTERN, PATIENCE_PER_PATTERN = 100, 25
"""Steps of a search, and steps without a better plan after which it ends, by pattern."""

GAIN = 0.9
"""Part of the present plan's cost below which a new plan is entered: its stores have to be filled."""

KEPT_ANSWERS = 64
"""Workloads whose last plan the central optimizer keeps."""


@dataclass(frozen=True)
class PlanRequest:
    """A request for the trees of some patterns, which join the single events of each."""

    strategy: str
    patterns: tuple[Pattern, ...]
    singles: tuple[tuple[str, ...], ...]
    """By pattern, its single events: lists and NOT are looked for in each match of these."""
    statistics: Statistics
    present: Mapping[str, Tree] | None = None
    """The trees that are used now; they stay unless a search finds better ones."""

    @property
    def chosen_by(self) -> Strategy:
        return STRATEGIES[AUTO if self.strategy == "auto" else self.strategy]

    @property
    def model(self) -> CostModel:
        """Return the costs that the strategy looks at: `auto` knows this engine, the others are those of papers."""
        return Engine(self.statistics) if self.strategy == "auto" else Instances(self.statistics)

    @property
    def joined(self) -> tuple[Pattern, ...]:
        """Return the patterns of the single events alone."""
        pairs = zip(self.patterns, self.singles, strict=True)
        return tuple(pattern.projection(names) for pattern, names in pairs)

    def plan(self, trees: Mapping[str, Tree]) -> DetectionPlan:
        """Return the plan with these trees."""
        return plan_of_trees(self.joined, trees, self.model, self.chosen_by)

    def save(self) -> dict[str, Any]:
        """Return the request as plain values."""
        return {
            "strategy": self.strategy,
            "patterns": [_saved(one) for one in self.patterns],
            "singles": self.singles,
            "statistics": asdict(self.statistics),
            "present": None if self.present is None else dict(self.present),
        }

    @classmethod
    def load(cls, saved: Mapping[str, Any]) -> PlanRequest:
        present = saved["present"]
        return cls(
            saved["strategy"],
            tuple(_loaded(one) for one in saved["patterns"]),
            tuple(tuple(names) for names in saved["singles"]),
            Statistics(**saved["statistics"]),
            None if present is None else trees_of(present),
        )


Chooser = Callable[[PlanRequest], Trees]
"""What answers a request."""


def chosen_trees(request: PlanRequest) -> Trees:
    """Search trees for a request; return those that are used now if the search gains too little.

    It takes the longer, the more it might gain.
    """
    count, share = len(request.patterns), _avoidable(request)
    if request.present is not None and share < 1 - GAIN:
        return dict(request.present)
    budget = Budget(SEARCH_SECONDS * share, STEPS_PER_PATTERN * count, PATIENCE_PER_PATTERN * count)
    whole = request.chosen_by.trees(Request(request.patterns, request.model, budget))
    pairs = zip(request.patterns, request.joined, strict=True)
    found = {one.name: restricted(one, whole[one.name], single) for one, single in pairs}
    if request.present is None or request.plan(found).cost < GAIN * request.plan(request.present).cost:
        return found
    return dict(request.present)


def _avoidable(request: PlanRequest) -> float:
    """Return the part of the present plan's cost that is not that of leaves and whole matches, which all plans have."""
    if request.present is None:
        return 1.0
    plan = request.plan(request.present)
    # How a whole pattern is split may decide what its matches cost.
    whole = frozenset[int]() if request.model.by_split else {root.node for root in plan.roots}
    inner = sum(node.cost for node in plan.nodes if not node.leaf and node.number not in whole)
    return inner / plan.cost if plan.cost else 0.0


class SharedChooser:
    """Answers requests of many askers for the same patterns alike, with one search for all of them."""

    def __init__(self) -> None:
        self.searches = 0
        """Searches so far."""
        self._searching = Lock()
        self._last: OrderedDict[Hashable, tuple[Statistics, Trees]] = OrderedDict()
        """By strategy and patterns, the last answer, and what it was found for."""

    def __call__(self, request: PlanRequest) -> Trees:
        about = request.strategy, request.patterns
        with self._searching:
            known = self._last.pop(about, None)
            if known is None or not _are_alike(request, known[0]):
                self.searches += 1
                known = request.statistics, chosen_trees(request)
            self._last[about] = known
            if len(self._last) > KEPT_ANSWERS:
                self._last.popitem(last=False)
        return known[1]


def _are_alike(request: PlanRequest, seen: Statistics) -> bool:
    return is_like(seen, request.statistics, longest_window(request.patterns))


def longest_window(patterns: Sequence[Pattern]) -> float:
    return max(pattern.window.length for pattern in patterns)


def trees_of(saved: Mapping[str, Any]) -> Trees:
    """Return trees of which tuples became lists."""
    return {name: _tree(one) for name, one in saved.items()}


def _tree(saved: Any) -> Tree:
    return saved if isinstance(saved, int) else (_tree(saved[0]), _tree(saved[1]))


def _saved(pattern: Pattern) -> dict[str, Any]:
    return {
        "name": pattern.name,
        "events": [[one.name, one.type, one.own, str(one.kind), one.least, one.most] for one in pattern.events],
        "before": sorted(pattern.before),
        "conditions": [[one.events, one.text, one.symmetric] for one in pattern.conditions],
        "window": [pattern.window.length, pattern.window.clock],
    }


def _loaded(saved: Mapping[str, Any]) -> Pattern:
    return Pattern(
        saved["name"],
        tuple(Event(name, type_, own, Kind(kind), *bounds) for name, type_, own, kind, *bounds in saved["events"]),
        frozenset((earlier, later) for earlier, later in saved["before"]),
        tuple(Condition(tuple(events), text, symmetric) for events, text, symmetric in saved["conditions"]),
        Window(*saved["window"]),
    )
