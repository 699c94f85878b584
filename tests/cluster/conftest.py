"""A session with the real Spark and Ray, started once for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from elsinore.cluster.machines.session import Session, session
from elsinore.cluster.machines.settings import Settings


@pytest.fixture(scope="session")
def running() -> Iterator[Session]:
    started = session(Settings(engine="ray"))
    yield started
    started.close()
