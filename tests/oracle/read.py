"""A parser for the query texts of the vectors, limited to the part of the language that they use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from tests.oracle.expressions import Attribute, Binary, Expression, Literal
from tests.oracle.query import Absent, Aggregate, One, Or, Pattern, Query, Repeat, Seq

CLAUSE = re.compile(r"^(QUERY|RETURN|PATTERN|SEMANTICS|WHERE|GROUP-BY|WITHIN) +(.*?);?$", re.MULTILINE)
ITEM = re.compile(r"(?P<function>[A-Z]+)\((?P<variable>\*|\w+)(?:\.(?P<attribute>\w+))?\)")
COMPARISON = re.compile(r"(\S+) (=|!=|<|<=|>|>=) (\S+)")
SIDE = re.compile(r"(?P<next>NEXT\()?(?P<variable>[A-Za-z]\w*)\)?\.(?P<name>\w+)")
WINDOW = re.compile(r"(\d+) seconds(?: SLIDE (\d+) seconds)?")
TOKEN = re.compile(r"\w+|[^\w\s]")
REPEATS = {"+": (1, None), "*": (0, None), "?": (0, 1)}


def read(text: str) -> tuple[Query, ...]:
    return tuple(_query(f"QUERY {part}") for part in text.split("QUERY ")[1:])


def _query(text: str) -> Query:
    clauses = {name: value.strip() for name, value in CLAUSE.findall(text)}
    conjuncts = clauses["WHERE"].split(" AND ") if "WHERE" in clauses else []
    equivalence = [part.strip("[]") for part in conjuncts if part.startswith("[")]
    window = WINDOW.fullmatch(clauses["WITHIN"])
    assert window, clauses["WITHIN"]
    return Query(
        name=clauses["QUERY"],
        aggregates=tuple(_aggregates(clauses["RETURN"])),
        pattern=_Tokens(TOKEN.findall(clauses["PATTERN"])).pattern(),
        within=Fraction(window[1]),
        slide=Fraction(window[2]) if window[2] else None,
        semantics=clauses["SEMANTICS"],
        equivalence=tuple(equivalence),
        predicates=tuple(_predicate(part) for part in conjuncts if not part.startswith("[")),
        groups=tuple(clauses["GROUP-BY"].split(", ")) if "GROUP-BY" in clauses else (),
    )


def _aggregates(text: str) -> Iterator[Aggregate]:
    for found in ITEM.finditer(text):
        variable = None if found["variable"] == "*" else found["variable"]
        yield Aggregate(found["function"], variable, found["attribute"])


def _predicate(text: str) -> Expression:
    comparison = COMPARISON.fullmatch(text)
    assert comparison, text
    return Binary(comparison[2], _side(comparison[1]), _side(comparison[3]))


def _side(text: str) -> Expression:
    if text.isdigit():
        return Literal(int(text))
    attribute = SIDE.fullmatch(text)
    assert attribute, text
    return Attribute(attribute["variable"], attribute["name"], bool(attribute["next"]))


class _Tokens:
    """The tokens of a pattern, consumed from the front."""

    def __init__(self, tokens: list[str]) -> None:
        self.left = tokens

    def pattern(self) -> Pattern:
        parts = self.separated("|")
        return parts[0] if len(parts) == 1 else Or(parts)

    def separated(self, separator: str) -> tuple[Pattern, ...]:
        item = self.repeated if separator == "|" else self.pattern
        parts = [item()]
        while self.left and self.left[0] == separator:
            self.left.pop(0)
            parts.append(item())
        return tuple(parts)

    def repeated(self) -> Pattern:
        part = self.single()
        while self.left and self.left[0] in REPEATS:
            part = Repeat(part, *REPEATS[self.left.pop(0)])
        return part

    def single(self) -> Pattern:
        token = self.left.pop(0)
        if token == "NOT":
            return Absent(self.repeated())
        if token == "SEQ":
            return Seq(self.bracketed(","))
        if token == "(":
            self.left.insert(0, token)
            (part,) = self.bracketed(",")
            return part
        named = self.left and self.left[0].isidentifier()
        return One(token, self.left.pop(0) if named else token)

    def bracketed(self, separator: str) -> tuple[Pattern, ...]:
        assert self.left.pop(0) == "("
        parts = self.separated(separator)
        assert self.left.pop(0) == ")"
        return parts
