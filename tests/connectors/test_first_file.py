"""Test which file of a folder decides its columns, without Spark."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elsinore.connectors.errors import InputError
from elsinore.connectors.spark.streams import DamagedFileError, UnreadableFileError, _with_events, check_folder

EVENT = '{"type": "A", "time": 1}\n'


def test_files_without_events_are_passed_over(tmp_path: Path) -> None:
    table = pa.table({"type": ["A"], "time": [1]})
    pq.write_table(table.slice(0, 0), tmp_path / "0.parquet")
    (tmp_path / "1.csv").write_text("type,time\n")
    (tmp_path / "2.csv").write_text("type,time\n \n\n")
    (tmp_path / "3.jsonl").write_text("\n \n")
    (tmp_path / "4.csv").touch()
    for hidden in (".5.jsonl", "_6.jsonl", "7.txt"):
        (tmp_path / hidden).write_text(EVENT)
    assert list(_with_events(tmp_path)) == []
    (tmp_path / "8.csv").write_text("type,time\n\nA,1\n")
    (tmp_path / "9.JSONL").write_text(EVENT)
    pq.write_table(table, tmp_path / "10.parquet")
    assert [path.name for path in _with_events(tmp_path)] == ["10.parquet", "8.csv", "9.JSONL"]


def test_a_long_line_is_not_read_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elsinore.connectors.spark.streams.MAX_LINE_BYTES", 8)
    (tmp_path / "0.jsonl").write_bytes(b"\0" * 100)
    assert [path.name for path in _with_events(tmp_path)] == ["0.jsonl"]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"no Parquet" * 20])
def test_a_damaged_file_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "0.parquet").write_bytes(content)
    with pytest.raises(DamagedFileError) as raised:
        list(_with_events(tmp_path))
    assert raised.value.path == tmp_path / "0.parquet"


@pytest.mark.parametrize("name", ["0.parquet", "0.csv"])
def test_a_file_that_may_not_be_read_is_named_with_the_reason(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, os.strerror(13))

    (tmp_path / name).touch()
    monkeypatch.setattr("pyarrow.parquet.read_metadata", refused)
    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(UnreadableFileError, match=rf"{name} cannot be read: Permission denied"):
        list(_with_events(tmp_path))


def test_a_file_that_goes_meanwhile_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "0.jsonl").symlink_to(tmp_path / "gone")
    (tmp_path / "0.parquet").symlink_to(tmp_path / "gone")
    assert list(_with_events(tmp_path)) == []


def test_a_folder_has_to_be_there(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "none"):
        with pytest.raises(InputError, match="is not a folder"):
            check_folder(path)
