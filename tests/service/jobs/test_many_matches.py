"""A job whose query has more matches than any memory holds fails by itself; the service and other jobs continue."""

from __future__ import annotations

import json
from itertools import repeat
from time import monotonic, sleep

import httpx2
import pytest

from elsinore.actors.rows.rows import Rows
from elsinore.api import prepare
from elsinore.cluster.service.job_runner import bounded
from elsinore.connectors.errors import InputError
from tests.service.rides import document, rows_of, submitted, until_taken

FOUND = "QUERY all RETURN MATCHES PATTERN A+ WITHIN 1 hour"
COUNTED = "QUERY all RETURN COUNT(*) PATTERN A+ WITHIN 1 hour SLIDE 1 hour"
EVENTS = [{"type": "A", "time": at} for at in range(60)]
JSON = {"Content-Type": "application/x-ndjson"}


def rows(query: str) -> list[Rows]:
    job = prepare(query, EVENTS[:4], engine="local", strategy="auto", numeric="exact", lateness=0)
    return [one for one in job if len(one)]


def test_no_more_matches_are_written_than_the_service_allows() -> None:
    with pytest.raises(InputError, match="the query all has more than 100 matches in one batch"):
        list(bounded(repeat(rows(FOUND)), ["all"], 100))
    some = rows(FOUND)
    assert list(bounded([some], ["all"], sum(map(len, some)))) == [some]
    assert len(list(bounded([rows(COUNTED)] * 200, [], 100))) == 200


@pytest.mark.ray
def test_a_runaway_query_fails_its_job_alone(client: httpx2.Client) -> None:
    """There are 2^60 matches."""
    body = "".join(f"{json.dumps(event)}\n" for event in EVENTS)
    with submitted(client, FOUND) as runaway, submitted(client, COUNTED) as other:
        client.post(f"/v1/workloads/{runaway}/events", content=body, headers=JSON)
        client.post(f"/v1/workloads/{other}/events", content=f'{body}{{"type": "A", "time": 4000}}\n', headers=JSON)
        until_taken(client, other, len(EVENTS) + 1)
        assert sum(rows_of(client, other).values()) == 1
        end = monotonic() + 120
        while (found := document(client, runaway))["state"] != "failed":
            assert monotonic() < end, found
            sleep(0.2)
        assert found["error"]["status"] == 422
        assert "more than 1,000,000 matches in one batch" in found["error"]["detail"]
        assert client.get("/v1/ready").status_code == 200
    assert client.get(f"/v1/workloads/{runaway}").status_code == 404
