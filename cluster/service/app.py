"""The application for Ray Serve: `serve deploy` and KubeRay import `elsinore.cluster.service.app:app`."""

from __future__ import annotations

from typing import Any

from ray import serve

from elsinore.cluster.machines.session import is_alone
from elsinore.cluster.machines.settings import Settings, settings
from elsinore.cluster.service.control import Control
from elsinore.cluster.service.jobs import Jobs
from elsinore.cluster.service.logs import log_as_json
from elsinore.cluster.service.settings import ServiceSettings, service_settings, token_of
from elsinore.cluster.service.web.api import build
from elsinore.cluster.service.web.edge import listen_here_alone
from elsinore.cluster.service.web.sites import ANY
from elsinore.connectors.errors import InputError

MAX_REQUESTS = 10_000
"""More requests than a replica admits by itself: it refuses the rest with problem documents, which Serve does not."""


@serve.ingress()
class Service:
    """A replica: it checks requests, writes events to disk, and reads rows; the manager does the rest."""

    def __init__(self, service: ServiceSettings, run: Settings) -> None:
        log_as_json()
        if is_alone():
            listen_here_alone()
        jobs = Jobs(service.data)
        jobs.begin()
        self.service = service
        self.control = Control(jobs, service, run)

    def __serve_build_asgi_app__(self) -> Any:
        return build(self.service, self.control)


def application(service: ServiceSettings, run: Settings) -> Any:
    """Return the service with these settings as an application of Serve."""
    deployment: Any = serve.deployment(
        Service,
        name="elsinore",
        num_replicas=service.replicas,
        max_ongoing_requests=MAX_REQUESTS,
        ray_actor_options={"num_cpus": 0},
    )
    return deployment.bind(service, run)


def app(_: dict[str, str]) -> Any:
    """Return the service with the settings of the environment; Serve calls this when it deploys."""
    service = service_settings()
    if token_of(service) is None:
        raise InputError("a service that is deployed on a cluster has a token: set ELSINORE_SERVICE_TOKEN on its nodes")
    # Serve listens where its own options say, and clients use the name of the proxy in front of it as Host.
    return application(service.model_copy(update={"hosts": service.hosts or ANY}), settings(engine="ray"))
