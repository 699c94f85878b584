"""Generation of random patterns: first their shape, then the types of their leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from hypothesis import strategies as st

from tests.oracle.pattern import endings
from tests.oracle.query import Absent, And, One, Or, Pattern, Repeat, Seq, leaves

TYPES = "ABCDE"
LEAF = st.just(One("", ""))
KLEENE = ((1, None), (1, None), (0, None), (0, 1))
COUNTED = ((2, 2), (1, 2), (0, 2), (2, None), (1, 3))


def nullable(pattern: Pattern) -> bool:
    return bool(endings((pattern,)))


def _repeats(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    bounds = st.sampled_from(KLEENE) | st.sampled_from((*KLEENE, *COUNTED))
    return st.builds(lambda part, bound: Repeat(part, *bound), inner, bounds)


def _ors(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    return st.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts)))


def _plain_seqs(inner: st.SearchStrategy[Pattern]) -> st.SearchStrategy[Pattern]:
    return st.lists(inner, min_size=2, max_size=3).map(lambda parts: Seq(tuple(parts)))


PLAIN: st.SearchStrategy[Pattern] = st.recursive(
    LEAF, lambda inner: _repeats(inner) | _plain_seqs(inner) | _ors(inner), max_leaves=3
)
NEEDED = PLAIN.filter(lambda part: not nullable(part))
NEGATED = NEEDED.map(Absent)


@st.composite
def _gaps(draw: st.DrawFn, inner: st.SearchStrategy[Pattern]) -> Pattern:
    """Draw a negation in a sequence, or a gap that can be crossed in two ways."""
    kind = draw(st.integers(0, 5))
    if kind > 1:
        return draw(NEGATED)
    other = draw(NEGATED if kind else inner)
    return Or((draw(NEGATED), other))


@st.composite
def _seqs(draw: st.DrawFn, inner: st.SearchStrategy[Pattern]) -> Pattern:
    parts: list[Pattern] = []
    for part in draw(st.lists(inner, min_size=1, max_size=3)):
        if draw(st.integers(0, 3)) == 0:
            parts.append(draw(_gaps(inner)))
        parts.append(part)
    if len(parts) == 1 or draw(st.integers(0, 5)) == 0:
        parts.append(draw(_gaps(inner)))
    return Seq(tuple(parts))


def shapes(most: int) -> st.SearchStrategy[Pattern]:
    """Return patterns that need an event, with about `most` leaves, not counting those of negations."""
    grown = st.recursive(
        LEAF,
        lambda inner: st.one_of(_repeats(inner), _seqs(inner), _repeats(inner), _seqs(inner), _ors(inner)),
        max_leaves=most,
    )
    return grown.filter(lambda pattern: not nullable(pattern))


OPERANDS = shapes(2)
SHAPES = shapes(5)


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    """Draw a pattern that needs an event. A type occurs again only when all types have occurred."""
    shape = And((draw(OPERANDS), draw(OPERANDS))) if draw(st.integers(0, 7)) == 5 else draw(SHAPES)
    return draw(typed(shape, draw(st.sampled_from(("AB", TYPES, TYPES, TYPES)))))


@st.composite
def typed(draw: st.DrawFn, shape: Pattern, types: str) -> Pattern:
    """Draw a type for each leaf of a shape, and often a variable where a type occurs more than once."""
    count = sum(1 for _ in leaves(shape))
    chosen = [*draw(st.permutations(types)), *draw(st.lists(st.sampled_from(types), min_size=count, max_size=count))]
    often = {name for name, times in Counter(chosen[:count]).items() if times > 1}
    nameless = draw(st.integers(0, 3)) == 0
    named = (f"{name.lower()}{n}" if name in often and not nameless else name for n, name in enumerate(chosen))
    return _typed(shape, map(One, chosen, named))


def _typed(shape: Pattern, names: Iterator[One]) -> Pattern:
    match shape:
        case One():
            return next(names)
        case Repeat(part, least, most):
            return Repeat(_typed(part, names), least, most)
        case Absent(part):
            return Absent(_typed(part, names))
        case Seq(parts) | Or(parts) | And(parts):
            return type(shape)(tuple(_typed(part, names) for part in parts))


def variables(pattern: Pattern) -> list[str]:
    """Return the variables that a query may name: those that occur once."""
    counted = Counter(leaf.variable for leaf in leaves(pattern))
    return [variable for variable, times in counted.items() if times == 1]


def counted_options(pattern: Pattern) -> bool:
    """Return whether a part that may be empty is repeated with a bound above 1."""
    match pattern:
        case One():
            return False
        case Repeat(part, least, most):
            return counted_options(part) or (nullable(part) and (least > 1 or (most or 0) > 1))
        case Absent(part):
            return counted_options(part)
        case Seq(parts) | Or(parts) | And(parts):
            return any(counted_options(part) for part in parts)
