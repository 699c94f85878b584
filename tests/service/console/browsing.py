"""Chromium for the tests of the console, and pages on which nothing went wrong."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.service.serving import TOKEN, Served

FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
HOW = "`make browser` installs Chromium and Playwright for the tests of the console"
EXPECTED = ("Failed to load resource",)
"""What Chromium says of each reply from 400 on; tests look at what the page says of them."""

PATIENCE_MILLISECONDS = 30_000


@contextmanager
def chromium() -> Iterator[Any]:
    """Start a browser, or skip the test where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason=HOW)
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip(HOW)
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Any, service: Served, logged_in: bool = True, **options: Any) -> Iterator[Any]:
    """Open the console on a page; check at the end that no script failed and nothing broke the security policy."""
    context = browser.new_context(base_url=service.url, viewport={"width": 1280, "height": 844}, **options)
    context.set_default_timeout(PATIENCE_MILLISECONDS)
    page, said = context.new_page(), list[str]()
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("console", lambda line: said.append(line.text) if line.type in ("error", "warning") else None)
    try:
        page.goto("/")
        if logged_in:
            log_in(page)
        yield page
        unexpected = [line for line in said if not line.startswith(EXPECTED)]
        assert not unexpected, unexpected
    finally:
        context.close()


def log_in(page: Any, token: str = TOKEN) -> None:
    page.get_by_label("Token of the service").fill(token)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", name="Jobs").wait_for()


def axe_script() -> Path:
    """Return the script that looks for barriers, or skip the test where npm has not installed it."""
    path = Path(__file__).parents[3] / "deploy" / "console" / "node_modules" / "axe-core" / "axe.min.js"
    if not path.exists():
        pytest.skip("`npm ci --ignore-scripts` in deploy/console installs axe-core")
    return path
