"""A stream with its workload: what the figures of a paper are measured over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa


@dataclass(frozen=True)
class Setting:
    """A stream and a workload over it, for any rate and number of queries."""

    name: str
    stream: str
    events: Callable[[int, float], pa.Table]
    """Returns the stream with a number of events, at a rate in events per minute."""
    workload: Callable[[int], str]
    """Returns the workload with a number of queries."""
    minutes: float
    """Length of the stream."""
    pane: float
    """Length of a pane in minutes; windows begin and end at multiples of it."""
    time_unit: str
    numeric: Literal["exact", "approximate"]

    @property
    def what(self) -> str:
        return f"{self.stream}; {self.numeric} numbers"
