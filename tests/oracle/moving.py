"""Generation of random workloads that share Kleene, with windows that move with every event."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from tests.oracle.query import Query
from tests.oracle.sharing import streams, workloads
from tests.oracle.strategies import edged

LENGTHS = tuple(map(Fraction, (2, 3, 3, 4, 5, 7, 12)))
"""So short that many windows begin within a burst."""


@st.composite
def cases(draw: st.DrawFn, most: int, whole: bool = False) -> tuple[tuple[Query, ...], list[dict[str, Any]]]:
    lengths = st.sampled_from(LENGTHS)
    queries = [one if edged(one) else replace(one, slide=None, within=draw(lengths)) for one in draw(workloads())]
    return tuple(queries), draw(streams(most, whole))
