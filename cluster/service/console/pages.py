"""The files of the console, and the headers with which a browser gets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from gzip import compress
from hashlib import sha256
from pathlib import Path

FOLDER = Path(__file__).parent / "static"

INDEX = "index.html"

MEDIA_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}

PROTECTION = {
    "Content-Security-Policy": (
        "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every reply of the console: a page loads nothing from elsewhere, and no other page contains it."""


@dataclass(frozen=True)
class PageFile:
    plain: bytes
    packed: bytes
    media_type: str
    tag: str
    """The entity tag: a browser asks with it whether the file is still the same."""


@cache
def page_files() -> Mapping[str, PageFile]:
    """Return all files by their paths below the folder; nothing else is ever read for a request."""
    return {
        path.relative_to(FOLDER).as_posix(): _read(path)
        for path in sorted(FOLDER.rglob("*"))
        if path.suffix in MEDIA_TYPES
    }


def _read(path: Path) -> PageFile:
    plain = path.read_bytes()
    return PageFile(plain, compress(plain, 9, mtime=0), MEDIA_TYPES[path.suffix], f'"{sha256(plain).hexdigest()[:32]}"')
