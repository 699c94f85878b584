"""Reading rows from disk page by page gives all of them, in order, with all their digits."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

from elsinore.client.pages import Page
from elsinore.cluster.service.jobs import StoredJob
from elsinore.cluster.service.rows import Cursor, Reader, RowsSink, forget_rows
from elsinore.cluster.service.web.refusals import RefusalError
from elsinore.connectors.errors import FailedError
from elsinore.connectors.rows.json_values import NUMBER

FIXED = {"query": ["a", "a"], "window_start": [0, 10], "window_end": [10, 20]}
COLUMNS = {"a": ("window_start", "window_end", "n")}


@pytest.fixture
def job(tmp_path: Path) -> StoredJob:
    (tmp_path / "rows").mkdir()
    return StoredJob(tmp_path)


def written(job: StoredJob, batch: int, values: pa.Array, meta: dict[bytes, bytes] | None = None) -> None:
    table = pa.table({**FIXED, "n": values})
    field = table.schema.field("n").with_metadata(meta)
    RowsSink(job.rows, COLUMNS).write(batch, [table.cast(table.schema.set(3, field))])


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_pages_are_all_rows(job: StoredJob, limit: int) -> None:
    for batch in (1, 4, 5):
        written(job, batch, pa.array([batch, batch + 10]))
    reader, cursor, found = Reader(job), Cursor(), []
    while len(page := reader.page(cursor, limit)):
        assert len(page) <= limit
        found += [row["n"] for row in json.loads(page.json())["rows"]]
        behind = list(page.cursors())
        assert behind[-1] == page.next == Cursor.read(str(page.next))
        cursor = page.next
    assert found == [1, 11, 4, 14, 5, 15]
    written(job, 7, pa.array([7, 17]))
    assert [row["n"] for row in json.loads(reader.page(cursor, 9).json())["rows"]] == [7, 17]


PIECES = ([1, 11], [2, 12], [2**70, 13], [4, 14])


def pieces(values: Sequence[Sequence[int]]) -> Iterator[pa.Table]:
    for some in values:
        yield pa.table({**FIXED, "n": pa.array(some, pa.int64() if max(some) < 2**63 else pa.decimal256(76, 0))})


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 100])
def test_pages_are_the_rows_of_all_pieces_of_a_batch(job: StoredJob, limit: int) -> None:
    written(job, 1, pa.array([5, 6]))
    RowsSink(job.rows, COLUMNS).write(2, pieces(PIECES))
    written(job, 3, pa.array([7, 8]))
    everything = [5, 6, *(n for some in PIECES for n in some), 7, 8]
    reader, cursor, found = Reader(job), Cursor(), []
    behind: list[Cursor] = []
    while len(page := reader.page(cursor, limit)):
        assert len(page) <= limit
        found += [row["n"] for row in json.loads(page.json())["rows"]]
        behind += page.cursors()
        assert behind[-1] == page.next
        cursor = page.next
    assert found == everything
    for number, at in enumerate(behind):
        rest = json.loads(reader.page(at, 100).json())["rows"]
        assert [row["n"] for row in rest] == everything[number + 1 :]
        last = json.loads(reader.page(reader.before_last(number), 100).json())["rows"]
        assert [row["n"] for row in last] == everything[len(everything) - number :]


def test_a_batch_of_pieces_appears_when_it_is_whole(job: StoredJob) -> None:
    def failing() -> Iterator[pa.Table]:
        for some in pieces(PIECES):
            assert not len(Reader(job).page(Cursor(), 9))
            yield some
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        RowsSink(job.rows, COLUMNS).write(1, failing())
    assert not list(job.rows.iterdir())


def test_a_batch_that_is_repeated_leaves_no_piece_behind(job: StoredJob) -> None:
    for some in (PIECES, PIECES[:2], PIECES[:1]):
        RowsSink(job.rows, COLUMNS).write(1, pieces(some))
        shown = json.loads(Reader(job).page(Cursor(), 100).json())["rows"]
        assert [row["n"] for row in shown] == [n for piece in some for n in piece]
        assert len(list(job.rows.iterdir())) == len(some)


def test_all_pieces_of_a_batch_expire_together(job: StoredJob) -> None:
    RowsSink(job.rows, COLUMNS).write(1, pieces(PIECES))
    cursor = Reader(job).page(Cursor(), 3).next
    os.utime(job.rows / "part-000000000001.arrow", (1000, 1000))
    forget_rows(job, 2000)
    assert not list(job.rows.iterdir())
    written(job, 2, pa.array([7, 8]))
    assert [row["n"] for row in json.loads(Reader(job).page(cursor, 9).json())["rows"]] == [7, 8]


def test_a_cursor_goes_on_behind_rows_whose_time_is_over(job: StoredJob) -> None:
    for batch in (1, 4, 5):
        written(job, batch, pa.array([batch, batch + 10]))
    reader = Reader(job)
    cursor = reader.page(Cursor(), 1).next
    for batch in (1, 4):
        os.utime(job.rows / f"part-{batch:012}.arrow", (1000, 1000))
    reader.page(cursor, 1)
    forget_rows(job, 2000)
    assert [row["n"] for row in json.loads(reader.page(cursor, 9).json())["rows"]] == [5, 15]


def test_no_digit_is_lost_where_batches_differ(job: StoredJob) -> None:
    huge, word = 2**200, str(2**300)
    written(job, 1, pa.array([1, 2]))
    written(job, 2, pa.array([huge, 3], pa.decimal256(76, 0)))
    written(job, 3, pa.array([word, "4"]), {NUMBER: b"true"})
    written(job, 4, pa.array([None, None], pa.float64()))
    page = Reader(job).page(Cursor(), 10)
    assert [row["n"] for row in json.loads(page.json())["rows"]] == [1, 2, huge, 3, 2**300, 4, None, None]
    table = pa.ipc.open_stream(page.arrow(COLUMNS)).read_all()
    assert table.column("n").to_pylist() == ["1", "2", str(huge), "3", word, "4", None, None]
    assert table.schema.field("n").metadata == {NUMBER: b"true"}
    assert json.loads(table.schema.metadata[b"columns"]) == {"a": list(COLUMNS["a"])}


def test_no_row_of_a_damaged_file_is_read(job: StoredJob) -> None:
    """Whichever bit of it was changed, and wherever it was cut short: numbers look right in either case."""
    written(job, 1, pa.array([1, 2]))
    path = job.rows / "part-000000000001.arrow"
    whole = path.read_bytes()
    changed = [bytes([*whole[:at], whole[at] ^ 1, *whole[at + 1 :]]) for at in range(0, len(whole), 7)]
    for damaged in (*changed, *(whole[:length] for length in range(0, len(whole) - 16, 31))):
        path.write_bytes(damaged)
        with pytest.raises(FailedError, match=r"rows/part-000000000001\.arrow cannot be read: .* after=2\.0"):
            Reader(job).page(Cursor(), 10)


def test_rows_of_an_older_version_have_no_checksum_and_are_read(job: StoredJob) -> None:
    written(job, 1, pa.array([1, 2]))
    path = job.rows / "part-000000000001.arrow"
    path.write_bytes(path.read_bytes()[:-16])
    assert [row["n"] for row in json.loads(Reader(job).page(Cursor(), 9).json())["rows"]] == [1, 2]
    old = bytearray(path.read_bytes())
    old[old.rindex(b"aa")] = 0xFF  # the values of the column query
    path.write_bytes(old)
    with pytest.raises(FailedError, match=r"cannot be read: .* after=2\.0"):
        Reader(job).page(Cursor(), 10)


def test_a_page_without_rows_has_its_columns(job: StoredJob) -> None:
    table = pa.ipc.open_stream(
        Reader(job).page(Cursor(), 10).arrow({**COLUMNS, "b": ("event_start", "event_end", "m")})
    ).read_all()
    assert table.column_names == ["query", "window_start", "window_end", "event_start", "event_end", "n", "m"]


@pytest.mark.parametrize("text", ["", "1", "1.x", "-1.0", "1.2.3", "\u0661.\u0662", "9" * 50 + ".0"])
def test_a_cursor_that_is_none(text: str) -> None:
    with pytest.raises(RefusalError, match="cursor is invalid"):
        Cursor.read(text)


def test_pages_of_batches_where_a_name_means_other_things_are_read(job: StoredJob) -> None:
    columns = {"lists": ("start", "end", "A"), "single": ("start", "end", "A")}
    events = pa.array([{"type": "A", "time": 1, "n": None}])
    lists = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), events)
    bounds = {"start": [1], "end": [1]}
    for batch, (query, values) in enumerate([("lists", lists), ("single", events)], start=1):
        RowsSink(job.rows, columns).write(batch, [pa.table({"query": [query], **bounds, "A": values})])
    page = Reader(job).page(Cursor(), 9)
    shown = [row["A"] for row in json.loads(page.json())["rows"]]
    assert shown == [[{"type": "A", "time": 1, "n": None}], {"type": "A", "time": 1, "n": None}]
    received = Page(pa.ipc.open_stream(page.arrow(columns)).read_all(), "2.1")
    assert [row["A"] for row in received.rows()] == shown
