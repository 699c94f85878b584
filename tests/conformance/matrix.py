"""Ask a property of every kind that has it."""

from __future__ import annotations

import pytest

from tests.conformance.kinds import KINDS

PROPERTIES = (
    *("rows of the enumeration", "rows of the enumeration, at length", "batches and states never show"),
    *(
        "events that are not too late count",
        "explain names it",
        "rows of queries apart",
        "groups of several partitions",
    ),
    *("extremes", "approximate numbers", "beyond any word", "values that fill a word", "floats that come late"),
    *("batches of any size", "saved and restored", "partitions are forgotten", "events out of order", "late events"),
    *("queries come and go", "errors name the query"),
)
"""What every kind is asked, each by one test."""


def of_each_kind(what: str) -> pytest.MarkDecorator:
    """Run a test with every `kind` for which the property has a meaning."""
    assert what in PROPERTIES
    return pytest.mark.parametrize(
        "kind", [pytest.param(kind, id=name) for name, kind in KINDS.items() if what not in kind.meaningless]
    )


def of_each_strategy(what: str) -> pytest.MarkDecorator:
    """Run a test with every `kind` and each `strategy` that makes it; in `make test-fast` with the first of them."""
    assert what in PROPERTIES
    return pytest.mark.parametrize(
        ("kind", "strategy"),
        [
            pytest.param(kind, strategy, id=f"{name}-{strategy}", marks=[pytest.mark.slow] if number else [])
            for name, kind in KINDS.items()
            if what not in kind.meaningless
            for number, strategy in enumerate(kind.strategies)
        ],
    )
