"""Test that acknowledged files survive a loss of power: content, name, and the names of their folders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from elsinore.cluster.service.intake import NDJSON, Append, accept
from elsinore.cluster.service.jobs import Jobs
from elsinore.cluster.service.rows import RowsSink
from elsinore.cluster.service.settings import service_settings
from elsinore.cluster.service.submitting import submit
from elsinore.cluster.service.web.documents import Submission
from elsinore.cluster.stream.checkpoint import BatchRecord, Checkpoint
from elsinore.connectors.live_sinks import open_live_sink
from elsinore.connectors.spark.setting_aside import set_aside
from elsinore.connectors.storage.vault import Vault
from tests.cluster.power import watched

ROWS = pa.table({"query": ["q"], "window_start": [0], "window_end": [1], "n": [1]})


def folder_of(kind: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        sink = open_live_sink(folder / "new" / f"rows.{kind}", {"q": ["window_start", "window_end", "n"]}, "a stream")
        sink.write(1, [ROWS])
        sink.write(2, [ROWS])

    return write


def rows_of_a_job(folder: Path) -> None:
    RowsSink(folder, {"q": ["window_start", "window_end", "n"]}).write(1, [ROWS])


def vault(folder: Path) -> None:
    vault = Vault(str(folder / "new" / "checkpoint"))
    vault.put("a/b", b"1")
    vault.put("a/c/d", b"2")
    vault.put("a/c/e/f", b"3")


def era(folder: Path) -> None:
    checkpoint = Checkpoint(str(folder / "new" / "checkpoint"))
    found = checkpoint.next_era()
    found.begin({})
    found.put_state(1, 0, b"state")
    found.put_events(1, 0, [b"events"])
    found.put_whole(BatchRecord(1))
    found.put_done(BatchRecord(1))
    checkpoint.close()


def job(folder: Path) -> None:
    jobs = Jobs(folder / "data")
    jobs.begin()
    document = Submission(workload="RETURN COUNT(*) PATTERN A+ WITHIN 1 minute", name="j")
    settings = service_settings(data=folder / "data")
    submit(jobs, document, "a key", b"", settings)
    accept(jobs.get("j"), Append(b'{"type": "A", "time": 1}\n', NDJSON, "key"), settings)


def aside(folder: Path) -> None:
    file = folder / "in" / "a.parquet"
    set_aside(file, folder / "checkpoint" / "set-aside")


@pytest.mark.parametrize(
    "what",
    [*map(folder_of, ("jsonl", "csv", "parquet")), rows_of_a_job, vault, era, job, aside],
    ids=lambda one: one.__name__,
)
def test_nothing_of_what_is_safe_may_vanish(tmp_path: Path, what: Callable[[Path], None]) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.parquet").write_bytes(b"events")
    with watched(tmp_path) as disk:
        what(tmp_path)
    assert [name for name in disk.unsynced() if Path(name).name not in ("lock", ".lock")] == []
    assert len(list(tmp_path.rglob("*"))) > 2
