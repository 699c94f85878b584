"""Failures are counted for ten minutes, and longer where a run makes no progress."""

from __future__ import annotations

import pytest

from elsinore.cluster.run.budget import SPAN_SECONDS, Budget
from elsinore.errors import FailedError
from tests.cluster.played import Time


def test_a_failure_now_and_then_is_survived_for_ever() -> None:
    clock = Time()
    budget = Budget(2, clock)
    for batch in range(1, 100):
        assert budget.spend(batch)
        clock.now += SPAN_SECONDS / 2


def test_too_many_failures_in_the_span_are_not_survived() -> None:
    clock = Time()
    budget = Budget(3, clock)
    for batch in range(1, 4):
        assert budget.spend(batch)
        clock.now += SPAN_SECONDS / 4
    assert not budget.spend(4)
    clock.now = SPAN_SECONDS
    assert budget.spend(4)
    assert not budget.spend(5)


def test_failures_over_one_batch_are_not_forgotten_in_time() -> None:
    clock = Time()
    budget = Budget(3, clock)
    for _ in range(3):
        assert budget.spend(7)
        clock.now += 2 * SPAN_SECONDS
    assert not budget.spend(7)
    assert budget.spend(8)


def test_the_error_names_the_setting_and_the_last_failure() -> None:
    budget = Budget(1, Time())
    budget.forgive(OSError("the first"), 0)
    with pytest.raises(FailedError, match=r"setting restarts allows 1 in 10 minutes.*: the second") as found:
        budget.forgive(OSError("the second"), 0)
    assert isinstance(found.value.__cause__, OSError)
    with pytest.raises(FailedError, match=r"too many failures.*: MemoryError$"):
        Budget(0).forgive(MemoryError(), 0)
