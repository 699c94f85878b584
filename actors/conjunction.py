"""AND: pairs of trends, one per operand (GRETA's counting rule).

The members of one match are different trends and have no order. A trend is counted under the exact
set of operands that it matches; a match takes its members from such sets so that every operand gets
a member of its own. Where no trend matches two operands, the number of matches is a plain product.
"""

from __future__ import annotations

from collections import Counter as Multiset
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import comb, prod
from typing import Any

import numpy as np

from elsinore.actors.members import SetMember
from elsinore.actors.rows.cells import Cells
from elsinore.actors.rows.results import Decoder
from elsinore.actors.rows.rows import Rows
from elsinore.actors.rows.values import collected
from elsinore.actors.streams.partitions import Partitions
from elsinore.planner.plans.model import QueryPlan

Operands = tuple[int, ...]
Key = tuple[int, int, int]
"""Window start, window end, partition."""


def matches(counts: dict[Operands, int], operands: int) -> int:
    """Return the number of matches; `counts` has, by set of operands, the trends that match at least these."""
    exactly = _exactly(counts)
    total = 0
    for members in _systems(tuple(exactly), operands):
        total += prod(comb(exactly[kind], times) for kind, times in members)
    return total


def _exactly(counts: dict[Operands, int]) -> dict[Operands, int]:
    """Return the numbers of trends by the exact set of operands that they match, by inclusion and exclusion."""
    return {
        kind: sum(
            (-1) ** (len(larger) - len(kind)) * count for larger, count in counts.items() if set(kind) <= set(larger)
        )
        for kind in counts
    }


@cache
def _systems(kinds: tuple[Operands, ...], operands: int) -> tuple[tuple[tuple[Operands, int], ...], ...]:
    """Return the ways to choose as many members as there are operands so that each operand can have its own."""
    return tuple(
        tuple(Multiset(chosen).items())
        for chosen in combinations_with_replacement(kinds, operands)
        if _represents(chosen, frozenset(range(operands)))
    )


def _represents(members: Sequence[Operands], operands: frozenset[int]) -> bool:
    if not members:
        return True
    return any(_represents(members[1:], operands - {operand}) for operand in members[0] if operand in operands)


def conjoin(
    plan: QueryPlan, members: Sequence[SetMember], cells: Sequence[Cells | None], partitions: Partitions
) -> list[Rows]:
    """Return the rows of a query with AND from the cells of its counters, which are by partition."""
    decoders = [Decoder(c.columns, one) if one else None for c, one in zip(members, cells, strict=True)]
    by_key = [_by_key(decoder) for decoder in decoders]
    operands = sum(len(member.counter.operands) == 1 for member in members)
    merged: dict[Key, list[_Match]] = {}
    for key in sorted({key for keys in by_key for key in keys}):
        found = {
            member.counter.operands: _trends(decoder, keys.get(key))
            for member, decoder, keys in zip(members, decoders, by_key, strict=True)
        }
        if count := matches(found, operands):
            rows = [keys.get(key) for keys in by_key]
            group = (key[0], key[1], int(partitions.group_of[key[2]]))
            merged.setdefault(group, []).append(_Match(count, found, rows))
    return [_rows(plan, members, decoders, merged, partitions)] if merged else []


class _Match:
    """The matches of one partition in one window, with the rows of its operands' cells."""

    def __init__(self, count: int, trends: dict[Operands, int], rows: list[int | None]) -> None:
        self.count = count
        self.trends = trends
        self.rows = rows


def _by_key(decoder: Decoder | None) -> dict[Key, int]:
    if decoder is None:
        return {}
    cells = decoder.cells
    return dict(
        zip(
            zip(cells.start.tolist(), cells.end.tolist(), cells.group.tolist(), strict=True),
            range(len(cells)),
            strict=True,
        )
    )


def _trends(decoder: Decoder | None, row: int | None) -> int:
    return 0 if decoder is None or row is None else int(decoder.trends[row])


def _rows(
    plan: QueryPlan,
    members: Sequence[SetMember],
    decoders: Sequence[Decoder | None],
    merged: dict[Key, list[_Match]],
    partitions: Partitions,
) -> Rows:
    keys = sorted(merged)
    values: dict[str, Any] = {}
    for item in plan.query.aggregates:
        if item.variable is None:
            column: Iterable[Any] = (Fraction(sum(match.count for match in merged[key])) for key in keys)
        else:
            at = next(
                i for i, c in enumerate(members) if any(lane.variable == item.variable for lane in c.columns.lanes)
            )
            decoder = decoders[at]
            assert decoder is not None
            column = (decoder.merged(item, _parts(merged[key], at, members[at].counter.operands)) for key in keys)
        values[item.label] = collected(list(column), members[0].columns.exact)
    groups = np.array([key[2] for key in keys], np.int32)
    return Rows(
        plan.query.name,
        np.array([key[0] for key in keys], np.int64),
        np.array([key[1] for key in keys], np.int64),
        partitions.group_columns(groups),
        values,
    )


def _parts(found: list[_Match], at: int, operands: Operands) -> list[tuple[int, Fraction]]:
    """Return the cells of one operand, each with the number of matches that each of its trends is part of."""
    return [
        (row, Fraction(match.count, match.trends[operands])) for match in found if (row := match.rows[at]) is not None
    ]
