"""Test plots of results: what they show, in both colour schemes, and what they refuse."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import elsinore
from elsinore.drawing.themes import COLOURS

EVENTS = [{"type": "A", "time": n, "v": n % 7, "g": "pq"[n % 2]} for n in range(60)]
COUNTED = "QUERY counted RETURN g, COUNT(*), AVG(a.v) AS mean PATTERN A a+ GROUP-BY g WITHIN 10 seconds SLIDE 5 seconds"
FOUND = "QUERY found RETURN MATCHES PATTERN SEQ(A a, A b) WHERE a.v < b.v WITHIN 3 seconds"


def texts(plot: elsinore.Plot) -> list[str]:
    """Return the texts of a plot, which must be well-formed."""
    return [text for one in ET.fromstring(plot.svg).iter() if one.tag.endswith("text") for text in one.itertext()]


def test_a_line_for_each_group_and_a_panel_for_each_query() -> None:
    shown = texts(elsinore.run(f"{COUNTED}; {FOUND}", EVENTS).plot())
    assert {"counted", "COUNT(*)", "window_end", "p", "q"} <= set(shown)
    assert "found: 93 matches, the first 60" in shown


def test_a_value_and_groups_may_be_chosen() -> None:
    result = elsinore.run(COUNTED, EVENTS)
    assert "mean" in texts(result.plot("counted", value="mean", by=["g"]))
    with pytest.raises(elsinore.InputError, match="no column 'speed'; they have g, COUNT"):
        result.plot(value="speed")


def test_numbers_that_no_float_holds_have_a_logarithmic_axis() -> None:
    events = [{"type": "A", "time": n} for n in range(1200)]
    shown = texts(elsinore.run("RETURN COUNT(*) PATTERN A+ WITHIN 2000 seconds", events).plot())
    assert {"1e0", "1e360"} & set(shown)


def test_groups_of_one_window_are_compared_side_by_side() -> None:
    one = COUNTED.replace("10 seconds SLIDE 5 seconds", "60 seconds SLIDE 60 seconds")
    assert "counted, window_end 60" in texts(elsinore.run(one, EVENTS).plot())


def test_of_many_groups_those_with_most_are_shown() -> None:
    events = [{"type": "A", "time": n, "g": f"g{n % 12}"} for n in range(100)]
    query = "RETURN g, COUNT(*) PATTERN A+ GROUP-BY g WITHIN 50 seconds SLIDE 50 seconds"
    assert "q1, 8 of 12 groups" in texts(elsinore.run(query, events).plot())


def test_no_rows_are_no_plot() -> None:
    with pytest.raises(elsinore.InputError, match="no rows to plot"):
        elsinore.run("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 5 seconds", EVENTS).plot()


def test_a_plot_is_saved_and_has_both_colour_schemes(tmp_path: Path) -> None:
    plot = elsinore.run(COUNTED, EVENTS).plot()
    plot.save(tmp_path / "rows.svg")
    plot.save(tmp_path / "rows.png")
    saved = (tmp_path / "rows.svg").read_text()
    assert saved == plot._repr_svg_()
    assert saved.count("prefers-color-scheme: dark") == 2
    assert COLOURS[0] not in saved.partition("</style>")[2]
    assert (tmp_path / "rows.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(elsinore.InputError, match="must end in"):
        plot.save(tmp_path / "rows.pdf")
