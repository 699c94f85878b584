"""The packages that `pip install elsinore` leaves out, and the command that installs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from elsinore.errors import InputError

CLUSTER = ("fastapi", "py4j", "pyspark", "ray", "raydp", "starlette", "uvicorn")
"""Packages of the extra `cluster`, and packages that these install."""


@contextmanager
def needing_cluster(what: str) -> Iterator[None]:
    """Raise InputError with the command to run if an import in the block lacks a package of the extra `cluster`."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in CLUSTER:
            raise
        raise InputError(
            f"{what} needs Ray and Spark, which are not installed. Install them with: pip install 'elsinore[cluster]'. "
            "Without them, run in this process: engine='local', or ELSINORE_ENGINE=local"
        ) from None
