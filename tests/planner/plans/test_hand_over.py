"""How events are handed over follows from the routes, the number of actors and the nodes, or is chosen by the user."""

from __future__ import annotations

import pytest

import elsinore
from elsinore.planner.checks.check import check_text
from elsinore.planner.plans.hand_over import SHARED_ACTORS, chosen_hand_over
from elsinore.planner.plans.routes import routes

KEYED = "RETURN k, COUNT(*) PATTERN A+ GROUP-BY k WITHIN 10 seconds SLIDE 10 seconds"
FREE = "RETURN MATCHES PATTERN SEQ(A, B) WITHIN 10 seconds"

ROUTES = routes(check_text(KEYED))
SPREAD = routes(check_text(FREE), spread=True)


@pytest.mark.parametrize(
    ("actors", "several_nodes", "wanted", "expected"),
    [
        (1, True, "dealt", "shared"),
        (2, False, "auto", "shared"),
        (SHARED_ACTORS, False, "auto", "shared"),
        (SHARED_ACTORS + 1, False, "auto", "dealt"),
        (2, True, "auto", "dealt"),
        (2, False, "dealt", "dealt"),
        (100, True, "shared", "shared"),
    ],
)
def test_the_rule(actors: int, several_nodes: bool, wanted: str, expected: str) -> None:
    assert chosen_hand_over(ROUTES, actors, several_nodes, wanted).way == expected  # type: ignore[arg-type]


def test_what_all_actors_need_is_shared() -> None:
    assert chosen_hand_over(SPREAD, 16, True).way == "shared"
    assert chosen_hand_over((*SPREAD, *ROUTES), 16, True).way == "dealt"


def test_explain_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "hand-over" not in elsinore.explain(KEYED)
    monkeypatch.setenv("ELSINORE_ENGINE", "ray")
    assert "hand-over to 2 actors: shared, up to 4 actors" in elsinore.explain(KEYED)
    monkeypatch.setenv("ELSINORE_ACTORS", "16")
    assert "hand-over to 16 actors: dealt, more than 4 actors" in elsinore.explain(KEYED)
    assert "hand-over to 16 actors: shared, every actor searches" in elsinore.explain(FREE)
