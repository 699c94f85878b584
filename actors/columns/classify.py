"""Classification of events: the class of a machine that each event belongs to."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.columns.expressions import Evaluator
from elsinore.planner.machines.machine import Machine
from elsinore.planner.machines.predicates import Predicates

Kinds = npt.NDArray[np.int16]


class Classifier:
    def __init__(self, machine: Machine, predicates: Predicates, query: str) -> None:
        self.predicates = predicates
        self.query = query
        self.takes_all = machine.semantics == "contiguous"
        self.tested: dict[str, tuple[str, ...]] = {}
        """By type, the variables that have local predicates."""
        self.numbers: dict[tuple[str, frozenset[str]], int] = {}
        for number, event_class in enumerate(machine.classes, start=1):
            satisfied = event_class.satisfied
            self.numbers[event_class.type, satisfied] = number
            self.tested[event_class.type] = max(
                self.tested.get(event_class.type, ()), tuple(sorted(satisfied)), key=len
            )

    def of(self, types: pa.DictionaryArray, columns: Mapping[str, pa.Array]) -> Kinds:
        """Return the class of each event, 0 where it takes no position."""
        names = types.dictionary.to_pylist()
        plain = np.array([self._plain(name) for name in names], np.int16)
        codes = types.indices.to_numpy(zero_copy_only=False)
        kinds = plain[codes] if len(plain) else np.zeros(len(codes), np.int16)
        for code, name in enumerate(names):
            if self.tested.get(name):
                rows = np.flatnonzero(codes == code)
                kinds[rows] = self._tested(name, rows, columns)
        return kinds

    def _plain(self, name: str) -> int:
        return self.numbers.get((name, frozenset()), 0)

    def _tested(self, name: str, rows: npt.NDArray[np.int64], columns: Mapping[str, pa.Array]) -> Kinds:
        """Return the classes of events of a type that has variables with local predicates."""
        variables = self.tested[name]
        taken = {column: columns[column].take(pa.array(rows)) for column in columns}
        evaluate = Evaluator(taken, len(rows), self.query)
        bits = np.zeros(len(rows), np.int64)
        for bit, variable in enumerate(variables):
            holds = np.ones(len(rows), np.bool_)
            for predicate in self.predicates.local[variable]:
                holds &= evaluate.condition(predicate)
            bits |= holds.astype(np.int64) << bit
        by_bits = [
            self.numbers[name, frozenset(v for bit, v in enumerate(variables) if mask >> bit & 1)]
            for mask in range(1 << len(variables))
        ]
        return np.array(by_bits, np.int16)[bits]
