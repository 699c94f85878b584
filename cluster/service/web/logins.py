"""Log-ins of browsers: a cookie that stands for the token of the service, without holding it.

The cookie has the time at which it expires, and a code that only the token makes, so every replica can check it without
asking another one. Log-ins end when the service gets another token. Cookies belong to a host and not to a port: the
name of the cookie has the port, so that services of one machine do not replace each other's.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from time import time

from elsinore.cluster.service.web.sites import Authority

LOGIN_SECONDS = 12 * 3600
"""Seconds for which a log-in lasts."""

COOKIE_PATH = "/"


@dataclass(frozen=True)
class Logins:
    token: bytes

    def cookie(self, asked: Authority, secure: bool, now: float | None = None) -> str:
        """Return the header Set-Cookie of a log-in."""
        until = int(time() if now is None else now) + LOGIN_SECONDS
        return _header(asked, f"{until}.{self._code(until)}", LOGIN_SECONDS, secure)

    def holds(self, asked: Authority, cookies: Iterable[bytes], now: float | None = None) -> bool:
        """Return whether the headers Cookie of a request have a log-in that has not expired."""
        values = [value for header in cookies for value in _values(header, name_of(asked))]
        return len(values) == 1 and self._is_right(values[0], time() if now is None else now)

    def _is_right(self, value: str, now: float) -> bool:
        until, _, code = value.partition(".")
        if not (until.isascii() and until.isdigit() and len(until) < 16 and code.isascii()):
            return False
        return hmac.compare_digest(code, self._code(int(until))) and now < int(until)

    def _code(self, until: int) -> str:
        return hmac.digest(self.token, b"elsinore console %d" % until, "sha256").hex()


def ended(asked: Authority, secure: bool) -> str:
    """Return the header Set-Cookie that ends a log-in."""
    return _header(asked, "", 0, secure)


def name_of(asked: Authority) -> str:
    return f"elsinore-{asked.port or 'console'}"


def _header(asked: Authority, value: str, seconds: int, secure: bool) -> str:
    parts = [f"{name_of(asked)}={value}", f"Path={COOKIE_PATH}", f"Max-Age={seconds}", "HttpOnly", "SameSite=Strict"]
    return "; ".join([*parts, "Secure"] if secure else parts)


def _values(header: bytes, name: str) -> list[str]:
    found = SimpleCookie()
    try:
        found.load(header.decode("latin-1"))
    except CookieError:
        return []
    return [found[name].value] if name in found else []
