"""What a query may have: features that are asked of every kind, one by one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.conformance.kinds import Kind

Patterns = Callable[[str], str]


def _as_it_is(pattern: str) -> str:
    return pattern


def _before(part: str, where: str = "SEQ(A, ") -> Patterns:
    """Return what puts a part into a pattern, behind its beginning."""
    return lambda pattern: pattern.replace(where, f"{where}{part}", 1)


def _for_a(part: str) -> Patterns:
    return lambda pattern: pattern.replace("SEQ(A,", f"SEQ({part},", 1)


@dataclass(frozen=True)
class Feature:
    """How the three queries of a kind change, so that all of them have the feature."""

    pattern: Patterns = _as_it_is
    items: str = "COUNT(*), SUM(b.v)"
    semantics: str | None = None
    window: tuple[str, ...] = ()
    """The lengths of window and slide of each query, in turn."""
    moving: tuple[str, ...] = ()
    """The same for kinds whose windows move with every event."""
    where: str = ""
    sequence_where: str = ""
    """Predicates of a pattern without Kleene."""
    unit: str = "seconds"
    """Of windows; those that count events are as long in events as others in seconds."""
    own: bool = False
    """Whether the first query lacks a predicate that the others have."""
    group: str = "k"


FEATURES: dict[str, Feature] = {
    "nothing else": Feature(),
    "sliding windows": Feature(window=("20/10",), moving=("20/10",)),
    "moving windows": Feature(window=("20",)),
    "several windows": Feature(window=("20/10", "20/20", "10/5"), moving=("20", "30", "10")),
    "windows of events": Feature(unit="events"),
    "next": Feature(semantics="next"),
    "contiguous": Feature(semantics="contiguous"),
    "neighbours": Feature(where="b.v < NEXT(b).v", sequence_where="A.v < b.v"),
    "other neighbours": Feature(where="A.v < b.v", sequence_where="A.v < b.v"),
    "neighbours in NOT": Feature(_before("NOT X x+, "), where="x.v < NEXT(x).v", sequence_where="x.v < NEXT(x).v"),
    "predicates": Feature(own=True),
    "NOT": Feature(_before("NOT X, ")),
    "NOT of a sequence": Feature(_before("NOT SEQ(X, Y), ")),
    "NOT at the end": Feature(lambda pattern: f"{pattern[:-1]}, NOT X)"),
    "Kleene": Feature(lambda pattern: pattern.replace("B b,", "B b+,")),
    "Kleene of a sequence": Feature(lambda pattern: re.sub(r"A, (B b\+?)", r"(SEQ(A, \1))+", pattern)),
    "optional": Feature(_for_a("A?")),
    "OR": Feature(_for_a("(A | X)")),
    "AND": Feature(lambda pattern: f"{pattern} & X"),
    "a type twice": Feature(_before("A a0, ", "SEQ(")),
    "MIN and MAX": Feature(items="COUNT(*), MIN(b.v), MAX(b.v)"),
    "other groups": Feature(group="g"),
}


def workload(kind: Kind, feature: Feature) -> str:
    """Return three queries that have the feature, or one, of a kind that runs queries alone."""
    found = []
    windows = (feature.moving if "/" not in kind.window else feature.window) or feature.window or (kind.window,)
    for number, end in enumerate(("C", "D", "C, D") if kind.shares else ("C",)):
        pattern = feature.pattern(f"SEQ(A, {kind.core}, {end})")
        within, _, slide = windows[number % len(windows)].partition("/")
        own = "b.w > 1" if feature.own and number else ""
        more = feature.where if "+" in kind.core else feature.sequence_where
        where = " AND ".join(dict.fromkeys(filter(None, ("[k]", kind.where, more, own))))
        ends = f"WITHIN {within} {feature.unit}" + (f" SLIDE {slide} {feature.unit}" if slide else "")
        found.append(
            f"QUERY q{number} RETURN {feature.group}, {feature.items} PATTERN {pattern} "
            f"SEMANTICS {feature.semantics or kind.semantics[0]} WHERE {where} GROUP-BY {feature.group} {ends}"
        )
    return ";\n".join(found)
