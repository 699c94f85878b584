"""The settings of the service: where it listens, and its limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from elsinore.cluster.machines.layered_settings import LayeredSettings, read_settings
from elsinore.connectors.errors import InputError
from elsinore.tokens import loopback

SETTINGS_FILE = Path("elsinore-service.toml")

LOOPBACK = "127.0.0.1"

MIB = 1 << 20


class ServiceSettings(LayeredSettings):
    """The settings of the service. Arguments override environment variables (`ELSINORE_SERVICE_PORT=80`), and these
    override a file."""

    whose = " of the service"
    trusted: ClassVar[frozenset[str]] = frozenset({"host", "token"})
    model_config = SettingsConfigDict(
        env_prefix="ELSINORE_SERVICE_", toml_file=SETTINGS_FILE, extra="forbid", frozen=True
    )

    data: Path = Field(default=Path("elsinore-data"), description="the folder of all jobs, the same on every node")
    host: str = Field(default=LOOPBACK, min_length=1, description="the address to listen at")
    hosts: str | None = Field(
        default=None, description="names that requests may have as Host, separated by commas; * for any"
    )
    port: int = Field(default=8000, ge=1, le=65535, description="the port to listen at")
    metrics_port: int | None = Field(
        default=None, ge=1, le=65535, description="port for Prometheus; by default Ray chooses one"
    )
    token: SecretStr | None = Field(default=None, description="the token that clients must send")
    replicas: int = Field(default=2, ge=1, le=256, description="processes that accept events and return rows")
    workloads: int = Field(default=16, ge=1, description="most jobs at a time")
    queries: int = Field(default=500, ge=1, description="most queries of a workload")
    workload_text: int = Field(default=MIB // 4, ge=1, description="most characters of a workload")
    planning: float = Field(default=20, gt=0, description="most seconds to plan a workload")
    columns: int = Field(default=512, ge=2, description="most columns of a job")
    body: int = Field(default=32 * MIB, ge=1, description="most bytes of a request body as it is sent")
    unpacked: int = Field(default=64 * MIB, ge=1, description="most bytes of a decompressed body")
    events: int = Field(default=500_000, ge=1, description="most events of an append")
    rate: int = Field(default=1000, ge=1, description="most requests a second that a replica answers")
    appends: int = Field(default=4, ge=1, description="most appends that a replica processes at a time")
    requests: int = Field(default=200, ge=1, description="most requests that are open at a replica")
    job_requests: int = Field(default=100, ge=1, description="most requests about one job that are open at a replica")
    backlog: int = Field(default=4096 * MIB, ge=1, description="most bytes of a job that wait to be processed")
    backlog_files: int = Field(default=20_000, ge=1, description="most appends of a job that wait to be processed")
    matches: int = Field(default=1_000_000, ge=1, description="most matches of a query in a batch of a job")
    page: int = Field(default=10_000, ge=1, description="most rows of a page")
    keys_kept: float | None = Field(
        default=None, gt=0, description="least hours for which keys of appends are kept; by default forever"
    )
    rows_kept: float | None = Field(default=None, gt=0, description="hours for which rows are kept; by default forever")
    decisions: int = Field(default=1000, ge=1, description="decisions that a job keeps, the last ones")


def service_settings(**given: Any) -> ServiceSettings:
    """Return settings with these arguments; raise one InputError for all that is wrong with them."""
    found = read_settings(ServiceSettings, **given)
    return found.model_copy(update={"data": found.data.absolute()})


def token_of(settings: ServiceSettings) -> str | None:
    """Return the token without the surrounding blanks and line ends of secret files, or None; check its characters."""
    if settings.token is None:
        return None
    token = settings.token.get_secret_value().strip()
    if not token:
        raise InputError("the token of the service is empty; set one, or unset ELSINORE_SERVICE_TOKEN")
    if not token.isascii() or not token.isprintable():
        raise InputError(
            "the token of the service has a character that HTTP headers do not allow; "
            "use printable ASCII characters, on one line"
        )
    return token


def check_listening(settings: ServiceSettings) -> None:
    """Raise InputError where the service would listen beyond this machine without a token."""
    if token_of(settings) is None and not is_loopback(settings.host):
        raise InputError(
            f"the service would listen at {settings.host} without a token, open to all that can reach this machine; "
            f"set ELSINORE_SERVICE_TOKEN, or listen at {LOOPBACK}"
        )


def is_loopback(host: str) -> bool:
    """Return whether only processes of this machine can reach this address."""
    return bool(loopback(host))
