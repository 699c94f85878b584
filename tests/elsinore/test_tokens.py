"""Test tokens of services on this machine: made once, private to their owner, sent to no other address."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import elsinore
from elsinore.client.web import options
from elsinore.tokens import find, loopback, make, path_of


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "elsinore"


def sent(url: str, token: str | None = None) -> str | None:
    """Return the token that a client sends."""
    shown: str | None = options(url, token)["headers"].get("Authorization")
    return shown and shown.removeprefix("Bearer ")


def test_a_token_is_made_once(state: Path) -> None:
    first = make("127.0.0.1", 8000)
    assert first.made
    assert len(first.token) >= 40
    assert make("127.0.0.1", 8000).token == make("localhost", 8000).token == first.token
    assert not make("127.0.0.1", 8000).made
    assert make("127.0.0.1", 8001).token != first.token
    assert [path.name for path in state.glob(".*")] == []


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_others_read_neither_file_nor_folder(state: Path, umask: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test that the file is private from its creation on, whatever the umask."""
    modes = []
    opened = os.open

    def noting(path: Path, flags: int, mode: int = 0o777) -> int:
        found = opened(path, flags, mode)
        modes.append(stat.S_IMODE(os.fstat(found).st_mode))
        return found

    monkeypatch.setattr(os, "open", noting)
    before = os.umask(umask)
    try:
        found = make("127.0.0.1", 8000)
    finally:
        os.umask(before)
    assert modes == [0o600]
    assert stat.S_IMODE(found.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666, 0o622])
def test_a_token_that_others_could_read_or_write_is_replaced(mode: int) -> None:
    before = make("127.0.0.1", 8000)
    before.path.chmod(mode)
    with pytest.raises(elsinore.InputError, match="only you can read"):
        sent("http://127.0.0.1:8000")
    after = make("127.0.0.1", 8000)
    assert after.made
    assert after.token != before.token
    assert stat.S_IMODE(after.path.stat().st_mode) == 0o600
    assert sent("http://127.0.0.1:8000") == after.token


def test_a_folder_that_others_could_read_is_closed(state: Path) -> None:
    state.mkdir(mode=0o755)
    make("127.0.0.1", 8000)
    assert stat.S_IMODE(state.stat().st_mode) == 0o700


@pytest.mark.parametrize("kind", ["link", "fifo", "folder", "empty", "binary"])
def test_what_is_no_file_with_a_token_is_not_used(state: Path, kind: str, tmp_path: Path) -> None:
    """Test that a symbolic link at the path is not followed."""
    path = path_of("127.0.0.1", 8000)
    state.mkdir(mode=0o700)
    other = tmp_path / "other"
    other.write_text("of another user")
    other.chmod(0o600)
    if kind == "link":
        path.symlink_to(other)
    elif kind == "fifo":
        os.mkfifo(path, 0o600)
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"" if kind == "empty" else b"\x00\xff")
        path.chmod(0o600)
    with pytest.raises(elsinore.InputError, match="only you can read"):
        sent("http://127.0.0.1:8000")
    if kind == "folder":
        with pytest.raises(elsinore.InputError, match="cannot keep its token"):
            make("127.0.0.1", 8000)
    else:
        assert make("127.0.0.1", 8000).made
    assert other.read_text() == "of another user"


def test_a_folder_of_another_kind_is_refused(state: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    state.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(elsinore.InputError, match="is not a folder of this user's"):
        make("127.0.0.1", 8000)


def test_where_nothing_can_be_kept_it_is_said(state: Path) -> None:
    state.parent.rmdir()
    state.parent.write_text("a file")
    with pytest.raises(elsinore.InputError, match="ELSINORE_SERVICE_TOKEN"):
        make("127.0.0.1", 8000)


def test_of_two_services_that_begin_at_a_time_one_makes_it() -> None:
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda _: make("127.0.0.1", 8000), range(32)))
    assert len({one.token for one in found}) == 1
    assert sum(one.made for one in found) == 1


def test_a_client_finds_the_token_of_just_that_address() -> None:
    one, two = make("127.0.0.1", 8000), make("127.0.0.1", 8001)
    six = make("::1", 8002)
    for url in ("http://127.0.0.1:8000", "http://localhost:8000/", "HTTP://LOCALHOST:8000", "http://localhost.:8000"):
        assert sent(url) == one.token
    assert sent("http://127.0.0.1:8001") == two.token
    assert sent("http://[::1]:8002") == sent("http://localhost:8002") == six.token
    assert sent("http://127.0.0.1:8000", "mine") == "mine"
    for url in (
        *("http://127.0.0.2:8000", "http://[::1]:8000", "http://127.0.0.1", "http://127.0.0.1:8003"),
        *("http://example.org:8000", "http://10.0.0.1:8000", "http://localhost.example:8000", "http://127.1:8000"),
        *("https://example.org:8000", "http://0.0.0.0:8000", "http://127.0.0.1.example:8000"),
    ):
        assert sent(url) is None


def test_a_found_token_goes_to_its_address_alone() -> None:
    """Test that the token goes to one address of localhost only, and to no proxy."""
    make("127.0.0.1", 8000)
    make("::1", 8002)
    assert str(options("http://localhost:8000", None)["base_url"]) == "http://127.0.0.1:8000"
    assert str(options("http://localhost:8002", None)["base_url"]) == "http://[::1]:8002"
    assert not options("http://localhost:8000", None)["trust_env"]
    assert not options("http://localhost:8000", None)["follow_redirects"]


@pytest.mark.parametrize("given", ["relative/folder", ""])
def test_the_folder_does_not_depend_on_where_one_is(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", given)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert path_of("127.0.0.1", 8000) == tmp_path / ".local/state/elsinore/127.0.0.1-8000.token"


def test_addresses_of_this_machine() -> None:
    assert loopback("localhost") == ("127.0.0.1", "::1")
    assert loopback("127.5.6.7") == ("127.5.6.7",)
    assert loopback("[::1]") == loopback("0:0::1") == ("::1",)
    assert loopback("::ffff:127.0.0.1") == ("127.0.0.1",)
    for host in ("0.0.0.0", "::", "example.org", "", "127.1", "localhost.example"):
        assert loopback(host) == ()
    assert find("example.org", 8000) is None
