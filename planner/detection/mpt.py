"""The multi-pattern tree MPT: evaluation orders of many patterns, with common prefixes merged (Sections 3.1 to 3.3)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

from elsinore.planner.detection.costs.model import CostModel
from elsinore.planner.detection.pattern import Pattern, Window
from elsinore.planner.detection.search.spaces import node_price, step_key
from elsinore.planner.detection.shape import Shape, Slots, shape_of


@dataclass(eq=False)
class State:
    """A state of the multi-pattern NFA; its partial matches are those of its prefix."""

    shape: Shape
    """The pattern that the state was made for."""
    prefix: Slots
    users: dict[str, Window] = field(default_factory=dict)
    final: dict[str, None] = field(default_factory=dict)
    """Patterns whose matches are complete here; inner states may be final."""
    following: dict[Hashable, State] = field(default_factory=dict)

    @property
    def accepted(self) -> str:
        """Return the label of the event whose acceptance leads here."""
        return self.shape.labels[self.prefix[-1]]

    @property
    def window(self) -> Window:
        """Return the largest window of the patterns that share the state."""
        return max(self.users.values(), key=lambda window: window.length)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.shape.labels[x] for x in self.prefix)


class MultiPatternTree:
    """All shareable prefixes are shared, so that a tree is defined by its patterns' orders."""

    def __init__(self) -> None:
        self.orders: dict[str, tuple[Shape, Slots]] = {}
        self._first: dict[Hashable, State] = {}

    def add(self, pattern: Pattern, order: Sequence[str]) -> State:
        """Add an order, given by names of events, in O(m); return its final state."""
        if pattern.name in self.orders:
            raise ValueError(f"a pattern called {pattern.name} has an order already; remove it first")
        shape = shape_of(pattern)
        slots = tuple(shape.number[name] for name in order)
        if len(slots) != shape.size or any(not shape.closed(_mask(slots[: end + 1])) for end in range(len(slots))):
            raise ValueError(
                f"({', '.join(order)}) is no order of {pattern.name}: name each event once, NOT after its gap"
            )
        following, state = self._first, None
        for end in range(1, len(slots) + 1):
            key = step_key(shape, slots[:end])
            state = following.setdefault(key, State(shape, slots[:end]))
            state.users[pattern.name] = pattern.window
            following = state.following
        assert state is not None
        state.final[pattern.name] = None
        self.orders[pattern.name] = (shape, slots)
        return state

    def remove(self, name: str) -> None:
        """Remove an order in O(m), with the states that no other pattern shares."""
        shape, slots = self.orders.pop(name)
        following = self._first
        for end in range(1, len(slots) + 1):
            key = step_key(shape, slots[:end])
            state = following[key]
            del state.users[name]
            state.final.pop(name, None)
            if not state.users:
                del following[key]
            following = state.following

    def states(self) -> Iterator[State]:
        """Yield all states but the root, each before those that follow it."""
        waiting = list(self._first.values())[::-1]
        while waiting:
            state = waiting.pop()
            yield state
            waiting += list(state.following.values())[::-1]

    def accepting(self, label: str) -> list[State | None]:
        """Return l_T, the states with a transition that accepts an event; None is the root."""
        found: list[State | None] = [None] if any(one.accepted == label for one in self._first.values()) else []
        return found + [
            state for state in self.states() if any(one.accepted == label for one in state.following.values())
        ]

    def price(self, state: State, model: CostModel) -> float:
        """Return the cost of a state, counted once."""
        before, last = _mask(state.prefix[:-1]), 1 << state.prefix[-1]
        left, right = (before, last) if before else (last, 0)
        return node_price(model, state.shape, left, right, state.window, len(state.users))

    def cost(self, model: CostModel) -> float:
        """Return Cost_ord^multi: the sum over all states."""
        return sum(self.price(state, model) for state in self.states())


def _mask(slots: Slots) -> int:
    return sum(1 << x for x in slots)
