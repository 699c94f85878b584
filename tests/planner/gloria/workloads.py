"""Workloads as few words, and their templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from elsinore.bench.gloria.workloads import mixed, sequences, statistics
from elsinore.planner.checks.check import check_text
from elsinore.planner.gloria.costs.cost import PaperCost
from elsinore.planner.gloria.costs.statistics import Statistics
from elsinore.planner.gloria.graph.record import NodeRecord
from elsinore.planner.gloria.optimizers import OPTIMIZERS, sharing_plans
from elsinore.planner.gloria.plan import SharingPlan
from elsinore.planner.gloria.templates.build import templates
from elsinore.planner.gloria.templates.template import Template
from elsinore.planner.plans.model import QueryPlan
from elsinore.planner.plans.planning import plan

WINDOW = "WITHIN 10 minutes SLIDE 5 minutes"


def query(pattern: str, *, items: str = "COUNT(*)", where: str = "", group: str = "", window: str = WINDOW) -> str:
    clauses = [f"RETURN {items}", f"PATTERN {pattern}", where and f"WHERE {where}", group and f"GROUP-BY {group}"]
    return " ".join([*filter(None, clauses), window])


def planned(*texts: str) -> tuple[QueryPlan, ...]:
    """Queries q1, q2, ...; a pattern alone is a whole query."""
    workload = check_text("; ".join(text if " WITHIN" in text else query(text) for text in texts))
    return plan(workload, "cogra").queries


def found(*texts: str) -> tuple[tuple[Template, ...], dict[str, str]]:
    made, apart = templates(planned(*texts))
    return made, dict(apart)


def template(*texts: str) -> Template:
    """The only one."""
    (made,), _ = found(*texts)
    return made


def optimized(made: Template, counts: Mapping[str, float], name: str = "gloria") -> SharingPlan:
    return OPTIMIZERS[name].plan(made, PaperCost(Statistics(counts)))


def stages(made: Template) -> list[str]:
    """`A-B`, `A-B,B-A` for a loop."""
    return [
        ",".join(f"{made.nodes[one.source]}-{made.nodes[one.target]}" for one in stage.transitions)
        for stage in made.stages
    ]


def shown(made: Template, sets: tuple[tuple[int, int | None], ...]) -> str:
    """Q-sets as the paper writes them, snapshots behind a circumflex: `(1,2)^A (3)`."""
    texts = []
    for mask, snapshot in sets:
        numbers = [query + 1 for query in range(mask.bit_length()) if mask >> query & 1]
        if snapshot is None:
            texts += [f"({number})" for number in numbers]
        else:
            texts.append(f"({','.join(map(str, numbers))})^{made.nodes[snapshot]}")
    return " ".join(sorted(texts))


def nodes(made: SharingPlan) -> dict[str, dict[str, NodeRecord]]:
    """The nodes of the graph, by stage and Q-sets."""
    names = stages(made.template)
    return {
        names[pool.stage]: {shown(made.template, node.q_sets): node for node in pool.nodes} for pool in made.graph.pools
    }


def sharing(made: SharingPlan) -> dict[str, str]:
    """By stage, what the plan shares."""
    return {
        name: shown(made.template, tuple((one.queries, one.snapshot) for one in sets))
        for name, sets in zip(stages(made.template), made.q_sets, strict=True)
    }


FIGURE_7 = {"F": 10.0, "A": 5.0, "B": 10.0, "C": 12.0, "D": 4.0, "E": 3.0}


def figure_7(name: str = "gloria") -> SharingPlan:
    return optimized(template("SEQ(F, A, B, C, D)", "SEQ(A, B, C, D)", "SEQ(E, C, D)"), FIGURE_7, name)


COUNTS = statistics(1)

WORKLOADS: dict[str, Callable[[], list[str]]] = {
    "sequences": lambda: sequences(40, seed=1),
    "flat": lambda: mixed(20, 1, 3, nested=False, seed=2),
    "nested": lambda: mixed(20, 1, 4, nested=True, seed=3),
    "mixed": lambda: mixed(60, 0.4, seed=4),
    "loops of one type": lambda: ["SEQ(A, B+, C, D)", "SEQ(A, B+, C)", "SEQ(X, B+, C, D)", "SEQ(X, B+, C)"],
    "loops with a choice": lambda: ["SEQ(A, (B | C)+, D, E)", "SEQ(A, (B | C)+, D)", "SEQ(Z, A, (B | C)+, D)"],
    "ends and starts on the way": lambda: ["SEQ(A?, B, C, D?)", "SEQ(A, B, C, D)", "SEQ(B, C, D, E?)", "SEQ(A, B?)"],
    "negations": lambda: ["SEQ(A, B, NOT X, C, D)", "SEQ(A, B, C, D)", "SEQ(NOT Y, A, B, C)", "SEQ(B, C, D, NOT X)"],
    "circles": lambda: ["SEQ(A, B, C, D)", "SEQ(B, C, D, A)", "SEQ(C, D, A, B)", "SEQ(D, A, B, C)", "SEQ(A, B, C, D)"],
}


def plans(workload: str, optimizer: str) -> tuple[SharingPlan, ...]:
    made, _ = sharing_plans(planned(*WORKLOADS[workload]()), PaperCost(COUNTS), optimizer)
    assert made
    return made


QUERIES = {
    "Q1": "VKindle, BKindle, VCase, BCase",
    "Q2": "VKindle, BKindle, VKindleFire",
    "Q3": "VKindle, BKindle, VCase, BCase, VeBook, BeBook",
    "Q4": "VKindle, BKindle, VCase, BCase, VLight, BLight",
    "Q5": "ViPad, VKindleFire, VKindle, BKindle",
}

PATTERNS = [f"SEQ({types})" for types in QUERIES.values()]
