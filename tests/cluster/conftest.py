"""A session with the real Spark and Ray, started once for all tests of this folder, and rides as they come in."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from elsinore.cluster.machines.session import Session, current, session
from elsinore.cluster.machines.settings import Settings
from elsinore.connectors.ridesharing import write
from tests.cluster.live_rides import EVENTS, PIECES, WORKLOAD
from tests.cluster.streaming import Growing, answers_alone


@pytest.fixture(scope="session")
def closed_at_the_end() -> Iterator[None]:
    yield
    left = current()
    if left is not None:
        left.close()


@pytest.fixture
def running(closed_at_the_end: None) -> Session:
    """Return the session of all tests; start it again after a test that ran with other settings."""
    return session(Settings(engine="ray"))


@pytest.fixture(scope="session")
def rides(tmp_path_factory: pytest.TempPathFactory) -> pa.Table:
    path = tmp_path_factory.mktemp("rides") / "rides.parquet"
    write(path, EVENTS, seed=7)
    table = pq.read_table(path)
    texts = [i for i, field in enumerate(table.schema) if pa.types.is_dictionary(field.type)]
    for i in texts:
        table = table.set_column(i, table.schema.names[i], table.column(i).cast(pa.string()))
    return table


@pytest.fixture(scope="session")
def expected(rides: pa.Table) -> Any:
    return answers_alone(WORKLOAD, rides)


@pytest.fixture
def growing(tmp_path: Path, rides: pa.Table) -> Growing:
    return Growing(tmp_path / "in", rides, PIECES)
