"""Files that a live stream is done with, as Spark's own log has them.

Spark deletes them where it was asked to (`cleanSource`), but not those that it was about to delete when it died.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse


def taken(checkpoint: Path) -> Iterator[Path]:
    """Of a stream's only source, up to the last batch that was done; `checkpoint` is Spark's."""
    done = max(map(int, _numbers(checkpoint / "commits")), default=None)
    if done is None:
        return
    last = json.loads((checkpoint / "offsets" / str(done)).read_text().splitlines()[-1])["logOffset"]
    for log in (checkpoint / "sources" / "0").iterdir():
        if log.name.removesuffix(".compact").isdigit():
            entries = (entry for entry in _lines(log) if entry["batchId"] <= last)
            yield from (Path(unquote(urlparse(entry["path"]).path)) for entry in entries)


def _numbers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.isdigit()] if folder.is_dir() else []


def _lines(log: Path) -> list[Any]:
    """Behind the first, which is the version."""
    return [json.loads(line) for line in log.read_text().splitlines()[1:]]
