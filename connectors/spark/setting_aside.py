"""Files at which Spark fails: which of them are damaged, and their move to another folder.

A stream goes on without a damaged file. It must not go on without any other file: permissions, descriptors, memory and
network file systems may recover a moment later, and the events are still there.
"""

from __future__ import annotations

import errno
import re
import shutil
import uuid
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq

from elsinore.connectors.storage.safe_files import make_folder, sync

DAMAGE = re.compile(
    r"""
      is\ not\ a\ Parquet\ file | corrupted\ file:
    | SchemaColumnConvertNotSupportedException | Invalid\ Spark\ read\ type
    | ParquetDecodingException | TProtocolException | TTransportException:\ Socket\ is\ closed\ by\ peer
    | hadoop\.fs\.ChecksumException | univocity\.\S*TextParsingException | StreamConstraintsException
    | ZstdIOException | FAILED_TO_UNCOMPRESS | Snappy(?:IOException|Error) | gzip\ stream\ CRC\ failure
    | zip\.(?:ZipException|DataFormatException)
    | IOException:\ (?:invalid|incorrect|unknown)\ .*(?:code|distance|literal|length|block|check|method|window|header)
    | java\.lang\.(?:NullPointer|ClassCast|NegativeArraySize|Arithmetic|(?:Array|String|)IndexOutOfBounds)Exception
    | BufferUnderflowException | CharConversionException
    | MalformedInputException
    """,
    re.VERBOSE,
)
"""Matches innermost causes that lie in the bytes of a file, and would recur at every retry. Any other may pass."""

BATCH_ROWS = 1 << 14


def causes(error: Exception) -> list[str]:
    """Return the exceptions in a Java error, the outermost first: class and message of each."""
    # Spark reports all of it twice: as the executor raised it, and again as the driver raised it.
    text = str(error).split("\nDriver stacktrace:")[0]
    found = re.search(r"\(TID \d+\) \([^)]*\): (.+)", text) or re.search(r"^: (.+)", text, re.MULTILINE)
    head = found[1] if found else text.split("\n")[0]
    return [head, *re.findall(r"^Caused by: (.+)$", text, re.MULTILINE)]


def tells_of_damage(error: Exception) -> bool:
    """Return whether the innermost cause is one that lies in the bytes of a file."""
    return DAMAGE.search(causes(error)[-1]) is not None


def named(error: Exception, files: Iterable[Path]) -> Path | None:
    """Return the file that a Java error names: Spark writes paths as URLs, Parquet and Hadoop as they are."""
    text = str(error)
    found = [path for path in files if str(path) in text or quote(str(path)) in text]
    # The path of one file may be a prefix of another one's.
    return max(found, key=lambda path: len(str(path)), default=None)


def damaged(path: Path) -> bool:
    """Read a file to its end, and return whether its bytes are not Parquet. As lines of text, any bytes are valid."""
    if path.suffix.lower() != ".parquet":
        return False
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for _ in file.iter_batches(BATCH_ROWS):
                pass
    except MemoryError:
        return False
    except OSError as error:
        # Arrow raises this class for damaged pages, too; only errors of the operating system have a number.
        return error.errno is None
    except (pa.ArrowException, ValueError, OverflowError):
        return True
    return False


def set_aside(path: Path, folder: Path) -> Path:
    """Move a file into a folder on any file system, and return its new path. No file is overwritten."""
    make_folder(folder)
    target = _claimed(folder, path)
    try:
        try:
            path.replace(target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _move_across(path, target)
    except OSError:
        target.unlink(missing_ok=True)
        raise
    sync(target)
    sync(folder)
    sync(path.parent)
    return target


def _claimed(folder: Path, path: Path) -> Path:
    """Create an empty file of the same name or, if that exists, with a number added, and return its path."""
    number, target = 1, folder / path.name
    while True:
        try:
            target.open("x").close()
        except FileExistsError:
            number += 1
            target = folder / f"{path.stem}.{number}{path.suffix}"
        else:
            return target


def _move_across(path: Path, target: Path) -> None:
    """Copy a file to another file system, and delete it when the copy is on disk."""
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        shutil.copy2(path, draft)
        sync(draft)
        draft.replace(target)
        sync(target.parent)
    finally:
        draft.unlink(missing_ok=True)
    path.unlink()
