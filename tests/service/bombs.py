"""Decompression bombs: small bodies that expand to large data, to measure the memory of an append at default limits.

`python -m tests.service.bombs FOLDER NAME...` appends each to a job with 512 columns, and prints the outcome.
"""

from __future__ import annotations

import gzip
import json
import os
import struct
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import msgpack
import pyarrow as pa

from elsinore.cluster.service.intake import ARROW, MSGPACK, NDJSON
from elsinore.cluster.service.jobs import digest
from elsinore.cluster.service.submitting import submit
from elsinore.cluster.service.web.documents import Submission
from tests.service.asking import Asking
from tests.service.rides import arrow

WORKLOAD = "RETURN COUNT(*) PATTERN A+ WITHIN 1 minute"
NUMBERS = [f"c{number}" for number in range(505)]
COLUMNS: dict[str, Any] = {
    "type": "string",
    "time": "int64",
    **dict.fromkeys(NUMBERS, "int64"),
    "s": "string",
    "f": "float64",
    "b": "bool",
    "t": "timestamp",
    "n": "timestamp_ntz",
}
FULL: dict[str, Any] = {"type": "A", "time": 1, **dict.fromkeys(NUMBERS, 1)}
ROWS = 500_000
UNPACKED = 64 << 20


def typed(**columns: pa.Array) -> bytes:
    length = len(next(iter(columns.values())))
    return arrow(pa.table({"type": pa.nulls(length), "time": pa.nulls(length), **columns}))


def coded(values: pa.Array, rows: int = ROWS) -> pa.Array:
    return pa.DictionaryArray.from_arrays(_zeros(rows), values)


def _zeros(rows: int) -> pa.Array:
    return pa.Array.from_buffers(pa.int8(), rows, [None, pa.py_buffer(bytes(rows))])


def runs(value: pa.Array, rows: int = ROWS) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array([rows], pa.int32()), value)


def views(kind: pa.DataType, rows: int = ROWS) -> pa.Array:
    """Return many views of one text; a view holds a length, a prefix, the number of a buffer and an offset in it."""
    view = struct.pack("<i4sii", 1000, b"xxxx", 0, 0)
    return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(view * rows), pa.py_buffer(b"x" * 1000)])


def many_batches() -> bytes:
    batch = pa.record_batch({"type": pa.array([], pa.string()), "time": pa.array([], pa.int64())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        for _ in range(200_000):
            writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def many_columns() -> bytes:
    names = [f"c{number}" for number in range(300_000)]
    return arrow(pa.table([pa.nulls(1)] * len(names), names=names))


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "empty objects": (NDJSON, lambda: b"{}\n" * ROWS),
    "empty objects behind a full one": (NDJSON, lambda: json.dumps(FULL).encode() + b"\n" + b"{}\n" * (ROWS - 1)),
    "and in front of what Arrow does not read": (
        NDJSON,
        lambda: json.dumps(FULL).encode() + b"\n" + b"{}\n" * (ROWS - 2) + b'{"type": "[", "time": 1}\n',
    ),
    "a full object among empty ones": (
        NDJSON, lambda: b"{}\n" * (ROWS // 2) + json.dumps(FULL).encode() + b"\n" + b"{}\n" * (ROWS // 2 - 1)
    ),
    "full objects": (NDJSON, lambda: (json.dumps(FULL, separators=(",", ":")).encode() + b"\n") * 13_000),
    "nulls": (NDJSON, lambda: (json.dumps(dict.fromkeys(FULL), separators=(",", ":")).encode() + b"\n") * 9_000),
    "empty lines": (NDJSON, lambda: b"\n" * UNPACKED),
    "blank lines": (NDJSON, lambda: b" \n" * (UNPACKED // 2)),
    "returns": (NDJSON, lambda: b"\r" * UNPACKED),
    "short lines": (NDJSON, lambda: b"ab\n" * (UNPACKED // 3)),
    "a long blank line": (NDJSON, lambda: b" " * UNPACKED),
    "arrays in an array": (NDJSON, lambda: b'{"type": "A", "x": [' + b"[]," * (UNPACKED // 3 - 100) + b"[]]}"),
    "objects in an array": (NDJSON, lambda: b"[" + b"{}," * (UNPACKED // 3 - 100) + b"{}]"),
    "an object of many names": (
        NDJSON, lambda: b'{"type":"A"' + b"".join(b',"%x":1' % number for number in range(5_000_000)) + b"}"
    ),
    "many objects of many names": (
        NDJSON,
        lambda: b"".join(b'{"%x":1,"[":2}\n' % number for number in range(400_000)),
    ),
    "a long name": (NDJSON, lambda: b'{"type": "A", "time": 1, "' + b"x" * (UNPACKED - 100) + b'": 1}'),
    "msgpack of empty maps": (MSGPACK, lambda: msgpack.packb([{}] * ROWS)),
    "msgpack of empty maps behind a full one": (MSGPACK, lambda: msgpack.packb([FULL] + [{}] * (ROWS - 1))),
    "msgpack of an array of nils": (MSGPACK, lambda: b"\x91\x81\xa1a\xdd\x03\xf0\x00\x00" + b"\xc0" * 0x3F00000),
    "msgpack of a map of many names": (
        MSGPACK,
        lambda: (
            b"\x91\xdf" + (10_000_000).to_bytes(4, "big")
            + b"".join(b"\xce%b\x01" % number.to_bytes(4, "big") for number in range(10_000_000))
        ),
    ),
    "msgpack of a map of many texts": (
        MSGPACK,
        lambda: b"\x91\xdf\x00\x7a\x12\x00" + b"".join(b"\xa5%05x\x01" % number for number in range(8_000_000)),
    ),
    "msgpack that claims an array": (MSGPACK, lambda: b"\x91\x81\xa1a\xdd\x03\xff\xff\x00" + bytes(UNPACKED - 16)),
    "Arrow of nulls": (ARROW, lambda: arrow(pa.table({name: pa.nulls(ROWS) for name in COLUMNS}))),
    "Arrow of coded nulls": (ARROW, lambda: typed(**{name: coded(pa.nulls(1, pa.int64())) for name in NUMBERS[:120]})),
    "Arrow of coded numbers": (ARROW, lambda: typed(**{name: coded(pa.array([7])) for name in NUMBERS[:120]})),
    "Arrow of runs": (ARROW, lambda: typed(**{name: runs(pa.array([7])) for name in NUMBERS})),
    "Arrow of runs of texts": (ARROW, lambda: typed(s=runs(pa.array(["x" * 20_000])))),
    "Arrow of runs of coded texts": (ARROW, lambda: typed(s=runs(coded(pa.array(["x" * 20_000]), 1)))),
    "Arrow of coded texts": (ARROW, lambda: typed(s=coded(pa.array(["x" * 20_000])))),
    "Arrow of types in runs": (
        ARROW, lambda: arrow(pa.table({"type": runs(pa.array(["x" * 20_000])), "time": runs(pa.array([1]))}))
    ),
    "Arrow of times in runs": (
        ARROW, lambda: arrow(pa.table({"type": pa.nulls(ROWS), "time": runs(pa.array(["2026" + "x" * 20_000]))}))
    ),
    "Arrow of runs of truths": (
        ARROW, lambda: typed(**{f"b{number}": runs(pa.array([True])) for number in range(500)})
    ),
    "Arrow of truths": (
        ARROW, lambda: typed(**{f"b{number}": pa.array([True] * ROWS) for number in range(500)})
    ),
    "Arrow of small numbers": (ARROW, lambda: typed(**{name: _zeros(ROWS) for name in NUMBERS[:120]})),
    "Arrow of text views": (ARROW, lambda: typed(s=views(pa.string_view()))),
    "Arrow of byte views": (ARROW, lambda: typed(s=views(pa.binary_view()))),
    "Arrow of JSON views": (
        ARROW, lambda: typed(s=pa.ExtensionArray.from_storage(pa.json_(pa.string_view()), views(pa.string_view())))
    ),
    "Arrow of structures": (
        ARROW, lambda: typed(s=pa.StructArray.from_arrays([pa.nulls(ROWS)] * 2000, [f"f{n}" for n in range(2000)]))
    ),
    "Arrow of lists of nothing": (
        ARROW, lambda: typed(s=pa.FixedSizeListArray.from_arrays(pa.nulls(ROWS * 1000), 1000))
    ),
    "Arrow of bytes of no width": (ARROW, lambda: typed(s=pa.array([b""] * ROWS, pa.binary(0)))),
    "Arrow of many batches": (ARROW, many_batches),
    "Arrow of many columns": (ARROW, many_columns),
}  # fmt: skip


def run(name: str, folder: Path) -> None:
    kind, make = BOMBS[name]
    here = Asking(folder)
    submit(here.jobs, Submission(workload=WORKLOAD, columns=COLUMNS, name="bomb"), None, b"", here.settings)
    body = gzip.compress(make(), 1)
    headers = [("Host", "127.0.0.1"), ("Content-Type", kind), ("Content-Encoding", "gzip")]
    Path("/proc/self/clear_refs").write_text("5")  # reset the peak: making the body does not count
    before, started_at = peak(), perf_counter()
    answer = here.ask("POST", "/v1/workloads/bomb/events", headers, body)
    report = {"name": name, "status": answer.status_code, "said": answer.text[:300], "bytes": len(body)}
    report |= {"peak": peak() - before, "seconds": perf_counter() - started_at}
    sys.stdout.write(f"{json.dumps(report)}\n")
    sys.stdout.flush()


def main(folder: Path, names: Sequence[str]) -> None:
    """Try each bomb in a forked process, which has all modules imported already."""
    for name in names or BOMBS:
        place = folder / digest(name.encode())
        place.mkdir(parents=True)
        child = os.fork()
        if not child:
            status = 1
            try:
                run(name, place)
                status = 0
            except BaseException:  # noqa: BLE001 - this process ends here
                traceback.print_exc()
            os._exit(status)
        if os.waitpid(child, 0)[1]:
            raise SystemExit(f"{name} could not be tried")


def peak() -> int:
    """Return the peak of this process's resident memory in bytes."""
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) << 10


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
