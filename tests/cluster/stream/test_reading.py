"""Batches with files that Spark cannot read: what is set aside, what is retried, and how often. Without Spark."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]

from elsinore.cluster.stream import reading
from elsinore.cluster.stream.reading import MAX_TRIES, Reading
from elsinore.connectors.errors import FailedError
from elsinore.connectors.spark.streams import DamagedFileError
from tests.connectors.reading import FAILURES

STREAM: Any = SimpleNamespace(frame=SimpleNamespace(sparkSession=None, schema=None))


class JavaError(Py4JJavaError):  # type: ignore[misc]
    """An imitation of Spark's exception."""

    def __init__(self, text: str) -> None:
        Exception.__init__(self, text)

    def __str__(self) -> str:
        return str(self.args[0])


def said(name: str, path: Path) -> JavaError:
    return JavaError(FAILURES[name]["text"].replace(f"/in/{name}.parquet", str(path)))


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def files(tmp_path: Path, pauses: list[float]) -> Reading:
    return Reading(tmp_path / "spark", lambda _: tmp_path / "aside", pauses.append)


@pytest.fixture(autouse=True)
def unreadable(monkeypatch: pytest.MonkeyPatch) -> dict[str, JavaError]:
    """Return a dict of the files that Spark fails to read even alone, with its exceptions, for tests to fill."""
    found: dict[str, JavaError] = {}

    def read(_: object, path: Path, __: object) -> None:
        if path.name in found:
            raise found[path.name]

    monkeypatch.setattr(reading, "read_alone", read)
    return found


@pytest.fixture
def batch(tmp_path: Path) -> list[Path]:
    """Create the files of Spark's batch 3, all of them intact, and its log."""
    folder, log = tmp_path / "in", tmp_path / "spark"
    folder.mkdir()
    paths = [folder / f"{number} ü.parquet" for number in range(3)]
    for path in paths:
        pq.write_table(pa.table({"type": ["A"], "time": [1]}), path)
    for name in ("offsets", "sources/0"):
        (log / name).mkdir(parents=True)
    for number, offset in ((2, 7), (3, 9)):
        (log / "offsets" / str(number)).write_text(f'v1\n{{}}\n{{"logOffset":{offset}}}')
    earlier = {"path": f"file://{folder}/earlier.parquet", "timestamp": 0, "batchId": 7}
    entries = [{"path": path.as_uri(), "timestamp": 0, "batchId": 8 + n // 2} for n, path in enumerate(paths)]
    (log / "sources/0/7").write_text("\n".join(("v1", json.dumps(earlier))))
    (log / "sources/0/8").write_text("\n".join(("v1", *map(json.dumps, entries[:2]))))
    (log / "sources/0/9.compact").write_text("\n".join(("v1", *map(json.dumps, [earlier, *entries]))))
    return paths


def left(batch: list[Path]) -> list[Path]:
    return [path for path in batch if path.exists()]


def test_a_damaged_file_that_spark_names_is_set_aside(files: Reading, batch: list[Path], tmp_path: Path) -> None:
    batch[1].write_bytes(batch[1].read_bytes()[:-5])
    assert files.failed(said("trunc_half", batch[1]), STREAM, 3) == 1
    assert left(batch) == [batch[0], batch[2]]
    assert [path.name for path in (tmp_path / "aside").iterdir()] == [batch[1].name]


def test_a_damaged_file_that_spark_does_not_name_is_found(files: Reading, batch: list[Path]) -> None:
    batch[2].write_bytes(batch[2].read_bytes()[:-5])
    assert files.failed(said("footer_len", batch[2]), STREAM, 3) == 1
    assert left(batch) == batch[:2]


@pytest.mark.parametrize("name", ["footer_flip2", "type_list", "type_struct"])
def test_a_file_that_spark_alone_cannot_read_is_found(
    files: Reading, batch: list[Path], unreadable: dict[str, JavaError], name: str
) -> None:
    unreadable[batch[0].name] = said(name, batch[0])
    assert files.failed(said(name, batch[0]), STREAM, 3) == 1
    assert left(batch) == batch[1:]


def test_a_column_of_another_type_is_set_aside(files: Reading, batch: list[Path]) -> None:
    assert files.failed(said("type_timestr", batch[0]), STREAM, 3) == 1
    assert left(batch) == batch[1:]


TRANSIENT = [name for name, one in FAILURES.items() if not one["damage"] and "/in/" in one["text"]]


@pytest.mark.parametrize("name", TRANSIENT)
def test_what_may_pass_is_tried_again_and_then_told_with_the_file_and_the_cause(
    files: Reading, batch: list[Path], pauses: list[float], name: str
) -> None:
    text = FAILURES[name]["text"]
    named = next(word for word in ("denied", "gonefalse", "rnd10", "json_latin") if f"/in/{word}." in text)
    failure = JavaError(text.replace(f"/in/{named}.{'json' if '.json' in text else 'parquet'}", str(batch[1])))
    for _ in range(MAX_TRIES - 1):
        assert files.failed(failure, STREAM, 3) == 0
    with pytest.raises(FailedError) as raised:
        files.failed(failure, STREAM, 3)
    assert str(batch[1]) in str(raised.value)
    assert left(batch) == batch
    assert len(pauses) == MAX_TRIES - 1
    assert pauses == sorted(pauses)


def test_a_failure_of_another_batch_is_counted_anew(files: Reading, batch: list[Path]) -> None:
    for number in (3, 4) * MAX_TRIES:
        assert files.failed(said("denied", batch[0]), STREAM, number) == 0


def test_a_failure_that_is_of_no_file_is_told(files: Reading, batch: list[Path]) -> None:
    failure = JavaError("An error occurred\n: org.apache.spark.SparkException: no executors")
    for _ in range(MAX_TRIES - 1):
        assert files.failed(failure, STREAM, 3) == 0
    with pytest.raises(
        FailedError, match=r"Spark cannot read a batch: org\S+SparkException: no executors\. 5 attempts"
    ):
        files.failed(failure, STREAM, 3)


def test_a_damaged_file_that_cannot_be_moved_is_told(
    files: Reading, batch: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(reading, "set_aside", full)
    batch[1].write_bytes(b"")
    with pytest.raises(FailedError, match=r"1 ü\.parquet is damaged, and cannot be moved to .*: No space left"):
        files.failed(said("trunc_half", batch[1]), STREAM, 3)


def test_a_damaged_first_file_is_set_aside_and_the_next_one_read(files: Reading, batch: list[Path]) -> None:
    def read() -> str:
        if batch[0].exists():
            raise DamagedFileError(batch[0])
        return "columns"

    assert files.first(read) == ("columns", 1)
    assert left(batch) == batch[1:]
