"""Test that rows sent in pages are those of a run in this process."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa
import pytest

import elsinore
from elsinore.client.calls import Calls
from elsinore.client.exchange import Response
from elsinore.client.patience import Patience
from elsinore.connectors import ridesharing
from tests.elsinore.client.scripted import DOCUMENT, Played, said

WORKLOAD = """
QUERY many RETURN district, COUNT(*), SUM(T.duration), AVG(T.speed) AS pace, MAX(T.speed)
PATTERN SEQ(Request R, Travel T+) GROUP-BY district WITHIN 2 minutes SLIDE 1 minute
QUERY few RETURN COUNT(*), MIN(C.duration) PATTERN SEQ(Request R, Cancel C) WHERE [rider]
WITHIN 30 seconds SLIDE 15 seconds
QUERY none RETURN COUNT(*) PATTERN Nobody WITHIN 30 seconds SLIDE 15 seconds
"""
EVENTS = pa.Table.from_batches(ridesharing.generate(20_000, seed=5, groups=30))
STAMPED = EVENTS.set_column(1, "time", EVENTS["time"].cast(pa.timestamp("s")))


def page(result: elsinore.Result, rows: Sequence[int], cursor: str) -> Response:
    """Return these rows as a service sends them."""
    one = result.to_arrow()
    table = one.take(pa.array(rows, pa.int64()))
    columns = json.dumps(dict(result.columns))
    table = table.replace_schema_metadata((one.schema.metadata or {}) | {b"columns": columns.encode()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return Response(200, {"elsinore-next": cursor}, sink.getvalue().to_pybytes())


def paged(result: elsinore.Result, size: int) -> Played:
    """Return pages of the rows in order of windows, each with the narrowest types that hold its values."""
    starts = result.to_arrow()["window_start"].to_pylist()
    written = sorted(range(len(result)), key=starts.__getitem__)
    pages = [page(result, written[start : start + size], str(start)) for start in range(0, len(written), size)]
    end = page(result, [], "end")
    return Played(Calls(Patience()).result("rides"), [*pages, end, said(DOCUMENT)])


@pytest.mark.parametrize("events", [EVENTS, STAMPED], ids=["numbers", "timestamps"])
@pytest.mark.parametrize("size", [7, 100_000])
def test_a_result_by_pages_is_that_of_a_run(events: pa.Table, size: int) -> None:
    here = elsinore.run(WORKLOAD, events, engine="local")
    assert max(row["COUNT(*)"] for row in here.rows()) > 10**76
    played = paged(here, size)
    there = played.result
    assert type(there) is elsinore.Result
    assert there.rows() == here.rows()
    assert there.to_arrow().equals(here.to_arrow(), check_metadata=True)
    assert repr(there) == repr(here)
    assert there.queries == here.queries == ("many", "few", "none")
    assert there.query("few").to_arrow().equals(here.query("few").to_arrow())
    assert there.metrics.events == 1234
    assert [request.params.get("after") for request in played.requests[:3]][:2] == [None, "0"]


def test_numbers_beyond_what_python_prints() -> None:
    events = [{"type": "A", "time": 0.5 + number / 2**20} for number in range(20_000)]
    here = elsinore.run("QUERY q RETURN COUNT(*) PATTERN A+ WITHIN 10 seconds SLIDE 10 seconds", events, engine="local")
    assert paged(here, 10).result.rows() == here.rows()
    assert here.rows()[0]["COUNT(*)"] == 2**20_000 - 1


def test_what_a_service_does_not_keep_is_said() -> None:
    here = elsinore.run(WORKLOAD, EVENTS, engine="local")
    there = paged(here, 100).result
    with pytest.raises(elsinore.InputError, match=r"metrics\.late says how many"):
        there.late  # noqa: B018
    with pytest.raises(elsinore.InputError, match=r"job\.decisions\(\)"):
        there.decisions  # noqa: B018


def test_a_page_that_is_none_is_a_failure() -> None:
    played = Played(Calls(Patience()).page("rides", None), [Response(200, {"elsinore-next": "x"}, b"not Arrow")])
    assert isinstance(played.error, elsinore.FailedError)


@pytest.mark.parametrize("size", [3, 1000])
def test_matches_by_pages_are_those_of_a_run(size: int) -> None:
    """Pages are in the order of ends, as batches write them; whole events are structs there."""
    query = """
QUERY found RETURN MATCHES PATTERN SEQ(Request R, Travel T, Cancel C) WHERE [rider] AND T.speed < 4 WITHIN 2 minutes
QUERY counted RETURN COUNT(*) PATTERN SEQ(Request, Cancel) WHERE [rider] WITHIN 900 events SLIDE 900 events
"""
    here = elsinore.run(query, EVENTS, engine="local")
    assert len(here.query("found")) > 10
    ends = [row["end"] if row["query"] == "found" else row["event_end"] for row in here.rows()]
    written = sorted(range(len(here)), key=ends.__getitem__)
    pages = [page(here, written[start : start + size], str(start)) for start in range(0, len(written), size)]
    there = Played(Calls(Patience()).result("rides"), [*pages, page(here, [], "end"), said(DOCUMENT)]).result
    assert there.rows() == here.rows()


@pytest.mark.parametrize("size", [1, 2, 1000])
def test_a_name_may_mean_an_event_in_one_query_and_a_list_in_another(size: int) -> None:
    query = """
QUERY lists RETURN MATCHES PATTERN A+ WITHIN 9 seconds
QUERY single RETURN MATCHES PATTERN SEQ(A, B) WITHIN 9 seconds
"""
    here = elsinore.run(query, [{"type": kind, "time": n} for n, kind in enumerate("AAB")], engine="local")
    written = range(len(here))
    pages = [page(here, written[start : start + size], str(start)) for start in range(0, len(written), size)]
    there = Played(Calls(Patience()).result("rides"), [*pages, page(here, [], "end"), said(DOCUMENT)]).result
    assert there.rows() == here.rows()
    assert there.to_arrow().equals(here.to_arrow())
