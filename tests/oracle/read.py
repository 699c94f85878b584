"""A parser for the query texts of the vectors, limited to the part of the language that they use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from tests.oracle.conditions import conditions, value
from tests.oracle.expressions import Attribute, Of
from tests.oracle.query import Absent, Aggregate, And, Item, One, Or, Pattern, Query, Repeat, Seq

CLAUSE = re.compile(r"^(QUERY|RETURN|PATTERN|SEMANTICS|WHERE|GROUP-BY|WITHIN|LIMIT) +(.*?);?$", re.MULTILINE)
AGGREGATE = re.compile(r"(?P<function>[A-Z]+)\((?P<variable>\*|\w+)(?:\.(?P<attribute>\w+))?\)")
ITEM = re.compile(r"(?P<value>[^,]+?)(?: AS (?P<alias>\w+))?(?:, *|$)")
WINDOW = re.compile(r"(\d+) (seconds|events)(?: SLIDE (\d+) (?:seconds|events))?")
TOKEN = re.compile(r"\w+|[^\w\s]")
JOINS: dict[str, type[Seq | And | Or]] = {"SEQ": Seq, "AND": And, "OR": Or}
REPEATS = {"+": (1, None), "*": (0, None), "?": (0, 1)}


def read(text: str) -> tuple[Query, ...]:
    return tuple(_query(f"QUERY {part}") for part in text.split("QUERY ")[1:])


def _query(text: str) -> Query:
    clauses = {name: value.strip() for name, value in CLAUSE.findall(text)}
    equivalence, predicates = conditions(clauses["WHERE"]) if "WHERE" in clauses else ((), ())
    window = WINDOW.fullmatch(clauses["WITHIN"])
    assert window, clauses["WITHIN"]
    returns = clauses["RETURN"]
    detects = returns.split()[0] == "MATCHES"
    return Query(
        name=clauses["QUERY"],
        aggregates=() if detects else tuple(_aggregates(returns)),
        pattern=_Tokens(TOKEN.findall(clauses["PATTERN"])).whole(),
        within=Fraction(window[1]),
        slide=Fraction(window[3]) if window[3] else None,
        semantics=clauses.get("SEMANTICS", "skip-till-any-match"),
        equivalence=equivalence,
        predicates=predicates,
        groups=tuple(clauses["GROUP-BY"].split(", ")) if "GROUP-BY" in clauses else (),
        unit=window[2],
        items=tuple(_items(returns.removeprefix("MATCHES").strip())) if detects else (),
        limit=int(clauses["LIMIT"]) if "LIMIT" in clauses else None,
    )


def _aggregates(text: str) -> Iterator[Aggregate]:
    for found in AGGREGATE.finditer(text):
        variable = None if found["variable"] == "*" else found["variable"]
        yield Aggregate(found["function"], variable, found["attribute"])


def _items(text: str) -> Iterator[Item]:
    for found in ITEM.finditer(text):
        read = value(found["value"])
        assert isinstance(read, Attribute | Of), text
        yield Item(read, found["alias"])


class _Tokens:
    """The tokens of a pattern, consumed from the front."""

    def __init__(self, tokens: list[str]) -> None:
        self.left = tokens

    def whole(self) -> Pattern:
        parts = self.separated(",")
        assert not self.left, self.left
        return parts[0] if len(parts) == 1 else Seq(parts)

    def pattern(self) -> Pattern:
        parts = self.separated("|")
        return parts[0] if len(parts) == 1 else Or(parts)

    def together(self) -> Pattern:
        parts = self.separated("&")
        return parts[0] if len(parts) == 1 else And(parts)

    def separated(self, separator: str) -> tuple[Pattern, ...]:
        item = {",": self.pattern, "|": self.together, "&": self.repeated}[separator]
        parts = [item()]
        while self.left and self.left[0] == separator:
            self.left.pop(0)
            parts.append(item())
        return tuple(parts)

    def repeated(self) -> Pattern:
        part = self.single()
        while self.left and self.left[0] in (*REPEATS, "{"):
            symbol = self.left.pop(0)
            part = Repeat(part, *(REPEATS[symbol] if symbol in REPEATS else self.bounds()))
        return part

    def bounds(self) -> tuple[int, int | None]:
        end = self.left.index("}")
        least, *rest = "".join(self.left[:end]).split(",")
        del self.left[: end + 1]
        if not rest:
            return int(least), int(least)
        return int(least), int(rest[0]) if rest[0] else None

    def single(self) -> Pattern:
        token = self.left.pop(0)
        if token in ("NOT", "!"):
            return Absent(self.repeated())
        if token in JOINS and self.left[0] == "(":
            return JOINS[token](self.bracketed())
        if token == "(":
            self.left.insert(0, token)
            parts = self.bracketed()
            return parts[0] if len(parts) == 1 else Seq(parts)
        named = self.left and self.left[0].isidentifier()
        return One(token, self.left.pop(0) if named else token)

    def bracketed(self) -> tuple[Pattern, ...]:
        assert self.left.pop(0) == "("
        parts = self.separated(",")
        assert self.left.pop(0) == ")"
        return parts
