"""Late events: those that came behind the watermark."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

LATE_KEPT = 10_000
"""Number of late events that are kept for inspection: all of them may not fit into memory."""


@dataclass
class LateEvents:
    """The first late events of a stream, and the number of all."""

    kept: list[pa.RecordBatch] = field(default_factory=list)
    count: int = 0

    def note(self, late: pa.RecordBatch) -> None:
        room = LATE_KEPT - self.count
        self.count += late.num_rows
        if room > 0:
            # A slice would keep all of the batch in memory.
            self.kept.append(late if len(late) <= room else late.take(pa.array(range(room))))
