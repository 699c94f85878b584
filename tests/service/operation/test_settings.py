"""Settings of the service: wrong ones are reported before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from elsinore.cli import app
from elsinore.cluster.service.embedded import with_token
from elsinore.cluster.service.settings import check_listening, service_settings, token_of
from elsinore.cluster.service.web.guard import RateLimit
from elsinore.connectors.errors import InputError


def test_arguments_go_before_the_environment_and_that_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsinore-service.toml").write_text("port = 1\nrate = 2\nqueries = 3\n")
    monkeypatch.setenv("ELSINORE_SERVICE_RATE", "20")
    found = service_settings(queries=30)
    assert (found.port, found.rate, found.queries) == (1, 20, 30)
    assert found.data == tmp_path / "elsinore-data"


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(InputError, match=r"the setting port of the service \(the port to listen at\) is 0"):
        service_settings(port=0)
    with pytest.raises(InputError, match="no setting 'rat' of the service; did you mean 'rate'"):
        service_settings(rat=1)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", "example.org"])
def test_others_are_served_with_a_token_alone(host: str) -> None:
    with pytest.raises(InputError, match=f"would listen at {host} without a token"):
        check_listening(service_settings(host=host))
    check_listening(service_settings(host=host, token="one"))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_this_machine_needs_none(host: str) -> None:
    check_listening(service_settings(host=host))


@pytest.mark.parametrize("token", ["secret\n", " secret", "secret\r\n\t "])
def test_a_token_out_of_a_file_has_no_line_end(token: str) -> None:
    settings = service_settings(host="0.0.0.0", token=token)
    check_listening(settings)
    assert token_of(settings) == "secret"


@pytest.mark.parametrize("token", ["one\ntwo", "a\x00b", "schlüssel", "a\tb", "\ufeffsecret"])
def test_a_token_that_no_header_carries_is_refused(token: str) -> None:
    """The refusal comes at the start, and does not show the token."""
    with pytest.raises(InputError, match="printable ASCII") as raised:
        check_listening(service_settings(token=token))
    assert token not in str(raised.value)


def test_a_service_of_this_machine_has_a_token_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first start creates the token and shows it on a terminal; a token in the settings takes precedence."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("ELSINORE_SERVICE_TOKEN", raising=False)
    messages: list[str] = []
    first = token_of(with_token(service_settings(port=7001), messages.append, True))
    assert first is not None
    assert messages[0] == f"The token of the service: {first}"
    again, log = list[str](), list[str]()
    assert token_of(with_token(service_settings(port=7001), again.append, True)) == first
    assert token_of(with_token(service_settings(port=7002), log.append, False)) not in (None, first)
    assert all(str(tmp_path) in line for line in [*again, *log])
    assert len(again) == len(log) == 1
    given = service_settings(port=7001, token="mine")
    assert with_token(given, messages.append, True) == given


def test_an_empty_token_is_none() -> None:
    with pytest.raises(InputError, match="empty"):
        check_listening(service_settings(token=" "))


def test_the_command_says_so_before_it_starts_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ELSINORE_SERVICE_TOKEN", raising=False)
    found = CliRunner().invoke(app, ["serve", "--host", "0.0.0.0"])
    assert found.exit_code == 2
    assert "without a token" in found.stderr


def test_a_rate_fills_again() -> None:
    rate = RateLimit(10, left=10.0, looked=0.0)
    assert [rate.allows(0.0) for _ in range(11)] == [True] * 10 + [False]
    assert [rate.allows(0.25) for _ in range(3)] == [True, True, False]
