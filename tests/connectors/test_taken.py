"""Test which files a stream has finished with, by logs that Spark wrote."""

from __future__ import annotations

from pathlib import Path

from elsinore.connectors.spark.finished_files import finished_files

FILE = '{"path":"file:///in/%s.parquet","timestamp":1790000000000,"batchId":%d}'


def written(folder: Path, name: str, *lines: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(("v1", *lines)))


def test_those_of_batches_that_are_done(tmp_path: Path) -> None:
    written(tmp_path, "sources/0/9.compact", FILE % ("a%20b", 8), FILE % ("c", 9))
    written(tmp_path, "sources/0/10", FILE % ("d", 10))
    written(tmp_path, "sources/0/11", FILE % ("e", 11))
    written(tmp_path, "sources/0/.11.crc")
    for batch, offset in ((5, 9), (6, 10), (7, 11)):
        written(tmp_path, f"offsets/{batch}", '{"batchWatermarkMs":0,"conf":{}}', f'{{"logOffset":{offset}}}')
    written(tmp_path, "commits/5", "{}")
    written(tmp_path, "commits/6", "{}")
    assert sorted(finished_files(tmp_path)) == [Path("/in/a b.parquet"), Path("/in/c.parquet"), Path("/in/d.parquet")]


def test_none_where_nothing_is_done(tmp_path: Path) -> None:
    assert list(finished_files(tmp_path)) == []
    written(tmp_path, "sources/0/0", FILE % ("a", 0))
    assert list(finished_files(tmp_path)) == []
