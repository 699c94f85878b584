"""What some events say of the patterns of queries: statistics, and how many matches the nodes of a plan have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from elsinore.actors.detection.joins.measured import duration, measured
from elsinore.actors.detection.joins.planned import Planned
from elsinore.actors.detection.joins.sources import Joined
from elsinore.actors.detection.joins.stores import Multitree, Store, StoresFullError
from elsinore.planner.detection.costs.paper import Instances
from elsinore.planner.detection.mpm import Names, restricted, tree_of
from elsinore.planner.detection.pattern import Pattern
from elsinore.planner.detection.plan import DetectionPlan, Node
from elsinore.planner.detection.planning import plan_of_trees
from elsinore.planner.detection.statistics import Statistics
from elsinore.planner.detection.strategies.strategies import STRATEGIES

SHARED = STRATEGIES["mpm"]
"""A strategy in whose plans equal nodes are one, and all are stored."""

MOST_NUMBERS = 1 << 26
"""Events of matches above which matches are not counted."""


@dataclass(frozen=True)
class Observation:
    """The events of a window, which is as long as all of them."""

    planned: Planned
    joined: Mapping[bool, Joined]
    """The events, by whether windows count them."""
    events: int

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the patterns that are planned."""
        return frozenset(self.planned.members)

    @cached_property
    def statistics(self) -> Statistics:
        return measured(self.planned.members, self.planned.patterns, self.joined)

    def seen(self, plan: DetectionPlan) -> dict[int, float]:
        """Return how many matches were in a window at a time, on average, by node; without nodes of lists and NOT.

        Nothing is returned if the matches are too many to be counted.
        """
        singles = self._all_stored(plan)
        try:
            amounts = dict(self._amounts(singles))
        except StoresFullError:
            return {}
        found = ((node.number, amounts.get(node.identity)) for node in plan.nodes)
        return {number: amount for number, amount in found if amount is not None}

    def _amounts(self, plan: DetectionPlan) -> Iterator[tuple[str, float]]:
        """Yield how many matches were in a window at a time, by identity of a node."""
        tree = Multitree(plan, self.planned.members)
        sources = tree.extend(self.joined, 0, self.events, MOST_NUMBERS)
        for number, store in tree.stores.items():
            yield plan.nodes[number].identity, self._at_a_time(plan.nodes[number], store)
        for root in plan.roots:
            if root.node not in tree.stores and not plan.nodes[root.node].leaf:
                store = Store(tree.roots[root.pattern])
                store.extend(sources, 0, self.events, MOST_NUMBERS)
                yield plan.nodes[root.node].identity, self._at_a_time(plan.nodes[root.node], store)
        for node in plan.nodes:
            if node.leaf:
                user = node.users[0]
                member = self.planned.members[user.pattern]
                source = self.joined[member.counts_events].source(member.form, user.variables[0])
                yield node.identity, source.count * self._part(node)

    def _at_a_time(self, node: Node, store: Store) -> float:
        """Return how many of the matches were in a window at a time: each is for as long as its first event is."""
        source = store.source(self.joined[store.joining.member.counts_events])
        spans = (source.ends - source.starts) / store.joining.span
        return float(np.sum(1 - spans)) * self._part(node)

    def _part(self, node: Node) -> float:
        """Return the length of a node's window as a part of all the time."""
        seconds, _ = duration(self.planned.members, self.planned.patterns, self.joined)
        return node.window.length / seconds

    def _all_stored(self, plan: DetectionPlan) -> DetectionPlan:
        """Return a plan of the single events alone, with the same trees."""
        singles = {one.name: self._singles(one) for one in self.planned.patterns}
        names = {root.pattern: _names(plan, plan.nodes[root.node], root.variables) for root in plan.roots}
        trees = {
            one.name: restricted(one, tree_of(one, names[one.name]), singles[one.name]) for one in self.planned.patterns
        }
        return plan_of_trees(tuple(singles.values()), trees, Instances(self.statistics), SHARED)

    def _singles(self, pattern: Pattern) -> Pattern:
        return pattern.projection(self.planned.members[pattern.name].clause.variables)


def _names(plan: DetectionPlan, node: Node, variables: tuple[str, ...]) -> Names:
    """Return the tree of a node with the names of a pattern's events."""
    if node.left is None or node.right is None:
        return variables[0]
    left, right = plan.nodes[node.left], plan.nodes[node.right]
    size = len(left.slots)
    return _names(plan, left, variables[:size]), _names(plan, right, variables[size:])
