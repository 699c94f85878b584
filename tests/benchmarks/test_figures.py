from __future__ import annotations

import pytest

from benchmarks.figures import Figure, line


@pytest.mark.parametrize(("measured", "at_least", "ok"), [(2, False, False), (1, False, True), (2, True, True)])
def test_a_limit_is_the_most_or_the_least(measured: float, at_least: bool, ok: bool) -> None:
    figure = Figure("name", "what", measured, 1.5, "times", at_least=at_least)
    assert figure.ok == figure.document()["ok"] == ok
    assert (">= 1.5 times" in line(figure)) == at_least
    assert ("MISSED" in line(figure)) == (not ok)
