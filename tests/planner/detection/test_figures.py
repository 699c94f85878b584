"""The figures and worked examples of the paper."""

from __future__ import annotations

import pytest

from elsinore.planner.detection.common import common_subpatterns, is_subpattern, maximal_common
from elsinore.planner.detection.explain import explained
from elsinore.planner.detection.graph import MultiPatternGraph
from elsinore.planner.detection.mpm import MultiPatternMultitree, tree_of
from elsinore.planner.detection.mpt import MultiPatternTree
from elsinore.planner.detection.pattern import Condition, Event, Pattern, Window, conjunction
from elsinore.planner.detection.planning import detection_plan
from elsinore.planner.detection.text import structure_text
from tests.planner.detection.exhaustive import trees
from tests.planner.detection.workloads import FIGURE_9, SLOW, STEPS, conj, figure_7, paper, seq


def names(pattern: Pattern) -> str:
    return "".join(event.name for event in pattern.events)


def test_figure_3_reordering_and_sharing_together() -> None:
    """A and C come first only where both are done: by themselves the patterns begin with A, B and A, E."""
    patterns = [seq("p1", "ABCD", 1), seq("p2", "AECF", 1)]
    model = paper(A=2, B=3, C=4, D=8, E=3, F=8)
    alone = [detection_plan([one], model, "mpt", STEPS).roots[0].order for one in patterns]
    assert alone == [("A", "B", "C", "D"), ("A", "E", "C", "F")]
    together = detection_plan(patterns, model, "mpt", STEPS)
    assert [root.order for root in together.roots] == [("A", "C", "B", "D"), ("A", "C", "E", "F")]
    assert [node.structure for node in together.shared] == ["A", "C", "SEQ(A, C)"]


def lists(mpt: MultiPatternTree, label: str) -> list[str]:
    return ["".join(state.labels) if state else "root" for state in mpt.accepting(label)]


def figure_5(first: str, second: str) -> MultiPatternTree:
    mpt = MultiPatternTree()
    mpt.add(seq("p1", "ABC", 10), first)
    mpt.add(seq("p2", "ABD", 20), second)
    return mpt


@pytest.mark.parametrize(("first", "second", "states"), [("ABC", "ABD", 4), ("BCA", "BAD", 5), ("CBA", "ADB", 6)])
def test_figure_5_shared_states(first: str, second: str, states: int) -> None:
    assert len(list(figure_5(first, second).states())) == states


def test_figure_5b_lists_of_states() -> None:
    """q1 is the root, q2 comes after B, q3 after B, C, and q4 after B, A."""
    mpt = figure_5("BCA", "BAD")
    assert lists(mpt, "A") == ["B", "BC"]
    assert lists(mpt, "B") == ["root"]
    assert lists(mpt, "C") == ["B"]
    assert lists(mpt, "D") == ["BA"]


def test_figure_5_windows_of_states() -> None:
    assert {"".join(one.labels): one.window.length for one in figure_5("ABC", "ABD").states()} == {
        "A": 20,
        "AB": 20,
        "ABC": 10,
        "ABD": 20,
    }


def test_figure_6_adding_and_removing() -> None:
    mpt = figure_5("ABC", "ABD")
    mpt.add(seq("p3", "ACE"), "ACE")
    assert ["".join(one.labels) for one in mpt.states()] == ["A", "AB", "ABC", "ABD", "AC", "ACE"]
    mpt.remove("p1")
    assert ["".join(one.labels) for one in mpt.states()] == ["A", "AB", "ABD", "AC", "ACE"]
    mpt.remove("p2")
    mpt.remove("p3")
    assert list(mpt.states()) == []


def test_a_final_state_may_be_inside() -> None:
    mpt = MultiPatternTree()
    mpt.add(seq("p1", "ABC"), "ABC")
    inner = mpt.add(seq("p2", "AB"), "AB")
    assert list(inner.final) == ["p2"]
    assert next(iter(inner.following.values())).final == {"p1": None}


def test_common_subpatterns_of_the_text() -> None:
    """P_1: SEQ(A, B, C, D), P_2: SEQ(A, E, C, D), with windows of 10 and 20."""
    first, second = seq("p1", "ABCD", 10), seq("p2", "AECD", 20)
    gamma = common_subpatterns(first, second)
    assert {names(one) for one in gamma} == {"A", "C", "D", "AC", "AD", "CD", "ACD"}
    assert {one.window.length for one in gamma} == {10}
    (maximal,) = maximal_common(first, second)
    assert structure_text(maximal) == "SEQ(A, C, D)"
    assert not any(is_subpattern(seq("x", "CA", 10), one) for one in (first, second))
    assert all(is_subpattern(one, first) and is_subpattern(one, second) for one in gamma)


def test_figure_7_multi_pattern_graph() -> None:
    graph = MultiPatternGraph(figure_7())

    def maximal(first: str, second: str) -> list[str]:
        shape = graph.shapes[first]
        masks = graph.maximal(first, second)
        return [
            structure_text(shape.pattern.projection(shape.names([x for x in range(9) if mask >> x & 1])))
            for mask in masks
        ]

    assert maximal("p1", "p2") == maximal("p1", "p3") == maximal("p2", "p3") == ["SEQ(A, C)"]
    shape = graph.shapes["p1"]
    (shared,) = graph.maximal("p1", "p2")
    assert graph.sharers(shape.identity(shared)[0]) == ["p1", "p2", "p3", "p4"]
    assert maximal("p3", "p4") == ["SEQ(A, C)", "SEQ(A, F)", "G"]
    assert maximal("p5", "p6") == ["SEQ(H, I, J)"]
    assert graph.components() == [["p1", "p2", "p3", "p4"], ["p5", "p6"]]


def test_several_maximal_subpatterns_of_appendix_a() -> None:
    found = maximal_common(seq("p1", "ABC"), seq("p2", "ACB"))
    assert [structure_text(one) for one in found] == ["SEQ(A, B)", "SEQ(A, C)"]


def test_conflicting_conditions_of_appendix_a() -> None:
    """Both have A and C, and differ in what they ask of A: what is left is C."""
    first = conjunction("p1", [Event("A", "A", "$0.x < 10"), Event("B", "B"), Event("C", "C")], Window(10))
    second = conjunction("p2", [Event("A", "A", "$0.x >= 10"), Event("D", "D"), Event("C", "C")], Window(10))
    assert [names(one) for one in maximal_common(first, second)] == ["C"]


def test_conflicting_conditions_of_two_events() -> None:
    first = conj("p1", "ABC", conditions=[Condition(("A", "B"), "$0.x < $1.x")])
    second = conj("p2", "ABC", conditions=[Condition(("A", "B"), "$0.x > $1.x")])
    assert sorted(names(one) for one in maximal_common(first, second)) == ["AC", "BC"]


def test_figure_8_trees_of_a_sequence_of_three() -> None:
    pattern = seq("p", "ABC")
    multitree = MultiPatternMultitree()
    for number, tree in enumerate(trees("ABC")):
        multitree.add(seq(f"p{number}", "ABC"), tree_of(pattern, tree))
    assert len(multitree.trees) == 3
    inner = [one for one in multitree.nodes() if multitree.subtree(one).right is not None]
    assert len(inner) == 6


def test_figure_9_two_subtrees_shared_by_one_pattern() -> None:
    multitree = MultiPatternMultitree()
    shapes = [(("A", "C"), ("B", "D")), (("A", "C"), ("E", "F")), (("G", "H"), ("B", "D"))]
    for pattern, tree in zip(FIGURE_9, shapes, strict=True):
        multitree.add(pattern, tree_of(pattern, tree))
    shared = {
        "".join(sorted(multitree.subtree(one).shape.names(multitree.subtree(one).slots))): sorted(multitree.users(one))
        for one in multitree.nodes()
        if len(multitree.users(one)) > 1 and multitree.subtree(one).right is not None
    }
    assert shared == {"AC": ["p1", "p2"], "BD": ["p1", "p3"]}
    assert len(list(multitree.nodes())) == 8 + 7
    multitree.remove("p1")
    assert len(list(multitree.nodes())) == 8 + 6
    assert multitree.find(FIGURE_9[0], tree_of(FIGURE_9[0], ("A", "C"))) is not None
    assert multitree.find(FIGURE_9[0], tree_of(FIGURE_9[0], (("A", "C"), ("B", "D")))) is None


def test_figure_9_is_found_and_explained() -> None:
    plan = detection_plan(FIGURE_9, SLOW, "mpm", STEPS)
    assert explained(plan, FIGURE_9) == EXPLAINED
    assert plan.cost < detection_plan(FIGURE_9, SLOW, "mpt", STEPS).cost


EXPLAINED = """\
mpm: 3 patterns, 8 leaves, 7 inner nodes, 6 shared; cost 1,094 (paper), unshared 1,106
patterns
  p1: SEQ(A, B, C, D) within 10 s, as ((A C) (B D)): node 7
  p2: SEQ(A, E, C, F) within 10 s, as (((A C) E) F): node 11
  p3: SEQ(G, B, H, D) within 10 s, as (((B D) G) H): node 15
nodes
   1  A: shared by p1, p2; within 10 s; 2 expected
   2  C: shared by p1, p2; within 10 s; 2 expected
   3  SEQ(A, C) = 1 + 2: shared by p1, p2; within 10 s; 2 expected
   4  B: shared by p1, p3; within 10 s; 2 expected
   5  D: shared by p1, p3; within 10 s; 2 expected
   6  SEQ(B, D) = 4 + 5: shared by p1, p3; within 10 s; 2 expected
   7  SEQ(A, B, C, D) = 3 + 6: for p1; within 10 s; 2 expected
   8  E: for p2; within 10 s; 30 expected
   9  SEQ(A, E, C) = 3 + 8: for p2; within 10 s; 30 expected
  10  F: for p2; within 10 s; 30 expected
  11  SEQ(A, E, C, F) = 9 + 10: for p2; within 10 s; 450 expected
  12  G: for p3; within 10 s; 30 expected
  13  SEQ(G, B, D) = 6 + 12: for p3; within 10 s; 30 expected
  14  H: for p3; within 10 s; 30 expected
  15  SEQ(G, B, H, D) = 13 + 14: for p3; within 10 s; 450 expected
"""
