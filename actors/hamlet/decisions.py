"""The record of decisions and their outcomes: a row per burst of a sharable Kleene sub-pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from elsinore.actors.hamlet.burst_work import Work
from elsinore.actors.hamlet.bursts_numba_fns import HELD
from elsinore.actors.hamlet.graphlets_numba_fns import NOBODY
from elsinore.planner.hamlet.bursts import OWN, SHARED
from elsinore.planner.plans.sharing import Kleene, ShareSet
from elsinore.planner.time.clock import Clock

Ints = npt.NDArray[np.int64]
Lanes = npt.NDArray[np.uint64]

UNKNOWN, NOT_SHARED, WAS_SHARED = -1, 0, 1

CHANGES = pa.array([None, "merge", "split"])

COLUMNS: dict[str, pa.DataType | None] = {
    "share_set": pa.int64(),
    "kleene": pa.string(),
    "time": None,
    "events": pa.int64(),
    "events_in_window": pa.int64(),
    "snapshots_created": pa.int64(),
    "snapshots_propagated": pa.int64(),
    "cost_shared": pa.float64(),
    "cost_apart": pa.float64(),
    "choice": pa.string(),
    "change": pa.string(),
    "shared": pa.list_(pa.string()),
    "apart": pa.list_(pa.string()),
}
"""The columns of the table of decisions; None stands for the type of the stream's times."""


@dataclass
class Decisions:
    """Totals over all bursts of a share set; with `recorded`, each burst as a row of columns, too."""

    share_set: ShareSet
    recorded: bool = False
    totals: Ints = field(default_factory=lambda: np.zeros(3, np.int64))
    """Numbers of bursts decided about, of those decided to be shared by several queries, and of snapshots."""
    seconds: float = 0.0
    """Processor time in seconds that the optimizer took."""
    parts: list[dict[str, npt.NDArray[Any]]] = field(default_factory=list)
    last: npt.NDArray[np.int8] = field(default_factory=lambda: np.zeros((0, 0), np.int8))
    """By Kleene and partition, the decision about the last burst: UNKNOWN, NOT_SHARED or WAS_SHARED."""

    @property
    def bursts(self) -> int:
        return int(self.totals[0])

    @property
    def shared(self) -> int:
        return int(self.totals[1])

    @property
    def snapshots(self) -> int:
        return int(self.totals[2])

    def note(self, work: Work) -> None:
        """Record the bursts of a slice that have been taken in."""
        bursts, rows, asked, choices = work.bursts, work.rows, work.asked, work.choices
        kept = np.flatnonzero(bursts.kleene[asked.burst] != HELD)
        if not len(kept):
            return
        which = asked.burst[kept]
        graphlet = (choices.choice == SHARED) | ((choices.choice == OWN) & (rows.queries > 1))
        together = _any_lanes(rows.lanes * graphlet, asked.at)[kept]
        alone = _any_lanes(rows.lanes * ~graphlet, asked.at)[kept]
        first = bursts.first[which]
        kleene, partition = bursts.kleene[which], work.events.slot[first].astype(np.int64)
        self.parts.append(
            {
                "kleene": kleene,
                "time": work.events.time[first],
                "events": bursts.size[which],
                "events_in_window": bursts.window[which],
                "snapshots_created": work.created[which],
                "snapshots_propagated": work.most[which],
                "cost_shared": choices.shared[kept],
                "cost_apart": choices.apart[kept],
                "together": together,
                "alone": alone,
                "change": self._changes(kleene, partition, together != NOBODY),
            }
        )

    def forget(self, but: int) -> None:
        """Drop records of the oldest bursts; at least the last `but` bursts stay."""
        while len(self.parts) > 1 and sum(len(part["kleene"]) for part in self.parts[1:]) >= but:
            del self.parts[0]

    def _changes(self, kleene: Ints, partition: Ints, shared: npt.NDArray[np.bool_]) -> npt.NDArray[np.int8]:
        """Return the change from the last burst of the same Kleene and partition: 0 none, 1 a merge, 2 a split."""
        self._make_room(int(partition.max()) + 1)
        order = np.lexsort((np.arange(len(kleene)), partition, kleene))
        kleene, partition, now = kleene[order], partition[order], shared[order].astype(np.int8)
        new = np.ones(len(order), np.bool_)
        new[1:] = (kleene[1:] != kleene[:-1]) | (partition[1:] != partition[:-1])
        before = np.concatenate([[UNKNOWN], now[:-1]]).astype(np.int8)
        before[new] = self.last[kleene[new], partition[new]]
        self.last[kleene, partition] = now
        changes = np.empty(len(order), np.int8)
        merge = (before == NOT_SHARED) & (now == WAS_SHARED)
        split = (before == WAS_SHARED) & (now == NOT_SHARED)
        changes[order] = merge + 2 * split
        return changes

    def _make_room(self, partitions: int) -> None:
        kleenes = len(self.share_set.kleenes)
        missing = partitions - self.last.shape[1]
        if missing > 0:
            more = np.full((kleenes, max(missing, self.last.shape[1])), UNKNOWN, np.int8)
            self.last = np.concatenate([self.last.reshape(kleenes, -1), more], axis=1)

    def keep(self, slots: Ints) -> None:
        if self.recorded and len(slots):
            self._make_room(int(slots.max()) + 1)
            self.last = self.last[:, slots]

    def table(self, number: int, names: Sequence[str], clock: Clock) -> pa.Table:
        """Return the recorded bursts as a table; `names` are those of the members' queries."""
        columns = {name: np.concatenate([part[name] for part in self.parts]) for name in self.parts[0]}
        kleenes = self.share_set.kleenes
        types = pa.array([f"{kleene.type}+" for kleene in kleenes])
        together, alone = columns["together"], columns["alone"]
        shown: dict[str, pa.Array] = {
            "share_set": pa.array(np.full(len(together), number)),
            "kleene": types.take(pa.array(columns["kleene"])),
            "time": clock.show(columns["time"]),
            **{name: pa.array(columns[name]) for name in ("events", "events_in_window")},
            **{name: pa.array(columns[name]) for name in ("snapshots_created", "snapshots_propagated")},
            **{name: pa.array(columns[name], from_pandas=True) for name in ("cost_shared", "cost_apart")},
            "choice": pa.array(np.where(together == NOBODY, "apart", np.where(alone == NOBODY, "shared", "partly"))),
            "change": CHANGES.take(pa.array(columns["change"])),
            "shared": _queries(columns["kleene"], together, kleenes, names),
            "apart": _queries(columns["kleene"], alone, kleenes, names),
        }
        return pa.table(shown)


def _any_lanes(lanes: Lanes, at: Ints) -> Lanes:
    """Return, per burst, the union of the lanes of its rows."""
    found = np.zeros(len(at) - 1, np.uint64)
    some = np.flatnonzero(np.diff(at))
    if len(some):
        found[some] = np.bitwise_or.reduceat(lanes, at[some])
    return found


def _queries(kleene: Ints, lanes: Lanes, kleenes: Sequence[Kleene], names: Sequence[str]) -> pa.Array:
    """Return, per burst, the names of the queries of its lanes."""
    pairs, which = np.unique(np.stack([kleene.astype(np.uint64), lanes]), axis=1, return_inverse=True)
    lists = [_names(kleenes[int(k)], int(mask), names) for k, mask in pairs.T]
    return pa.array(lists, pa.list_(pa.string())).take(pa.array(which.reshape(-1)))


def _names(kleene: Kleene, mask: int, names: Sequence[str]) -> list[str]:
    numbers = {s for lane, sharers in enumerate(kleene.lanes) if mask >> lane & 1 for s in sharers}
    return list(dict.fromkeys(names[kleene.sharers[s].member] for s in sorted(numbers)))


def decisions_table(decisions: Sequence[Decisions], names: Sequence[Sequence[str]], clock: Clock) -> pa.Table:
    """Return the recorded bursts of all share sets as one table."""
    found = [
        one.table(number, members, clock)
        for number, (one, members) in enumerate(zip(decisions, names, strict=True), start=1)
        if one.parts
    ]
    times = clock.show(np.zeros(0, np.int64)).type
    empty = pa.schema([(name, kind or times) for name, kind in COLUMNS.items()]).empty_table()
    return pa.concat_tables([empty, *found], promote_options="permissive")
