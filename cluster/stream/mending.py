"""Mend Spark's log when a stream begins, and refuse a log that does not fit the records of the checkpoint.

Spark writes its log without fsync. `SparkLog.keep` syncs all of it before a batch counts as done. So after a loss of
power only what Spark wrote since then may be missing, empty or truncated: the commit of the last batch that is done,
and the files and offsets of the next one. None of these is needed. A batch without a commit is repeated by Spark, and
then skipped. Files that no offsets refer to are listed again. So files that are not whole are removed here, with all
that refer to them.

Spark goes on with the next batch before a batch is done, so its log may be ahead by one: the commit of the batch after
the last one that is done, and the offsets of the batch after that. These are removed too, and Spark repeats the batch.

    metadata       an identifier of the stream
    sources/S/K    the files of source S in step K; K.compact has those of all steps up to K
    offsets/N      for each source, the last step of batch N; written before the batch
    commits/N      batch N has ended
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from elsinore.connectors.errors import InputError
from elsinore.connectors.storage.safe_files import put_bytes

MAGIC = b"crc\0"
"""The first bytes of a file of checksums; the number of bytes per checksum follows."""

VERSION_LINE = re.compile(rb"v\d+")

COMPACT = ".compact"

MIN_LINES = {"offsets": 3, "commits": 2}
"""The least number of lines of a whole file."""


@dataclass(frozen=True)
class Log:
    """Spark's log in a folder, while Spark is not writing it."""

    folder: Path
    shown: str
    """The folder as messages name it."""

    @property
    def stream(self) -> str:
        """Return Spark's identifier of the stream, or an empty string if none can be read."""
        try:
            found = json.loads((self.folder / "metadata").read_bytes())["id"]
        except (OSError, ValueError, KeyError, TypeError):
            return ""
        return str(found)

    def mend(self, done: int, stream: str) -> set[str]:
        """Remove files that are not whole, and return the paths that were synced with the last batch that is done.

        `done` is Spark's number of that batch, and `stream` Spark's identifier of the stream, empty if unknown.
        """
        self._mend_metadata(stream)
        for path in self._numbered("commits").values():
            if not _is_whole(path):
                _remove(path)
        for number, path in self._numbered("offsets").items():
            if number > done and not _is_whole(path):
                _remove(path)
        self._check(done, stream)
        self._set_back(done)
        before = self._steps(done)
        for source, step in before.items() if done >= 0 else ((name, -1) for name in self._sources()):
            self._mend_source(source, step)
        self._drop_beyond(done)
        # Spark cannot write a file beside the checksums of a deleted one.
        for sums in self.folder.rglob(".*.crc"):
            if not sums.with_name(sums.name[1:].removesuffix(".crc")).exists():
                sums.unlink()
        return self._safe(done, before) if stream else set()

    def _mend_metadata(self, stream: str) -> None:
        path = self.folder / "metadata"
        if not self.stream or not _fits(path.read_bytes(), _sums(path)):
            _remove(path)
            if stream and self._numbered("offsets"):
                put_bytes(path, json.dumps({"id": stream}).encode())

    def _check(self, done: int, stream: str) -> None:
        """Raise InputError for a log with which Spark would skip events, or take them a second time."""
        offsets, commits = self._numbered("offsets"), self._numbered("commits")
        if done >= 0 and not offsets:
            raise self._unfit(f"it is empty or missing, although {done + 1:,} of Spark's batches are done")
        if stream and self.stream != stream:
            raise self._unfit("it belongs to another stream")
        last, committed = max(offsets, default=-1), max(commits, default=-1)
        if last < done:
            raise self._unfit(f"it ends with batch {last}, but batch {done} is done")
        if max(last - 2, committed - 1) > done:
            raise self._unfit(f"it is at batch {max(last, committed)}, but the last one that is done is {done}")
        for number in range(max(done - 1, 0), done + 1):
            if number not in offsets or not _is_whole(offsets[number]):
                raise self._unfit(f"offsets/{number} is missing or damaged")

    def _set_back(self, done: int) -> None:
        """Remove what says that a batch has ended which is not done, and the offsets of the batch after it."""
        for folder, last in (("commits", done), ("offsets", done + 1)):
            for number, path in self._numbered(folder).items():
                if number > last:
                    _remove(path)

    def _mend_source(self, source: str, before: int) -> None:
        """Keep the steps up to `before`, and those that follow it whole and without a gap; remove the others.

        Raise InputError where a step up to `before` is missing or damaged.
        """
        name = f"sources/{source}"
        if before >= 0:
            steps = self._numbered(name)
            first_step = max((step for step, path in steps.items() if step <= before and _is_compact(path)), default=0)
            for step in range(first_step, before + 1):
                if step not in steps or not _is_whole(steps[step]):
                    raise self._unfit(f"{name}/{step} is missing or damaged")
        expected = before + 1
        for step, path in sorted(self._numbered(name).items()):
            if step > before:
                if step == expected and _is_whole(path) and _ends_with(path, step):
                    expected += 1
                else:
                    _remove(path)

    def _drop_beyond(self, done: int) -> None:
        """Remove offsets of the next batch that refer to files which the log does not have."""
        path = self._numbered("offsets").get(done + 1)
        if path is None:
            return
        for source, step in self._steps(done + 1).items():
            if step > max(self._numbered(f"sources/{source}"), default=-1):
                _remove(path)
                return

    def _steps(self, batch: int) -> dict[str, int]:
        """Return the last step of a batch for each source that is a folder of files."""
        path = self._numbered("offsets").get(batch)
        if path is None:
            return {}
        found = (_offset(line) for line in path.read_bytes().splitlines()[2:])
        return {str(source): step for source, step in enumerate(found) if step is not None}

    def _safe(self, done: int, before: dict[str, int]) -> set[str]:
        limits = {
            "offsets": done,
            "commits": done - 1,
            **{f"sources/{source}": step for source, step in before.items()},
        }
        files = [
            path for name, last in limits.items() for number, path in self._numbered(name).items() if number <= last
        ]
        return {str(path) for file in (self.folder / "metadata", *files) for path in (file, _sums(file))}

    def _sources(self) -> list[str]:
        folder = self.folder / "sources"
        return [path.name for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []

    def _numbered(self, name: str) -> dict[int, Path]:
        """Return the files of a folder by number; for a compacted step, the compact file."""
        folder = self.folder / name
        found = sorted(folder.iterdir(), key=_is_compact) if folder.is_dir() else []
        named = ((path.name.removesuffix(COMPACT), path) for path in found)
        return {int(number): path for number, path in named if number.isascii() and number.isdigit()}

    def _unfit(self, what: str) -> InputError:
        return InputError(
            f"{self.shown} is Spark's record of what it has read, and {what}. To continue would skip events or count "
            "them twice. Restore the whole checkpoint from a copy, if there is one; otherwise start with a new "
            "checkpoint, a new sink, and a source of the events that are to be counted."
        )


def _is_whole(path: Path) -> bool:
    """Return whether a file is as Spark has written it."""
    content = path.read_bytes()
    if not _fits(content, _sums(path)):
        return False
    # A file that Elsinore has written or copied has no checksums. Those of a whole file may be empty.
    first, *lines = content.lstrip(b"\0").splitlines() or [b""]
    if not VERSION_LINE.fullmatch(first) or len(lines) + 1 < MIN_LINES.get(path.parent.name, 1):
        return False
    return all(_read(line) is not None for line in lines if line.startswith(b"{"))


def _fits(content: bytes, sums: Path) -> bool:
    """Return whether the checksums of a file, if it has any, are those of its content."""
    found = sums.read_bytes() if sums.exists() else b""
    size = int.from_bytes(found[4:8])
    if not found or found[:4] != MAGIC or not size:
        return not found
    return found[8:] == b"".join(crc32(content[at : at + size]).to_bytes(4) for at in range(0, len(content), size))


def _ends_with(path: Path, step: int) -> bool:
    """Return whether a step's file ends with files of that step.

    One that was truncated at the end of a line may end with files of another step.
    """
    _, *lines = path.read_bytes().splitlines()
    last = _read(lines[-1]) if lines else {"batchId": None}
    return not isinstance(last, dict) or last.get("batchId", step) == step


def _offset(line: bytes) -> int | None:
    found = _read(line)
    step = found.get("logOffset") if isinstance(found, dict) else None
    return step if isinstance(step, int) else None


def _read(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _remove(path: Path) -> None:
    """Delete a file and its checksums."""
    _sums(path).unlink(missing_ok=True)
    path.unlink(missing_ok=True)


def _sums(path: Path) -> Path:
    return path.with_name(f".{path.name}.crc")


def _is_compact(path: Path) -> bool:
    return path.name.endswith(COMPACT)
