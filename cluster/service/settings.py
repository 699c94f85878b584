"""The settings of the service: where it listens, and its limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from elsinore.cluster.machines.sourced import Sourced, sourced
from elsinore.connectors.errors import InputError
from elsinore.tokens import loopback

FILE = Path("elsinore-service.toml")

LOOPBACK = "127.0.0.1"

MIB = 1 << 20


class ServiceSettings(Sourced):
    """The settings of the service. Arguments override environment variables (`ELSINORE_SERVICE_PORT=80`), and these
    override a file."""

    whose = " of the service"
    trusted: ClassVar[frozenset[str]] = frozenset({"host", "token"})
    model_config = SettingsConfigDict(env_prefix="ELSINORE_SERVICE_", toml_file=FILE, extra="forbid", frozen=True)

    data: Path = Field(default=Path("elsinore-data"), description="the folder of all jobs, the same on every node")
    host: str = Field(default=LOOPBACK, min_length=1, description="the address to listen at")
    hosts: str | None = Field(
        default=None, description="names that requests may have as Host, with commas between them; * for any"
    )
    port: int = Field(default=8000, ge=1, le=65535, description="the port to listen at")
    metrics_port: int | None = Field(default=None, ge=1, le=65535, description="for Prometheus; else Ray chooses one")
    token: SecretStr | None = Field(default=None, description="what clients have to show")
    replicas: int = Field(default=2, ge=1, le=256, description="processes that take events and hand out rows")
    workloads: int = Field(default=16, ge=1, description="jobs at a time")
    queries: int = Field(default=500, ge=1, description="queries of a workload")
    workload_text: int = Field(default=MIB // 4, ge=1, description="characters of a workload")
    planning: float = Field(default=20, gt=0, description="seconds that it may take to plan a workload")
    columns: int = Field(default=512, ge=2, description="columns of a job")
    body: int = Field(default=32 * MIB, ge=1, description="bytes of a body as it is sent")
    unpacked: int = Field(default=64 * MIB, ge=1, description="bytes of a body when it is decompressed")
    events: int = Field(default=500_000, ge=1, description="events of an append")
    rate: int = Field(default=1000, ge=1, description="requests a second that a replica answers")
    appends: int = Field(default=4, ge=1, description="appends that a replica works on at a time")
    requests: int = Field(default=200, ge=1, description="requests that are open at a replica at a time")
    job_requests: int = Field(default=100, ge=1, description="requests about one job that are open at a replica")
    backlog: int = Field(default=4096 * MIB, ge=1, description="bytes of a job that wait to be taken")
    backlog_files: int = Field(default=20_000, ge=1, description="appends of a job that wait to be taken")
    page: int = Field(default=10_000, ge=1, description="rows of a page")
    keys_kept: float | None = Field(
        default=None, gt=0, description="hours that keys of appends are remembered at least"
    )
    rows_kept: float | None = Field(default=None, gt=0, description="hours that rows are kept")
    decisions: int = Field(default=1000, ge=1, description="bursts of which a job remembers what was decided")


def service_settings(**given: Any) -> ServiceSettings:
    """Return settings with these arguments; raise one InputError for all that is wrong with them."""
    found = sourced(ServiceSettings, **given)
    return found.model_copy(update={"data": found.data.absolute()})


def token_of(settings: ServiceSettings) -> str | None:
    """Return the token without the surrounding blanks and line ends of secret files, or None; check its characters."""
    if settings.token is None:
        return None
    token = settings.token.get_secret_value().strip()
    if not token:
        raise InputError("the token of the service is empty; give it one, or none")
    if not token.isascii() or not token.isprintable():
        raise InputError(
            "the token of the service has a character in it that no header carries; "
            "make it of printable ASCII characters, in one line"
        )
    return token


def check_listening(settings: ServiceSettings) -> None:
    """Raise InputError where the service would listen beyond this machine without a token."""
    if token_of(settings) is None and not is_loopback(settings.host):
        raise InputError(
            f"the service would listen at {settings.host} without a token, for everybody who reaches this machine; "
            f"set ELSINORE_SERVICE_TOKEN, or listen at {LOOPBACK} alone"
        )


def is_loopback(host: str) -> bool:
    """Return whether only processes of this machine can reach this address."""
    return bool(loopback(host))
