"""The rows that a batch yields: aggregates at once, and matches as they are taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain

from elsinore.actors.rows.partial_rows import PartialRows


@dataclass
class Found:
    """The rows of a batch. Matches are searched as they are taken, from events that later batches do not change."""

    rows: list[PartialRows] = field(default_factory=list)
    """Those of aggregates."""
    matches: list[Iterator[PartialRows]] = field(default_factory=list)

    def add(self, rows: list[PartialRows] | Iterator[PartialRows]) -> None:
        if isinstance(rows, list):
            self.rows += rows
        else:
            self.matches.append(rows)

    def join(self, other: Found) -> None:
        self.rows += other.rows
        self.matches += other.matches

    def __iter__(self) -> Iterator[PartialRows]:
        return chain(self.rows, *self.matches)


class Outlet:
    """The matches of a batch, handed out one message at a time.

    A request says how many rows of each query have arrived. So a request whose reply was lost is repeated, and an
    outlet of a replacement, which searches the same events, goes on where another one ended: the rows of a batch always
    come in one order.
    """

    def __init__(self, found: Found) -> None:
        self._rows = chain.from_iterable(found.matches)
        self._before = Counter[str]()
        """By query, the number of rows before the last message."""
        self._last: list[PartialRows] = []
        self.more = bool(found.matches)
        """Whether there may be rows after the last message."""

    def after(self, arrived: Mapping[str, int], least: int) -> list[PartialRows]:
        """Return the rows that follow those that have arrived: at least so many, unless these are the last."""
        if self._last and arrived == self._before:
            return self._last
        now = self._before + rows_by_query(self._last)
        if now - Counter(arrived):
            raise ValueError(f"the matches after {dict(arrived)} are not kept; {dict(now)} were handed out")
        missing = Counter(arrived) - now
        self._before, self._last = Counter(arrived), []
        while self.more and sum(map(len, self._last)) < least:
            rows = next(self._rows, None)
            if rows is None:
                self.more = False
            else:
                skipped = min(len(rows), missing[rows.query])
                missing[rows.query] -= skipped
                self._last += [rows.since(skipped)] if skipped < len(rows) else []
        return self._last


def rows_by_query(rows: Iterable[PartialRows]) -> Counter[str]:
    """Return the number of rows of each query."""
    found = Counter[str]()
    for some in rows:
        found[some.query] += len(some)
    return found
