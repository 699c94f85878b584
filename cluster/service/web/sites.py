"""Refuse requests from pages of other sites, by the headers that a browser sends.

A page of another site can make a user's browser send requests to a service on the user's machine. By binding its own
name to another address it can also read the replies. The Host of a request is the name that the browser uses for the
service, and Origin and Sec-Fetch-Site name the site of the page. A page can choose none of these headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address

from elsinore.cluster.service.web.refusals import RefusalError
from elsinore.tokens import loopback

AUTHORITY = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_](?:[A-Za-z0-9._-]*))(?::([0-9]{1,5}))?")
ORIGIN = re.compile(rf"(https?)://{AUTHORITY.pattern}", re.IGNORECASE)
PORTS = {"http": 80, "https": 443}

OWN_SITE = (b"same-origin", b"none")
"""Allowed values of Sec-Fetch-Site: a page of this service, and no page at all."""

ANY = "*"


@dataclass(frozen=True)
class Authority:
    """A host and, where it is given, a port."""

    host: str
    port: int | None

    @property
    def is_address(self) -> bool:
        """Return whether the host is an address and not a name, which could be bound to another address."""
        try:
            ip_address(self.host)
        except ValueError:
            return False
        return True


@dataclass(frozen=True)
class Hosts:
    """The hosts that requests may name in their header Host."""

    names: frozenset[str] = frozenset()
    local: bool = True
    """Whether only addresses of the loopback interface are allowed."""
    any: bool = False

    def allow(self, asked: Authority) -> bool:
        if self.any or loopback(asked.host):
            return True
        return asked.host in self.names or (asked.is_address and not self.local)


def hosts_of(host: str, names: str | None) -> Hosts:
    """Return the allowed hosts of a service that listens at this host; `names`: the setting `hosts`.

    For a service on the loopback interface these are the loopback names, and those set. One that listens elsewhere has
    a token, and a proxy in front of it may use any name, unless the names are set.
    """
    given = {name.strip().lower().removesuffix(".") for name in (names or "").split(",")} - {""}
    local = bool(loopback(host))
    return Hosts(frozenset(given), local, ANY in given or not (local or given))


def check_site(headers: Iterable[tuple[bytes, bytes]], hosts: Hosts) -> None:
    """Raise RefusedError for a request to another host than this one, or from a page of another site."""
    found: dict[bytes, list[bytes]] = {b"host": [], b"origin": [], b"sec-fetch-site": []}
    for name, value in headers:
        if name.lower() in found:
            found[name.lower()].append(value)
    asked = [authority(value) for value in found[b"host"]]
    if len(asked) != 1 or asked[0] is None:
        raise RefusalError(
            400, "a request must have one header Host: a name or an address, and optionally a port", kind="host"
        )
    if not hosts.allow(asked[0]):
        raise RefusalError(
            421,
            "the service does not answer for this Host: use its address, for instance 127.0.0.1, or add the name to "
            "its setting hosts (ELSINORE_SERVICE_HOSTS)",
            kind="host",
        )
    if any(value.strip().lower() not in OWN_SITE for value in found[b"sec-fetch-site"]):
        raise _other_site()
    if any(not _is_own(value, asked[0]) for value in found[b"origin"]):
        raise _other_site()


def authority(value: bytes) -> Authority | None:
    """Return the host and port of a header, or None where it has another form."""
    return _authority(AUTHORITY.fullmatch(value.decode("latin-1").strip(" \t")), 0)


def _authority(found: re.Match[str] | None, group: int) -> Authority | None:
    if found is None:
        return None
    host, port = found[group + 1].lower(), int(found[group + 2]) if found[group + 2] else None
    if port is not None and port > 65535:
        return None
    if host.startswith("["):
        try:
            return Authority(IPv6Address(host[1:-1]).compressed, port)
        except ValueError:
            return None
    return Authority(host.removesuffix("."), port)


def _is_own(origin: bytes, asked: Authority) -> bool:
    """Return whether a page's origin is the service itself. Its scheme may be that of a proxy in front of it."""
    match = ORIGIN.fullmatch(origin.decode("latin-1").strip(" \t"))
    found = _authority(match, 1)
    if match is None or found is None:
        return False
    default = PORTS[match[1].lower()]
    return found.host == asked.host and (found.port or default) == (asked.port or default)


def _other_site() -> RefusalError:
    return RefusalError(403, "requests from pages of other sites are refused", kind="site")
