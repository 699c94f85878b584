"""A plan as a value that an engine can run: the nodes of a multitree, children before parents."""

from __future__ import annotations

from dataclasses import dataclass

from elsinore.planner.detection.costs.engine import Engine
from elsinore.planner.detection.costs.model import CostModel, Facts, triggers
from elsinore.planner.detection.mpm import MultiPatternMultitree
from elsinore.planner.detection.pattern import Event, Window
from elsinore.planner.detection.search.spaces import order_of
from elsinore.planner.detection.subtrees import Placed, Subtree
from elsinore.planner.detection.text import conditions_text, structure_text


@dataclass(frozen=True)
class User:
    """A pattern that uses a node, with its own window: matches of the node may be further apart than that.

    Variables of a root go down by slot: the first ones are those of its left side. What a side names its own slots may
    differ from that where events can change places; either naming is right, but the two must not be mixed.
    """

    pattern: str
    window: Window
    variables: tuple[str, ...]
    """The pattern's variables by slot of the node."""


@dataclass(frozen=True)
class SlotCondition:
    """A condition on slots: `$0` in its text is the event in the first of them, and so on."""

    text: str
    slots: tuple[int, ...]


@dataclass(frozen=True)
class Node:
    """A node of the multitree. A leaf has one slot; an inner node has the slots of its left side, then of its right.

    A right side that is a negated leaf is no side to join with: it says which matches of the left side are forbidden.
    """

    number: int
    """Its place in the plan."""
    structure: str
    """What it finds, as text."""
    conditions_text: str
    identity: str
    """The same in every plan that has this node, so that what is stored of it may be kept when plans change."""
    slots: tuple[Event, ...]
    """Types, own conditions and kinds; names are those of the first user."""
    left: int | None
    right: int | None
    order: tuple[tuple[int, int], ...]
    """Pairs of slots, earlier and later, one on each side, that are ordered by the structure."""
    conditions: tuple[SlotCondition, ...]
    """Those that become complete here."""
    window: Window
    """The largest of its users'."""
    users: tuple[User, ...]
    stored: bool
    """Whether it pays to keep its matches, by the cost model; models without that choice store all."""
    matches: float
    """Expected partial matches at a time."""
    cost: float

    @property
    def patterns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(user.pattern for user in self.users))

    @property
    def text(self) -> str:
        """Return what it finds, and under which conditions."""
        return f"{self.structure} where {self.conditions_text}" if self.conditions_text else self.structure

    @property
    def shared(self) -> bool:
        return len(self.patterns) > 1

    @property
    def leaf(self) -> bool:
        return self.left is None


@dataclass(frozen=True)
class Root:
    """Where the matches of a pattern are found."""

    pattern: str
    node: int
    window: Window
    variables: tuple[str, ...]
    """The pattern's variables by slot of the node."""
    order: tuple[str, ...] | None
    """The variables in the order of evaluation, if the plan is order-based."""


@dataclass(frozen=True)
class DetectionPlan:
    strategy: str
    model: str
    nodes: tuple[Node, ...]
    roots: tuple[Root, ...]
    """In the order of the patterns."""
    cost: float
    """The sum over all nodes."""
    apart: float
    """What the same local plans cost if nothing were shared."""

    def root(self, pattern: str) -> Root:
        return next(root for root in self.roots if root.pattern == pattern)

    @property
    def shared(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.shared)


def frozen(
    strategy: str, multitree: MultiPatternMultitree, model: CostModel, apart: float, ordered: bool = False
) -> DetectionPlan:
    """Return a multitree as a plan."""
    numbers = {number: place for place, number in enumerate(multitree.nodes())}
    nodes = tuple(_node(multitree, number, numbers, model) for number in numbers)
    roots = tuple(_root(multitree, name, nodes, numbers, ordered) for name in multitree.trees)
    return DetectionPlan(strategy, model.name, nodes, roots, sum(node.cost for node in nodes), apart)


def _node(multitree: MultiPatternMultitree, number: int, numbers: dict[int, int], model: CostModel) -> Node:
    seen, window = multitree.subtree(number), multitree.window(number)
    part = seen.shape.pattern.projection(seen.shape.names(seen.slots)) if seen.right is not None else None
    joined = model.facts(seen.shape, seen.mask, window)
    return Node(
        numbers[number],
        _leaf_text(seen) if part is None else structure_text(part),
        "" if part is None else conditions_text(part),
        _identity(multitree, number),
        tuple(seen.shape.events[x] for x in seen.slots),
        None if seen.left is None else numbers[seen.left],
        None if seen.right is None else numbers[seen.right],
        _order(seen),
        _conditions(seen),
        window,
        tuple(user for name, places in multitree.users(number).items() for user in _users(multitree, name, places)),
        _stored(model, seen, joined, window, len(multitree.users(number))),
        joined.matches,
        multitree.price(number, model),
    )


def _leaf_text(seen: Subtree) -> str:
    return seen.shape.labels[seen.slots[0]].replace("$0.", "")


def _identity(multitree: MultiPatternMultitree, number: int) -> str:
    """Return the node's subtree with all that it checks."""
    seen = multitree.subtree(number)
    if seen.left is None or seen.right is None:
        return seen.shape.labels[seen.slots[0]]
    relations = ",".join(
        f"{x}{seen.shape.relations[a][b]}{y}"
        for x, a in enumerate(seen.slots)
        for y, b in enumerate(seen.slots)
        if seen.left_mask >> a & 1 and seen.right_mask >> b & 1 and seen.shape.relations[a][b]
    )
    wider = ",".join(f"{one.text}{one.slots}" for one in _conditions(seen) if len(one.slots) > 2)
    return f"({_identity(multitree, seen.left)}; {_identity(multitree, seen.right)}; {relations}{wider})"


def _order(seen: Subtree) -> tuple[tuple[int, int], ...]:
    return tuple(
        (x, y)
        for x, a in enumerate(seen.slots)
        for y, b in enumerate(seen.slots)
        if seen.shape.before[a][b] and _across(seen, a, b)
    )


def _across(seen: Subtree, a: int, b: int) -> bool:
    return bool(seen.left_mask >> a & 1) != bool(seen.left_mask >> b & 1)


def _conditions(seen: Subtree) -> tuple[SlotCondition, ...]:
    place = {seen.shape.events[x].name: slot for slot, x in enumerate(seen.slots)}
    complete = seen.shape.complete(seen.left_mask, seen.right_mask) if seen.right_mask else ()
    found = (SlotCondition(one.text, tuple(place[name] for name in one.events)) for one in complete)
    return tuple(sorted(found, key=lambda one: (one.text, one.slots)))


def _users(multitree: MultiPatternMultitree, name: str, places: list[Placed]) -> list[User]:
    shape, _ = multitree.trees[name]
    return [User(name, shape.pattern.window, shape.names(one.slots)) for one in places]


def _stored(model: CostModel, seen: Subtree, joined: Facts, window: Window, users: int) -> bool:
    if not isinstance(model, Engine) or not seen.right_mask:
        return True
    left, right = (model.facts(seen.shape, mask, window) for mask in (seen.left_mask, seen.right_mask))
    asked = triggers(seen.shape, seen.left_mask, seen.right_mask, left, right)
    return model.stored(joined, left, right, asked) < users * model.searched(joined, left, right)


def _root(
    multitree: MultiPatternMultitree, name: str, nodes: tuple[Node, ...], numbers: dict[int, int], ordered: bool
) -> Root:
    shape, tree = multitree.trees[name]
    node = nodes[numbers[multitree.root(name)]]
    variables = next(user.variables for user in node.users if user.pattern == name)
    order = shape.names(order_of(tree)) if ordered else None
    return Root(name, node.number, shape.pattern.window, variables, order)
