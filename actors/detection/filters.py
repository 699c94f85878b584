"""Conditions that are decided on whole matches: FIRST, LAST and aggregates of lists; numbers with more than 64 bits."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.columns.expressions import Evaluator, Values, column_values
from elsinore.actors.detection.matches import Matches
from elsinore.actors.detection.summaries import summary
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
    read: dict[str, Values] = {}
    for node in nodes(expression):
        if isinstance(node, Attribute):
            column = matches.column(node.name)
            read[str(node)] = column_values(column.take(pa.array(chosen[node.variable])))
        elif isinstance(node, Summary):
            found = summary(matches, node)
            known = pa.array(choice)
            data = found.data[choice] if found.numeric else found.data.take(known)
            read[str(node)] = Values(data, found.valid[choice])
    return _Reader(read, len(choice), matches.query).condition(_by_text(expression))


class _Reader(Evaluator):
    """An evaluator over values that are there already, by the text of what they are the values of."""

    def __init__(self, read: Mapping[str, Values], count: int, query: str) -> None:
        super().__init__({}, count, query)
        self.read = read

    def values(self, expression: Expression) -> Values:
        return self.read[expression.name] if isinstance(expression, Attribute) else super().values(expression)


def _by_text(expression: Expression) -> Expression:
    """Return an expression whose attributes are called as the readers in whose place they stand."""
    return map_readers(expression, lambda one: Attribute("", str(one), place=one.place))
