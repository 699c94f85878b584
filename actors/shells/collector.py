"""The collector: rows of one group, from all places that have some of its partitions, become one."""

from __future__ import annotations

from elsinore.actors.rows.partial_rows import PartialRows, merged
from elsinore.actors.rows.rows import Rows


class Collector:
    """Holds nothing from batch to batch: all actors close the windows of a batch with that batch."""

    def collect(self, *answers: list[PartialRows]) -> list[Rows]:
        """The rows of a batch, each once."""
        found: dict[str, list[PartialRows]] = {}
        for answer in answers:
            for rows in answer:
                found.setdefault(rows.query, []).append(rows)
        return [merged(some).finished() for some in found.values()]
