"""States that were saved in the middle of a stream, one for each way to keep one, and what is left of its rows.

Code of today has to go on with them, so they are written anew only with another FORMAT (`actors/state.py`), by
`python -m tests.golden_states`; then add one of the format before as `format-N.state`, which has to be refused.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa

from elsinore.actors.engine import Engine
from elsinore.actors.rows.rows import Rows
from elsinore.actors.state import unpack
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.model import Plan
from elsinore.planner.plans.planning import plan
from elsinore.planner.time.clock import Clock
from tests.frozen import digest
from tests.support.streams import batch, cut, shown

FOLDER = Path(__file__).parent
ROWS = FOLDER / "rows.txt"
NUMERICS = ("exact", "approximate")
EVENTS, BATCH, SAVED = 360, 45, 4
"""Of a stream: events, those of a batch, and the batches before its state is saved."""
LATENESS = 4
ITEMS = "COUNT(*), COUNT(B), SUM(B.v), AVG(B.f), MIN(B.v), MAX(B.f)"
SUMS = "COUNT(*), SUM(B.v), AVG(B.f)"


@dataclass(frozen=True)
class Kind:
    """A way to keep the state of queries."""

    strategy: str
    sets: tuple[str, ...]
    """The tags of its share sets, in a state."""
    workload: str
    changed: str = ""
    """A workload that was changed to while windows of the first one were open."""


def _query(pattern: str, window: str, items: str = "COUNT(*)", where: str = "", semantics: str = "any") -> str:
    within, _, slide = window.partition("/")
    conjuncts = " AND ".join(filter(None, ("[k]", where)))
    ends = f"WITHIN {within} seconds" + (f" SLIDE {slide} seconds" if slide else "")
    return f"RETURN g, {items} PATTERN {pattern} SEMANTICS {semantics} WHERE {conjuncts} GROUP-BY g {ends}"


def _matches(items: str, pattern: str, within: str, where: str = "") -> str:
    conjuncts = " AND ".join(filter(None, ("[k]", where)))
    return f"RETURN MATCHES {items} PATTERN {pattern} WHERE {conjuncts} GROUP-BY g WITHIN {within} seconds LIMIT 40"


def _workload(*queries: str) -> str:
    return ";\n".join(queries)


def _sharing(semantics: str, *windows: str, where: str = "", extremes: bool = False) -> str:
    items = ITEMS if extremes else SUMS
    first, second, third = windows
    return _workload(
        _query("SEQ(A, B+)", first, items, where, semantics),
        _query("SEQ(A, B+, C)", second, items, where, semantics),
        _query("SEQ(C, B+)", third, items, " AND ".join(filter(None, (where, "B.v < 5"))), semantics),
    )


KINDS: dict[str, Kind] = {
    "hamlet": Kind(
        "hamlet",
        ("share_set",),
        _workload(
            _sharing("any", "40/40", "40/20", "30/10"),
            _query("SEQ(D, NOT A, B+)", "40/20", SUMS),
            _query("SEQ(A, B+) & D", "40/20"),
        ),
    ),
    "hamlet-extremes": Kind("hamlet", ("share_set",), _sharing("any", "40/40", "40/20", "30/10", extremes=True)),
    "hamlet-next": Kind("hamlet", ("share_set",), _sharing("next", "40/40", "40/20", "30/10")),
    "linked": Kind("hamlet", ("linked_set",), _sharing("any", "40/20", "40/20", "40/20", where="B.v < NEXT(B).v")),
    "moving": Kind("hamlet", ("moving_set",), _sharing("any", "40", "30", "40", extremes=True)),
    "gloria": Kind(
        "gloria",
        ("planned_set",),
        _workload(
            _query("SEQ(A, B, C, D)", "40/20", SUMS),
            _query("SEQ(D, B, C)", "40/40", SUMS),
            _query("SEQ(A, (SEQ(B, C))+, D)", "30/10", SUMS),
            _query("SEQ(D, (SEQ(B, C))+)", "40/20", SUMS),
            _query("SEQ(A, B+, C, D)", "40/20", SUMS),
            _query("SEQ(D, B+, C)", "40/20", SUMS),
        ),
    ),
    "forest": Kind(
        "prefix",
        ("forest_set",),
        _workload(
            _query("SEQ(A, B, C)", "30", ITEMS),
            _query("SEQ(A, B, D)", "40", ITEMS),
            _query("SEQ(A, B, NOT X, C, D)", "20", ITEMS),
        ),
    ),
    "chop-connect": Kind(
        "chop-connect",
        ("forest_set",),
        _workload(
            _query("SEQ(D, A, B)", "30", SUMS), _query("SEQ(C, A, B, D)", "40", SUMS), _query("SEQ(A, B)", "20", SUMS)
        ),
    ),
    "prefix-tree": Kind(
        "sharon",
        ("prefix_set",),
        _workload(
            _query("SEQ(A, B+, C)", "20/10", ITEMS),
            _query("SEQ(A, B+, D)", "20/10", ITEMS),
            _query("SEQ(A, (D | SEQ(B, C)))", "20/10"),
        ),
    ),
    "detection": Kind(
        "auto",
        ("detection_set",),
        _workload(
            _matches("A.v, B.v, C.f", "SEQ(A, B, C)", "12", "A.v < B.v"),
            _matches("A.v, COUNT(B) AS n, SUM(B.v) AS s", "SEQ(A, B+)", "6", "B.v > 2"),
            _matches("A.v, D.v", "SEQ(A, NOT X, D)", "20"),
            _matches("A.v, B.v, C.v", "AND(A, B, C)", "5"),
        ),
    ),
    "sharon": Kind("sharon", (), _query("SEQ(A, B+, C)", "20/10", ITEMS)),
    "two-step": Kind(
        "two-step", (), _workload(_query("SEQ(A, B+, C)", "12/6", ITEMS), _query("SEQ(A, B+)", "12", ITEMS))
    ),
    "greta": Kind("greta", (), _workload(_query("SEQ(A, B+, C)", "40/20", ITEMS), _query("SEQ(A, B+)", "20", ITEMS))),
    "a-seq": Kind("a-seq", (), _query("SEQ(A, B, C)", "30", ITEMS)),
    "alone": Kind(
        "cogra",
        (),
        _workload(
            _query("SEQ(A, B+, C)", "40/40", ITEMS),
            _query("SEQ(A, B+, C)", "40/20", ITEMS),
            _query("SEQ(A, B+, C)", "30/3", ITEMS),
            _query("SEQ(A, B+, C)", "30", ITEMS),
            _query("SEQ(A, NOT X, B+, C)", "40/20", ITEMS, semantics="next"),
            _query("SEQ(A, B+, C)", "40/20", ITEMS, semantics="contiguous"),
        ),
    ),
    "alone-neighbours": Kind(
        "cogra",
        (),
        _workload(
            _query("SEQ(A, B+, C)", "40/20", ITEMS, "B.v < NEXT(B).v"),
            _query("SEQ(A, B+, C)", "30", ITEMS, "B.v < NEXT(B).v"),
            _query("SEQ(A, NOT X+, B+, C)", "40/20", ITEMS, "X.v < NEXT(X).v"),
            _query("SEQ(A, B+) & D", "40/20"),
        ),
    ),
    "changing": Kind(
        "hamlet",
        ("share_set", "share_set"),
        _sharing("any", "40/40", "40/20", "30/10"),
        _workload(_sharing("any", "40/40", "40/20", "30/10"), _query("SEQ(D, B+)", "40/20", SUMS)),
    ),
}


def planned(text: str, strategy: str) -> Plan:
    return plan(check_text(text), strategy)


def stream() -> list[pa.RecordBatch]:
    """Make up bursts of events by a generator that no library can change; some come late, some values are missing."""
    seed, moment, kind = 7, 0, "A"
    rows: list[tuple[int, str, int, int | None, float]] = []

    def drawn(most: int) -> int:
        nonlocal seed
        seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
        return (seed >> 33) % most

    for _ in range(EVENTS):
        if drawn(3) == 0:
            kind = "AABBBBCCDX"[drawn(10)]
        moment += drawn(3) == 0
        late = drawn(LATENESS) if drawn(8) == 0 else 0
        rows.append((moment - late, kind, drawn(3), None if drawn(20) == 0 else drawn(19) - 9, (drawn(99) - 49) / 8))
    times, types, keys, v, f = zip(*rows, strict=True)
    whole = batch(list(types), times, k=keys, g=[key % 2 for key in keys], v=pa.array(v, pa.int64()), f=f)
    return list(cut(whole, BATCH))


def begun(kind: Kind, numeric: str) -> Engine:
    """Return an engine that is fed up to the moment of saving."""
    made = planned(kind.workload, kind.strategy)
    one = Engine(made, Clock.of(pa.int64(), "s", made.spans), numeric, LATENESS)
    for part in stream()[:SAVED]:
        one.feed(part)
    if kind.changed:
        one.change(planned(kind.changed, kind.strategy))
    return one


def rest(one: Engine) -> str:
    """Feed an engine all that comes behind the moment of saving: how many rows it has, and their digest."""
    found: list[Rows] = []
    for part in stream()[SAVED:]:
        found += one.feed(part)
    rows: list[dict[str, Any]] = shown(one, [*found, *one.finish()])
    return f"{len(rows)}:{digest(rows, one.numeric)}"


def saved(name: str, numeric: str) -> bytes:
    """Read a state."""
    return zlib.decompress((FOLDER / f"{name}-{numeric}.state").read_bytes())


def sets_in(state: bytes) -> tuple[str, ...]:
    """Return the tags of the share sets of a state."""
    return tuple(next(iter(one)) for part in unpack(state)["parts"] for one in part["plan"]["share_sets"])


def frozen() -> dict[tuple[str, str], str]:
    """Read what is left of the rows of each state."""
    lines = (line.split() for line in ROWS.read_text(encoding="utf-8").splitlines())
    return {(name, numeric): left for name, numeric, left in lines}


def _written() -> Iterator[str]:
    for (name, kind), numeric in product(KINDS.items(), NUMERICS):
        one = begun(kind, numeric)
        state = one.save()
        (FOLDER / f"{name}-{numeric}.state").write_bytes(zlib.compress(state, 9))
        yield f"{name} {numeric} {rest(one)}\n"


def write() -> None:
    """Write all states and their rows anew."""
    ROWS.write_text("".join(_written()), encoding="utf-8")
