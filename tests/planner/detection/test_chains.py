"""Chains as deterministic automata: they read what their pattern matches, in one way, forwards and backwards."""

from __future__ import annotations

from itertools import product

import pytest

from elsinore.planner.detection.chains import NOWHERE, Chain, chain
from elsinore.planner.language.parse import parse
from elsinore.planner.language.resolve import resolve
from elsinore.planner.language.syntax import Pattern


def pattern_of(text: str) -> Pattern:
    (query,) = parse(f"RETURN MATCHES PATTERN {text} WITHIN 10 seconds").queries
    return resolve(query).pattern


def reads(automaton: Chain, word: str) -> bool:
    """Return whether an automaton without guards accepts a word of variables."""
    state = 0
    for letter in word:
        state = automaton.steps[state][automaton.variables.index(letter)][0]
        if state == NOWHERE:
            return False
    return automaton.accepts[state][0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A+", {"A", "AA", "AAA", "AAAA"}),
        ("A{2,3}", {"AA", "AAA"}),
        ("(SEQ(A, B))+", {"AB", "ABAB"}),
        ("SEQ(A, B*, C)", {"AC", "ABC", "ABBC"}),
        ("(SEQ(A, B?)){2}", {"AA", "ABA", "AAB", "ABAB"}),
    ],
)
def test_words(text: str, words: set[str]) -> None:
    letters = sorted(set("".join(words)))
    for backwards in (False, True):
        automaton = chain(pattern_of(text), (), backwards)
        found = {
            "".join(word)
            for size in range(1, 5)
            for word in product(letters, repeat=size)
            if reads(automaton, "".join(reversed(word) if backwards else word))
        }
        assert found == words


def test_guards_close_the_steps_that_cross_them() -> None:
    pattern = pattern_of("SEQ(A, NOT N, B, NOT M)")
    guards = (pattern.parts[1].part, pattern.parts[3].part)  # type: ignore[union-attr]
    automaton = chain(pattern, guards, backwards=False)
    a, b = (automaton.variables.index(name) for name in "AB")
    after = automaton.steps[0][a][0b00]
    assert automaton.steps[after][b][0b10] == NOWHERE
    behind = automaton.steps[after][b][0b01]
    assert (automaton.accepts[behind][0b01], automaton.accepts[behind][0b10]) == (False, True)
    assert automaton.edges == {1}
