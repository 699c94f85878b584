"""What pages ask for besides updates: history, plans, problems of a draft, and its rows over a few events."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pytest

import elsinore
from elsinore.cluster.service.console import workbench
from elsinore.cluster.service.console.updates import Position
from elsinore.cluster.service.console.workbench import MAX_EVENTS
from elsinore.cluster.service.history import KEPT_ENTRIES, History
from elsinore.cluster.service.rows import Reader, RowsSink
from elsinore.cluster.service.web.console_routes import FIRST_ROWS, MAX_DRAFTS, MAX_ROWS, RowsPart
from tests.service.asking import JOB, WORKLOAD, Asking

HOST, JSON = ("Host", "127.0.0.1:8000"), ("Content-Type", "application/json")
WRONG = "QUERY a RETURN COUNT(*) PATERN A+;\nQUERY b RETURN COUNT(*) PATTERN A+ WITHIN 1 minut"
TIMES = range(2, 9)
EVENTS = "\n".join(['{"type": "A", "time": 1}', *(f'{{"type": "B", "time": {at}}}' for at in TIMES), '{"time": 9}'])
CSV = "\n".join(["type,time", "A,1", *(f"B,{at}" for at in TIMES), ",9"])


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Asking:
    return Asking(tmp_path_factory.mktemp("console"))


def posted(here: Asking, path: str, **draft: Any) -> Any:
    answer = here.ask("POST", path, [HOST, JSON], json.dumps(draft).encode())
    return answer.status_code, answer.json()


def test_a_draft_is_told_all_its_problems_with_their_places(here: Asking) -> None:
    status, found = posted(here, "/console/check", workload=WRONG)
    assert status == 200
    assert len(found["problems"]) > 1
    places = {WRONG[problem["start"] : problem["end"]] for problem in found["problems"]}
    assert {"PATERN", "minut"} <= places
    status, found = posted(here, "/console/check", workload=WORKLOAD)
    assert (status, found["problems"]) == (200, [])
    assert found["plan"].startswith("plan: strategy auto")


def test_a_draft_has_rows_over_events_in_either_form(here: Asking) -> None:
    for events in (EVENTS, CSV):
        status, found = posted(here, "/console/try", workload=WORKLOAD, events=events)
        assert status == 200, found
        assert [json.loads(row)["COUNT(*)"] for row in found["rows"]] == [127]
        assert found["counters"]["events"] == 8
        assert found["queries"] == {"pairs": 1}
        assert len(found["dead"]) == 1
        assert found["dead"][0].startswith(("line 9: ", "line 10: "))


def test_large_numbers_keep_their_digits(here: Asking) -> None:
    events = "\n".join(json.dumps({"type": "A", "time": at}) for at in range(80))
    workload = "QUERY all RETURN COUNT(*) PATTERN A+ WITHIN 100 seconds SLIDE 100 seconds"
    _, found = posted(here, "/console/try", workload=workload, events=events)
    assert f'"COUNT(*)": {2**80 - 1}' in found["rows"][0]


POOLED = "QUERY pooled RETURN COUNT(*) PATTERN SEQ(A, B+) WHERE A.kind = 'pool' WITHIN 10 seconds SLIDE 10 seconds"
SPELLED = '{"type": "A", "time": 1, "kind": "Pool", "n": 9007199254740993}\n{"type": "B", "time": 2}\n{"time": 9}'


def test_an_empty_answer_is_explained_as_why_explains_it(here: Asking, tmp_path: Path) -> None:
    draft = {"workload": f"{WORKLOAD};\n{POOLED}", "events": SPELLED}
    status, tried = posted(here, "/console/try", **draft)
    assert (status, tried["queries"]) == (200, {"pairs": 1, "pooled": 0})
    status, found = posted(here, "/console/why", **draft, query="pooled")
    assert status == 200, found
    reason = json.loads(found["reason"])
    assert reason["causes"][0]["mend"] == "write 'Pool': then there is 1 row"
    start, end = reason["causes"][0]["place"]
    assert draft["workload"][start:end] == "'pool'"
    path = tmp_path / "events.jsonl"
    path.write_text(SPELLED)
    (told,) = elsinore.why(f"{draft['workload']}\n", path, query="pooled").to_dict()["reasons"]
    notes = [note.replace(str(path), "the events") for note in told["notes"]]
    assert reason == {**told, "notes": notes}
    assert "the events" in reason["notes"][0]


def test_a_question_about_another_query_is_refused(here: Asking) -> None:
    status, found = posted(here, "/console/why", workload=WORKLOAD, events=EVENTS, query="other")
    assert (status, found["detail"]) == (422, "the workload has no query 'other'; it has pairs")
    assert posted(here, "/console/why", workload=WORKLOAD, events=EVENTS)[0] == 422
    assert posted(here, "/console/why", workload=WORKLOAD, events="a,a\n1,2", query="pairs")[0] == 422


@pytest.mark.parametrize("text", ["/etc/passwd", "/etc/hostname", __file__, "nothing.eql"])
def test_a_draft_is_never_a_path(here: Asking, text: str) -> None:
    """The command line reads workloads from files; a page may not name one of this machine's."""
    status, found = posted(here, "/console/check", workload=text)
    assert status == 200
    assert "file" not in json.dumps(found["problems"]).replace(text, "")
    assert "root:" not in json.dumps(found)


def test_what_is_wrong_with_a_draft_is_refused(here: Asking) -> None:
    many = "\n".join(['{"type": "A", "time": 1}'] * (MAX_EVENTS + 1))
    assert posted(here, "/console/try", workload=WORKLOAD, events=many)[0] == 422
    assert posted(here, "/console/try", workload=WORKLOAD, events="no,columns\n1,2")[0] == 422
    assert posted(here, "/console/check", workload=WORKLOAD, strategy="guess")[0] == 422
    assert posted(here, "/console/check", workload=WORKLOAD, more=1)[0] == 422
    assert here.ask("POST", "/console/check", [HOST], b"{}").status_code == 415


@pytest.mark.parametrize("events", ["", "\n\n", "{", '{"kind": "A"}', "type,time\rA,1\r", "a,a\n1,2"])
def test_messages_about_events_name_no_file_of_the_service(here: Asking, events: str) -> None:
    status, found = posted(here, "/console/try", workload=WORKLOAD, events=events)
    assert status == 422
    assert found["detail"].startswith("the events")


def test_a_dead_letter_without_a_line_is_shown(here: Asking) -> None:
    """A line of CSV has no number behind a quoted cell without an end."""
    status, found = posted(here, "/console/try", workload=WORKLOAD, events='type,time,v\nA,1,\nA,x,"\nB,2,1\nA,x,')
    assert status == 200, found
    assert found["counters"]["dead"] == len(found["dead"]) > 0


@pytest.mark.parametrize("header", ["type,time," + "x," * 999, '{"type": "A", "time": 1, ' + '"x": 1, ' * 999 + "}"])
def test_few_bytes_that_make_many_cells_are_refused(here: Asking, header: str) -> None:
    line = "{}" if header.startswith("{") else "A,1"
    status, found = posted(here, "/console/try", workload=WORKLOAD, events="\n".join([header, *[line] * 5_000]))
    assert status == 422
    assert "1,002 columns" in found["detail"]
    assert "at most 5,000,000 cells" in found["detail"]


REFUSED = 3


def test_requests_to_the_workbench_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    over = Event()
    monkeypatch.setattr(workbench, "ask", lambda *_: over.wait(30) and {})
    here = Asking(tmp_path)
    body = json.dumps({"workload": WORKLOAD, "events": EVENTS}).encode()

    async def one() -> int:
        return (await here._ask("POST", "/console/try", [HOST, JSON], body)).status_code

    async def all_of_them() -> list[int]:
        tasks = [asyncio.create_task(one()) for _ in range(MAX_DRAFTS + REFUSED)]
        answers = asyncio.as_completed(tasks)
        refused = [await next(answers) for _ in range(REFUSED)]
        over.set()
        return [*refused, *[await answer for answer in answers]]

    assert asyncio.run(all_of_them()) == [429] * REFUSED + [200] * MAX_DRAFTS
    assert asyncio.run(one()) == 200


def test_a_plan_is_text_and_pictures(here: Asking) -> None:
    found = here.ask("GET", f"/console/jobs/{JOB}/plan", [HOST]).json()
    assert "query pairs" in found["plan"]
    assert all(picture.startswith("<svg") for picture in found["pictures"])
    assert here.ask("GET", "/console/jobs/nothing/plan", [HOST]).status_code == 404


def test_the_history_of_a_job_begins_with_its_submit_and_has_a_bound(tmp_path: Path) -> None:
    here = Asking(tmp_path)
    path = f"/console/jobs/{JOB}/history"
    assert [entry["what"] for entry in here.ask("GET", path, [HOST]).json()["history"]] == ["submitted"]
    history = History(here.jobs.get(JOB))
    history.note("paused", "by request")
    history.changed(WORKLOAD, WORKLOAD.replace("pairs", "others"))
    found = here.ask("GET", path, [HOST]).json()["history"]
    assert [(entry["what"], entry["why"]) for entry in found] == [
        ("submitted", ""),
        ("paused", "by request"),
        ("queries added", "others"),
        ("queries dropped", "pairs"),
    ]
    for _ in range(KEPT_ENTRIES):
        history.note("resumed")
    assert len(here.ask("GET", path, [HOST]).json()["history"]) == KEPT_ENTRIES
    (here.jobs.get(JOB).folder / "history.json").write_text('[{"time": "now"}]')
    assert len(here.ask("GET", path, [HOST]).json()["history"]) == 1


def written(here: Asking, batch: int, rows: int) -> None:
    sink = RowsSink(here.jobs.get(JOB).rows, {"pairs": ["window_start", "COUNT(*)"]})
    numbers = pa.array([2**60 + at for at in range(rows)])
    queries = pa.array(["pairs"] * rows).dictionary_encode()
    sink.write(batch, [pa.table({"query": queries, "window_start": numbers, "COUNT(*)": numbers})])


def test_rows_come_from_where_a_page_was_and_of_very_many_the_last(tmp_path: Path) -> None:
    async def test() -> None:
        here = Asking(tmp_path)
        for batch in range(1, 4):
            written(here, batch, FIRST_ROWS)
        part = RowsPart(Reader(here.jobs.get(JOB)))
        opened = await part.next(Position())
        assert opened is not None
        assert opened.position.rows == f"3.{FIRST_ROWS}"
        assert opened.data.count('"query"') == FIRST_ROWS
        assert str(2**60 + 1) in opened.data
        written(here, 4, 2)
        more = await part.next(opened.position)
        assert more is not None
        assert more.data.count('"query"') == 2
        assert await part.next(more.position) is None
        for batch in range(5, 9):
            written(here, batch, MAX_ROWS)
        most = await part.next(more.position)
        assert most is not None
        assert json.loads(most.data)["skipped"]
        assert most.data.count('"query"') == MAX_ROWS
        assert most.position.rows == f"8.{MAX_ROWS}"

    asyncio.run(test())
