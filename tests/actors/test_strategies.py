"""Long streams, evaluated in every way there is: all must agree to the last digit."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest

from elsinore.actors.engine import Engine
from tests.support.long_streams import EVENTS, query, within
from tests.support.streams import Row, cut, engine, fed, planned, run, shown


def where_windows_start(rows: list[Row], slide: int) -> list[Row]:
    return [row for row in rows if row["start"] % slide == 0]


def method(text: str) -> str:
    made = planned(text).queries[0]
    return made.window_method(made.counters[0])


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
def test_windows_that_coincide_have_the_same_rows(semantics: str) -> None:
    """600 s windows: one row; a row per window, with panes of 300 and 150 seconds; pane maps, with panes of 40."""
    texts = [query(within(600, slide), semantics) for slide in (600, 300, 150, 40)]
    assert [method(text) for text in texts] == ["one row", "row per window", "row per window", "pane maps"]
    expected = run(texts[0], EVENTS)
    assert len(expected) > 100
    for text in texts[1:]:
        assert where_windows_start(run(text, EVENTS), 600) == expected


def test_windows_whose_panes_are_single_ticks() -> None:
    short = EVENTS.slice(0, 5000)
    rows = run(query(within(120, 7)), short)
    assert method(query(within(120, 7))) == "pane maps"
    assert where_windows_start(rows, 120) == where_windows_start(run(query(within(120, 120)), short), 7)


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
@pytest.mark.parametrize("slide", [600, 300, 150])
def test_by_type_and_by_event(semantics: str, slide: int) -> None:
    """A predicate that always holds only changes how trends are kept."""
    by_event = query(within(600, slide), semantics, "[k] AND B.one <= NEXT(B).one")
    assert method(by_event) == "window by window"
    assert run(by_event, EVENTS) == run(query(within(600, slide), semantics), EVENTS)


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
@pytest.mark.parametrize("operator", ["<=", ">=", "="])
def test_every_operator_that_always_holds(semantics: str, operator: str) -> None:
    """Each looks into another kind of tree."""
    where = f"[k] AND B.one {operator} NEXT(B).one AND A.one {operator} B.one"
    assert run(query(within(600, 600), semantics, where), EVENTS) == run(query(within(600, 600), semantics), EVENTS)


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
def test_windows_that_move_with_events_by_stacks_and_one_by_one(semantics: str) -> None:
    short = EVENTS.slice(0, 6000)
    stacks = run(query(within(300), semantics), short)
    assert len(stacks) > 500
    assert run(query(within(300), semantics, "[k] AND B.one <= NEXT(B).one"), short) == stacks


def test_a_moving_window_is_a_sliding_one_that_ends_after_the_event() -> None:
    """`(t - w, t]` holds what `[t + 1 - w, t + 1)` does, where times are whole."""
    short = EVENTS.slice(0, 3000)
    sliding = {(row["start"], row["g"]): row for row in run(query(within(60, 1)), short)}
    moving = run(query(within(60)), short)
    assert len(moving) > 200
    for row in moving:
        assert row == sliding[row["start"] + 1, row["g"]] | {"start": row["start"], "end": row["end"]}


WAYS = {
    "one row": query(within(600, 600)),
    "row per window": query(within(600, 300)),
    "pane maps": query(within(600, 60)),
    "by event": query(within(600, 300), where="[k] AND B.v < NEXT(B).v"),
    "two stacks": query(within(100)),
    "by event, moving": query(within(100), where="[k] AND B.v < NEXT(B).v"),
    "next": query(within(600, 60), "next"),
    "contiguous": query(within(600, 60), "contiguous", "[k] AND B.v < NEXT(B).v"),
    "negation": query(within(600, 100), pattern="SEQ(A, NOT X, B+, C)"),
    "and": "RETURN g, COUNT(*), SUM(B.v), SUM(C.f) PATTERN AND(SEQ(A, B+), C) WHERE [k] GROUP-BY g " + within(100, 50),
}


SHORT = EVENTS.slice(0, 4000)


@cache
def whole(text: str) -> list[Row]:
    """Return the rows of a shorter stream in one batch."""
    return run(text, SHORT)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_one_batch_and_a_thousand(text: str) -> None:
    assert fed(engine(text), cut(SHORT, 4)) == whole(text)


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_slices_within_a_batch_do_not_show(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = whole(text)
    monkeypatch.setattr("elsinore.actors.engine.SLICE_EVENTS", 700)
    assert run(text, SHORT) == expected


GO_ON = """
import sys
from functools import cache
from pathlib import Path
import pyarrow as pa
from elsinore.actors.engine import Engine
from tests.support.streams import planned

here = Path(sys.argv[1])
for state in sorted(here.glob("*.state")):
    one = Engine.restore(planned(state.with_suffix(".query").read_text()), state.read_bytes())
    for part in pa.ipc.open_stream((here / "middle").read_bytes()):
        for rows in one.feed(part):
            pass
    state.write_bytes(one.save())
"""


@pytest.mark.slow
def test_saved_and_taken_up_by_another_process(tmp_path: Path) -> None:
    """The middle third is fed elsewhere; the rows of the last third depend on it, as those of the first do not."""
    parts = list(cut(SHORT, 40))
    first, middle, last = parts[:40], parts[40:60], parts[60:]
    found = {}
    for name, text in WAYS.items():
        one = engine(text)
        found[name] = [rows for part in first for rows in one.feed(part)]
        (tmp_path / f"{name}.state").write_bytes(one.save())
        (tmp_path / f"{name}.query").write_text(text)
        there = Engine.restore(planned(text), one.save())
        found[name] += [rows for part in middle for rows in there.feed(part)]
    with pa.OSFile(str(tmp_path / "middle"), "wb") as sink, pa.ipc.new_stream(sink, SHORT.schema) as writer:
        for part in middle:
            writer.write_batch(part)
    subprocess.run([sys.executable, "-c", GO_ON, str(tmp_path)], check=True, cwd=Path(__file__).parents[2])
    for name, text in WAYS.items():
        one = Engine.restore(planned(text), (tmp_path / f"{name}.state").read_bytes())
        rows = [*found[name], *(rows for part in last for rows in one.feed(part)), *one.finish()]
        assert shown(one, rows) == whole(text), name
