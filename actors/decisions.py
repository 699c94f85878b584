"""What was decided about bursts, and what came of it: a row per burst of a sharable Kleene sub-pattern."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from actors.counters_numba_fns import Events
from actors.hamlet_numba_fns import APART, Bursts, Rows
from planner.sharing import ShareSet


@dataclass
class Decisions:
    """Counts of all bursts; with `recorded`, each of them as columns too."""

    share_set: ShareSet
    recorded: bool = False
    bursts: int = 0
    shared: int = 0
    """Bursts of which a graphlet was shared by two queries or more."""
    snapshots: int = 0
    parts: list[dict[str, npt.NDArray[Any]]] = field(default_factory=list)
    _shared_cost: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    _apart_cost: npt.NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    def costs(self, shared: npt.NDArray[np.float64], apart: npt.NDArray[np.float64]) -> None:
        """What the optimizer thought of the bursts that `note` tells of next."""
        self._shared_cost, self._apart_cost = shared, apart

    def note(
        self,
        bursts: Bursts,
        rows: Rows,
        choice: npt.NDArray[np.uint8],
        created: npt.NDArray[np.int64],
        events: Events,
    ) -> None:
        sizes = np.diff(bursts.row_at)
        asked = np.flatnonzero((bursts.kleene >= 0) & (sizes > 0))
        graphlets = np.concatenate([[0], np.cumsum((choice != APART) & (rows.queries > 1))])
        together = (graphlets[bursts.row_at[1:]] > graphlets[bursts.row_at[:-1]])[asked]
        self.bursts += len(asked)
        self.shared += int(np.count_nonzero(together))
        self.snapshots += int(created[asked].sum())
        if not self.recorded:
            return
        first = bursts.first[asked]
        self.parts.append(
            {
                "kleene": bursts.kleene[asked],
                "partition": events.slot[first],
                "time": events.time[first],
                "events": bursts.size[asked],
                "window": bursts.window[asked],
                "snapshots_created": created[asked],
                "cost_shared": self._shared_cost[asked],
                "cost_apart": self._apart_cost[asked],
                "shared": together,
                "row_count": sizes[asked],
                **self._rows(rows, choice, bursts.row_at[asked], sizes[asked]),
            }
        )

    def _rows(
        self, rows: Rows, choice: npt.NDArray[np.uint8], first: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
    ) -> dict[str, npt.NDArray[Any]]:
        which = np.repeat(first - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        return {"row_lanes": rows.lanes[which], "row_choice": choice[which]}
