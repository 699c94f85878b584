"""Conditions that are decided on whole matches: FIRST, LAST and aggregates of lists; numbers with more than 64 bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.actors.columns.expressions import Evaluator, Values, column_values
from elsinore.actors.detection.matches import Bound, Matches
from elsinore.planner.detection.normal_form import Condition
from elsinore.planner.language.syntax import Attribute, Expression, Summary, nodes
from elsinore.planner.language.walk import map_readers

Ints = npt.NDArray[np.int64]


def satisfying(matches: Matches, condition: Condition) -> npt.NDArray[np.bool_]:
    """Return which matches satisfy a condition with every choice of one event for each of its variables."""
    choice = np.arange(len(matches))
    chosen: dict[str, npt.NDArray[np.int32]] = {}
    for name in sorted(condition.variables):
        one = matches.bound[name]
        counts = one.counts[choice]
        ends = np.cumsum(counts)
        within = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - counts, counts)
        rows = one.rows[np.repeat(one.begins[choice], counts) + within]
        chosen = {known: np.repeat(column, counts) for known, column in chosen.items()}
        chosen[name] = rows
        choice = np.repeat(choice, counts)
    holds = np.ones(len(matches), np.bool_)
    holds[choice[~_truth(matches, condition.expression, choice, chosen)]] = False
    return holds


def _truth(
    matches: Matches, expression: Expression, choice: Ints, chosen: dict[str, npt.NDArray[np.int32]]
) -> npt.NDArray[np.bool_]:
    columns: dict[str, pa.Array] = {}
    attributes = dict(zip(matches.events.schema.names, matches.events.columns, strict=True))
    for node in nodes(expression):
        if isinstance(node, Attribute):
            columns[str(node)] = attributes[node.name].take(pa.array(chosen[node.variable]))
        elif isinstance(node, Summary):
            columns[str(node)] = summary(matches, node).take(pa.array(choice))
    return Evaluator(columns, len(choice), matches.query).condition(_by_text(expression))


def _by_text(expression: Expression) -> Expression:
    """Return an expression whose attributes are called as the readers in whose place they stand."""
    return map_readers(expression, lambda one: Attribute("", str(one), place=one.place))


def summary(matches: Matches, asked: Summary) -> pa.Array:
    """Return FIRST, LAST or an aggregate over the events of a variable, by match."""
    one = matches.bound[asked.variable]
    if asked.function == "COUNT":
        return pa.array(one.counts)
    assert asked.attribute is not None
    column = matches.events.column(matches.events.schema.names.index(asked.attribute))
    return summarised(asked.function, one, column)


def summarised(function: str, one: Bound, column: pa.Array) -> pa.Array:
    """Return a function of the values of a column in the lists of rows; nulls are left out."""
    owner, rows = one.flat()
    known = column.is_valid().to_numpy(zero_copy_only=False)[rows]
    owner, rows = owner[known], rows[known]
    counts = np.bincount(owner, minlength=len(one))
    ends = np.cumsum(counts)
    if function in ("FIRST", "LAST"):
        at = ends - counts if function == "FIRST" else ends - 1
        return column.take(_at(rows, at, counts))
    if function in ("MIN", "MAX"):
        return _extreme(function, owner, column.take(pa.array(rows)), counts)
    return _added(function, column_values(column.take(pa.array(rows))), ends, counts)


def _extreme(function: str, owner: Ints, values: pa.Array, counts: Ints) -> pa.Array:
    order = pc.sort_indices(
        pa.table({"owner": owner, "value": values}), [("owner", "ascending"), ("value", "ascending")]
    ).to_numpy()
    ends = np.cumsum(counts)
    at = ends - counts if function == "MIN" else ends - 1
    return values.take(_at(order, at, counts))


def _at(rows: npt.NDArray[Any], at: Ints, counts: Ints) -> pa.Array:
    """Return the rows at these places, null where nothing was counted."""
    return pa.array(np.append(rows, 0)[np.clip(at, 0, len(rows))], mask=counts == 0)


def _added(function: str, values: Values, ends: Ints, counts: Ints) -> pa.Array:
    data: list[Any] = values.data.tolist()
    add = math.fsum if values.data.dtype.kind == "f" else sum
    sums: list[Any] = [
        add(data[end - count : end]) if count else None
        for end, count in zip(ends.tolist(), counts.tolist(), strict=True)
    ]
    if function == "AVG":
        sums = [total / count if count else None for total, count in zip(sums, counts.tolist(), strict=True)]
    return pa.array(sums)
