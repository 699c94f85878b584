"""RayDP's hand-over: the partitions of a DataFrame as Arrow blocks in Ray's object store.

Spark keeps the blocks as an RDD that it can recompute, in memory or on disk. Each block is fetched from the executor
that holds it when it is requested: an actor gets a reference to it, and no row goes through this process.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import ray
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import StorageLevel

from elsinore.connectors.errors import FailedError
from elsinore.connectors.spark.java_objects import java_classes, java_context, java_frame, java_level, release
from elsinore.connectors.spark.ray_internals import calls_to_java, node_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


EXECUTOR, MASTER = "raydp-executor-", "RAY_APP_MASTER"
"""Names of RayDP's actors: the prefix of executors, and the master."""

EXECUTOR_SECONDS, POLL_SECONDS = 60, 0.2
"""Seconds that an executor may take to come back, and between two polls for it."""


class SparkBlocks:
    """The partitions of a DataFrame, computed."""

    def __init__(self, frame: DataFrame) -> None:
        spark = frame.sparkSession
        self._spark = java_context(spark)
        self._classes = java_classes(spark)
        self._writer = self._classes.org.apache.spark.sql.raydp.ObjectStoreWriter
        level = java_level(spark, StorageLevel.MEMORY_AND_DISK)
        info: Any = self._writer.prepareRecoverableRDD(java_frame(frame), level)
        self._rdd, self._locations = info.rddId(), list(info.locations())
        self._schema, self._agent = info.schemaJson(), info.driverAgentUrl()
        self._nodes: dict[str, str] = {}
        """By number of the executor, the node on which it runs."""
        release(info)

    def __len__(self) -> int:
        return len(self._locations)

    def reference(self, partition: int) -> Any:
        """Return a block as a Ray object: bytes, an Arrow stream."""
        executor = self._executor(self._locations[partition])
        with calls_to_java():
            return executor.getRDDPartition.remote(self._rdd, partition, self._schema, self._agent)

    def node(self, partition: int) -> str:
        """Return the identifier of the node of the executor that holds a block."""
        number = self._locations[partition]
        if number not in self._nodes:
            self._nodes[number] = node_of(self._executor(number))
        return self._nodes[number]

    def _executor(self, number: str) -> Any:
        """Return an executor's actor, polling until it is back. Spark and Ray name a restarted one differently."""
        end, name = monotonic() + EXECUTOR_SECONDS, number
        while True:
            try:
                return ray.get_actor(f"{EXECUTOR}{name}")
            except ValueError:
                if self._spark.isStopped():
                    raise FailedError(f"Spark was stopped, and its executor {number} too") from None
                if monotonic() > end:
                    raise FailedError(
                        f"the Spark executor {number} did not restart within {EXECUTOR_SECONDS} seconds"
                    ) from None
                name = _restarted(self._classes).get(number, number)
                sleep(POLL_SECONDS)

    def close(self) -> None:
        """Release the blocks. If Java has ended, they are gone already."""
        with suppress(Py4JError, OSError):
            self._writer.releaseRecoverableRDD(self._rdd)


Dealt = Callable[["SparkBlocks", int], Sequence[Sequence[Any]]]
"""Returns references to the events of a partition: for each graph actor those of what it needs."""


class BlockReferences:
    """Some of the blocks, for all graph actors: one Ray object each, however many actors hold it.

    With `deal`, each actor has an object of its own for each block instead. A second request for the same place means
    that the actor did not get the blocks, so they are fetched again.
    """

    def __init__(self, blocks: SparkBlocks, partitions: Sequence[int], deal: Dealt | None = None) -> None:
        self.partitions = partitions
        self._blocks, self._deal = blocks, deal
        self._references: list[Any] = []
        self._had: set[int] = set()

    def __call__(self, place: int) -> Sequence[Any]:
        if place in self._had:
            self.release()
        self._had.add(place)
        if self._deal is None:
            self._references = self._references or [self._blocks.reference(one) for one in self.partitions]
            return self._references
        self._references = self._references or [self._deal(self._blocks, one) for one in self.partitions]
        return [one for dealt in self._references for one in dealt[place]]

    def release(self) -> None:
        """Drop the references, so that Ray can free the blocks."""
        self._references = []
        self._had.clear()


def _restarted(classes: Any) -> dict[str, str]:
    """Return, for executors that were restarted, the name that Ray knows by the name that Spark knows."""
    master = classes.io.ray.api.Ray.getActor(MASTER).get()
    found = classes.org.apache.spark.deploy.raydp.RayAppMasterUtils.getRestartedExecutors(master)
    return {str(now): str(found[now]) for now in found}
