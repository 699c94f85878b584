"""What is to be compiled: workloads to run, and a mark in the folder of kernels for each that was run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Literal

import elsinore
from elsinore.planner.kernels.compiled import target
from elsinore.planner.kernels.kernel_folder import home
from elsinore.planner.language.syntax import Query
from elsinore.warming.samples import ALL, CHOSEN, MATCHES, OTHERS, SAMPLES, STREAMS, Sample
from elsinore.warming.streams import LARGE_NUMBERS, LONG, LONG_BURSTS, SMALL_NUMBERS, Shape

DONE = "warm-"


@dataclass(frozen=True)
class Task:
    """Some runs of a workload."""

    name: str
    text: str
    strategies: tuple[str, ...]
    numeric: Literal["exact", "approximate"]
    shapes: tuple[Shape, ...]
    """The streams over which it is run."""
    counted: bool = False
    """Whether its matches are counted without a list, too."""

    @property
    def done(self) -> bool:
        """Return whether it was run with the present code, on such a processor."""
        return self._mark.exists()

    def note(self) -> None:
        self._mark.touch()

    @property
    def _mark(self) -> Path:
        return home() / f"{DONE}{_digest(repr(self), target(), _digest_of_code())}"


def tasks_of_all(everything: bool) -> list[Task]:
    """Return what compiles the kernels of `auto`, or of every strategy."""
    samples = (*SAMPLES, *OTHERS) if everything else SAMPLES
    return _in_order([STREAMS, *MATCHES], samples)


def tasks_of(name: str, queries: Sequence[Query], everything: bool) -> list[Task]:
    """Return what compiles the kernels that a workload may need."""
    matches = [query for query in queries if query.detects]
    aggregates = [query for query in queries if not query.detects]
    detecting = [_sample(name, matches, everything)] if matches else []
    counting = [_sample(name, aggregates, everything)] if aggregates else []
    return _in_order([STREAMS, *detecting], counting)


def _sample(name: str, queries: Sequence[Query], everything: bool) -> Sample:
    return Sample(name, ";\n".join(map(str, queries)), ALL if everything else CHOSEN)


def _in_order(others: Sequence[Sample], aggregates: Sequence[Sample]) -> list[Task]:
    """Return first what several others need, and last what others have compiled in part by then."""
    return [*map(_plain, others), *_represented(aggregates)]


def _plain(one: Sample) -> Task:
    shape = LONG if one.long else SMALL_NUMBERS
    return Task(one.name, one.text, one.strategies, "exact", (shape,), one.counted)


def _represented(samples: Sequence[Sample]) -> Iterator[Task]:
    """Yield tasks for each way to represent numbers: approximate, exact in one word, exact in several.

    Exact numbers begin as one word, so the kernels for several words come last. Samples have kernels in common: those
    that run at the same time should represent numbers in different ways.
    """
    for number, one in enumerate(samples):
        approximate = Task(one.name, one.text, one.strategies, "approximate", (SMALL_NUMBERS, LONG_BURSTS))
        in_a_word = Task(one.name, one.text, one.strategies, "exact", (SMALL_NUMBERS,))
        yield from (in_a_word, approximate) if number % 2 else (approximate, in_a_word)
    for one in samples:
        yield Task(one.name, one.text, one.strategies, "exact", (LARGE_NUMBERS, LONG_BURSTS))


@cache
def _digest_of_code() -> str:
    """Return the digest of all code of Elsinore: which kernels a workload needs depends on more than kernels."""
    (package,) = elsinore.__path__
    files = (
        Path(folder) / name
        for folder, _, names in os.walk(package, followlinks=True)
        for name in names
        if name.endswith(".py")
    )
    return _digest(*(path.read_text() for path in sorted(files)))


def _digest(*texts: str) -> str:
    digest = blake2b(digest_size=12)
    for text in texts:
        digest.update(f"{len(text)} {text}".encode())
    return digest.hexdigest()
