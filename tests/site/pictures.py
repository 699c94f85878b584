"""Pictures of operators and semantics: a few events, and a lane for each match that Elsinore finds in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import elsinore
from elsinore.drawing.svg import GRAY, INK, PALE, WHITE, Box, Picture, curve, document, group, rectangle, text, width_of

FOLDER = Path(__file__).parents[2] / "docs" / "images" / "language"

STEP, RADIUS, DOT, LANE = 44, 13, 5, 16
"""Pixels between two events, of an event, of an event in a lane, and from lane to lane."""

LIGHT = {INK: "#1b1f24", PALE: "#5b6470", WHITE: "#ffffff", GRAY: "#d0d5db"}
DARK = {INK: "#e4e7eb", PALE: "#a3acb8", WHITE: "#1f232a", GRAY: "#4a515b"}
TYPES = {
    "A": ("#0b6e4f", "#45c49a"),
    "B": ("#c8553d", "#f0866c"),
    "C": ("#3a5a98", "#86a9ee"),
    "D": ("#8a6508", "#e3b341"),
}
"""Colours of event types, light and dark; other types have the colour of lines."""

TEN = "ABXBCABBCB"
"""The ten events of the pictures of semantics."""


@dataclass(frozen=True)
class Case:
    """Events of one letter each, a second apart, and clauses of a query over them."""

    events: str
    pattern: str
    clauses: str = ""
    attributes: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    window: str = "60 seconds"

    @property
    def stream(self) -> list[dict[str, Any]]:
        columns = {name: dict(enumerate(values)) for name, values in self.attributes.items()}
        return [
            {"type": kind, "time": time, **{name: values[time] for name, values in columns.items()}}
            for time, kind in enumerate(self.events)
        ]

    @property
    def matches(self) -> list[list[int]]:
        """Return the times of the events of each match, those of the shortest span first."""
        rows = elsinore.run(
            f"RETURN MATCHES PATTERN {self.pattern} {self.clauses} WITHIN {self.window}", self.stream, engine="local"
        ).rows()
        found = [sorted(event["time"] for value in row.values() for event in _events(value)) for row in rows]
        return sorted(found, key=lambda one: (one[0], one[-1], one))


SEMANTICS = ("skip-till-any-match", "skip-till-next-match", "contiguous")

CASES: dict[str, Case] = {
    "seq": Case("ABAB", "SEQ(A, B)"),
    "plus": Case("ABBBC", "SEQ(A, B+, C)"),
    "star": Case("ABBC", "SEQ(A, B*, C)"),
    "optional": Case("ABBC", "SEQ(A, B?, C)"),
    "bounded": Case("ABBBC", "SEQ(A, B{2,3}, C)"),
    "nested": Case("ABABC", "SEQ((SEQ(A, B))+, C)"),
    "or": Case("ABCD", "SEQ(A, (B | C), D)"),
    "and": Case("BABC", "SEQ(AND(A, B), C)"),
    "not": Case("ACABC", "SEQ(A, NOT B, C)"),
    "not-at-end": Case("ABCAB", "SEQ(A, B, NOT C)"),
    "equivalence": Case("AABBB", "SEQ(A, B+)", "WHERE [u]", {"u": (1, 2, 1, 2, 1)}),
    "predicate": Case("ABBBC", "SEQ(A, B+, C)", "WHERE B.v < 5", {"v": (None, 3, 8, 4, None)}),
    "neighbours": Case("ABBBC", "SEQ(A, B+, C)", "WHERE B.v < NEXT(B).v", {"v": (None, 3, 8, 4, None)}),
    "within": Case("ABABB", "SEQ(A, B)", window="3 seconds"),
    "within-events": Case("AXBXB", "SEQ(A, B)", window="3 events"),
    **{one: Case(TEN, "SEQ(A, B+, C)", f"SEMANTICS {one}") for one in SEMANTICS},
}

WINDOWS = Case("ABABAB", "SEQ(A, B)")
SLIDING = "WITHIN 4 seconds SLIDE 2 seconds"


def pictures() -> dict[str, str]:
    """Return all pictures as SVG, by the names of their files."""
    found = {f"{name}.svg": _themed(document(_of_matches(case))) for name, case in CASES.items()}
    return {**found, "slide.svg": _themed(document(_of_windows()))}


def write() -> None:
    """Write all pictures to the folder of the documentation."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, svg in pictures().items():
        (FOLDER / name).write_text(svg)


def _events(value: Any) -> list[dict[str, Any]]:
    """Return the events of a column of a match."""
    match value:
        case {"type": _}:
            return [value]
        case [{"type": _}, *_]:
            return list(value)
    return []


def _of_matches(case: Case) -> Picture:
    found = case.matches
    count = f"{len(found)} match" if len(found) == 1 else f"{len(found)} matches"
    words = f"PATTERN {case.pattern} {case.clauses} WITHIN {case.window}".replace("  ", " ")
    whole, y = _head(case, words)
    for times in found:
        _line(whole, [_x(time) for time in times], y)
        for time in times:
            _dot(whole, _x(time), y, DOT, case.events[time])
        y += LANE
    text(whole, 0, y + 12, count, 12, PALE, "start")
    return _picture(whole, case, words, y + 16)


def _of_windows() -> Picture:
    words = f"RETURN COUNT(*) PATTERN {WINDOWS.pattern} {SLIDING}"
    rows = elsinore.run(words, WINDOWS.stream, engine="local").rows()
    whole, y = _head(WINDOWS, words)
    for row in rows:
        first, last = _x(row["window_start"]) - STEP / 2, _x(row["window_end"]) - STEP / 2
        rectangle(whole, Box(first, y - 7, last - first, 14), GRAY, 3, line=0)
        text(whole, last - 8, y + 4, str(row["COUNT(*)"]), 11, INK, "end", bold=True)
        y += LANE + 6
    moved = group()
    group(moved, 2 * STEP, 0).append(whole)
    return _picture(moved, Case(WINDOWS.events + 3 * " ", ""), words, y)


def _head(case: Case, words: str) -> tuple[ET.Element, float]:
    """Draw the query and the events, and return the group and where lanes begin."""
    whole = group()
    text(whole, 0, 12, words, 12, INK, "start", bold=True)
    for time, kind in enumerate(case.events):
        _dot(whole, _x(time), 40, RADIUS, kind)
        text(whole, _x(time), 44.5, kind, 13, WHITE, bold=True)
        text(whole, _x(time), 68, str(time), 11, PALE)
    y = 68.0
    for name, values in case.attributes.items():
        y += 16
        text(whole, 0, y, name, 11, PALE, "start")
        for time, value in enumerate(values):
            text(whole, _x(time), y, "" if value is None else str(value), 11, INK)
    return whole, y + 20


def _picture(whole: ET.Element, case: Case, words: str, height: float) -> Picture:
    return Picture(whole, max(_x(len(case.events)), width_of(words, 12) * 0.95), height)


def _x(time: float) -> float:
    return 46 + STEP * time


def _dot(parent: ET.Element, x: float, y: float, radius: float, kind: str) -> None:
    fill = TYPES.get(kind, (PALE, PALE))[0]
    rectangle(parent, Box(x - radius, y - radius, 2 * radius, 2 * radius), fill, radius, line=0)


def _line(parent: ET.Element, xs: Iterable[float], y: float) -> None:
    first, *_, last = [*xs] * 2
    curve(parent, f"M{first} {y}H{last}", line=1.5)


def _themed(svg: str) -> str:
    """Let the colours of a picture be those of the scheme, light or dark, that its reader prefers."""
    colours = {
        **{name: (LIGHT[name], DARK[name]) for name in LIGHT},
        **{light: (light, dark) for light, dark in TYPES.values()},
    }
    style: dict[int, list[str]] = {0: [], 1: []}
    for number, (name, both) in enumerate(colours.items()):
        svg = svg.replace(f'"{name}"', f'"var(--c{number})"')
        for scheme, colour in enumerate(both):
            style[scheme].append(f"--c{number}: {colour};")
    rule = (
        f":root {{ {' '.join(style[0])} }} @media (prefers-color-scheme: dark) {{ :root {{ {' '.join(style[1])} }} }}"
    )
    head = svg.index(">") + 1
    return f"{svg[:head]}\n  <style>{rule}</style>{svg[head:]}"
