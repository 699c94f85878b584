"""The real service, started once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from elsinore.cluster.machines import session
from tests.service.serving import Served, served


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    current_session = session.current()
    if current_session is not None:  # two Ray instances at a time are too much for a small machine
        current_session.close()
    with served(tmp_path_factory.mktemp("service"), planning="5") as found:
        yield found


@pytest.fixture
def client(service: Served) -> Iterator[httpx2.Client]:
    with service.client() as found:
        yield found


@pytest.fixture
def stopped(service: Served) -> Iterator[Served]:
    """Stop the service for a test that starts it in another way."""
    service.stop()
    yield service
    service.stop()
    service.start()
