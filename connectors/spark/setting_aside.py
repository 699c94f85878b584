"""Files that Spark cannot read are set aside, and the stream goes on without them."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from urllib.parse import unquote, urlparse

from connectors.safe_files import make, sync

READING = re.compile(
    r"(?:while reading file|FAILED_READ_FILE|Could not read footer for file:?)\s+(file:\S+?)[\s.]*(?:$|\s)"
)


def unreadable_file(error: Exception) -> Path | None:
    """The file of this machine that a job of Spark's failed over, if that is what it failed over."""
    found = READING.search(str(error))
    return Path(unquote(urlparse(found[1]).path)) if found else None


def set_aside(path: Path, folder: Path) -> None:
    """It is kept, for somebody to look at."""
    make(folder)
    shutil.move(path, folder / path.name)
    sync(folder)
    sync(path.parent)
