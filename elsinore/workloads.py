"""Reading workloads, which are given as text or as the path of a file."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from elsinore.errors import InputError

SUFFIXES = (".elsinore", ".eql", ".txt", ".sql")
"""A text with such a suffix is a path, even if there is no such file: the message then says so."""


def text_of(workload: str | PathLike[str]) -> str:
    """Return the text of a workload that is given as text or path."""
    if isinstance(workload, PathLike):
        return _read(Path(fspath(workload)))
    if not isinstance(workload, str):
        raise InputError(f"a workload must be its text or the path of a file, not {type(workload).__name__}")
    return _read(Path(workload)) if _is_path(workload) else workload


def _is_path(text: str) -> bool:
    if "\n" in text or "\0" in text:
        return False
    if text.lower().endswith(SUFFIXES):
        return True
    try:
        return Path(text).is_file()
    except OSError:  # the text is longer than a path may be
        return False


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(
            f"there is no workload file {path}; give the path of a file, or the queries themselves"
        ) from None
    except IsADirectoryError:
        raise InputError(f"{path} is a folder; give the path of a file with queries") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not a text in UTF-8 (byte {error.start}); save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"the workload file {path} cannot be read: {error.strerror}") from None
