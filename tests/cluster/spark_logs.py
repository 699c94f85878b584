"""Imitations of the logs that Spark writes for a folder of files, and of Spark's start from them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

STREAM = "76ef570e-510a-42da-810b-1d22bedfff6a"

EVERY = 10
"""Steps after which Spark writes a compact log of all files."""


def sums_of(content: bytes) -> bytes:
    pieces = (content[at : at + 512] for at in range(0, len(content), 512))
    return b"crc\0" + (512).to_bytes(4) + b"".join(crc32(piece).to_bytes(4) for piece in pieces)


def sums_beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.crc")


@dataclass(frozen=True)
class Written:
    """A log in which each batch has one step with one file."""

    folder: Path

    def write(self, name: str, *lines: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes("\n".join(lines).encode())
        sums_beside(path).write_bytes(sums_of(path.read_bytes()))
        return path

    def begin(self, stream: str = STREAM) -> Path:
        return self.write("metadata", json.dumps({"id": stream}))

    def step(self, number: int) -> Path:
        is_whole = number % EVERY == EVERY - 1
        entries = [self._entry(one) for one in range(0 if is_whole else number, number + 1)]
        return self.write(f"sources/0/{number}{'.compact' if is_whole else ''}", "v1", *entries)

    def offsets(self, number: int) -> Path:
        return self.write(f"offsets/{number}", "v1", '{"batchWatermarkMs":0,"conf":{}}', f'{{"logOffset":{number}}}')

    def commit(self, number: int) -> Path:
        return self.write(f"commits/{number}", "v1", '{"nextBatchWatermarkMs":0}')

    def done(self, last: int) -> None:
        """Write the log as it is when this batch is done, but not yet committed by Spark."""
        self.begin()
        for number in range(last + 1):
            self.step(number)
            self.offsets(number)
            if number < last:
                self.commit(number)

    def _entry(self, number: int) -> str:
        return json.dumps({"path": f"file:///in/{number}.json", "timestamp": 1790000000000 + number, "batchId": number})


def goes_on(folder: Path, done: int) -> list[int]:
    """Return the files in Spark's log that it has still to process, as Spark determines them at its start.

    Fail where Spark would fail.
    """
    for sums in folder.rglob(".*.crc"):
        assert sums.with_name(sums.name[1:].removesuffix(".crc")).exists(), sums
    for kind in ("offsets", "commits", "sources/0"):
        for path in (folder / kind).glob("[0-9]*"):
            sums = sums_beside(path)
            assert not sums.exists() or sums.read_bytes() in (b"", sums_of(path.read_bytes())), path
    if (folder / "metadata").exists():
        assert json.loads((folder / "metadata").read_text())["id"]
    offsets, commits = _numbers(folder / "offsets"), _numbers(folder / "commits")
    steps = _numbers(folder / "sources/0")
    last_offset, ended = max(offsets, default=-1), max(commits, default=-1)
    assert last_offset in (done, done + 1)
    assert ended <= done
    if commits:
        json.loads((folder / f"commits/{ended}").read_text().splitlines()[1])
    if last_offset > 0:
        _step(folder, last_offset - 1)
    last = max(steps, default=-1)
    first = max((step for step in steps if step % EVERY == EVERY - 1), default=0)
    known = [entry for step in range(first, last + 1) for entry in _entries(folder, step)]
    assert sorted(set(known)) == list(range(last + 1))
    if last_offset >= 0:
        assert _step(folder, last_offset) <= last
        assert _step(folder, last_offset) in _entries(folder, _step(folder, last_offset))
    return [file for file in known if file > done]


def _numbers(folder: Path) -> list[int]:
    return [int(path.name.removesuffix(".compact")) for path in folder.glob("[0-9]*")]


def _step(folder: Path, batch: int) -> int:
    return int(json.loads((folder / f"offsets/{batch}").read_text().splitlines()[2])["logOffset"])


def _entries(folder: Path, step: int) -> list[int]:
    name = f"{step}.compact" if step % EVERY == EVERY - 1 else str(step)
    version, *lines = (folder / "sources/0" / name).read_text().splitlines()
    assert version == "v1"
    return [int(json.loads(line)["batchId"]) for line in lines]
