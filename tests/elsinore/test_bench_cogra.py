"""Figures of COGRA: streams have the parameters of the paper, windows are taken in at once, two steps end in time."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import elsinore
from elsinore.bench.cogra import figures, settings
from elsinore.bench.cogra.runs import PIECE_EVENTS, Grouped, Selective, Window
from elsinore.bench.cogra.streams import COMPANIES, MINUTE_US, PEOPLE, falling, trades
from elsinore.bench.figure import Figure
from elsinore.bench.figures import FIGURES
from elsinore.bench.outcomes import outcome
from elsinore.bench.points import Point
from elsinore.bench.sizes import TINY


def frame(point: Window) -> pl.DataFrame:
    return pl.DataFrame(pl.from_arrow(point.events()))


@pytest.mark.parametrize("figure", figures.FIGURES, ids=lambda figure: figure.name)
def test_every_strategy_of_a_figure_gives_the_same_rows(figure: Figure) -> None:
    """Over the first events of the smallest window."""
    point = next(iter(figure.points(TINY)))
    assert isinstance(point, Window)
    events = point.events().slice(0, 10_000)
    rows = [
        elsinore.run(point.workload, events, engine="local", strategy=strategy, time_unit="us").rows()
        for strategy in figure.strategies
    ]
    assert rows[0]
    assert all(one == rows[0] for one in rows[1:])


@pytest.mark.parametrize("percent", [10, 50, 90])
def test_a_predicate_lets_through_the_pairs_that_are_asked_for(percent: int) -> None:
    events = falling(400_000, 400_000, percent)
    price, company = events["price"].to_numpy(), events["company"].to_numpy()
    own = [price[company == number] for number in range(40)]
    falls = [(one[:, None] > one[None, :])[np.triu_indices(len(one), 1)] for one in own]
    assert np.mean(np.concatenate(falls)) == pytest.approx(percent / 100, abs=0.02)


def test_streams_have_the_parameters_of_the_data_sets() -> None:
    people = frame(Window(settings.PEOPLE_CONTIGUOUS.name, "", 1, 100_000, 2))
    assert people["person"].n_unique() == PEOPLE
    assert people["activity"].n_unique() == 18
    assert people.filter(pl.col("activity") == "lying").height / people.height == pytest.approx(0.85, abs=0.01)
    assert people["time"].to_numpy().max() < 2 * MINUTE_US
    assert len(np.unique(trades(100_000, 50_000)["company"].to_numpy())) == COMPANIES
    few, many = (frame(Grouped(settings.GROUPS.name, "", 1, 50_000, 2, groups=number)) for number in (5, 30))
    assert (few["district"].n_unique(), many["district"].n_unique()) == (5, 30)
    assert many["driver"].n_unique() == 30 * settings.PAIRS


def test_the_same_seed_gives_the_same_events() -> None:
    for point in (
        Window(settings.STOCK.name, "", 1, 1_000, 2),
        Grouped(settings.GROUPS.name, "", 1, 1_000, 2, groups=5),
        Selective(settings.SELECTIVE.name, "", 1, 1_000, 2, percent=30),
    ):
        assert point.events().equals(point.events())


def test_events_of_a_window_arrive_together() -> None:
    rate = 2 * PIECE_EVENTS
    point = Window(settings.STOCK.name, "cogra", 1, rate, 2)
    pieces = list(point.pieces(point.events()["time"].to_numpy(), MINUTE_US))
    assert [piece.begin for piece in pieces[1:]] == [piece.end for piece in pieces[:-1]]
    assert (pieces[0].begin, pieces[-1].end) == (0, 2 * rate)
    assert {piece.arrived for piece in pieces if piece.end <= rate + 1} == {60.0}
    assert {piece.arrived for piece in pieces if piece.end > rate + 1} == {120.0}
    assert max(piece.end - piece.begin for piece in pieces) == PIECE_EVENTS


@pytest.mark.slow
def test_two_steps_finish_small_windows_alone() -> None:
    small, large = (outcome(Window(settings.STOCK.name, "two-step", 1, rate, 1), limit=60) for rate in (10_000, 50_000))
    assert small.status == "measured"
    assert small.metrics["latency"] > 0
    assert large.status == "refused"
    assert "more than 10,000,000 trends" in large.why


def test_no_two_settings_of_papers_have_one_name() -> None:
    kinds: dict[tuple[str, str], Point] = {}
    for figure in FIGURES.values():
        for sweep in figure.sweeps:
            kinds[sweep.fixed.setting, figure.name.split("-")[0]] = sweep.fixed
    names = [name for name, _ in kinds]
    assert len(names) == len(set(names))
