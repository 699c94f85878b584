"""Cross-site requests and rebound host names: a service serves only its user, whatever a browser sends."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from elsinore.cluster.service.web import guard
from elsinore.cluster.service.web.sites import authority, hosts_of
from tests.service.asking import JOB, WORKLOAD, Asking

HERE = ("Host", "127.0.0.1:8000")
JSON = ("Content-Type", "application/json")
SUBMISSION = json.dumps({"workload": WORKLOAD, "name": "victim"}).encode()
QUERIES = json.dumps({"workload": WORKLOAD.replace("pairs", "more")}).encode()
LINE = b'{"type": "A", "time": 1}\n'

CALLS: dict[str, tuple[str, str, list[tuple[str, str]], bytes]] = {
    "submit": ("POST", "/v1/workloads", [JSON], SUBMISSION),
    "add": ("POST", f"/v1/workloads/{JOB}/queries", [JSON], QUERIES),
    "send": ("POST", f"/v1/workloads/{JOB}/events", [("Content-Type", "application/x-ndjson")], LINE),
    "pause": ("POST", f"/v1/workloads/{JOB}/pause", [], b""),
    "resume": ("POST", f"/v1/workloads/{JOB}/resume", [], b""),
    "remove": ("DELETE", f"/v1/workloads/{JOB}", [], b""),
    "drop": ("DELETE", f"/v1/workloads/{JOB}/queries/pairs", [], b""),
    "list": ("GET", "/v1/workloads", [], b""),
    "results": ("GET", f"/v1/workloads/{JOB}/results", [], b""),
    "health": ("GET", "/v1/health", [], b""),
    "ready": ("GET", "/v1/ready", [], b""),
    "openapi": ("GET", "/openapi.json", [], b""),
    "head": ("HEAD", "/v1/workloads", [], b""),
    "preflight": ("OPTIONS", "/v1/workloads", [("Access-Control-Request-Method", "POST")], b""),
    "nothing": ("GET", "/nothing", [], b""),
}
OTHER_SITES = {
    "another origin": ("Origin", "https://evil.example"),
    "another port": ("Origin", "http://127.0.0.1:9000"),
    "another name of this machine": ("Origin", "http://localhost:8000"),
    "an origin with a path": ("Origin", "http://127.0.0.1:8000/page"),
    "an origin that begins like this one": ("Origin", "http://127.0.0.1:8000.evil.example"),
    "an origin with a user": ("Origin", "http://127.0.0.1:8000@evil.example"),
    "no scheme of the web": ("Origin", "file://127.0.0.1:8000"),
    "null": ("Origin", "null"),
    "an empty origin": ("Origin", ""),
    "cross-site": ("Sec-Fetch-Site", "cross-site"),
    "same-site": ("Sec-Fetch-Site", "same-site"),
    "a site that is none": ("Sec-Fetch-Site", "other"),
}


@pytest.fixture
def here(tmp_path: Path) -> Asking:
    return Asking(tmp_path)


@pytest.mark.parametrize("call", CALLS)
def test_nothing_is_done_for_another_site(here: Asking, call: str) -> None:
    method, path, headers, body = CALLS[call]
    for name, sign in OTHER_SITES.items():
        answer = here.ask(method, path, [HERE, *headers, sign], body)
        assert answer.status_code == 403, name
        assert not [header for header in answer.headers if header.startswith("access-control")]
        assert method == "HEAD" or answer.json()["detail"] == "requests from pages of other sites are refused"
    assert not here.done


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "host",
    ["evil.example", "rebound.evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "evil-localhost",
     "192.168.0.1:8000", "0.0.0.0:8000", "[::2]:8000", "127.1", "2130706433", "[::]:8000"],
)  # fmt: skip
def test_nothing_is_done_by_another_name(here: Asking, call: str, host: str) -> None:
    method, path, headers, body = CALLS[call]
    answer = here.ask(method, path, [("Host", host), ("Origin", f"http://{host}"), *headers], body)
    assert answer.status_code == 421
    assert not here.done


@pytest.mark.parametrize(
    "hosts",
    [[], ["127.0.0.1", "127.0.0.1"], ["127.0.0.1", "evil.example"], [""], ["127.0.0.1:"], ["127.0.0.1:99999"],
     ["a b"], ["http://127.0.0.1"], ["::1"], ["[::1"], ["[1::2::3]"], ["user@127.0.0.1"], ["127.0.0.1, evil.example"],
     ["127.0.0.1/x"], ["*"]],
)  # fmt: skip
def test_a_request_has_one_host(here: Asking, hosts: list[str]) -> None:
    for method, path, headers, body in CALLS.values():
        answer = here.ask(method, path, [*[("Host", host) for host in hosts], *headers], body)
        assert answer.status_code == 400, path
    assert not here.done


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:8000", "localhost.", "127.0.0.1", "127.0.0.1:1", "127.9.8.7:8000", "[::1]", "[::1]:8000"],
)
def test_own_names_and_pages_are_served(here: Asking, host: str) -> None:
    port = "" if ":" in host.replace("::", "") else ":80"
    own: list[list[tuple[str, str]]] = [
        [],
        [("Sec-Fetch-Site", "none")],
        [("Sec-Fetch-Site", "same-origin"), ("Origin", f"http://{host}{port}")],
    ]
    for more in own:
        assert here.ask("GET", "/v1/workloads", [("Host", host), *more]).status_code == 200


KINDS = (
    *(None, "", "text/plain", "text/plain; application/json", "application/json, text/plain"),
    *("application/x-www-form-urlencoded", "multipart/form-data; boundary=x"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_no_body_is_taken_that_a_form_can_send(here: Asking, kind: str | None) -> None:
    """A browser too old to send the origin of a page still sends the content type of its body."""
    said = [] if kind is None else [("Content-Type", kind)]
    for call in ("submit", "add", "send"):
        method, path, _, body = CALLS[call]
        assert here.ask(method, path, [HERE, *said], body).status_code == 415, call
    for call in ("pause", "resume", "remove", "drop"):
        method, path, _, _ = CALLS[call]
        form = [HERE, *said, ("Content-Length", "3")]
        assert here.ask(method, path, form, b"a=b").status_code == 415, call
        if kind is not None:
            assert here.ask(method, path, [HERE, *said], b"").status_code == 415, call
    twice = [HERE, JSON, ("Content-Type", "text/plain")]
    assert here.ask("POST", "/v1/workloads", twice, SUBMISSION).status_code == 415
    assert not here.done


def test_what_clients_send_is_done(here: Asking) -> None:
    statuses = {call: here.ask(method, path, [HERE, *headers], body).status_code
                for call, (method, path, headers, body) in CALLS.items()}  # fmt: skip
    assert statuses["submit"] == 201
    assert statuses["send"] == 202
    assert {statuses[call] for call in ("pause", "resume", "list", "results", "health", "openapi")} == {200}
    assert statuses["remove"] == 204
    assert here.control.asked[:2] == ["change", "pause"]


@pytest.mark.parametrize(
    ("listens", "names", "served", "refused"),
    [
        ("127.0.0.1", None, ["localhost", "127.0.0.2"], ["example.org", "10.0.0.1"]),
        ("localhost", None, ["[::1]"], ["example.org"]),
        ("127.0.0.1", "a.example, B.example", ["a.example:80", "b.EXAMPLE.", "localhost"], ["c.example", "10.0.0.1"]),
        ("0.0.0.0", None, ["anything.example", "10.0.0.1"], []),
        ("0.0.0.0", "a.example", ["a.example", "10.0.0.1", "[fe80::1]", "localhost"], ["b.example"]),
        ("127.0.0.1", "*", ["anything.example"], []),
    ],
)
def test_the_names_of_a_service(listens: str, names: str | None, served: list[str], refused: list[str]) -> None:
    hosts = hosts_of(listens, names)
    for host in served + refused:
        asked = authority(host.encode())
        assert asked is not None
        assert hosts.allow(asked) == (host in served), host


def test_behind_what_speaks_tls_its_own_pages_are_served(tmp_path: Path) -> None:
    here = Asking(tmp_path, host="0.0.0.0", token="secret", hosts="jobs.example")
    signed: list[tuple[str, str]] = [("Host", "jobs.example"), ("Authorization", "Bearer secret")]
    assert here.ask("GET", "/v1/workloads", [*signed, ("Origin", "https://jobs.example")]).status_code == 200
    assert here.ask("GET", "/v1/workloads", [*signed, ("Origin", "https://jobs.example:444")]).status_code == 403


def test_there_are_no_web_sockets(here: Asking) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(here.app({"type": "websocket", "path": "/v1/workloads", "headers": []}, None, send))  # type: ignore[arg-type]
    assert [message["type"] for message in sent] == ["websocket.close"]


def test_wrong_tokens_are_throttled_and_the_right_one_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "monotonic", lambda: 1000.0)
    here = Asking(tmp_path, token="secret\n")

    def asked(token: str) -> int:
        return here.ask("GET", "/v1/workloads", [HERE, ("Authorization", f"Bearer {token}")]).status_code

    statuses = [asked(f"guess-{number}") for number in range(60)]
    assert statuses == [401] * guard.FAILURES_PER_SECOND + [429] * (60 - guard.FAILURES_PER_SECOND)
    assert here.ask("GET", "/v1/workloads", [HERE]).status_code == 429
    assert asked("secret") == 200
    assert here.ask("GET", "/v1/health", [HERE]).status_code == 200


def test_requests_that_need_no_token_keep_no_client_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "monotonic", lambda: 1000.0)
    here = Asking(tmp_path, token="secret", rate=5)
    statuses = [here.ask("GET", "/console/", [HERE]).status_code for _ in range(8)]
    assert statuses == [200] * 5 + [429] * 3
    assert here.ask("GET", "/v1/workloads", [HERE, ("Authorization", "Bearer secret")]).status_code == 200
