"""The settings of runs, with their defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from elsinore.cluster.machines.layered_settings import LayeredSettings, read_settings

SETTINGS_FILE = Path("elsinore.toml")


class Settings(LayeredSettings):
    """The settings of runs. Arguments override environment variables (`ELSINORE_ACTORS=4`), and these override
    `elsinore.toml`."""

    trusted: ClassVar[frozenset[str]] = frozenset({"address", "spark_packages", "spark_options"})
    model_config = SettingsConfigDict(env_prefix="ELSINORE_", toml_file=SETTINGS_FILE, extra="forbid", frozen=True)

    engine: Literal["auto", "ray", "local"] = Field(
        default="auto", description="Spark and Ray, or this process alone; `auto` chooses by the size of the source"
    )
    cores: int = Field(
        default=0, ge=0, le=256, description="threads of a run in this process; 0: as many as the machine has cores"
    )
    address: str | None = Field(default=None, description="Ray cluster to join; by default Ray is started here")
    actors: int = Field(default=2, ge=1, le=1024, description="graph actors, over which partitions are distributed")
    key_groups: int = Field(
        default=128, ge=1, le=1 << 15, description="key groups, which actors own ranges of; at least as many as actors"
    )
    hand_over: Literal["auto", "shared", "dealt"] = Field(
        default="auto",
        description="how graph actors get events: each reads all of them in shared memory, or is dealt its own alone",
    )
    slice_events: int = Field(default=4_000_000, ge=1, description="events of a bounded source that form one slice")
    ahead: int = Field(default=2, ge=1, le=64, description="most slices or batches that wait for the actors")
    trigger: float = Field(default=0.1, ge=0, description="seconds between two polls for new events of a live stream")
    files_at_once: int = Field(default=64, ge=1, description="most files in a batch of a live stream")
    spark_executors: int = Field(default=1, ge=1, description="Spark executors")
    spark_cores: int = Field(default=2, ge=1, description="cores of each Spark executor")
    spark_memory: str = Field(default="2g", description="memory of each Spark executor")
    spark_packages: str = Field(
        default="", description="Maven coordinates that Spark fetches when it starts, for instance of its Kafka source"
    )
    spark_options: dict[str, str] = Field(default={}, description="further options of Spark, by name")
    object_store: int = Field(
        default=1 << 31, ge=80 << 20, description="bytes of Ray's object store, where it is started here"
    )
    replan: float = Field(
        default=10.0, ge=0, description="seconds between two searches for a better plan of a live stream; 0 for none"
    )
    restarts: int = Field(
        default=10, ge=0, description="most failures in ten minutes, or over one batch, that a run or stream survives"
    )

    def same_machine(self, other: Settings) -> bool:
        """Return whether a run with the other settings can use what was started with these."""
        return all(getattr(self, name) == getattr(other, name) for name in START_SETTINGS)


START_SETTINGS = (
    "address", "spark_executors", "spark_cores", "spark_memory", "spark_packages", "spark_options", "object_store",
)  # fmt: skip
"""The settings with which Ray and Spark start; a run may change all others."""


def settings(**given: Any) -> Settings:
    """Return settings with these arguments; raise one InputError for all that is wrong with them."""
    return read_settings(Settings, **given)
