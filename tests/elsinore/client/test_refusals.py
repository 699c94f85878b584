from __future__ import annotations

import pickle

import pytest

import elsinore
from elsinore.client.error_replies import exception, refusal
from elsinore.client.exchange import Response
from tests.elsinore.client.scripted import problem

WRONG = """
RETURN COUNT(*), SUM(Travl.speed)
PATTERN SEQ(Request, Travel+)
WITHIN 5 minutes SLIDE 10 minutes
"""


def test_a_workload_is_refused_as_it_is_here() -> None:
    with pytest.raises(elsinore.WorkloadError) as here:
        elsinore.check(WRONG)
    problems = [
        {"message": one.message, "hint": one.hint, "query": one.query, "start": one.place.start, "end": one.place.end}
        for one in here.value.problems
        if one.place is not None
    ]
    there = refusal(problem(422, str(here.value), problems=problems), WRONG)
    assert isinstance(there, elsinore.WorkloadError)
    assert str(there) == str(here.value)
    assert there.problems == here.value.problems
    assert [one.show(there.text) for one in there.problems] == [one.show(WRONG) for one in here.value.problems]
    again = pickle.loads(pickle.dumps(there))
    assert str(again) == str(there)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, elsinore.InputError),
        (401, elsinore.RefusedError),
        (403, elsinore.RefusedError),
        (404, elsinore.InputError),
        (409, elsinore.InputError),
        (413, elsinore.InputError),
        (422, elsinore.InputError),
        (429, elsinore.UnreachableError),
        (500, elsinore.FailedError),
        (503, elsinore.UnreachableError),
    ],
)
def test_each_status_has_its_class_and_the_text_is_the_services(status: int, kind: type[Exception]) -> None:
    error = refusal(problem(status, "what the command line says"))
    assert type(error) is kind
    assert str(error).startswith("what the command line says")


def test_an_event_is_refused_as_it_is_here() -> None:
    assert type(exception({"type": "urn:elsinore:event", "status": 422, "detail": "no time"})) is elsinore.EventError


@pytest.mark.parametrize("body", [b"<html><h1>Bad\n gateway</h1>", b"\xff\xfe", b"", b"[1]"])
@pytest.mark.parametrize("kind", ["text/html", "application/problem+json"])
def test_a_page_that_is_no_problem_document_is_quoted(body: bytes, kind: str) -> None:
    error = refusal(Response(502, {"content-type": kind}, body))
    assert isinstance(error, elsinore.FailedError)
    assert str(error).startswith("the service answered 502: ")
    assert "\n" not in str(error)
