from __future__ import annotations

import json
from datetime import timedelta
from fractions import Fraction
from itertools import chain, islice, pairwise, repeat

import pyarrow as pa
import pytest

import elsinore
from elsinore.client.calls import Calls
from elsinore.client.exchange import Response
from elsinore.client.options import Options
from elsinore.client.patience import Patience
from tests.elsinore.client.scripted import DOCUMENT, LOST, Played, problem, said, unpacked

CALLS = Calls(Patience(seconds=60))
TAKEN = {"events": 2, "repeated": False}
EVENTS = [{"type": "Ride", "time": 1}, {"type": "Ride", "time": 2}]


def test_pauses_double_up_to_the_longest_and_are_spread() -> None:
    pauses = list(islice(Patience(first=1, longest=10).pauses(), 1100))
    limits = [1, 2, 4, 8, *[10] * 1096]
    assert all(limit / 2 <= pause <= limit for pause, limit in zip(pauses, limits, strict=True))
    assert len({a / b for a, b in pairwise(pauses[10:])}) > 100


@pytest.mark.parametrize("first", [LOST, problem(503), problem(429), problem(408), Response(502, {}, b"<html>")])
def test_what_may_go_better_is_tried_again(first: Response) -> None:
    played = Played(CALLS.status("rides"), [first, first, said(DOCUMENT)])
    assert played.result.state == "running"
    assert len(played.pauses) == 2


@pytest.mark.parametrize("status", [400, 404, 409, 411, 415, 422, 500])
def test_what_stands_is_not(status: int) -> None:
    assert isinstance(
        Played(CALLS.status("rides"), [problem(status)]).error, ValueError if status < 500 else RuntimeError
    )


def test_a_service_says_how_long_to_wait() -> None:
    busy = Response(429, {"content-type": "application/problem+json", "retry-after": "7"}, b"{}")
    assert Played(CALLS.status("rides"), [busy, said(DOCUMENT)]).pauses == [7]


def test_patience_ends_with_what_was_said_last() -> None:
    played = Played(CALLS.status("rides"), chain([LOST] * 8, repeat(problem(503, "the runtime recovers"))))
    assert isinstance(played.error, elsinore.UnreachableError)
    assert str(played.error) == "the runtime recovers"
    assert 45 < sum(played.pauses) < 60


def test_who_never_answers_is_named() -> None:
    played = Played(Calls(Patience(seconds=1)).status("rides"), [LOST, LOST])
    assert isinstance(played.error, elsinore.UnreachableError)
    assert "did not answer GET /v1/workloads/rides within 1 s: ReadError" in str(played.error)


def test_a_batch_has_one_key_however_often_it_is_sent() -> None:
    played = Played(CALLS.send("rides", EVENTS), [LOST, problem(503), said(TAKEN, 202)])
    assert played.result == elsinore.Sent(2, 1, 0)
    keys = {request.headers["Idempotency-Key"] for request in played.requests}
    assert len(played.requests) == 3
    assert len(keys) == 1
    assert len({request.body for request in played.requests}) == 1


def test_what_was_known_is_told() -> None:
    assert Played(CALLS.send("rides", EVENTS), [said(TAKEN | {"repeated": True}, 202)]).result == elsinore.Sent(2, 1, 2)


def test_a_batch_that_is_too_large_goes_in_halves_in_order() -> None:
    one = said({"events": 1, "repeated": False}, 202)
    three = [*EVENTS, {"type": "Ride", "time": 3}]
    steps: list[int] = []
    played = Played(CALLS.send("rides", three, "mine", steps.append), [problem(413), one, problem(413), one, one])
    sent = [unpacked(request.body) for request in played.requests]
    assert [[event["time"] for event in events] for events in sent] == [[1, 2, 3], [1], [2, 3], [2], [3]]
    keys = [request.headers["Idempotency-Key"] for request in played.requests]
    assert keys == ["mine-0", "mine-0.0", "mine-0.1", "mine-0.1.0", "mine-0.1.1"]
    assert played.result == elsinore.Sent(3, 3, 0)
    assert steps == [1, 1, 1]


def test_one_event_that_is_too_large_is_refused() -> None:
    played = Played(CALLS.send("rides", EVENTS[:1]), [problem(413, "the body is too large")])
    assert isinstance(played.error, elsinore.InputError)


def test_who_fails_in_the_middle_says_what_is_safe() -> None:
    tables = [pa.table({"type": ["Ride"] * 2, "time": [1, 2]})] * 2
    played = Played(CALLS.send("rides", iter(tables)), [said(TAKEN, 202), problem(404, "there is no job rides")])
    assert played.error is not None
    assert played.error.__notes__ == ["2 events before these are safe with the service."]


def test_what_was_removed_by_a_request_that_was_lost_is_removed() -> None:
    assert Played(CALLS.remove("rides"), [LOST, problem(404)]).error is None
    assert Played(CALLS.remove("rides"), [Response(502, {}, b""), problem(404)]).error is None
    assert isinstance(Played(CALLS.remove("rides"), [problem(404)]).error, elsinore.InputError)
    assert isinstance(Played(CALLS.remove("rides"), [problem(429), problem(404)]).error, elsinore.InputError)


def test_a_workload_and_how_it_is_to_be_run() -> None:
    text = DOCUMENT["workload"]
    coded = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema(
        {"district": coded, "speed": pa.float64(), "at": pa.timestamp("ms", "UTC"), "on": pa.timestamp("s")}
    )
    options: Options = {"name": "rides", "lateness": timedelta(seconds=1.5), "columns": schema}
    played = Played(CALLS.submit(text, options), [LOST, said(DOCUMENT, 201)])
    assert json.loads(played.requests[0].body) == {
        "workload": text,
        "name": "rides",
        "lateness": "1500000e-6",
        "columns": {"district": "string", "speed": "float64", "at": "timestamp", "on": "timestamp_ntz"},
    }
    assert Fraction("1500000e-6") == Fraction(3, 2)
    assert len({request.headers["Idempotency-Key"] for request in played.requests}) == 1
    assert repr(played.result) == "<rides: running, 1 query, 1,234 events, 5 rows>"


def test_an_option_that_is_none_is_named() -> None:
    played = Played(CALLS.submit(DOCUMENT["workload"], {"latenes": 1}), [])  # type: ignore[typeddict-unknown-key]
    assert str(played.error).startswith("there is no option 'latenes'; there is name, strategy")


def test_ids_and_names_cannot_leave_their_place_in_a_path() -> None:
    played = Played(CALLS.drop("../x", "a/b?c"), [Response(200, {}, b""), said(DOCUMENT)])
    assert played.requests[0].path == "/v1/workloads/..%2Fx/queries/a%2Fb%3Fc"


def test_who_follows_a_job_that_failed_is_told() -> None:
    failed = DOCUMENT | {
        "state": "failed",
        "error": {"type": "about:blank", "status": 500, "detail": "the disk is full"},
    }
    table = pa.table({"query": pa.array([], pa.string()), "window_start": pa.array([], pa.int64())})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    empty = Response(200, {"elsinore-next": "c1"}, sink.getvalue().to_pybytes())
    played = Played(CALLS.pages("rides", None, True), [empty, said(failed)])  # type: ignore[arg-type]
    assert isinstance(played.error, elsinore.FailedError)
    assert str(played.error) == "the disk is full"
