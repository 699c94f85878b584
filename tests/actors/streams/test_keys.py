"""Numbers of keys: in the order in which these come, and quick whatever keys somebody chooses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsinore.actors.streams import keys
from elsinore.actors.streams.keys import Texts, Tuples
from elsinore.actors.streams.partitions import Partitions
from tests.support.generated import fresh

COUNT = 20_000
Table = npt.NDArray[np.integer]


def longest_run(table: Table) -> int:
    """Of places that are taken, one behind another: a key that comes to the first has to go past all of them."""
    free = np.flatnonzero(np.append(table, -1) < 0)
    return int(np.diff(free, prepend=-1).max()) - 1


def another_secret(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    generator = np.random.default_rng(seed)
    monkeypatch.setattr(keys, "SECRET", generator.integers(0, 2**64, (8, 256), np.uint64, endpoint=False))


def of_words(words: npt.NDArray[np.int64]) -> Table:
    tuples = Tuples(len(words))
    assert tuples.numbers(words, np.ones(words.shape[1], np.bool_)).tolist() == list(range(words.shape[1]))
    return tuples.table


def of_texts(words: npt.NDArray[np.int64]) -> Table:
    texts = Texts()
    assert texts.numbers(pa.array([f"{word:x}" for word in words[0].tolist()])).tolist() == list(range(words.shape[1]))
    return texts.table


def invertible() -> npt.NDArray[np.int64]:
    """Keys that all come to one place, where words are multiplied by well-known numbers and shifted."""
    prime, mix, mask = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 2**64 - 1

    def unshifted(h: int, by: int) -> int:
        found = h
        for _ in range(64 // by + 1):
            found = h ^ (found >> by)
        return found & mask

    def inverse(h: int) -> int:
        h = unshifted(h, 32) * pow(mix, -1, 1 << 64) & mask
        return unshifted(h, 29) * pow(prime, -1, 1 << 64) & mask

    return np.array([inverse(j << 32) for j in range(COUNT)], np.uint64).view(np.int64).reshape(1, -1)


CHOSEN: dict[str, Callable[[], npt.NDArray[np.int64]]] = {
    "for well-known numbers": invertible,
    "one after another": lambda: np.arange(COUNT).reshape(1, -1),
    "high bits alone": lambda: (np.arange(COUNT) << 44).reshape(1, -1),
    "every thousandth": lambda: (np.arange(COUNT) * 1000).reshape(1, -1),
    "pairs of all": lambda: np.array([np.repeat(np.arange(200), COUNT // 200), np.tile(np.arange(100), COUNT // 100)]),
    "alike words": lambda: np.tile(np.arange(COUNT), (3, 1)),
    "with a word that is always the same": lambda: np.array([np.arange(COUNT), np.full(COUNT, -1)]),
}


@pytest.mark.parametrize("chosen", CHOSEN)
def test_chosen_keys_do_not_collide(chosen: str) -> None:
    assert longest_run(of_words(CHOSEN[chosen]())) < 300


@pytest.mark.parametrize("chosen", ["for well-known numbers", "one after another", "high bits alone"])
def test_chosen_texts_do_not_collide(chosen: str) -> None:
    assert longest_run(of_texts(CHOSEN[chosen]())) < 300


def _that_collide(numbers: Callable[[npt.NDArray[np.int64]], Table]) -> npt.NDArray[np.int64]:
    """Keys that come to a few places next to each other, with the secret that is in use."""
    words = np.random.default_rng(7).integers(-(2**62), 2**62, (1, 1 << 18))
    table = numbers(words)
    taken = table[np.arange(len(table)) % 16_384 < 64]
    return np.ascontiguousarray(words[:, np.sort(taken[taken >= 0])])


@pytest.mark.parametrize("numbers", [of_words, of_texts])
def test_keys_that_collide_with_one_secret_do_not_with_another(
    numbers: Callable[[npt.NDArray[np.int64]], Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    another_secret(monkeypatch, 1)
    chosen = _that_collide(numbers)
    assert longest_run(numbers(chosen)) > 500
    another_secret(monkeypatch, 2)
    assert longest_run(numbers(chosen)) < 300


@fresh(100)
@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["", "a", "b" * 7, "b" * 8, "b" * 9, "ab" * 20]))))
def test_numbers_and_states_do_not_depend_on_the_secret(found: list[tuple[int, str]]) -> None:
    columns = {
        "k": pa.array([one[0] for one in found], pa.int64()),
        "t": pa.array([one[1] for one in found], pa.string()),
    }
    times = np.zeros(len(found), np.int64)
    order = list(dict.fromkeys(found))
    with pytest.MonkeyPatch.context() as patch:
        partitions = Partitions(("k", "t"), 1)
        for seed in range(3):
            another_secret(patch, seed)
            state = partitions.save()
            partitions = Partitions(("k", "t"), 1)
            partitions.load(state)
            assert partitions.slots(columns, times).tolist() == [order.index(one) for one in found]
