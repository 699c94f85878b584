"""Matches that are counted, paged and sampled without a list of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from elsinore.errors import InputError

if TYPE_CHECKING:
    from elsinore.actors.rows.rows import Rows
    from elsinore.cluster.run.searches import QuerySearch
    from elsinore.connectors.rows.answers import Columns
    from elsinore.result import Result


@dataclass(frozen=True, repr=False)
class Matches:
    """The matches of queries over bounded events, in the order of rows, as if there were no LIMIT.

    A count lists no match, and a page or a sample none but its own, so that the 2**100 - 1 matches of a list of 100
    events are counted and paged. There are few exceptions: values beyond 64 bits and NOT at the end take a list of all
    matches, which is made once; and where lists cannot be counted by dynamic programming, because a condition is about
    several of their events at once, matches are searched to be counted.
    """

    __module__ = "elsinore"

    searches: Mapping[str, QuerySearch]
    columns: Columns

    def count(self, query: str | None = None) -> int:
        """Return the exact number of matches of a query; without a name, of the only one."""
        return self._search(query).count

    def page(self, first: int, count: int, query: str | None = None) -> Result:
        """Return at most `count` matches of a query, from number `first` on, in the order of rows."""
        if first < 0 or count < 0:
            raise InputError(f"a page begins at 0 or later and has 0 rows or more, not {first} and {count}")
        one = self._search(query)
        return self._result(one, one.page(first, count))

    def sample(self, count: int, seed: int = 0, query: str | None = None) -> Result:
        """Return `count` matches of a query, or all if there are fewer; every set of them is equally likely."""
        if count < 0:
            raise InputError(f"a sample has 0 rows or more, not {count}")
        one = self._search(query)
        return self._result(one, one.sample(count, seed))

    def __repr__(self) -> str:
        return f"<Matches: {', '.join(self.searches)}>"

    def _search(self, name: str | None) -> QuerySearch:
        known = ", ".join(self.searches)
        if name is None:
            if len(self.searches) > 1:
                raise InputError(f"say which query is meant; there are {known}")
            (name,) = self.searches
        if name not in self.searches:
            raise InputError(f"the workload has no query {name!r}; it has {known}")
        return self.searches[name]

    def _result(self, one: QuerySearch, rows: list[Rows]) -> Result:
        from elsinore.connectors.rows.row_tables import answers, bounds_type
        from elsinore.result import Result

        columns = {one.query.name: self.columns[one.query.name]}
        metrics = SimpleNamespace(rows=sum(map(len, rows)))
        return Result(answers(rows, columns, one.clock), columns, bounds_type(one.clock), False, metrics)


def matches(
    workload: str | PathLike[str],
    events: Any,
    *,
    type_column: str = "type",
    time_column: str = "time",
    time_unit: str = "s",
) -> Matches:
    """Look for the matches of queries that RETURN MATCHES, to be counted, paged or sampled.

    All events are kept in memory. The arguments are those of `run`; bad events are left out.
    """
    from elsinore.api import attributes_of
    from elsinore.cluster.run.searches import searches
    from elsinore.connectors.rows.row_tables import columns_of
    from elsinore.connectors.sources import open_events
    from elsinore.inputs import checked
    from elsinore.planner.checks.check import check_attributes
    from elsinore.planner.language.resolve import with_events
    from elsinore.planner.time.clock import Clock

    asked = checked(workload)
    if others := [query.name for query in asked.queries if not query.detects]:
        raise InputError(f"the query {others[0]} returns aggregates and has no matches; use elsinore.run")
    source = open_events(events, type_column=type_column, time_column=time_column, time_unit=time_unit)
    check_attributes(asked, attributes_of(source, asked.types))
    queries = [with_events(query, source.event_columns) for query in asked.queries]
    clock = Clock.of(source.form, source.time_unit, asked.spans)
    columns = sorted({name for query in queries for name in query.columns})
    found = searches(queries, source.batches(clock, columns), clock)
    return Matches({one.query.name: one for one in found}, columns_of(asked))
