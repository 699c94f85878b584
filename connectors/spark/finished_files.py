"""Files that a live stream has finished with, according to Spark's own log.

Spark deletes them if it is asked to (`cleanSource`), but not those that it was about to delete when it died. Its log
keeps the names of all files that it ever read, and is rewritten every few batches, so it has to be shortened.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from elsinore.connectors.storage.safe_files import put_bytes

COMPACT = ".compact"
"""Suffix of the name of a log of all files, up to some batch."""


def finished_files(checkpoint: Path) -> Iterator[Path]:
    """Yield the files of a stream's only source, up to the last batch that was done; `checkpoint` is Spark's."""
    last = _done(checkpoint)
    for log in _logs(checkpoint) if last is not None else ():
        yield from (_path(entry) for entry in map(json.loads, _lines(log)) if entry["batchId"] <= last)


def known_files(checkpoint: Path) -> Iterator[Path]:
    """Yield all files that Spark knows, and will not read again."""
    for log in _logs(checkpoint):
        yield from (_path(json.loads(line)) for line in _lines(log))


def files_of_batch(checkpoint: Path, batch: int) -> list[Path]:
    """Return the files of one of Spark's batches; none if its source has no files."""
    try:
        first, last = _offset(checkpoint, batch - 1), _offset(checkpoint, batch)
        logs = [log for log in _logs(checkpoint) if first < int(log.name.removesuffix(COMPACT)) <= last]
        entries = [json.loads(line) for log in logs for line in _lines(log)]
        return list(dict.fromkeys(_path(entry) for entry in entries if first < entry["batchId"] <= last))
    except (OSError, ValueError, KeyError, TypeError):
        return []


def log_bytes(checkpoint: Path) -> int:
    """Return the bytes of the log that Spark reads and writes every few batches."""
    log = _whole(checkpoint)
    return log.stat().st_size if log is not None else 0


def shorten_log(checkpoint: Path, forgotten: Callable[[Path], bool]) -> None:
    """Remove from the log the files that were read and deleted, and that no process will put there again (`forgotten`).

    Spark reads no path twice, and knows from its log which ones it has read. It must not be running meanwhile.
    """
    last, log = _done(checkpoint), _whole(checkpoint)
    if last is None or log is None:
        return
    version, *lines = log.read_text().splitlines()
    left = [line for line in lines if _is_needed(json.loads(line), last, forgotten)]
    # Hadoop would reject the new log by the old checksum; without a checksum file it accepts the log.
    log.with_name(f".{log.name}.crc").unlink(missing_ok=True)
    put_bytes(log, "\n".join([version, *left]).encode())


def _is_needed(entry: Any, last: int, forgotten: Callable[[Path], bool]) -> bool:
    path = _path(entry)
    return entry["batchId"] > last or path.exists() or not forgotten(path)


def _done(checkpoint: Path) -> int | None:
    """Return the log's position at the last batch that was done; None if no batch was done."""
    commits = checkpoint / "commits"
    done = max((int(path.name) for path in commits.glob("[0-9]*") if path.name.isdigit()), default=None)
    if done is None:
        return None
    return _offset(checkpoint, done)


def _offset(checkpoint: Path, batch: int) -> int:
    """Return the log's position when a batch was begun; -1 before the first one."""
    if batch < 0:
        return -1
    last: int = json.loads((checkpoint / "offsets" / str(batch)).read_text().splitlines()[-1])["logOffset"]
    return last


def _logs(checkpoint: Path) -> list[Path]:
    found = (checkpoint / "sources" / "0").glob("[0-9]*")
    return [log for log in found if log.name.removesuffix(COMPACT).isdigit()]


def _whole(checkpoint: Path) -> Path | None:
    """Return the last log of all files; earlier ones stay for some minutes."""
    found = [log for log in _logs(checkpoint) if log.name.endswith(COMPACT)]
    return max(found, key=lambda log: int(log.name.removesuffix(COMPACT)), default=None)


def _lines(log: Path) -> list[str]:
    """Return the lines of a log, without the first, which is the version."""
    return log.read_text().splitlines()[1:]


def _path(entry: Any) -> Path:
    return Path(unquote(urlparse(entry["path"]).path))
