"""Hooks of MkDocs: documents outside of `docs`, and files that pages link to, become pages of the site."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
ELSEWHERE = {
    "README.md": "readme.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples/README.md": "examples.md",
}
"""Documents outside of `docs`, and their pages; other files that pages link to are pages below `source`."""

LINK = re.compile(r"(?<=\]\()([^)#:\s]+)((?:#[^)]*)?\))")
ROW = re.compile(r"^\|.*$", re.MULTILINE)
CODE = re.compile(r"`[^`]+`")
"""Code in a row of a table: GitHub wants bars there escaped, Python-Markdown takes the escape for a character."""

LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".json": "json", ".toml": "toml"}
LINES_SHOWN = 2000


def on_files(files: Files, config: Any) -> Files:
    """Add the pages of documents elsewhere, and of files that any page links to."""
    for path, page in ELSEWHERE.items():
        files.append(File.generated(config, page, content=(ROOT / path).read_text()))
    sources = {path for file in files.documentation_pages() for path in _linked(file)}
    for path in sorted(sources):
        files.append(File.generated(config, f"source/{path}.md", content=_code(path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links that leave `docs` lead to the pages that these files have, and show bars in the code of tables."""
    uri = page.file.src_uri
    if uri.startswith("source/"):
        return markdown
    markdown = ROW.sub(lambda row: CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0]), markdown)
    here = Path(uri).parent
    return LINK.sub(lambda found: os.path.relpath(_page(_path(uri, found[1])), here) + found[2], markdown)


def _linked(file: File) -> set[str]:
    """Return the files that a page links to and that are pages only because of that."""
    targets = {_path(file.src_uri, link) for link, _ in LINK.findall(file.content_string)}
    return {path for path in targets if _page(path).startswith("source/")}


def _path(uri: str, link: str) -> str:
    """Return the path of a link's target in the repository."""
    homes = {page: path for path, page in ELSEWHERE.items()}
    path = os.path.normpath(Path(homes.get(uri, f"docs/{uri}")).parent / link)
    return f"{path}/README.md" if (ROOT / path).is_dir() else path


def _page(path: str) -> str:
    """Return the page of a file of the repository, as its path below `docs`."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else f"source/{path}.md"


def _code(path: str) -> str:
    """Return the page of a file: documents and notebooks as what they show, all else as code."""
    text = (ROOT / path).read_text()
    if path.endswith(".ipynb"):
        return "\n\n".join(map(_cell, json.loads(text)["cells"]))
    if path.endswith(".md"):
        return LINK.sub(lambda found: found[1], text)
    shown = "\n".join(text.splitlines()[:LINES_SHOWN])
    return f"# {path}\n\n````{LANGUAGES.get(Path(path).suffix, 'text')}\n{shown}\n````\n"


def _cell(cell: dict[str, Any]) -> str:
    text = "".join(cell["source"])
    return text if cell["cell_type"] == "markdown" else f"````python\n{text}\n````"
