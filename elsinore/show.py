"""Previews of a result: the first rows of each query as a table, with huge numbers shortened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape
from io import StringIO
from itertools import islice
from typing import Any, Protocol

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text


class Result(Protocol):
    """The rows of a workload, as `elsinore.Result` has them."""

    @property
    def queries(self) -> tuple[str, ...]: ...
    @property
    def columns(self) -> Mapping[str, Sequence[str]]: ...
    def query(self, name: str) -> Result: ...
    def head(self, count: int) -> list[dict[str, Any]]: ...
    def __len__(self) -> int: ...


MAX_ROWS = 10
MAX_QUERIES = 5
MAX_EVENT = 40
"""Characters of an event, or of a list of events; the rest is cut off."""
MAX_DIGITS = 18
"""Integers with more digits are shortened."""
SHORTENED = "≈ shortened for display; rows() and to_arrow() have every digit"


@dataclass(frozen=True)
class Preview:
    """The first rows of one query, as text."""

    title: str
    header: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def plain(result: Result) -> str:
    """Return a preview as text without colours, for a REPL and for `print`."""
    console = Console(file=StringIO(), color_system=None, width=160, force_terminal=False)
    with console.capture() as captured:
        console.print(rich(result))
    return "\n".join(line.rstrip() for line in captured.get().splitlines()).strip("\n")


def rich(result: Result) -> RenderableType:
    """Return a preview for `rich.print` and the command line."""
    parts = [part for preview in _previews(result) for part in (*_table(preview), Text(""))]
    return Group(*parts, *map(Text, _rest(result)))


def html(result: Result) -> str:
    """Return a preview as HTML, for notebooks."""
    parts = [_html(preview) for preview in _previews(result)]
    return "\n".join([*parts, *(f"<p>{escape(line)}</p>" for line in _rest(result))])


def _previews(result: Result) -> Iterator[Preview]:
    for name in islice(result.queries, MAX_QUERIES):
        yield _preview(result.query(name), name)


def _rest(result: Result) -> list[str]:
    more = len(result.queries) - MAX_QUERIES
    return [f"… and {more:,} more {'query' if more == 1 else 'queries'}"] if more > 0 else []


def _preview(result: Result, name: str) -> Preview:
    rows = result.head(MAX_ROWS)
    header = tuple(result.columns[name])
    cells = tuple(tuple(_cell(row[column]) for column in header) for row in rows)
    notes = []
    if len(result) > MAX_ROWS:
        notes.append(f"… {len(result) - MAX_ROWS:,} more")
    if any(cell.startswith("≈") for row in cells for cell in row):
        notes.append(SHORTENED)
    numeric = tuple(all(isinstance(row[column], int | float | Decimal | None) for row in rows) for column in header)
    count = "no rows" if not len(result) else "1 row" if len(result) == 1 else f"{len(result):,} rows"
    return Preview(f"{name}: {count}", header, numeric, cells, tuple(notes))


def _cell(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, int) and abs(value) >= 10**MAX_DIGITS:
        return "≈" + _short(Decimal(value))
    if isinstance(value, Decimal):
        return _short(value)
    if isinstance(value, dict):
        return _shortened(_event(value))
    if isinstance(value, list):
        return _shortened("[" + "; ".join(map(_cell_of_list, value)) + "]")
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _event(event: dict[str, Any]) -> str:
    """Return an event without its type, which the column tells."""
    _, *others = event.items()
    return " ".join(f"{name}={_cell(value)}" for name, value in others)


def _cell_of_list(value: Any) -> str:
    return _event(value) if isinstance(value, dict) else _cell(value)


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_EVENT else text[: MAX_EVENT - 1] + "…"


def _short(value: Decimal) -> str:
    return f"{value:.2e}".replace("e+", "e")


def _table(preview: Preview) -> Iterator[RenderableType]:
    if not preview.rows:
        yield Text(preview.title)
        return
    table = Table(
        title=Text(preview.title),
        title_justify="left",
        title_style="bold",
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
    )
    for name, numeric in zip(preview.header, preview.numeric, strict=True):
        table.add_column(Text(name), justify="right" if numeric else "left", no_wrap=True)
    for row in preview.rows:
        table.add_row(*map(Text, row))
    yield table
    yield from (Text(f"  {note}") for note in preview.notes)


def _html(preview: Preview) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in preview.header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in preview.rows)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if preview.rows else ""
    notes = "".join(f"<p>{escape(note)}</p>" for note in preview.notes)
    return f"<h4>{escape(preview.title)}</h4>{table}{notes}"
