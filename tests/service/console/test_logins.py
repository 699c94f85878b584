"""A browser logs in with the token, and then needs its cookie and the origin of its page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from elsinore.cluster.service.web.logins import LOGIN_SECONDS, Logins, name_of
from elsinore.cluster.service.web.sites import Authority
from tests.service.asking import JOB, WORKLOAD, Asking

TOKEN = "a secret of 24 characters"
HOST, ORIGIN = ("Host", "127.0.0.1:8000"), ("Origin", "http://127.0.0.1:8000")
JSON = ("Content-Type", "application/json")
SIGNED = ("Authorization", f"Bearer {TOKEN}")
HERE = Authority("127.0.0.1", 8000)
SUBMISSION = json.dumps({"workload": WORKLOAD, "name": "another"}).encode()


@pytest.fixture
def here(tmp_path: Path) -> Asking:
    return Asking(tmp_path, token=TOKEN)


def logged_in(here: Asking) -> tuple[str, str]:
    answer = here.ask("POST", "/console/login", [HOST, ORIGIN, SIGNED])
    assert answer.status_code == 204
    return ("Cookie", answer.headers["set-cookie"].partition(";")[0])


def test_a_log_in_is_a_cookie_that_no_script_reads_and_no_other_site_sends(here: Asking) -> None:
    said = here.ask("POST", "/console/login", [HOST, ORIGIN, SIGNED]).headers["set-cookie"].split("; ")
    assert said[0].startswith("elsinore-8000=")
    assert TOKEN not in said[0]
    assert said[1:] == ["Path=/", f"Max-Age={LOGIN_SECONDS}", "HttpOnly", "SameSite=Strict"]
    over_tls = here.ask("POST", "/console/login", [("Host", "localhost:443"), ("Origin", "https://localhost"), SIGNED])
    assert over_tls.headers["set-cookie"].endswith("; Secure")


@pytest.mark.parametrize("shown", [[], [("Authorization", "Bearer guess")], [("Cookie", "elsinore-8000=1.2")]])
def test_without_the_token_there_is_no_log_in(here: Asking, shown: list[tuple[str, str]]) -> None:
    answer = here.ask("POST", "/console/login", [HOST, ORIGIN, *shown])
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert here.ask("GET", "/console/login", [HOST, *shown]).status_code == 401


def test_the_cookie_serves_as_the_token(here: Asking) -> None:
    cookie = logged_in(here)
    assert here.ask("GET", "/console/login", [HOST, cookie]).status_code == 204
    assert here.ask("GET", "/v1/workloads", [HOST, cookie]).json()["workloads"][0]["id"] == JOB
    assert here.ask("POST", "/v1/workloads", [HOST, cookie, ORIGIN, JSON], SUBMISSION).status_code == 201


def test_a_log_in_does_not_prolong_itself(here: Asking) -> None:
    """A cookie that was stolen ends when it says so."""
    answer = here.ask("POST", "/console/login", [HOST, ORIGIN, logged_in(here)])
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/workloads"),
        ("POST", f"/v1/workloads/{JOB}/pause"),
        ("DELETE", f"/v1/workloads/{JOB}"),
        ("POST", "/console/login"),
        ("PUT", "/v1/workloads"),
    ],
)
def test_a_change_needs_the_origin_of_the_page_too(here: Asking, method: str, path: str) -> None:
    cookie = logged_in(here)
    assert here.ask(method, path, [HOST, cookie, JSON], SUBMISSION).status_code == 403
    for origin in ("http://127.0.0.1:9000", "null", "https://evil.example"):
        answer = here.ask(method, path, [HOST, cookie, JSON, ("Origin", origin)], SUBMISSION)
        assert answer.status_code == 403, origin
    assert not here.done


@pytest.mark.parametrize(
    "cookie",
    [
        "elsinore-9000={value}", "elsinore-8000={value}0", "elsinore-8000=9{value}", "elsinore-8000=",
        "elsinore-8000=.", "elsinore-8000={code}", "elsinore-8000=-1.{code}", "other={value}",
        "elsinore-8000=%FF", "=;=;", "elsinore-8000=99999999999999999999.{code}",
    ],
)  # fmt: skip
def test_another_cookie_is_no_log_in(here: Asking, cookie: str) -> None:
    value = logged_in(here)[1].partition("=")[2]
    shown = cookie.format(value=value, code=value.partition(".")[2])
    assert here.ask("GET", "/v1/workloads", [HOST, ("Cookie", shown)]).status_code == 401


def test_a_log_in_expires_and_ends_with_the_token() -> None:
    logins = Logins(TOKEN.encode())
    cookie = logins.cookie(HERE, secure=False, now=1000.0).partition(";")[0].encode()
    assert logins.holds(HERE, [b"theme=dark; " + cookie], now=999.0 + LOGIN_SECONDS)
    assert not logins.holds(HERE, [cookie], now=1000.0 + LOGIN_SECONDS)
    assert not logins.holds(HERE, [cookie, cookie], now=1001.0)
    assert not Logins(b"another token").holds(HERE, [cookie], now=1001.0)
    assert name_of(Authority("::1", None)) == "elsinore-console"


def test_a_log_out_forgets_the_cookie(here: Asking) -> None:
    answer = here.ask("DELETE", "/console/login", [HOST, ORIGIN, logged_in(here)])
    assert answer.status_code == 204
    assert answer.headers["set-cookie"].startswith("elsinore-8000=; Path=/; Max-Age=0")
