"""Implement `elsinore serve`: run Ray, Serve, Spark and the service on this machine until a signal."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event
from time import monotonic, sleep
from typing import Any

import ray
from pydantic import SecretStr
from ray import serve
from ray.exceptions import RayError

from elsinore.cluster.machines.file_locks import holder
from elsinore.cluster.machines.session import Session
from elsinore.cluster.machines.settings import Settings
from elsinore.cluster.service.app import application
from elsinore.cluster.service.jobs import Jobs
from elsinore.cluster.service.manager import NAME, NAMESPACE
from elsinore.cluster.service.settings import ServiceSettings, check_listening
from elsinore.cluster.service.web.edge import CALLBACK_VARIABLE, HOST_VARIABLE, HOSTS_VARIABLE, IMPORT_PATH
from elsinore.connectors.errors import FailedError, InputError
from elsinore.tokens import make

POLL_SECONDS = 0.2

SHUTDOWN_SECONDS = 5.0
"""Seconds that the other processes of a service take to end after its first one was killed."""

START_SECONDS = 180
"""Seconds within which Spark has to start."""


@contextmanager
def serving(service: ServiceSettings, settings: Settings) -> Iterator[Session]:
    """Run the service during the block; all processes end with it. Spark may still be starting."""
    os.environ |= {CALLBACK_VARIABLE: IMPORT_PATH, HOST_VARIABLE: service.host, HOSTS_VARIABLE: service.hosts or ""}
    session = Session(settings, service.metrics_port)
    try:
        with session.quiet():
            http = {"host": service.host, "port": service.port, "keep_alive_timeout_s": 75}
            serve.start(proxy_location="HeadOnly", http_options=http)
            serve.run(application(service, settings), name="elsinore", route_prefix="/")
        yield session
    finally:
        if not session.alone:
            _leave()
        session.close()


def _leave() -> None:
    """End the service and its manager on a cluster that was joined, and leave the cluster running."""
    shutdown: Any = serve.shutdown
    shutdown()
    with suppress(ValueError, RayError):
        manager = ray.get_actor(NAME, NAMESPACE)
        ray.get(manager.stop.remote(), timeout=SHUTDOWN_SECONDS)
        ray.kill(manager)


def serve_until_stopped(service: ServiceSettings, settings: Settings, say: Callable[[str], None]) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    over = Event()
    _end_by_signal(over)
    check_listening(service)
    _wait_for_others(service)
    service = with_token(service, say, sys.stderr.isatty())
    say(f"Starting the service; its jobs are in {service.data}")
    with serving(service, settings) as session:
        _end_by_signal(over)
        _until_ready(service, over, session)
        if not over.is_set():
            say(
                f"Ready: http://{service.host}:{service.port}/ is the console, and /openapi.json describes all calls. "
                "Ctrl-C stops the service; its jobs continue when it is started again."
            )
        while not over.wait(POLL_SECONDS):
            if not ray.is_initialized():
                raise FailedError("Ray has ended; start the service again: no data is lost")
    say("Stopped; the jobs continue when the service is started again with the same folder.")


def with_token(service: ServiceSettings, say: Callable[[str], None], shown: bool) -> ServiceSettings:
    """Return the settings with a token: the one that is set, or the one that the service keeps for its user.

    A new token is shown on a terminal only, because others read logs.
    """
    if service.token is not None:
        return service
    found = make(service.host, service.port)
    if found.made and shown:
        say(f"The token of the service: {found.token}")
    say(f"Clients of this user read the token by themselves; for other clients it is in {found.path}")
    return service.model_copy(update={"token": SecretStr(found.token)})


def _wait_for_others(service: ServiceSettings) -> None:
    jobs = Jobs(service.data)
    jobs.begin()
    end = monotonic() + SHUTDOWN_SECONDS
    while (other := holder(jobs.lock)) is not None:
        if monotonic() > end:
            raise InputError(
                f"{other} already serves {service.data}: stop that service, or give this one another folder (--data)"
            )
        sleep(POLL_SECONDS)


def _end_by_signal(over: Event) -> None:
    """Set the signal handlers; call this again when Ray has started, because Ray replaces them."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())


def _until_ready(service: ServiceSettings, over: Event, session: Session) -> None:
    jobs = Jobs(service.data)
    for _ in range(int(START_SECONDS / POLL_SECONDS)):
        if over.wait(POLL_SECONDS) or (jobs.manager() or {}).get("spark"):
            return
    session.keep_logs = True
    raise FailedError(
        f"Spark did not start within {START_SECONDS} seconds; for the cause, see the logs in {session.scratch.path}"
    )
