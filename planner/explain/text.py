"""A plan as text: one line a node, with choices and their reasons; equal plans give the same text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from elsinore.planner.baselines.unroll import LENGTH, LONGEST_SEQUENCE
from elsinore.planner.detection.explain import explain_plans
from elsinore.planner.detection.known import Known
from elsinore.planner.explain.choices import explain_choices
from elsinore.planner.explain.counted import NOT_RUN, Counts
from elsinore.planner.explain.sharing import counters_in_sets, explain_sharing
from elsinore.planner.machines.machine import Machine
from elsinore.planner.plans.model import Counter, Granularity, Plan, QueryPlan
from elsinore.planner.plans.routes import may_be_spread
from elsinore.planner.plans.strategies import METHODS as METHODS_OF_STRATEGIES
from elsinore.planner.plans.strategies import Method
from elsinore.planner.time.spans import common, shown

WHY: dict[Granularity, str] = {
    "type": "no later event is compared with it, so one aggregate serves all (COGRA, Theorem 4.2)",
    "pattern": "only trends that may still go on are kept (COGRA, Table 5)",
    "event": "later events are compared with it (COGRA, Theorem 5.2)",
    "trend": "every trend is constructed, and aggregated when it is whole",
    "prefix": (
        f"a counter for each prefix; Kleene stands for up to {LENGTH} events, "
        f"and for {LONGEST_SEQUENCE} where it has to"
    ),
}

ANYTHING = Known()
"""A stream of which nothing is known."""

NODES = "every event is a node, and looks at all before it (HAMLET, Section 3.2)"

APART: dict[Method, str] = {
    "coarsest": "every query apart at its coarsest granularity",
    "events": "every query apart, a node for every event",
    "trends": "every query apart, all trends constructed before they are aggregated",
    "prefixes": "every query apart, Kleene flattened into sequences of fixed length",
    "starts": "every query apart, a counter for each prefix of its sequence (A-Seq, Section 3)",
}

SEMANTICS = {"any": "skip-till-any-match", "next": "skip-till-next-match", "contiguous": "contiguous"}

METHODS = {
    "one row": "windows do not overlap: one row of counters",
    "row per window": "a row of counters per open window, as few as maps of panes would take",
    "pane maps": "panes are summed up as linear maps, combined by two stacks: an event costs the same in all windows",
    "two stacks": "each event is a linear map, combined by two stacks: constant work per event",
    "row per start": "a row of prefix counters per start event, which leave with it (A-Seq, Section 3.2)",
    "window by window": "the events of a window are kept, and evaluated when it is over",
}


def explain(plan: Plan, known: Known = ANYTHING, counts: Counts = NOT_RUN) -> str:
    """Return the plan, line by line. What is `known` of the stream tells plans of detection what to expect; the
    `counts` of a run stand beside what they are about."""
    in_set = counters_in_sets(plan)
    lines = [f"plan: strategy {plan.strategy}, {_sharing(plan)}"]
    trees = explain_sharing(plan, counts), explain_plans(plan, known, counts), explain_choices(plan)
    for heading, *nodes in (*counts.of_run(), *chain(*trees)):
        lines += _tree(heading, nodes)
    for number, query in enumerate(plan.queries):
        sets = [in_set.get((number, counter)) for counter in range(len(query.counters))]
        name = query.query.name
        lines += _tree(
            f"query {name}: {SEMANTICS[query.query.semantics]}", (*_nodes(query, sets), *counts.of_query(name))
        )
    return "\n".join(lines)


def _sharing(plan: Plan) -> str:
    if not plan.share_sets:
        return APART[METHODS_OF_STRATEGIES.get(plan.strategy, "coarsest")]
    sets, apart = len(plan.share_sets), len(dict(plan.reasons))
    graphs = f"{sets} share {'set' if sets == 1 else 'sets'}"
    return f"{graphs}; {apart} {'query' if apart == 1 else 'queries'} apart" if apart else graphs


def _tree(heading: str, nodes: Iterable[str]) -> Iterator[str]:
    *others, last = nodes
    yield heading
    for node in others:
        yield f"├─ {node}"
    yield f"└─ {last}"


def _nodes(plan: QueryPlan, sets: list[int | None]) -> Iterator[str]:
    query = plan.query
    yield f"pattern {query.pattern}"
    yield f"partition {_partition(plan)}"
    if may_be_spread(query):
        yield "spread by time: each actor of a run with an end gets all events, and searches a share of the time"
        yield "in a live stream one actor has its events, with the queries that it has sub-patterns in common with"
    for variable, expressions in sorted(plan.predicates.local.items()):
        yield f"filter {' AND '.join(map(str, expressions))}: on single events, decides the class of {variable}"
    for link in plan.predicates.links:
        yield f"compare {link}: on neighbours, decides whether {link.after} may follow {link.before}"
    for variable, granularity in plan.granularities:
        why = NODES if plan.method == "events" else WHY[granularity]
        yield f"grain {variable}: {granularity}-grained, {why}"
    yield f"windows {_windows(plan)}"
    for counter, share_set in zip(plan.counters, sets, strict=True):
        how = METHODS[plan.window_method(counter)] if share_set is None else f"in the graph of share set {share_set}"
        yield f"count {_counter(plan, counter)}; {how}"


def _partition(plan: QueryPlan) -> str:
    if not plan.partition:
        return "none: all events may form trends together"
    groups = plan.query.groups
    merged = f"rows by {', '.join(groups)}" if groups else "rows over all of them"
    return f"by {', '.join(plan.partition)}; {merged}"


def _windows(plan: QueryPlan) -> str:
    query = plan.query
    show = shown(query)
    within = show(query.within.length)
    if query.slide is None:
        return f"of {within} that move with every event"
    pane = common((query.within.length, query.slide.length))
    overlap = "apart" if plan.overlap == 1 else f"{plan.overlap} overlap"
    return f"of {within} every {show(query.slide.length)}: {overlap}; panes of {show(pane)}"


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
    return f"{what}{lanes}: {_size(counter.machine)}"


def _size(machine: Machine) -> str:
    states, classes = len(machine.states), len(machine.classes)
    return f"{states} states, {classes} event {'class' if classes == 1 else 'classes'}"
