"""Token files of services on this machine: one per service address, readable only by its owner.

A service creates its token on its first start; clients and commands of the same user read it from the file. This
module imports no part of the service, because a client must not load any.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from pathlib import Path

from elsinore.errors import InputError

TOKEN_BYTES = 32

MAX_FILE_BYTES = 4096
"""Bytes to read of a token file; a token is shorter."""

LOCALHOST = ("127.0.0.1", "::1")
"""Addresses that the name localhost stands for."""

WAY_OUT = "or give the service a token of your own: ELSINORE_SERVICE_TOKEN"


@dataclass(frozen=True)
class ServiceToken:
    """A token, and the address of the service that made it."""

    token: str
    address: str
    path: Path
    made: bool = False
    """Whether this call created the token."""


def loopback(host: str) -> tuple[str, ...]:
    """Return the loopback addresses that a host stands for; none if it is, or may be, another machine."""
    name = host.lower().removesuffix(".")
    if name == "localhost":
        return LOCALHOST
    try:
        address = ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return ()
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return (address.compressed,) if address.is_loopback else ()


def find(host: str, port: int) -> ServiceToken | None:
    """Return the token of this user's service at a loopback address, or None if there is no token file."""
    for address in loopback(host):
        path = path_of(address, port)
        try:
            token = _read(path)
        except FileNotFoundError:
            continue
        if token is None:
            raise InputError(
                f"{path} does not hold a token that only you can read: start the service again, which replaces it, "
                "or give the token yourself"
            )
        return ServiceToken(token, address, path)
    return None


def make(host: str, port: int) -> ServiceToken:
    """Return the token of the service at a loopback address; create one unless a private token file exists."""
    address = loopback(host)[0]
    path = path_of(address, port)
    try:
        _make_folder(path.parent)
        with suppress(FileNotFoundError):
            token = _read(path)
            if token is not None:
                return ServiceToken(token, address, path)
            path.unlink()
        return _made(path, address)
    except OSError as error:
        raise InputError(f"the service cannot keep its token in {path.parent}: {error}; fix that, {WAY_OUT}") from None


def path_of(address: str, port: int) -> Path:
    return folder() / f"{address}-{port}.token"


def folder() -> Path:
    """Return the folder of this user's tokens, as the XDG Base Directory Specification places state."""
    given = os.environ.get("XDG_STATE_HOME", "")
    try:
        state = Path(given) if Path(given).is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError:
        raise InputError(f"this user has no home folder to keep tokens in: set XDG_STATE_HOME, {WAY_OUT}") from None
    return state / "elsinore"


def _make_folder(path: Path) -> None:
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise InputError(f"{path} is not a folder of this user's: remove it, {WAY_OUT}")
    if found.st_mode & 0o077:
        path.chmod(0o700)


def _read(path: Path) -> str | None:
    """Return the token of a file; None if other users could read or write the file, or if it holds no token."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            return None
        token = os.read(descriptor, MAX_FILE_BYTES).decode("ascii", "replace").strip()
    finally:
        os.close(descriptor)
    return token if token.isascii() and token.isprintable() and token else None


def _made(path: Path, address: str) -> ServiceToken:
    """Create a token file atomically; if two services try, both use the token of the first."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(f"{token}\n".encode())
            file.flush()
            os.fsync(descriptor)
        os.link(draft, path)
    except FileExistsError:
        other = _read(path)
        if other is None:
            raise
        return ServiceToken(other, address, path)
    finally:
        draft.unlink(missing_ok=True)
    return ServiceToken(token, address, path, made=True)
