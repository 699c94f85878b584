"""The values of the simulation: what the parts of a cluster cost, what a cluster has, and what a stream is."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Capacities:
    """Processor time of one core, by part and unit of work, and what a workload makes of an event."""

    workload: str
    machine: str
    spark_event_ns: float
    """A Spark executor reads an event, computes its key groups and writes it to an Arrow block."""
    spark_block_us: float
    """Spark's driver schedules the task of a block."""
    store_byte_ns: float
    """A process copies a byte into the object store of its node."""
    dealer_event_ns: float
    dealer_object_us: float
    """A dealer writes the block of one owner."""
    actor_event_ns: float
    actor_batch_us: float
    """A graph actor receives a batch and answers it."""
    optimizer_question_us: float
    optimizer_burst_ns: float
    collector_row_us: float
    collector_answer_us: float
    """The collector reads the partial rows of one actor."""
    driver_call_us: float
    """The driver sends an actor its batch, and receives its answer."""
    driver_row_us: float
    """The driver writes a row to its sink."""
    event_bytes: float
    """Bytes of an event in a block."""
    bursts_per_event: float
    questions_per_batch: float
    """Questions of one actor about a batch."""
    rows_per_event: float

    @classmethod
    def read(cls, path: Path) -> Capacities:
        return cls(**json.loads(path.read_text()))

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=2) + "\n")


@dataclass(frozen=True)
class Cluster:
    """The machines, and how the cores of each are used. Driver, optimizer actor and collector have a core each."""

    nodes: int = 100
    actors: int = 16
    """Graph actors of a node, each on a core of its own."""
    spark_cores: int = 12
    """Cores of the Spark executor of a node; a block for each core and batch."""
    dealer_cores: int = 2
    network_bytes: float = 25e9 / 8
    """Bytes per second that a node sends, and receives."""

    @property
    def places(self) -> int:
        return self.nodes * self.actors


@dataclass(frozen=True)
class Stream:
    events_per_second: float = 100e6
    batch_seconds: float = 1.0
    skew: float = 1.1
    """Events of the busiest actor to those of the average one."""
