"""Small workloads: patterns as words, and random ones with all that a pattern may have."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from random import Random

from elsinore.planner.detection.costs.paper import Instances
from elsinore.planner.detection.pattern import Condition, Event, Kind, Pattern, Window, closed, conjunction, sequence
from elsinore.planner.detection.search.budget import Budget
from elsinore.planner.detection.statistics import Statistics


def events(letters: str) -> list[Event]:
    """One event a letter, named like its type; small letters are negated."""
    return [Event(letter, letter.upper(), kind=Kind.SINGLE if letter.isupper() else Kind.NEGATED) for letter in letters]


def seq(name: str, letters: str, window: float = 10, conditions: Sequence[Condition] = ()) -> Pattern:
    return sequence(name, events(letters), Window(window), conditions)


def conj(name: str, letters: str, window: float = 10, conditions: Sequence[Condition] = ()) -> Pattern:
    return conjunction(name, events(letters), Window(window), conditions)


def paper(in_order: float = 0.5, **rates: float) -> Instances:
    """The paper's costs for rates of types."""
    return Instances(Statistics(rates), in_order)


STEPS = Budget(steps=2000)


def figure_7() -> list[Pattern]:
    """Six patterns with the properties that the caption states; it does not show what they are."""
    texts = ["ABC", "ADC", "AECFG", "GAFC", "HIJK", "HIJ"]
    return [seq(f"p{number}", text) for number, text in enumerate(texts, 1)]


FIGURE_9 = [seq("p1", "ABCD"), seq("p2", "AECF"), seq("p3", "GBHD")]
SLOW = paper(A=0.2, B=0.2, C=0.2, D=0.2, E=3, F=3, G=3, H=3)


def random_pattern(rng: Random, name: str, types: str = "ABCDEF", size: int = 4, repeats: bool = True) -> Pattern:
    """A pattern with any partial order, and perhaps repeated types, own conditions, NOT, Kleene, wider conditions."""
    kinds = [rng.choice(types) for _ in range(size)] if repeats else rng.sample(types, size)
    made = [_event(rng, f"v{number}", kind) for number, kind in enumerate(kinds)]
    pairs = {(a.name, b.name) for a, b in combinations(made, 2) if rng.random() < rng.choice((0, 0.5, 1))}
    conditions = [_condition(rng, made, 2) for _ in range(rng.randint(0, 2))]
    if size > 2 and rng.random() < 0.3:
        conditions.append(_condition(rng, made, 3))
    if size > 2 and rng.random() < 0.4:
        made, pairs = _with_not(rng, made, pairs, types)
    return Pattern(name, tuple(made), closed(pairs), tuple(dict.fromkeys(conditions)), Window(rng.choice((5.0, 10.0))))


def _event(rng: Random, name: str, kind: str) -> Event:
    own = rng.choice(("", "", "", "$0.v > 3"))
    if rng.random() < 0.15:
        return Event(name, kind, own, Kind.KLEENE, 1, rng.choice((None, 2)))
    return Event(name, kind, own)


def _condition(rng: Random, made: Sequence[Event], size: int) -> Condition:
    names = tuple(event.name for event in rng.sample(list(made), size))
    symmetric = rng.random() < 0.3
    signs = " = " if symmetric else rng.choice((" < ", " <> "))
    return Condition(names, signs.join(f"${number}.v" for number in range(size)), symmetric)


def _with_not(
    rng: Random, made: list[Event], pairs: set[tuple[str, str]], types: str
) -> tuple[list[Event], set[tuple[str, str]]]:
    """Add a negated event between two that are ordered, or after all."""
    order = sorted(closed(pairs))
    negated = Event("n", rng.choice(types), kind=Kind.NEGATED)
    if not order:
        return [*made, negated], pairs | {(event.name, "n") for event in made}
    before, after = rng.choice(order)
    earlier = {before, *(x for x, y in order if y == before)}
    later = {after, *(y for x, y in order if x == after)}
    return [*made, negated], pairs | {(x, "n") for x in earlier} | {("n", y) for y in later}


def shuffled(rng: Random, pattern: Pattern) -> Pattern:
    """The same pattern with other names, its events and conditions in another order."""
    names = [event.name for event in pattern.events]
    new = dict(zip(names, rng.sample([f"w{number}" for number in range(len(names))], len(names)), strict=True))
    made = [Event(new[e.name], e.type, e.own, e.kind, e.least, e.most) for e in pattern.events]
    conditions = [Condition(tuple(new[x] for x in one.events), one.text, one.symmetric) for one in pattern.conditions]
    rng.shuffle(made)
    rng.shuffle(conditions)
    before = frozenset((new[x], new[y]) for x, y in pattern.before)
    return Pattern(pattern.name, tuple(made), before, tuple(conditions), pattern.window)


def random_workload(rng: Random, count: int, size: int, types: str = "ABCDE") -> tuple[list[Pattern], Statistics]:
    """Sequences and conjunctions whose predicates are those of two types, with rates and selectivities."""
    related = {pair: rng.uniform(0.01, 0.9) for pair in combinations(types, 2) if rng.random() < 0.5}
    patterns = []
    for number in range(1, count + 1):
        letters = "".join(rng.sample(types, size))
        conditions = [Condition(pair, "$0.v < $1.v") for pair in related if set(pair) <= set(letters)]
        make = rng.choice((seq, conj))
        patterns.append(make(f"p{number}", letters, rng.choice((5, 10)), conditions))
    rates = {letter: rng.uniform(0.1, 2) for letter in types}
    return patterns, Statistics(rates, {f"{x}.v < {y}.v": part for (x, y), part in related.items()})
