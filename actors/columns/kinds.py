"""Kinds of events: one classification of events for all queries of a share set.

Events are of one kind if they have the same type and satisfy the same predicates, of all predicates that queries of
the set have. Kinds are numbered in the order in which they are first seen. Each kind has one class in every member's
machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.columns.expressions import Evaluator
from elsinore.planner.hamlet.share_sets import Condition, class_of, conditions
from elsinore.planner.language.syntax import Expression
from elsinore.planner.machines.predicates import attributes
from elsinore.planner.plans.model import Counter, QueryPlan
from elsinore.planner.plans.sharing import Kleene

ANY_OTHER = "*"
"""In place of all types that no query names: under contiguous semantics their events end trends, too."""

MOST_TABULATED = 12
"""Maximum number of conditions on one type for which a table of all their combinations is made."""


class EventKinds:
    takes_all = False
    """Whether events of kind 0 are read; under contiguous semantics, other events that end trends have a kind too."""

    def __init__(self, members: Sequence[tuple[QueryPlan, Counter]], kleenes: Sequence[Kleene]) -> None:
        self.members = members
        self.kleenes = {kleene.type: kleene for kleene in kleenes}
        self.conditions = conditions(members)
        self.semantics = members[0][0].query.semantics
        self.types = list(dict.fromkeys(one.type for _, counter in members for one in counter.machine.classes))
        if self.semantics == "contiguous":
            self.types.append(ANY_OTHER)
        self.classes: list[list[int]] = [[0] * len(members)]
        """By kind: its class in each member's machine. Kind 0 has all events that no member takes."""
        self.type_of = [-1]
        self.takes = [0]
        """By kind, as bits: the lanes of its type's Kleene sub-pattern that take it."""
        self._numbers: dict[tuple[str, int], int] = {}

    def __len__(self) -> int:
        return len(self.classes)

    def of(self, types: pa.DictionaryArray, columns: Mapping[str, pa.Array]) -> npt.NDArray[np.int32]:
        """Return the kind of each event."""
        names = types.dictionary.to_pylist()
        codes = types.indices.to_numpy(zero_copy_only=False)
        tested = [name for name in names if self.conditions.get(name)]
        plain = [self._number(self._known(name), 0) if name not in tested else 0 for name in names]
        kinds = np.array(plain, np.int32)[codes] if names else np.zeros(len(codes), np.int32)
        for name in tested:
            rows = np.flatnonzero(codes == names.index(name))
            if len(rows):
                kinds[rows] = self._tested(name, rows, columns)
        return kinds

    def _known(self, name: str) -> str:
        return name if name in self.types else ANY_OTHER

    def _tested(self, name: str, rows: npt.NDArray[np.int64], columns: Mapping[str, pa.Array]) -> npt.NDArray[np.int32]:
        asked = self.conditions[name]
        mask = np.zeros(len(rows), np.int64)
        whole = len(rows) == len(next(iter(columns.values()), rows))
        indices = pa.array(rows)
        taken: dict[str, pa.Array] = {}
        for bit, predicates in enumerate(asked.values()):
            for column in _read(predicates):
                if column in columns and column not in taken:
                    taken[column] = columns[column] if whole else columns[column].take(indices)
            evaluate = Evaluator(taken, len(rows), self._asker(name, predicates))
            holds = np.ones(len(rows), np.bool_)
            for predicate in predicates:
                holds &= evaluate.condition(predicate)
            mask |= holds.astype(np.int64) << bit
        return self._numbered(name, mask, len(asked))

    def _asker(self, name: str, predicates: tuple[Expression, ...]) -> str:
        """Return the query to name in an error about these predicates."""
        return next(plan.query.name for plan, _ in self.members if predicates in plan.predicates.local.values())

    def _numbered(self, name: str, mask: npt.NDArray[np.int64], bits: int) -> npt.NDArray[np.int32]:
        if bits > MOST_TABULATED:
            found, places = np.unique(mask, return_inverse=True)
            return np.array([self._number(name, int(one)) for one in found], np.int32)[places]
        table = np.zeros(1 << bits, np.int32)
        for one in np.flatnonzero(np.bincount(mask, minlength=1 << bits)):
            table[one] = self._number(name, int(one))
        return table[mask]

    def _number(self, name: str, mask: int) -> int:
        key = (name, mask)
        if key not in self._numbers:
            self._numbers[key] = self._new(name, mask)
        return self._numbers[key]

    def _new(self, name: str, mask: int) -> int:
        asked: list[Condition] = list(self.conditions.get(name, ()))
        holding = frozenset(one for bit, one in enumerate(asked) if mask >> bit & 1)
        classes = [class_of(plan, counter.machine, name, holding) for plan, counter in self.members]
        if not any(map(_acts, (counter for _, counter in self.members), classes)):
            return 0
        self.classes.append(classes)
        self.type_of.append(self.types.index(name))
        self.takes.append(self._lanes(name, classes))
        return len(self.classes) - 1

    def save(self) -> list[Any]:
        """Return the kinds in the order of their numbers."""
        return [list(key) for key in self._numbers]

    def load(self, state: list[Any]) -> None:
        for name, mask in state:
            self._number(name, mask)

    def _lanes(self, name: str, classes: list[int]) -> int:
        if name not in self.kleenes:
            return 0
        kleene = self.kleenes[name]
        firsts = [kleene.sharers[lane[0]] for lane in kleene.lanes]
        return sum(1 << lane for lane, one in enumerate(firsts) if classes[one.member] in one.accepts)


def _acts(counter: Counter, event_class: int) -> bool:
    """Return whether an event of this class changes the counter's trends."""
    machine = counter.machine
    return bool(machine.appends[event_class] or machine.consumes[event_class] or machine.symbols[event_class])


def _read(predicates: tuple[Expression, ...]) -> set[str]:
    return {attribute.name for predicate in predicates for attribute in attributes(predicate)}
