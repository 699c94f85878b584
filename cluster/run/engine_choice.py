"""The choice of the engine for a bounded run: this process, or Spark and Ray."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, Protocol

from elsinore.cluster.machines.settings import Settings

LOCAL_EVENTS = 10_000_000
"""The most events of files and streams that `auto` runs in this process (docs/decisions/015-speed.md).

It reads them whole, because events of a bounded source may be in any order, so their columns have to fit into memory.
"""

LOCAL_SETTINGS = frozenset({"engine", "cores"})
"""The settings that a run in this process reads; any other one, given to a run, asks for Spark and Ray."""


class SizedSource(Protocol):
    """A source whose size can be asked for before its events are read."""

    @property
    def in_memory(self) -> bool: ...

    def holds_at_most(self, events: int) -> bool: ...


@dataclass(frozen=True)
class EngineChoice:
    """The engine of a run, and why it was chosen; without a reason if it was named."""

    engine: Literal["ray", "local"]
    reason: str = ""
    whole: bool = False
    """Whether this process reads all events before it runs, so that none is late."""

    def __str__(self) -> str:
        place = "in this process" if self.engine == "local" else "on Spark and Ray"
        return f"Ran {place}: {self.reason}."


def choose_engine(settings: Settings, given: Collection[str], source: SizedSource) -> EngineChoice:
    """Return the engine of a run, where `given` are the names of the settings that its caller wrote."""
    if settings.engine != "auto":
        return EngineChoice(settings.engine)
    if settings.address is not None:
        return EngineChoice("ray", "an address names a cluster")
    if asking := sorted(set(given) - LOCAL_SETTINGS):
        return EngineChoice("ray", f"{', '.join(asking)} is given")
    small = source.in_memory or source.holds_at_most(LOCAL_EVENTS)
    if not _cluster_installed():
        return EngineChoice("local", "Spark and Ray are not installed", small and not source.in_memory)
    if source.in_memory:
        return EngineChoice("local", "the events are in its memory")
    if small:
        return EngineChoice("local", f"there are at most {LOCAL_EVENTS:,} events", whole=True)
    return EngineChoice("ray", f"there are more than {LOCAL_EVENTS:,} events")


def _cluster_installed() -> bool:
    """Return whether the packages of the extra `cluster` can be imported."""
    try:
        return all(find_spec(name) is not None for name in ("pyspark", "ray", "raydp"))
    except ModuleNotFoundError:
        return False
