"""Test the ridesharing stream: the properties that the paper gives, and consistent trips."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from elsinore.connectors.errors import InputError
from elsinore.connectors.ridesharing import RECURRING, ROUTES, SCHEMA, TYPES, generate, write
from tests.connectors.reading import read


def frame(events: int, **options: Any) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(pa.Table.from_batches(generate(events, **options), SCHEMA)))


def test_twenty_types_at_the_rate_of_the_paper_in_order_of_time() -> None:
    assert len(set(TYPES)) == 20
    events = frame(100_000)
    assert set(events["type"].unique()) == set(TYPES)
    assert events["time"].is_sorted()
    per_minute = events.group_by(events["time"] // 60).len()["len"]
    assert (per_minute == 10_000).all()


def test_a_seed_says_everything_however_the_batches_are_cut() -> None:
    whole = pa.Table.from_batches(generate(200_000, seed=5, groups=300))
    pieces = list(generate(200_000, seed=5, groups=300, batch_rows=777))
    assert {len(piece) for piece in pieces[:-1]} == {777}
    assert pa.Table.from_batches(pieces).equals(whole)
    assert pa.Table.from_batches(generate(1000, seed=5, groups=300)).equals(whole.slice(0, 1000))
    assert not pa.Table.from_batches(generate(200_000, seed=6, groups=300)).equals(whole)


@pytest.mark.parametrize("burst", [1, 4, 25])
def test_bursts_have_the_mean_that_was_asked_for(burst: float) -> None:
    """Test bursts within a pair; each stage of a route is a burst, such as a `Travel` after a `Delay`."""
    events = frame(400_000, groups=50, burst=burst).sort("rider", maintain_order=True)
    runs = events.group_by(pl.struct("rider", "type").rle_id().alias("run"), maintain_order=True).agg(
        pl.col("type").first().cast(pl.String), pl.len()
    )
    recurs = runs.filter(pl.col("type").is_in(list(RECURRING)))["len"].mean()
    single = runs.filter(~pl.col("type").is_in(list(RECURRING)))["len"].max()
    assert recurs == pytest.approx(burst, rel=0.05)
    assert single == 1


def test_every_trip_follows_a_route() -> None:
    events = frame(100_000, groups=40, burst=3).filter(pl.col("rider") == 7)
    stages = " ".join(events["type"].cast(pl.String).filter(events["type"].rle_id().diff().fill_null(1) > 0))
    trips = ["Request" + rest for rest in stages.split(" Request") if rest]
    trips[0] = trips[0].removeprefix("Request")
    assert len(trips) > 20
    assert set(trips[:-1]) <= set(ROUTES)
    assert any(route.startswith(trips[-1]) for route in ROUTES)


def test_groups_are_pairs_of_one_district_each() -> None:
    events = frame(50_000, groups=95)
    pairs = events.group_by("driver", "rider").agg(pl.col("district").n_unique())
    assert len(pairs) == 95
    assert pairs["district"].max() == 1
    assert events["district"].n_unique() == 10


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_written_and_read_again(ending: str, tmp_path: Path) -> None:
    steps: list[int] = []
    path = tmp_path / f"rides.{ending}"
    write(path, 20_000, groups=100, progress=steps.append)
    columns = [name for name in SCHEMA.names if name not in ("type", "time")]
    assert read(path, *columns) == pa.Table.from_batches(generate(20_000, groups=100)).to_pylist()
    assert sum(steps) == 20_000
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("groups", [1, 60_000])
def test_few_and_many_groups(groups: int) -> None:
    assert sum(map(len, generate(100_000, groups=groups))) == 100_000


def test_no_events() -> None:
    assert list(generate(0)) == []


@pytest.mark.parametrize("option", ["events", "rate", "groups", "burst", "seed"])
def test_options_that_cannot_be(option: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"events": 5} | {option: -1}
    with pytest.raises(InputError, match=f"{option} is -1; it must be at least"):
        write(tmp_path / "rides.csv", **options)
    assert list(tmp_path.iterdir()) == []


def test_an_ending_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the file name must end in \.parquet, \.csv, \.jsonl"):
        write(tmp_path / "rides.txt", 5)
