"""Test which failures of Spark mean a damaged file, and that no file is lost when it is set aside."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elsinore.connectors.spark.setting_aside import causes, damaged, named, set_aside, tells_of_damage
from tests.connectors.reading import FAILURES


@pytest.mark.parametrize("name", [name for name, one in FAILURES.items() if one["damage"]])
def test_damage_is_told_from_what_spark_says(name: str) -> None:
    assert tells_of_damage(Exception(FAILURES[name]["text"])), causes(Exception(FAILURES[name]["text"]))


@pytest.mark.parametrize("name", [name for name, one in FAILURES.items() if not one["damage"]])
def test_what_may_pass_is_not_damage(name: str) -> None:
    assert not tells_of_damage(Exception(FAILURES[name]["text"])), causes(Exception(FAILURES[name]["text"]))


@pytest.mark.parametrize(
    "cause",
    [
        "java.io.IOException: Input/output error",
        "java.io.IOException: Stale file handle",
        "java.io.FileNotFoundException: /in/zero_middle.parquet (Too many open files)",
        "java.lang.OutOfMemoryError: Java heap space",
        "java.lang.InterruptedException",
        "java.nio.channels.ClosedByInterruptException",
        "java.net.SocketTimeoutException: Read timed out",
        "java.io.IOException: Connection reset by peer",
        "java.io.IOException: No space left on device",
        "java.io.IOException: invalid argument",
    ],
)
def test_an_innermost_cause_that_may_pass_is_not_damage_whatever_parquet_makes_of_it(cause: str) -> None:
    text = FAILURES["zero_middle"]["text"]
    assert not tells_of_damage(Exception(f"{text}\nCaused by: {cause}"))


def test_the_file_is_known_by_its_name(tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.parquet", "a b ü%41.parquet", "a.parquet.parquet")]
    for path in files:
        as_url = f"Encountered error while reading file file://{quote(str(path))}. Details:"
        for text in (as_url, f"file:{path} is not a Parquet file", f"File file:{path} does not exist"):
            assert named(Exception(text), files) == path
    assert named(Exception("corrupted file: the footer index is not within the file: -5"), files) is None


EVENTS = pa.table({"type": ["A", "B"] * 5000, "time": range(10000), "text": [f"v{i % 700}" for i in range(10000)]})


def parquet(**options: Any) -> bytes:
    written = io.BytesIO()
    pq.write_table(EVENTS, written, **options)
    return written.getvalue()


def flipped(content: bytes, seed: int) -> bytes:
    """Flip some bits of a few pages of a file with checksums."""
    column = pq.read_metadata(io.BytesIO(content)).row_group(0).column(seed % 3)
    begin = column.dictionary_page_offset or column.data_page_offset
    found, random = bytearray(content), Random(seed)
    for at in random.sample(range(begin + 30, begin + column.total_compressed_size), 5):
        found[at] ^= 1 << random.randrange(8)
    return bytes(found)


HARMED = {
    "half of it": lambda whole: whole[: len(whole) // 2],
    "the last bytes": lambda whole: whole[:-5],
    "nothing": lambda _: b"",
    "zeros": lambda whole: bytes(len(whole)),
    "random bytes": lambda whole: Random(1).randbytes(len(whole)),
    "text": lambda _: b'{"type": "A", "time": 1}\n' * 100,
    "the length of the footer": lambda whole: whole[:-8] + b"\xff\xff\xff\x3f" + whole[-4:],
    "zeros in the middle": lambda whole: whole[:40] + bytes(1000) + whole[1040:],
}


@pytest.mark.parametrize("harm", HARMED.values(), ids=HARMED)
def test_damaged_parquet_is_found_here(tmp_path: Path, harm: Callable[[bytes], bytes]) -> None:
    (tmp_path / "bad.parquet").write_bytes(harm(parquet()))
    assert damaged(tmp_path / "bad.parquet")


@pytest.mark.parametrize("seed", range(30))
def test_flipped_bits_are_found_by_checksums_of_pages(tmp_path: Path, seed: int) -> None:
    compression = ("snappy", "zstd", "gzip", "none")[seed % 4]
    (tmp_path / "bad.parquet").write_bytes(flipped(parquet(write_page_checksum=True, compression=compression), seed))
    assert damaged(tmp_path / "bad.parquet")


@pytest.mark.parametrize("number", [errno.EACCES, errno.EMFILE, errno.ESTALE, errno.EIO, errno.ENOENT, errno.ETIMEDOUT])
def test_a_file_that_cannot_be_opened_is_not_damaged(
    tmp_path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    (tmp_path / "good.parquet").write_bytes(parquet())
    assert not damaged(tmp_path / "good.parquet")
    monkeypatch.setattr("pyarrow.parquet.ParquetFile", opened)
    assert not damaged(tmp_path / "good.parquet")


def test_a_file_that_was_set_aside_is_never_written_over(tmp_path: Path) -> None:
    aside = tmp_path / "checkpoint" / "set-aside"
    for number in range(3):
        (tmp_path / "bad.parquet").write_text(str(number))
        set_aside(tmp_path / "bad.parquet", aside)
        assert not (tmp_path / "bad.parquet").exists()
    assert {path.name: path.read_text() for path in aside.iterdir()} == {
        "bad.parquet": "0",
        "bad.2.parquet": "1",
        "bad.3.parquet": "2",
    }


@pytest.fixture(params=[False, True], ids=["one file system", "two file systems"])
def across(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Run with and without the target on another file system, to which the kernel refuses to rename a file."""
    rename = Path.replace

    def refused(path: Path, target: Path) -> Path:
        if path.parent != target.parent:
            raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
        return rename(path, target)

    if request.param:
        monkeypatch.setattr(Path, "replace", refused)
    return bool(request.param)


def test_a_file_is_set_aside_on_another_file_system(tmp_path: Path, across: bool) -> None:
    (tmp_path / "bad.parquet").write_text("what came")
    set_aside(tmp_path / "bad.parquet", tmp_path / "aside")
    assert [(path.name, path.read_text()) for path in (tmp_path / "aside").iterdir()] == [("bad.parquet", "what came")]
    assert not (tmp_path / "bad.parquet").exists()


def test_a_file_is_on_disk_where_it_was_set_aside(
    tmp_path: Path, across: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Test that the file, its new folder, the parent of that folder, and the old folder are synced."""
    synced: list[tuple[Path, bool]] = []
    fsync, path = os.fsync, tmp_path / "in" / "bad.parquet"

    def recorded(descriptor: int) -> None:
        fsync(descriptor)
        synced.append((Path(f"/proc/self/fd/{descriptor}").readlink(), path.exists()))

    monkeypatch.setattr("os.fsync", recorded)
    path.parent.mkdir()
    path.write_text("what came")
    found = set_aside(path, tmp_path / "aside")
    assert {tmp_path, tmp_path / "aside", found, path.parent} <= {one for one, _ in synced}
    assert (path.parent, False) in synced
    if across:
        # The copy is synced before the file is deleted.
        assert (tmp_path / "aside", True) in synced


def test_a_file_stays_where_it_cannot_be_set_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "bad.parquet").write_text("what came")
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        set_aside(tmp_path / "bad.parquet", tmp_path / "aside")
    assert (tmp_path / "bad.parquet").read_text() == "what came"
    assert list((tmp_path / "aside").iterdir()) == []
