"""The two sides of predicates on neighbours, as columns of integers that compare as the values do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.actors.columns.expressions import EXACT_IN_FLOAT, Evaluator, Values
from elsinore.actors.columns.lanes import float_keys
from elsinore.actors.neighbours.entries_numba_fns import Links
from elsinore.actors.streams.keys import Texts
from elsinore.planner.language.errors import Problem, WorkloadError
from elsinore.planner.machines.predicates import Link, Predicates, attributes
from elsinore.planner.plans.model import Counter

Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class LinkColumns:
    """The columns of links, and what each link compares: integers until the first float, floats, texts, or times."""

    def __init__(
        self, links: Sequence[Link], queries: Sequence[str], readers: Callable[[], Sequence[tuple[Mask, Mask]]]
    ) -> None:
        """Name `queries` in errors; `readers` returns for both sides, by kind, whether it is read."""
        self.links = links
        self.queries = queries
        self.kinds: list[str | None] = [None for _ in self.links]
        self.texts = [Texts() for _ in self.links]
        sides = [side for link in self.links for side in (link.left, link.right)]
        self.reads = {attribute.name for side in sides for attribute in attributes(side)}
        self.readers = readers

    @classmethod
    def of(cls, counter: Counter, predicates: Predicates, query: str) -> LinkColumns:
        """Create the columns of the links of one query."""
        links = predicates.links
        readers = [(_readers(counter, link.before), _readers(counter, link.after)) for link in links]
        return cls(links, [query] * len(links), lambda: readers)

    def encode(self, columns: Mapping[str, pa.Array], kinds: npt.NDArray[np.integer[Any]]) -> tuple[Links, list[int]]:
        """Return both sides of all links, and the links that compared integers and compare floats from now on."""
        left, right, promoted = [], [], []
        both_readers = self.readers()
        for k, link in enumerate(self.links):
            evaluate = Evaluator(columns, len(kinds), self.queries[k])
            sides = [evaluate.values(link.left), evaluate.values(link.right)]
            readers = both_readers[k]
            sides = [Values(side.data, side.valid & reads[kinds]) for side, reads in zip(sides, readers, strict=True)]
            before = self.kinds[k]
            self.kinds[k] = self._kind(k, sides)
            if before == "int" and self.kinds[k] == "float":
                promoted.append(k)
            left.append((self._integers(k, sides[0]), sides[0].valid))
            right.append((self._integers(k, sides[1]), sides[1].valid))
        count = len(kinds)
        return (
            Links(
                *(_stack([side[0] for side in one], count, np.int64) for one in (left, right)),
                *(_stack([side[1] for side in one], count, np.bool_) for one in (left, right)),
            ),
            promoted,
        )

    def comparable(self, links: Links) -> Links:
        """Return links with texts replaced by their ranks where a link compares their order."""
        left, right = links.left, links.right
        for k, link in enumerate(self.links):
            if self.kinds[k] == "text" and link.operator not in ("=", "!="):
                texts = self.texts[k]
                order = pc.array_sort_indices(texts.texts(np.arange(texts.count))).to_numpy()
                rank = np.empty(texts.count + 1, np.int64)
                rank[order] = np.arange(texts.count)
                left, right = left.copy(), right.copy()
                left[k] = rank[np.where(links.left_known[k], left[k], -1)]
                right[k] = rank[np.where(links.right_known[k], right[k], -1)]
        return links._replace(left=left, right=right)

    def _kind(self, k: int, sides: list[Values]) -> str | None:
        found = {self.kinds[k]} | {_kind_of(side) for side in sides if side.valid.any()}
        found.discard(None)
        if found <= {"int", "float"}:
            return "float" if "float" in found else "int" if found else None
        if len(found) > 1:
            raise self._wrong(k, f"{self.links[k]} compares {' with '.join(sorted(map(str, found)))} values")
        return found.pop()

    def _integers(self, k: int, side: Values) -> Ints:
        kind = self.kinds[k]
        if kind is None or not side.valid.any():
            return np.zeros(len(side.valid), np.int64)
        if kind == "text":
            return self.texts[k].numbers(side.data)
        if kind == "time":
            whole = side.data.cast(pa.int32() if side.data.type.bit_width == 32 else pa.int64())
            return whole.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        data = np.where(side.valid, side.data, 0)
        if kind == "int":
            return self._whole(k, data)
        return self.as_floats(k, data)

    def as_floats(self, k: int, data: npt.NDArray[Any]) -> Ints:
        """Return keys that have the order of floats, for floats or integers."""
        if data.dtype.kind != "f" and len(data) and max(abs(int(data.min())), abs(int(data.max()))) > EXACT_IN_FLOAT:
            raise self._wrong(k, f"{self.links[k]} compares floats with integers beyond 2**53")
        return float_keys(data.astype(np.float64))

    def _whole(self, k: int, data: npt.NDArray[Any]) -> Ints:
        if data.dtype.kind == "O" and not all(-(2**63) <= value < 2**63 for value in data.tolist()):
            raise self._wrong(k, f"a value of {self.links[k]} does not fit 64 bits")
        return data.astype(np.int64)

    def _wrong(self, k: int, message: str) -> WorkloadError:
        place, query = self.links[k].left.place, self.queries[k]
        return WorkloadError([Problem(message, "compare values of one kind", place, query)])

    def save(self) -> dict[str, Any]:
        return {"kinds": self.kinds, "texts": [texts.save() for texts in self.texts]}

    def load(self, state: dict[str, Any]) -> None:
        self.kinds = state["kinds"]
        self.texts = [Texts.load(texts) for texts in state["texts"]]


def _readers(counter: Counter, variable: str) -> Mask:
    """Return, by class, whether its events may be bound to the variable."""

    def binds(taken: Any) -> bool:
        main = any(
            whole.positions[p].variable == variable
            for whole, positions in zip(counter.automata, taken.positions, strict=True)
            for p in positions
        )
        return main or any(counter.automata[i].guards[g].positions[p].variable == variable for i, g, p in taken.guarded)

    return np.array([False, *(binds(one) for one in counter.machine.classes)], np.bool_)


def _kind_of(side: Values) -> str:
    if side.numeric:
        return "float" if side.data.dtype.kind == "f" else "int"
    return "text" if pa.types.is_string(side.data.type) else "time"


def _stack(columns: list[npt.NDArray[Any]], count: int, kind: type) -> npt.NDArray[Any]:
    return np.stack(columns) if columns else np.zeros((0, count), kind)
