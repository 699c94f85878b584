"""Test that a vault returns what was put into it or an error, and that a name can be claimed only once."""

from __future__ import annotations

from pathlib import Path

import pytest

from elsinore.connectors.storage.vault import DamagedError, Vault


@pytest.fixture(params=["folder", "memory"])
def vault(request: pytest.FixtureRequest, tmp_path: Path) -> Vault:
    return Vault(str(tmp_path) if request.param == "folder" else f"memory://{tmp_path}")


def test_what_is_put_in_comes_back(vault: Vault) -> None:
    vault.put("a/b", b"first")
    vault.put("a/b", b"second")
    vault.put("a/c", b"")
    assert vault.get("a/b") == b"second"
    assert vault.get("a/c") == b""
    assert vault.names("a") == ["b", "c"]
    assert vault.names("nothing") == []
    vault.remove("a")
    assert vault.names("a") == []


def test_a_name_is_claimed_once(vault: Vault) -> None:
    assert vault.claim("here/name")
    assert not vault.claim("here/name")


def test_what_is_not_there_is_damaged(vault: Vault) -> None:
    with pytest.raises(DamagedError, match="nowhere is missing"):
        vault.get("nowhere")


@pytest.mark.parametrize("place", [0, 10, 20, -1])
def test_one_bit_is_enough(tmp_path: Path, place: int) -> None:
    vault = Vault(str(tmp_path))
    vault.put("a", b"0123456789")
    content = bytearray((tmp_path / "a").read_bytes())
    content[place] ^= 4
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(DamagedError, match="a is damaged"):
        vault.get("a")
    (tmp_path / "a").write_bytes(bytes(3))
    with pytest.raises(DamagedError, match="a is damaged"):
        vault.get("a")


def test_a_cache_of_files_is_no_folder_of_this_machine() -> None:
    class Cached:
        protocol = "filecache"

    vault = Vault("memory://x")
    vault.__dict__["_place"] = Cached(), "x"
    assert not vault.local
    Cached.protocol = "file"
    assert vault.local
