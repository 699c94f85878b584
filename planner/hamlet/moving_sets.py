"""Share sets of queries whose windows move with every event: which of them may share the effects of bursts."""

from __future__ import annotations

from elsinore.planner.plans.needs import Need, any_match, no_conjunction, type_grained

MOVING_NEEDS = (
    Need("moving windows", lambda plan, _: plan.per_event, "its windows have a SLIDE"),
    type_grained("it compares neighbours"),
    any_match("its windows move with every event; such queries are shared under skip-till-any-match only"),
    no_conjunction(
        "its windows move with every event, and the trends of an AND are counted by partition and then paired up"
    ),
)
