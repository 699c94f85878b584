"""What graph actors tell the optimizer actor of a stream adds up to what the stream is like."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from elsinore.actors.shells.gathering import Gathering
from elsinore.actors.shells.optimizer_actor import OptimizerActor, told
from elsinore.actors.streams.statistics import StreamStatistics
from elsinore.planner.costs.drift import Observed
from elsinore.planner.hamlet.optimizers import optimizer_of
from elsinore.planner.time.clock import Clock
from tests.support.streams import batch, noted

SECOND, MINUTE = Fraction(1), Fraction(60)


def observed(seconds: int, **counts: int) -> Observed:
    return Observed(Fraction(seconds), counts, counts)


def test_batches_are_spans_one_after_the_other_and_actors_see_them_at_once() -> None:
    one = Gathering()
    one.add(0, 1, [observed(10, A=3, B=1)])
    one.add(1, 1, [observed(9, A=2)])
    one.add(0, 2, [observed(5, A=4)])
    one.add(1, 2, [None])
    one.add(1, 3, [observed(6, C=1)])
    assert one.read_and_reset([SECOND]) == [observed(15, A=9, B=1, C=1)]
    assert one.read_and_reset([SECOND]) == [None]


def test_routes_are_kept_apart() -> None:
    """Engines are told by range, and within it by route."""
    one = Gathering()
    one.add(0, 1, [observed(10, A=1), observed(10, B=1), observed(10, A=2), observed(70, B=2)])
    one.add(1, 1, [observed(10, A=3), None])
    assert one.read_and_reset([SECOND, MINUTE]) == [observed(10, A=6), observed(70, B=3)]


def test_what_is_too_short_goes_on() -> None:
    one = Gathering()
    one.add(0, 1, [observed(40, A=1)])
    assert one.read_and_reset([MINUTE]) == [None]
    one.add(0, 2, [observed(40, A=1)])
    assert one.read_and_reset([MINUTE]) == [observed(80, A=2)]


def test_a_batch_that_is_told_of_again_counts_once() -> None:
    one = Gathering()
    for number in (1, 2, 2, 1, 3):
        one.add(0, number, [observed(1, A=1)])
    assert one.read_and_reset([SECOND]) == [observed(3, A=3)]
    one.add(0, 3, [observed(1, A=1)])
    assert one.read_and_reset([SECOND]) == [None]


def test_shards_of_a_stream_add_up_to_the_stream() -> None:
    random = Random(3)
    clock = Clock(1, Fraction(1), batch("A", [0]).column(1).type)
    shards, whole = [StreamStatistics(clock) for _ in range(3)], []
    actor = OptimizerActor(optimizer_of("gloria"))
    for number in range(1, 9):
        events = [(random.choice("ABC"), 10 * number + step) for step in range(10)]
        whole.append(batch([kind for kind, _ in events], [time for _, time in events]))
        for place, shard in enumerate(shards):
            own = [event for event in events if (ord(event[0]) + event[1]) % 3 == place]
            part = batch([kind for kind, _ in own], [time for _, time in own])
            shard.note(part.column(0), part.column(1))
            actor.gather("rides", place, number, told([shard.read_and_reset()]))
            actor.gather("others", place, number, told([observed(1, X=1)]))
    (found,) = actor.observed("rides", [MINUTE])
    alone = noted(*whole).read_and_reset()
    assert found is not None
    assert alone is not None
    assert found.counts == alone.counts
    assert alone.seconds - 3 <= found.seconds <= alone.seconds
    assert actor.observed("others", [SECOND]) == [observed(8, X=24)]
    actor.forget("rides")
    assert list(actor.gathered) == ["others"]
