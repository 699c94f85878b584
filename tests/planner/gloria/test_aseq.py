"""A-Seq's sharing: Example 6 with its PreTree (Figure 9), and its sub-patterns connected."""

from __future__ import annotations

from tests.planner.gloria.workloads import PATTERNS, optimized, sharing, template


def test_figure_9() -> None:
    """The result of (VKindle, BKindle) goes into Q1 and Q2, and that of Q1 into Q3 and Q4."""
    assert sharing(optimized(template(*PATTERNS[:4]), {}, "prefix")) == {
        "VKindle-BKindle": "(1,2,3,4)^VKindle",
        "BKindle-VCase": "(1,3,4)^VKindle",
        "VCase-BCase": "(1,3,4)^VKindle",
        "BKindle-VKindleFire": "(2)^VKindle",
        "BCase-VeBook": "(3)^VKindle",
        "VeBook-BeBook": "(3)^VKindle",
        "BCase-VLight": "(4)^VKindle",
        "VLight-BLight": "(4)^VKindle",
    }


def test_a_prefix_begins_the_pattern() -> None:
    """Q5 has (VKindle, BKindle) too, but at its end."""
    found = sharing(optimized(template(*PATTERNS), {}, "prefix"))
    assert found["VKindle-BKindle"] == "(1,2,3,4)^VKindle (5)"
    assert found["ViPad-VKindleFire"] == "(5)"


def test_a_substring_at_any_place_is_connected() -> None:
    found = sharing(optimized(template(*PATTERNS[1:2], *PATTERNS[4:]), {}, "chop-connect"))
    assert found == {
        "VKindle-BKindle": "(1,2)^VKindle",
        "BKindle-VKindleFire": "(1)",
        "ViPad-VKindleFire": "(2)",
        "VKindleFire-VKindle": "(2)",
    }


def test_one_query_in_several_pieces() -> None:
    """Section 4.2: (A, B, C), (D, E) and (F, G), each shared with another query; A and D, F connect."""
    made = template("SEQ(A, B, C, D, E, F, G)", "SEQ(A, B, C, X)", "SEQ(X, D, E)", "SEQ(Y, F, G)")
    found = sharing(optimized(made, {}, "chop-connect"))
    assert (found["A-B"], found["B-C"]) == ("(1,2)^A", "(1,2)^A")
    assert (found["D-E"], found["F-G"]) == ("(1,3)^D", "(1,4)^F")
    assert (found["C-D"], found["E-F"]) == ("(1)", "(1)")


def test_what_overlaps_is_chopped_once() -> None:
    """The longer one comes first; of the other query's sub-pattern the rest is left."""
    made = template("SEQ(A, B, C, D)", "SEQ(A, B, C, X)", "SEQ(Y, C, D)")
    found = sharing(optimized(made, {}, "chop-connect"))
    assert (found["A-B"], found["B-C"]) == ("(1,2)^A", "(1,2)^A")
    assert found["C-D"] == "(1,3)^C"
