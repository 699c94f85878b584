"""Sync what Spark writes with each batch of a live stream: `python -m benchmarks.runtime.syncing [FOLDER]`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from time import perf_counter

from elsinore.cluster.stream.spark_log import SparkLog
from elsinore.connectors.storage.vault import Vault

BATCHES = 300

SIZES = {"commits": 29, "sources/0": 150, "offsets": 750}
"""Bytes of the files that Spark writes with each batch; each has a checksum of 12 bytes beside it."""


def write(folder: Path, batch: int) -> None:
    """Write three files as Spark does: under temporary names first, and not synced."""
    for name, size in SIZES.items():
        for final, length in ((str(batch), size), (f".{batch}.crc", 12)):
            draft = folder / name / f"{final}.tmp"
            draft.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(bytes(length))
            draft.rename(folder / name / final)


def milliseconds(folder: Path) -> list[float]:
    log, found = SparkLog(Vault(str(folder))), []
    for batch in range(BATCHES):
        write(log.folder, batch)
        begin = perf_counter()
        log.keep()
        found.append(1000 * (perf_counter() - begin))
    return found


if __name__ == "__main__":
    with TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder:
        found = milliseconds(Path(folder))
    print(json.dumps({"median ms": round(median(found), 1), "p95 ms": round(quantiles(found, n=20)[18], 1)}))
