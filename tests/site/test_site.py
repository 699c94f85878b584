"""Test the site of the documentation: what is made from code, and the built pages, which need mkdocs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag

import pytest
import yaml

import elsinore
from tests.elsinore.documents import DOCUMENTS, made_sections
from tests.site.made import SECTIONS, made
from tests.site.pictures import FOLDER, pictures

ROOT = Path(__file__).parents[2]
RENEW = "is not what the code says; renew it with: python -m tests.elsinore.documents"
MADE = [(document, name) for document in DOCUMENTS for name, _ in made_sections(document)]
EXTERNAL = re.compile(r"(https?:)?//")


@pytest.mark.parametrize(("document", "name"), MADE, ids=[name for _, name in MADE])
def test_a_section_is_what_the_code_says(document: str, name: str) -> None:
    assert dict(made_sections(document))[name] == f"{made(name)}\n", f"{document} {RENEW}"


def test_every_section_is_on_a_page() -> None:
    assert {name for _, name in MADE} == set(SECTIONS)


def test_pictures_show_what_queries_find() -> None:
    drawn = pictures()
    assert {path.name for path in FOLDER.iterdir()} == set(drawn)
    assert [name for name, svg in drawn.items() if (FOLDER / name).read_text() != svg] == [], RENEW


def test_every_public_name_is_in_the_reference() -> None:
    described = re.findall(r"^::: elsinore\.(\w+)$", (ROOT / "docs/reference/python.md").read_text(), re.MULTILINE)
    assert sorted(described) == sorted(set(elsinore.__all__) - {"__version__"})


def test_every_page_is_in_the_navigation() -> None:
    def pages(part: Any) -> Iterator[str]:
        match part:
            case str(page):
                yield page
            case list(parts):
                for one in parts:
                    yield from pages(one)
            case dict(named):
                yield from pages(list(named.values()))

    shown = list(pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]))
    assert len(shown) == len(set(shown))
    assert {str(path.relative_to(ROOT / "docs")) for path in ROOT.glob("docs/**/*.md")} <= set(shown)


class Page(HTMLParser):
    """The identifiers of a built page, its links, and what a browser loads with it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        target = given.get("href", given.get("src", given.get("data", "")))
        if tag == "a":
            self.links.append(target)
        elif tag in ("link", "script", "img", "iframe", "object", "source"):
            self.loaded.append(target)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_spec("mkdocs") is None:
        pytest.skip("the site is built by mkdocs, which is not installed: it is in requirements.lock")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def built(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in sorted(site.rglob("*.html"))}


def test_every_link_and_anchor_of_the_site_leads_somewhere(site: Path, built: dict[Path, Page]) -> None:
    broken = []
    for path, page in built.items():
        for link in page.links:
            target, anchor = urldefrag(unquote(link))
            if EXTERNAL.match(link) or path.name == "404.html":
                continue
            found = (path.parent / target).resolve() if target else path
            if not found.is_file() or (anchor and found in built and anchor not in built[found].ids):
                broken.append((str(path.relative_to(site)), link))
    assert broken == []
    assert len(built) > 60


def test_the_site_loads_nothing_from_elsewhere(site: Path, built: dict[Path, Page]) -> None:
    loaded = {target for page in built.values() for target in page.loaded}
    assert loaded
    assert [target for target in loaded if EXTERNAL.match(target)] == []
    for style in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", style.read_text()), style.name
    # The theme's script fetches a library for these from a CDN.
    assert [path.name for path in built if re.search(r'class="[^"]*\bmermaid\b', path.read_text())] == []


def test_the_site_can_be_searched_from_disk(site: Path) -> None:
    index = (site / "search" / "search_index.js").read_text()
    assert index.startswith("var __index = ")
    assert "skip-till-any-match" in index
    assert "assets/iframe-worker.js" in (site / "index.html").read_text()
