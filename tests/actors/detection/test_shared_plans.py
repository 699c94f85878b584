"""Plans that share parts of many patterns, against the enumeration: whatever is stored, cut or planned anew."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elsinore.actors.detection.joins import planned
from elsinore.planner.plans.strategies import DETECTING
from tests.actors.detection.support import multiset, run
from tests.oracle.detection import matches, numbered
from tests.oracle.read import read
from tests.support.generated import fresh

TYPES = "ABCD"
COMPARED = ("{0}.v < {1}.v", "{0}.v = {1}.v", "{0}.v + 1 != {1}.v", "{0}.v < {1}.v + {0}.w")

Event = dict[str, Any]


@st.composite
def patterns(draw: st.DrawFn) -> str:
    """Return one of a few patterns that have much in common, with conditions from a small pool."""
    kinds = draw(st.lists(st.sampled_from(TYPES), min_size=2, max_size=4))
    names = [f"{kind}{number}" for number, kind in enumerate(kinds)]
    parts = [f"{kind} {name}" for kind, name in zip(kinds, names, strict=True)]
    if draw(st.integers(0, 3)) == 0:
        place = draw(st.integers(0, len(parts) - 1))
        parts[place] += draw(st.sampled_from(("+", "{1,2}", "*")))
    shape = draw(st.sampled_from(("SEQ", "AND", "both")))
    if shape == "SEQ" and draw(st.integers(0, 3)) == 0:
        parts.insert(draw(st.integers(1, len(parts) - 1)), f"NOT {draw(st.sampled_from(TYPES))} n")
        names.append("n")
    if shape == "both" and len(parts) > 2:
        text = f"SEQ({parts[0]}, AND({', '.join(parts[1:])}))"
    else:
        text = f"{'AND' if shape == 'AND' else 'SEQ'}({', '.join(parts)})"
    conditions = [
        draw(st.sampled_from(COMPARED)).format(a, b) for a, b in combinations(names, 2) if draw(st.integers(0, 3)) == 0
    ]
    conditions += [f"{name}.w > 0" for name in names if draw(st.integers(0, 4)) == 0]
    if draw(st.booleans()):
        conditions.append("[g]")
    where = f"\nWHERE {' AND '.join(conditions)}" if conditions else ""
    window = draw(st.sampled_from(("3 seconds", "5 seconds", "9 seconds", "4 events")))
    return f"RETURN MATCHES\nPATTERN {text}{where}\nWITHIN {window}"


@st.composite
def workloads(draw: st.DrawFn) -> str:
    found = draw(st.lists(patterns(), min_size=2, max_size=5))
    return ";\n\n".join(f"QUERY q{number}\n{text}" for number, text in enumerate(found))


@st.composite
def streams(draw: st.DrawFn) -> list[Event]:
    steps = draw(st.lists(st.sampled_from((0, 0.5, 1)), min_size=4, max_size=12))
    values = st.sampled_from((0, 1, 2, None))
    events, time = [], 0.0
    for number, step in enumerate(steps):
        time += step
        events.append(
            {
                "id": number,
                "type": draw(st.sampled_from(TYPES)),
                "time": time,
                "v": draw(values),
                "w": draw(st.sampled_from((0, 1))),
                "g": draw(st.sampled_from("pq")),
            }
        )
    return events


@fresh(80)
@given(workloads(), streams(), st.lists(st.integers(0, 9), max_size=3), st.booleans(), st.data())
def test_plans_never_show_in_rows(
    text: str, events: list[Event], cuts: list[int], save: bool, data: st.DataObject
) -> None:
    strategy = data.draw(st.sampled_from(["auto", *DETECTING]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planned, "FIRST_SLICE", data.draw(st.sampled_from((2, 5, 100))))
        patch.setattr(planned, "LEAST_SLICE", 2)
        patch.setattr(planned, "SLICE_NUMBERS", data.draw(st.sampled_from((1, 10, 1000))))
        patch.setattr(planned, "CHECK_EVENTS", 1)
        patch.setattr(planned, "MOST_NUMBERS", data.draw(st.sampled_from((4, 1000))))
        found = run(text, events, cuts, save, strategy)
    workload = read(text)
    assert multiset(found) == multiset(numbered(matches(workload, events)))
