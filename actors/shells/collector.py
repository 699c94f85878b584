"""The collector: merges the rows of a group from all actors that have some of its partitions."""

from __future__ import annotations

from elsinore.actors.rows.partial_rows import PartialRows, united
from elsinore.actors.rows.rows import Rows


class Collector:
    """A merger of rows. It has no state between batches: all actors close the windows of a batch with that batch."""

    def collect(self, *answers: list[PartialRows]) -> list[Rows]:
        """Return the rows of a batch: of aggregates one per window and group, and all matches."""
        found: dict[str, list[PartialRows]] = {}
        for answer in answers:
            for rows in answer:
                found.setdefault(rows.query, []).append(rows)
        return [rows.finished() for some in found.values() for rows in united(some)]
