"""Spark's log is copied to a remote checkpoint, and back from it."""

from __future__ import annotations

import os
from pathlib import Path

from elsinore.cluster.stream.spark_log import SparkLog
from elsinore.connectors.storage.vault import Vault

FIRST = {"metadata": "an id", "offsets/0": "v1", "commits/0": "v1", "sources/0/0": "v1 a"}
LATER = {"offsets/1": "v1", "sources/0/1.compact": "v1 a b"}


def write(log: SparkLog, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = log.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        (path.parent / f".{path.name}.crc").write_text("a checksum")


def read(log: SparkLog) -> dict[str, str]:
    found = (path for path in log.folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(log.folder)): path.read_text() for path in found}


def test_who_comes_after_finds_what_was_kept(tmp_path: Path) -> None:
    vault = Vault(f"memory://{tmp_path}")
    here = SparkLog(vault)
    assert read(here) == {}
    write(here, FIRST)
    here.keep()
    write(here, {"commits/1": "not kept"})
    there = SparkLog(vault)
    assert there.folder != here.folder
    assert read(there) == FIRST
    write(there, LATER)
    (there.folder / "sources/0/0").unlink()
    (there.folder / "metadata").write_text("another id")
    os.utime(there.folder / "metadata", (1, 1))
    there.keep()
    here.close()
    there.close()
    assert not here.folder.exists()
    left = {name: content for name, content in (FIRST | LATER).items() if name != "sources/0/0"}
    assert read(SparkLog(vault)) == left | {"metadata": "another id"}


def test_on_this_machine_spark_writes_into_the_checkpoint(tmp_path: Path) -> None:
    log = SparkLog(Vault(str(tmp_path)))
    log.keep()
    log.close()
    assert log.folder == tmp_path / "spark"
    assert not list(tmp_path.iterdir())
