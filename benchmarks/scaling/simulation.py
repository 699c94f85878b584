"""A simulation of a cluster: batches pass through its parts, of which each takes one batch after the other.

A batch is at a part as long as the part's measured costs say. It begins there when the part before is done with it, and
the part itself with the batch before. Parts that exist once (Spark's driver, the driver, the optimizer actor, the
collector) have all events of the stream; the others have those of their node or actor, of which the busiest counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.scaling.model import Capacities, Cluster, Stream

BATCHES = 200
"""Batches of a simulation."""

US, NS = 1e-6, 1e-9

RATE = 1e6
"""Events per second at which the cost of an event is read off."""


@dataclass(frozen=True)
class Part:
    """A part of the cluster, and how long a batch keeps it busy."""

    name: str
    copies: int
    """How many of it there are."""
    seconds: float
    """Seconds for the share of a batch of one copy, the busiest."""


@dataclass(frozen=True)
class Outcome:
    parts: tuple[Part, ...]
    batch_seconds: float
    latencies: tuple[float, ...]
    """By batch, seconds from its last event to its rows."""

    @property
    def load(self) -> dict[str, float]:
        """Return the share of time that each part is busy; more than 1: it falls behind."""
        return {part.name: part.seconds / self.batch_seconds for part in self.parts}

    @property
    def busiest(self) -> Part:
        return max(self.parts, key=lambda part: part.seconds)

    @property
    def keeps_up(self) -> bool:
        return self.busiest.seconds <= self.batch_seconds


def parts_of(capacities: Capacities, cluster: Cluster, stream: Stream) -> tuple[Part, ...]:
    """Return the parts that a batch passes, in order, with the time that it takes at each."""
    of, nodes, places = capacities, cluster.nodes, cluster.places
    events = stream.events_per_second * stream.batch_seconds
    by_node, by_actor, rows = events / nodes, events / places * stream.skew, events * of.rows_per_event
    objects = cluster.spark_cores * places
    leaving = by_node * of.event_bytes * (nodes - 1) / nodes
    questions, bursts = places * of.questions_per_batch, events * of.bursts_per_event
    return (
        Part("Spark driver", 1, nodes * cluster.spark_cores * of.spark_block_us * US),
        Part("Spark executor", nodes, by_node * of.spark_event_ns * NS / cluster.spark_cores),
        Part(
            "dealer",
            nodes,
            (by_node * of.dealer_event_ns * NS + objects * of.dealer_object_us * US) / cluster.dealer_cores,
        ),
        Part("object store", nodes, 2 * by_node * of.event_bytes * of.store_byte_ns * NS),
        Part("network", nodes, leaving / cluster.network_bytes),
        Part("driver", 1, (places * of.driver_call_us + rows * of.driver_row_us) * US),
        Part("optimizer actor", 1, questions * of.optimizer_question_us * US + bursts * of.optimizer_burst_ns * NS),
        Part("graph actor", places, by_actor * of.actor_event_ns * NS + of.actor_batch_us * US),
        Part("collector", 1, (rows * of.collector_row_us + places * of.collector_answer_us) * US),
    )


def simulate(capacities: Capacities, cluster: Cluster, stream: Stream, batches: int = BATCHES) -> Outcome:
    """Pass batches through the parts of a cluster."""
    parts = parts_of(capacities, cluster, stream)
    return Outcome(parts, stream.batch_seconds, tuple(_latencies(parts, stream.batch_seconds, batches)))


def _latencies(parts: Sequence[Part], batch_seconds: float, batches: int) -> list[float]:
    free = [0.0] * len(parts)
    """By part, when it is done with the last batch."""
    found = []
    for batch in range(1, batches + 1):
        complete = now = batch * batch_seconds
        for number, part in enumerate(parts):
            now = free[number] = max(now, free[number]) + part.seconds
        found.append(now - complete)
    return found


def limits(capacities: Capacities, cluster: Cluster, stream: Stream) -> dict[str, float]:
    """Return, by part, the most events per second with which it keeps up; infinite if its work does not grow with them.

    The time that a part takes grows linearly with the rate.
    """
    idle, busy = (parts_of(capacities, cluster, replace(stream, events_per_second=rate)) for rate in (0.0, RATE))
    return {
        one.name: _limit(stream.batch_seconds - one.seconds, (other.seconds - one.seconds) / RATE)
        for one, other in zip(idle, busy, strict=True)
    }


def _limit(free: float, cost: float) -> float:
    """Return how many events of this cost fit into the free seconds of a batch."""
    if free < 0:
        return 0.0
    return free / cost if cost else math.inf
