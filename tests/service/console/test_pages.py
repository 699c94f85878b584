"""The files of the console: open to all, loaded from nowhere else, and those that the manifest names."""

from __future__ import annotations

import gzip
import json
import re
from hashlib import sha256
from pathlib import Path

import pytest

from elsinore.cluster.service.console.pages import FOLDER, page_files
from tests.service.asking import Asking

HOST = ("Host", "127.0.0.1:8000")
OURS = [name for name in page_files() if not name.startswith("vendor/")]
ROOT = Path(__file__).parents[3]
MAX_FIRST_LOAD_BYTES = 300_000
"""Compressed, without the editor."""


@pytest.fixture
def here(tmp_path: Path) -> Asking:
    return Asking(tmp_path, token="a secret")


def test_pages_need_no_token_and_their_replies_protect_them(here: Asking) -> None:
    for path in ("/console/", "/console/static/app.js", "/console/static/style.css"):
        answer = here.ask("GET", path, [HOST])
        assert answer.status_code == 200, path
        assert answer.headers["content-security-policy"].startswith("default-src 'self';")
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert here.ask("GET", "/", [HOST]).headers["location"] == "/console/"


@pytest.mark.parametrize(
    "path", ["nothing.js", "../pages.py", "..%2fpages.py", "/etc/passwd", "vendor/../../pages.py", "vendor", "", "%0A"]
)
def test_no_other_file_is_served(here: Asking, path: str) -> None:
    assert here.ask("GET", f"/console/static/{path}", [HOST]).status_code in (401, 404)


@pytest.mark.parametrize("headers", [[("Host", "evil.example")], [HOST, ("Sec-Fetch-Site", "cross-site")]])
def test_pages_are_not_for_other_sites(here: Asking, headers: list[tuple[str, str]]) -> None:
    assert here.ask("GET", "/console/", headers).status_code in (403, 421)


def test_a_file_is_sent_packed_and_only_when_it_changed(here: Asking) -> None:
    path = "/console/static/app.js"
    plain = here.ask("GET", path, [HOST])
    packed = here.ask("GET", path, [HOST, ("Accept-Encoding", "gzip, br")])
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content == (FOLDER / "app.js").read_bytes()
    assert int(packed.headers["content-length"]) < int(plain.headers["content-length"])
    again = here.ask("GET", path, [HOST, ("If-None-Match", plain.headers["etag"])])
    assert (again.status_code, again.content) == (304, b"")


def test_the_first_load_is_small() -> None:
    sizes = {name: len(gzip.compress((FOLDER / name).read_bytes(), 9)) for name in page_files()}
    assert sum(size for name, size in sizes.items() if name.endswith((".js", ".css", ".html"))) < (
        MAX_FIRST_LOAD_BYTES + sizes["vendor/editor.js"]
    )


@pytest.mark.parametrize("name", OURS)
def test_nothing_is_loaded_from_elsewhere_and_nothing_is_inline(name: str) -> None:
    text = (FOLDER / name).read_text()
    assert set(re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]+[^\s\"'`]*", text)) <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<style|<script>|\bstyle=|\son[a-z]+=\"|javascript:|eval\(|innerHTML", text)


@pytest.mark.parametrize("name", [name for name in OURS if name.endswith((".js", ".html", ".css"))])
def test_every_import_names_a_file(name: str) -> None:
    path = FOLDER / name
    found = re.findall(r"(?:from|import\(?)\s*\"(\.[^\"]+)\"", path.read_text()) if name.endswith(".js") else []
    found += re.findall(r"(?:src|href)=\"(static/[^\"]+)\"", path.read_text()) if name.endswith(".html") else []
    base = FOLDER.parent if name.endswith(".html") else path.parent
    assert [one for one in found if not (base / one).resolve().is_file()] == []
    assert found or not name.endswith(".html")


def test_libraries_are_those_of_the_manifest_and_of_the_lock_file() -> None:
    vendor = FOLDER / "vendor"
    manifest = json.loads((vendor / "manifest.json").read_text())
    files = {path.name: sha256(path.read_bytes()).hexdigest() for path in vendor.iterdir() if path.suffix != ".json"}
    assert files == manifest["files"]
    lock = json.loads((ROOT / "deploy" / "console" / "package-lock.json").read_text())["packages"]
    texts = (vendor / "LICENSES.txt").read_text()
    for package in manifest["packages"]:
        locked = lock[f"node_modules/{package['name']}"]
        assert (locked["version"], locked["integrity"]) == (package["version"], package["integrity"])
        assert package["license"] in ("MIT", "Apache-2.0")
        assert f"{package['name']} {package['version']}\n" in texts
