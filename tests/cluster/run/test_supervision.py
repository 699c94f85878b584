"""Graph actors that die, lose calls or run out of memory at any call: the rows are the same, or the error says why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from elsinore.actors.shells.graph_actor import GraphActor
from elsinore.cluster.run.budget import SPAN_SECONDS, Budget
from elsinore.cluster.run.collecting import SupervisedCollector
from elsinore.cluster.run.crew import AheadError, NumberedBatch
from elsinore.cluster.stream.checkpoint import BatchRecord, Checkpoint, Era
from elsinore.cluster.stream.live import Live
from elsinore.cluster.stream.recovery import EraEnd, Recovery
from elsinore.cluster.stream.snapshots import Snapshots
from elsinore.connectors.storage.vault import DamagedError, Vault
from elsinore.errors import FailedError
from tests.cluster.played import FATES, Fate, Handle, Played, Script, Time, all_well, first, played
from tests.cluster.small_stream import BATCHES, EVERY, PLACES, TERMS, Stream, events, undisturbed
from tests.cluster.streaming import HARMS, damage

__all__ = ["played"]


@pytest.fixture(autouse=True)
def save_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elsinore.cluster.run.crew.BATCHES_PER_SNAPSHOT", EVERY)


@pytest.fixture
def in_small_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have actors hand out the matches of one search at a time."""
    monkeypatch.setattr(GraphActor, "message_rows", 1)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Counter[str]]:
    return undisturbed(tmp_path_factory.mktemp("undisturbed"))


def always(fate: Fate) -> Iterator[Fate]:
    while True:
        yield fate


METHODS = ("begin", "restore", "inherit", "reached", "take", "more", "save")


@pytest.mark.usefixtures("in_small_messages")
@pytest.mark.parametrize("fate", FATES)
@pytest.mark.parametrize("method", METHODS)
def test_three_failures_of_one_call_are_survived_wherever_it_is_made(
    played: Played, tmp_path: Path, expected: dict[int, Counter[str]], method: str, fate: Fate
) -> None:
    """A call fails three times after the start of a stream, after the loss of an actor, and after a restart."""
    played.script = first(method, [fate] * 3)
    stream = Stream(played, tmp_path / "checkpoint", restarts=20)
    stream.until(EVERY + 1)
    played.script = first(method, [fate] * 3)
    stream.crew.places[1].actor.dead = True
    stream.until(2 * EVERY + 2)
    played.script = first(method, [fate] * 3)
    stream = stream.again()
    stream.until(BATCHES)
    assert stream.stop().rows == expected


def test_a_begin_that_is_lost_in_front_of_the_first_question_is_survived(played: Played, tmp_path: Path) -> None:
    stream = Stream(played, tmp_path / "checkpoint")
    played.script = first("begin", ["lost"])
    crew = stream.hired(TERMS)
    assert len(crew.states(0)) == PLACES
    stream.stop()


def test_a_death_counts_once(played: Played, tmp_path: Path, expected: dict[int, Counter[str]]) -> None:
    stream = Stream(played, tmp_path / "checkpoint", restarts=2)
    for batches in (5, BATCHES):
        stream.crew.places[0].actor.dead = True
        stream.until(batches)
    assert stream.rows == expected
    stream.crew.places[0].actor.dead = True
    with pytest.raises(FailedError, match=r"too many failures: .* allows 2 in 10 minutes"):
        stream.step()
    stream.stop()


def test_a_stream_survives_a_death_now_and_then(played: Played, tmp_path: Path) -> None:
    stream, clock = Stream(played, tmp_path / "checkpoint", restarts=2), Time()
    stream.crew.failures = Budget(2, clock)
    for _ in range(20):
        stream.crew.places[1].actor.dead = True
        stream.step()
        clock.now += SPAN_SECONDS / 2
    stream.stop()


@pytest.mark.parametrize("method", ["begin", "restore", "take"])
def test_a_call_that_an_actor_never_survives_ends_the_stream_however_long_each_attempt_takes(
    played: Played, tmp_path: Path, method: str
) -> None:
    clock = Time()

    def slowly(name: str, _: Handle) -> Fate | None:
        clock.now += SPAN_SECONDS
        return "dies" if name == method else None

    stream = Stream(played, tmp_path / "checkpoint")
    stream.until(EVERY + 1)
    hired = len(played.hired)
    stream.crew.failures = Budget(5, clock)
    stream.crew.places[0].actor.dead = True
    played.script = slowly
    with pytest.raises(FailedError, match=r"too many failures: .* allows 5 in"):
        stream.step()
    assert len(played.hired) - hired == 5
    assert sum(played.slept) < 60
    stream.stop()


@pytest.mark.parametrize("method", ["begin", "restore", "inherit", "save"])
def test_a_call_that_no_actor_survives_ends_the_beginning(played: Played, tmp_path: Path, method: str) -> None:
    stream = Stream(played, tmp_path / "checkpoint", restarts=3)
    stream.until(EVERY)
    hired = len(played.hired)
    played.script = first(method, always("dies"))
    with pytest.raises(FailedError, match=r"too many failures: .* allows 3 in"):
        stream.again()
    assert len(played.hired) - hired <= 2 * PLACES + 3


def test_a_save_that_no_actor_survives_ends_the_stream(
    played: Played, tmp_path: Path, expected: dict[int, Counter[str]]
) -> None:
    stream = Stream(played, tmp_path / "checkpoint", restarts=3)
    played.script = first("save", always("dies"))
    with pytest.raises(FailedError, match=r"too many failures: .* allows 3 in"):
        stream.until(BATCHES)
    played.script = all_well
    stream = stream.again()
    stream.until(BATCHES)
    assert stream.stop().rows == expected


def test_a_batch_whose_commit_failed_with_spark_is_sent_again(played: Played, tmp_path: Path) -> None:
    """An actor dies in its save, and the events that its replacement needs are lost until Spark is back."""
    stream = Stream(played, tmp_path / "checkpoint")
    crew, spark = stream.hired(TERMS), [True]

    def blocks(number: int) -> list[bytes]:
        if not spark[0]:
            raise ConnectionError("Spark is lost")
        return [events(number)]

    def send(number: int) -> list[int]:
        crew.send(NumberedBatch(number, 4 * number + 3, lambda _: blocks(number)))
        crew.receive()
        crew.repeat(number)
        return [len(part.value) for parts in crew.rows(number) for part in parts]

    for number in range(1, EVERY):
        send(number)
        crew.commit(number)
    played.script = first("save", ["dies"], place=1)
    rows = send(EVERY)
    spark[0] = False
    with pytest.raises(ConnectionError):
        crew.commit(EVERY)
    spark[0] = True
    crew.withdraw(EVERY)
    assert send(EVERY) == rows
    assert crew.commit(EVERY)
    stream.stop()


@pytest.mark.usefixtures("in_small_messages")
@pytest.mark.parametrize("parts", range(4))
def test_rows_of_a_batch_are_handed_out_again(
    played: Played, tmp_path: Path, expected: dict[int, Counter[str]], parts: int
) -> None:
    """Who takes them loses some; then Ray loses an actor."""
    stream = Stream(played, tmp_path / "checkpoint")
    stream.until(2 * EVERY - 1)
    done = stream.given()
    lost = list(islice(stream.crew.rows(done.number), parts))
    assert len(lost) == parts
    stream.write(TERMS, done.number, stream.crew)
    assert stream.rows[done.number] == expected[done.number]
    stream.crew.places[1].actor.dead = True
    stream.write(TERMS, done.number, stream.crew)
    stream.done = done
    stream.crew.commit(done.number)
    stream.until(BATCHES)
    assert stream.stop().rows == expected


@pytest.mark.usefixtures("in_small_messages")
@pytest.mark.parametrize("dies", [False, True])
@pytest.mark.parametrize("parts", range(1, 4))
def test_rows_of_a_batch_go_on_where_they_were_interrupted(
    played: Played, tmp_path: Path, expected: dict[int, Counter[str]], parts: int, dies: bool
) -> None:
    stream = Stream(played, tmp_path / "checkpoint")
    stream.until(2 * EVERY - 1)
    number = stream.given().number
    found = list(islice(stream.crew.rows(number), parts))
    assert len(found) == parts
    found.pop()  # The caller was not done with it.
    stream.crew.places[1].actor.dead = dies
    found += list(stream.crew.rows(number))
    assert sum((stream.shown(one) for one in found), Counter()) == expected[number]
    stream.stop()


def test_an_actor_without_memory_for_good_ends_the_stream_without_a_traceback(played: Played, tmp_path: Path) -> None:
    stream = Stream(played, tmp_path / "checkpoint", restarts=2)
    played.script = first("take", always("out of memory"))
    with pytest.raises(FailedError, match=r"allows 2 in 10 minutes; [^:]*: no room$") as found:
        stream.step()
    assert "ray::" not in str(found.value)
    stream.stop()


def test_a_save_that_failed_is_asked_for_again(
    played: Played, tmp_path: Path, expected: dict[int, Counter[str]]
) -> None:
    stream = Stream(played, tmp_path / "checkpoint")
    fates: list[Fate] = ["lost", "unanswered", "dies", "out of memory"]
    for number, fate in enumerate(fates, start=1):
        stream.until(number * EVERY - 1)
        played.script = first("save", [fate], place=1)
        assert not stream.step()
        assert stream.step()
    assert {"12/0", "13/0", "13/1"} <= set(stream.states())
    stream.until(BATCHES)
    assert stream.rows == expected
    stream.stop()


def test_what_is_needed_is_kept_until_two_snapshots_are_whole(
    played: Played, tmp_path: Path, expected: dict[int, Counter[str]]
) -> None:
    """A save is lost, the next ones kill their actor, then states are damaged, and the stream restarts."""
    stream = Stream(played, tmp_path / "checkpoint")
    fates = {(6, 1): "lost", (7, 0): "dies", (8, 0): "dies"}

    def script(name: str, handle: Handle) -> Any:
        return fates.pop((handle.actor.number, handle.actor.place), None) if name == "save" else None

    played.script = script
    stream.until(8)
    assert not fates
    for path in (tmp_path / "checkpoint").glob("eras/*/states/*8/*"):
        damage(path)
    stream = stream.again()
    stream.until(BATCHES)
    assert stream.rows == expected
    stream.stop()


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("place", range(PLACES))
def test_any_one_damaged_state_is_not_missed(
    played: Played, tmp_path: Path, expected: dict[int, Counter[str]], harm: Any, place: int
) -> None:
    stream = Stream(played, tmp_path / "checkpoint")
    for batches in range(1, BATCHES, 2):
        stream.until(batches)
        found = sorted((tmp_path / "checkpoint").glob(f"eras/*/states/*/{place}"))
        if found:
            harm(found[-1])
        stream = stream.again()
    stream.until(BATCHES)
    assert stream.rows == expected
    stream.stop()


class KilledError(BaseException):
    """A stand-in for the driver's death, which no code of the driver catches."""


@pytest.mark.usefixtures("in_small_messages")
@pytest.mark.parametrize("when", ["before", "behind"])
def test_the_driver_is_killed_at_every_write_and_delete(
    played: Played, tmp_path: Path, expected: dict[int, Counter[str]], monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """After each restart the driver is killed again, at another write of its start or of its batches."""
    left = [0]

    def mortal(method: Any) -> Any:
        def called(vault: Vault, *arguments: Any) -> None:
            left[0] -= 1
            if left[0] == 0 and when == "before":
                raise KilledError
            method(vault, *arguments)
            if left[0] == 0:
                raise KilledError

        return called

    monkeypatch.setattr(Vault, "put", mortal(Vault.put))
    monkeypatch.setattr(Vault, "remove", mortal(Vault.remove))
    rows: dict[int, Counter[str]] = {}
    deaths, done = 0, 0
    while done < BATCHES:
        while_it_begins, nth = deaths % 2, 1 + deaths // 2 % 11
        left[0] = nth if while_it_begins else 0
        try:
            stream = Stream(played, tmp_path / "checkpoint", rows=rows)
            left[0] = nth
            while done < BATCHES:
                stream.step()
                done = stream.done.number
        except KilledError:
            deaths += 1
            assert deaths < 100
        stream.stop()
    assert deaths > 10
    assert rows == expected


@pytest.mark.parametrize("harm", [*HARMS, Path.unlink])
def test_a_snapshot_that_cannot_be_read_back_does_not_count(tmp_path: Path, harm: Any) -> None:
    checkpoint = Checkpoint(str(tmp_path / "checkpoint"))
    before, era = checkpoint.next_era(), checkpoint.next_era()
    before.begin({})
    era.begin({})
    snapshots = Snapshots(checkpoint, era, PLACES)
    for batch in range(1, 10):
        for place in range(PLACES):
            era.put_events(batch, place, [])
            if batch % EVERY == 0:
                era.put_state(batch, place, b"state")
    snapshots.add(3)
    harm(tmp_path / "checkpoint" / era.name / "states" / f"{6:012}" / "1")
    with pytest.raises(DamagedError):
        snapshots.add(6)
    assert checkpoint.vault.names(f"{era.name}/events") == [f"{batch:012}" for batch in range(1, 10)]
    assert before.begun
    snapshots.add(9)
    assert checkpoint.vault.names(f"{era.name}/events") == [f"{batch:012}" for batch in range(4, 10)]
    assert snapshots.whole == [3, 9]
    assert not before.begun
    checkpoint.close()


def test_a_state_that_is_always_damaged_ends_the_stream(played: Played, tmp_path: Path) -> None:
    stream = Stream(played, tmp_path / "checkpoint", restarts=3)
    stream.until(EVERY)
    for _ in range(3):
        stream.crew.save_again(DamagedError("states/3/1 is damaged"))
        assert stream.step()
    with pytest.raises(FailedError, match=r"too many failures.*states/3/1 is damaged"):
        stream.crew.save_again(DamagedError("states/3/1 is damaged"))
    stream.stop()


def no_room(self: Any, batch: int, place: int, state: bytes) -> None:
    raise FailedError("states cannot be written: No space left on device")


def test_a_disk_that_is_full_for_states_ends_the_stream_and_it_goes_on_later(
    played: Played, tmp_path: Path, expected: dict[int, Counter[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Stream(played, tmp_path / "checkpoint")
    stream.until(EVERY + 1)
    with monkeypatch.context() as patched:
        patched.setattr(Era, "put_state", no_room)
        with pytest.raises(FailedError, match="No space left"):
            stream.until(BATCHES)
        with pytest.raises(FailedError, match="No space left"):
            stream.again()
    stream = Stream(played, tmp_path / "checkpoint", rows=stream.rows)
    stream.until(BATCHES)
    assert stream.stop().rows == expected


def test_a_batch_that_was_half_taken_is_not_taken_again_by_the_same_actor(
    played: Played, tmp_path: Path, expected: dict[int, Counter[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken, left = GraphActor._taken, iter([5, 8, 8])
    fails = [next(left)]

    def out_of_memory(self: GraphActor, watermark: int, events: Any, times: Any) -> Any:
        rows = taken(self, watermark, events, times)
        if self.place == 1 and self.number + 1 == fails[0]:
            fails[0] = next(left, 0)
            raise MemoryError("no room")
        return rows

    monkeypatch.setattr(GraphActor, "_taken", out_of_memory)
    stream = Stream(played, tmp_path / "checkpoint")
    stream.until(BATCHES)
    assert fails == [0]
    assert stream.stop().rows == expected


@pytest.mark.parametrize("whole", [False, True])
def test_queries_change_where_a_batch_was_cut_short(
    played: Played, tmp_path: Path, expected: dict[int, Counter[str]], whole: bool
) -> None:
    """The stream recovers its state as after the driver's death; no failure is counted twice."""
    stream = Stream(played, tmp_path / "checkpoint", restarts=1)
    stream.until(4)
    cut = stream.given()
    if whole:
        stream.era.put_whole(cut)
        for place in stream.crew.places:
            place.actor.dead = True  # so that no actor can report that it has processed the batch
    stream.crew.withdraw(cut.number)
    recovered: list[Era] = []

    def recover(era: Era) -> EraEnd:
        recovered.append(era)
        return Recovery(stream.checkpoint, stream.hired, stream.write).end_of(era)

    if not whole:
        with pytest.raises(AheadError):
            stream.crew.states(stream.done.number)
        stream.crew.failures = Budget(1)
    live: Any = SimpleNamespace(
        era=stream.era, terms=TERMS, done=stream.done, crew=stream.crew, _recovered=recover
    )  # fmt: skip
    known = Live._era_end(live)
    assert known.done.number == (5 if whole else 4)
    assert recovered == [stream.era]
    stream = stream.again()
    stream.until(BATCHES)
    assert stream.stop().rows == expected


def test_a_change_between_two_batches_needs_no_recovery(played: Played, tmp_path: Path) -> None:
    stream = Stream(played, tmp_path / "checkpoint", restarts=0)
    stream.until(4)
    live: Any = SimpleNamespace(era=stream.era, terms=TERMS, done=stream.done, crew=stream.crew)
    assert Live._era_end(live).done == stream.done
    stream.stop()


def test_a_collector_that_always_dies_ends_the_run_and_one_now_and_then_is_survived(played: Played) -> None:
    pool: Any = played
    clock, collecting = Time(), SupervisedCollector(pool, 2)
    collecting.failures = Budget(2, clock)
    for _ in range(10):
        played.script = first("collect", ["dies"])
        assert collecting.collect([]) == []
        clock.now += SPAN_SECONDS / 2
    script: Script = first("collect", always("dies"))
    played.script = script
    with pytest.raises(FailedError, match="too many failures"):
        collecting.collect([])


def test_spark_may_be_lost_now_and_then() -> None:
    clock = Time()
    live: Any = SimpleNamespace(
        query=SimpleNamespace(awaitTermination=lambda _seconds: True), _finish=lambda: None,
        _stopping=SimpleNamespace(is_set=lambda: False),
        _lost=True, _requested=None, _repeat_batch=False, error=None, losses=Budget(1, clock), done=BatchRecord(0),
    )  # fmt: skip
    for batch in range(1, 10):
        live.done = BatchRecord(batch)
        assert not Live._wait_for_query(live)
        clock.now += SPAN_SECONDS
    assert Live._wait_for_query(live)
