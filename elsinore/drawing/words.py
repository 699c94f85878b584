"""Short texts for sets of queries, to fit into a picture."""

from __future__ import annotations

from collections.abc import Sequence

from elsinore.drawing.svg import cut
from elsinore.planner.explain.query_names import runs

MAX_LETTERS = 24


def brief_of(names: Sequence[str], everyone: Sequence[str]) -> str:
    """Return `brief(names)`, or "all n queries" where that cannot list all of them."""
    shown = brief(names)
    everybody = "both queries" if len(names) == 2 else f"all {len(names)} queries"
    return everybody if "+" in shown and len(names) == len(everyone) else shown


def brief(names: Sequence[str], letters: int = MAX_LETTERS) -> str:
    """Return the first names, and the number of further ones: `q1-q50`, `q1, q3 +12`."""
    parts = runs(names)
    shown: list[str] = []
    for part, _ in parts:
        if shown and len(", ".join([*shown, part])) > letters:
            break
        shown.append(cut(part, letters))
    more = sum(count for _, count in parts[len(shown) :])
    return ", ".join(shown) + (f" +{more}" if more else "")
