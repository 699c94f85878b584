"""The choices of `auto` for each group of queries, and the rejected options, as text."""

from __future__ import annotations

from collections.abc import Iterator

from elsinore.planner.explain.query_names import listed
from elsinore.planner.plans.model import Choice, Option, Plan


def explain_choices(plan: Plan) -> Iterator[list[str]]:
    """Yield trees: a heading and its nodes."""
    for number, choice in enumerate(plan.choices, 1):
        yield [f"choice {number}: {listed(choice.queries)}", *_options(choice)]


def _options(choice: Choice) -> Iterator[str]:
    yield f"chosen {_option(choice.chosen)}"
    for option in choice.rejected:
        yield f"rejected {_option(option)}"


def _option(option: Option) -> str:
    return f"{option.name}: costs {option.cost / 1e6:,.3g} ms for the events of the longest window"
