"""A plan as text: one line a node, with what was chosen and why; the same text every time."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import gcd, lcm

from planner.machine import Machine
from planner.plan import Counter, Granularity, Plan, QueryPlan

WHY: dict[Granularity, str] = {
    "type": "no later event is compared with it, so one aggregate serves all (COGRA, Theorem 4.2)",
    "pattern": "only trends that may still go on are kept (COGRA, Table 5)",
    "event": "later events are compared with it (COGRA, Theorem 5.2)",
}

SEMANTICS = {"any": "skip-till-any-match", "next": "skip-till-next-match", "contiguous": "contiguous"}

METHODS = {
    "one row": "windows do not overlap: one row of counters",
    "row per window": "a row of counters per open window, as few as maps of panes would take",
    "pane maps": "panes are summed up as linear maps, combined by two stacks: an event costs the same in all windows",
    "two stacks": "each event is a linear map, combined by two stacks: constant work per event",
    "window by window": "the events of a window are kept, and evaluated when it is over",
}


def explain(plan: Plan) -> str:
    """The plan, line by line."""
    lines = [f"plan: strategy {plan.strategy}, every query apart at its coarsest granularity"]
    for query in plan.queries:
        lines += _tree(query)
    return "\n".join(lines)


def _tree(plan: QueryPlan) -> Iterator[str]:
    nodes = list(_nodes(plan))
    yield f"query {plan.query.name}: {SEMANTICS[plan.query.semantics]}"
    for node in nodes[:-1]:
        yield f"├─ {node}"
    yield f"└─ {nodes[-1]}"


def _nodes(plan: QueryPlan) -> Iterator[str]:
    query = plan.query
    yield f"pattern {query.pattern}"
    yield f"partition {_partition(plan)}"
    for variable, expressions in sorted(plan.predicates.local.items()):
        yield f"filter {' AND '.join(map(str, expressions))}: on single events, decides the class of {variable}"
    for link in plan.predicates.links:
        yield f"compare {link}: on neighbours, decides whether {link.after} may follow {link.before}"
    for variable, granularity in plan.granularities:
        yield f"grain {variable}: {granularity}-grained, {WHY[granularity]}"
    yield f"windows {_windows(plan)}"
    for counter in plan.counters:
        yield f"count {_counter(plan, counter)}"


def _partition(plan: QueryPlan) -> str:
    if not plan.partition:
        return "none: all events may form trends together"
    groups = plan.query.groups
    merged = f"rows by {', '.join(groups)}" if groups else "rows over all of them"
    return f"by {', '.join(plan.partition)}; {merged}"


def _windows(plan: QueryPlan) -> str:
    within, slide = plan.query.within, plan.query.slide
    if slide is None:
        return f"of {_length(within.seconds)} that move with every event"
    pane = _common(within.seconds, slide.seconds)
    overlap = "apart" if plan.overlap == 1 else f"{plan.overlap} overlap"
    return f"of {_length(within.seconds)} every {_length(slide.seconds)}: {overlap}; panes of {_length(pane)}"


def _counter(plan: QueryPlan, counter: Counter) -> str:
    what = "trends"
    if len(plan.counters) > 1:
        parts = " and ".join(str(number + 1) for number in counter.operands)
        what = (
            f"trends of operand {parts} of the AND"
            if len(counter.operands) == 1
            else f"trends of operands {parts} at once"
        )
    lanes = "".join(f", {lane}" for lane in counter.lanes)
    return f"{what}{lanes}: {_size(counter.machine)}; {METHODS[plan.window_method(counter)]}"


def _size(machine: Machine) -> str:
    states, classes = len(machine.states), len(machine.classes)
    return f"{states} states, {classes} event {'class' if classes == 1 else 'classes'}"


def _common(one: Fraction, other: Fraction) -> Fraction:
    scale = lcm(one.denominator, other.denominator)
    return Fraction(gcd(int(one * scale), int(other * scale)), scale)


def _length(seconds: Fraction) -> str:
    for size, name in ((86400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        if seconds % size == 0:
            return f"{seconds // size} {name}"
    return f"{float(seconds * 1000):g} ms"
