"""Translate Lark's syntax errors into messages for a user."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lark import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from elsinore.planner.language.clauses import FORMS, Clause
from elsinore.planner.language.errors import Problem, enumeration, quote
from elsinore.planner.language.suggest import nearest
from elsinore.planner.language.syntax import Place

_WORDS = {
    "NAME": "a name",
    "TYPE": "a name",
    "WORD": "a semantics",
    "INTEGER": "a number",
    "DECIMAL": "a number",
    "SCIENTIFIC": "a number",
    "STRING": "a text",
    "COMPARISON": "a comparison",
    "COMMA": "`,`",
    "DOT": "`.`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "RBRACE": "`}`",
    "RSQB": "`]`",
    "_AND": "AND",
    "_OR": "OR",
    "_AS": "AS",
    "_NULL": "NULL",
    "_IN": "IN",
    "_BETWEEN": "BETWEEN",
}
"""Names of terminals in messages; terminals that are left out would make a message too long."""

_WORD = re.compile(r"[^\W\d][\w-]*")

_ONE_ATTRIBUTE = "an aggregate is taken over one attribute: SUM(T.duration)"

_INSIDE_SUMMARY = r"\b(first|last|count|sum|avg|min|max)\s*\([^()]*$"
"""Matches a condition that ends inside the parentheses of FIRST, LAST or an aggregate."""

_RESERVED = {
    "SEQ": "SEQ is a keyword, followed by its parts in parentheses: SEQ(A, B)",
    "AND": "AND is a keyword: write p & q, or AND(p, q)",
    "OR": "OR is a keyword: write p | q, or OR(p, q)",
    "NOT": "NOT is a keyword, followed by what must not be there: SEQ(A, NOT B, C)",
}
"""Keywords that cannot be event types or variables, each with a hint."""


def complaint(error: UnexpectedInput, clause: Clause, text: str) -> Problem:
    """Return the problem behind an error that Lark raised for a clause."""
    place = _place(error, clause)
    hint = _hint(error, clause, text, place) or f"write for instance {FORMS[clause.keyword]}"
    return Problem(_message(error, clause, text[place.start : place.end]), hint, _visible(place, clause))


def _message(error: UnexpectedInput, clause: Clause, found: str) -> str:
    if isinstance(error, UnexpectedCharacters):
        return f"{quote(found)} is not part of the language"
    words = _expected(error, clause)
    if not found:
        return f"expected {words}, but {clause.keyword} ends" if words else f"{clause.keyword} is not complete"
    return f"expected {words}, but found {quote(found)}" if words else f"{quote(found)} does not fit here"


def _expected(error: UnexpectedInput, clause: Clause) -> str:
    """Return what Lark expected, in words; some terminals stand for all that can begin the same construct."""
    names = set(error.accepts or error.expected) if isinstance(error, UnexpectedToken) else set()
    if "_SEQ" in names:
        return "a pattern"
    if "_NEXT" in names:
        return "an attribute or a value"
    if "NAME" in names and clause.keyword in ("WITHIN", "SLIDE"):
        return "a unit such as minutes"
    words = dict.fromkeys(word for name, word in _WORDS.items() if name in names)
    return enumeration(words, "or") if words else ""


def misspelled(error: UnexpectedInput, clause: Clause, text: str, missing: Iterable[str]) -> tuple[str, Place] | None:
    """Find the misspelled keyword that made one clause run into the next; return the keyword meant, and the place."""
    place = _place(error, clause)
    before = text[clause.head.end : place.start].rstrip()
    at = _WORD.match(text, place.start, clause.end)
    start = clause.head.end + len(before) - len(_last_word(before))
    for span in (at.span() if at else (0, 0), (start, clause.head.end + len(before))):
        word = text[slice(*span)]
        if (keyword := nearest(word, missing, cutoff=0.7)) and word.upper() != keyword:
            return keyword, Place(*span)
    return None


def _place(error: UnexpectedInput, clause: Clause) -> Place:
    """Return the place of the text that could not be parsed; the end of the clause if more text was expected."""
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        return Place(clause.end, clause.end)
    start = error.pos_in_stream or 0
    if isinstance(error, UnexpectedToken):
        return Place(start, start + max(1, len(error.token)))
    return Place(start, start + 1)


def _visible(place: Place, clause: Clause) -> Place:
    """Return the place to mark: past the end of a clause, the last character of the clause."""
    return place if place.start < clause.end else Place(clause.end - 1, clause.end)


def _hint(error: UnexpectedInput, clause: Clause, text: str, place: Place) -> str | None:
    """Return a hint for a common mistake, or None."""
    found, before = text[place.start : place.end], text[clause.head.end : place.start].rstrip()
    kind = error.token.type if isinstance(error, UnexpectedToken) else ""
    if found.upper() == "LIMIT":
        return "LIMIT takes a number: LIMIT 10"
    match clause.keyword:
        case "PATTERN":
            return _pattern_hint(found, before, kind)
        case "WHERE":
            return _condition_hint(found, before, kind)
        case "RETURN" if found in tuple("+-*/%"):
            inside = before.count("(") > before.count(")")
            return _ONE_ATTRIBUTE if inside else "RETURN has attributes and aggregates: calculate with the rows"
    return None


def _pattern_hint(found: str, before: str, kind: str) -> str | None:
    for word in (found, _last_word(before)):
        if word.upper() in _RESERVED:
            return _RESERVED[word.upper()]
    if before.endswith("{"):
        return "write {0,3} for three at most"
    if kind == "TYPE" and before.endswith(("+", "*", "?", "}")):
        return f"a variable stands before the {before[-1]}, and a comma between parts: Travel T+, Cancel C"
    return "separate the elements by commas: SEQ(A, B)" if kind == "TYPE" else None


def _condition_hint(found: str, before: str, kind: str) -> str | None:
    if found == "=" and before.endswith("="):
        return "equality is written with one ="
    if re.search(_INSIDE_SUMMARY, before, re.IGNORECASE):
        return "COUNT takes a variable: COUNT(T)" if found == "*" and before.endswith("(") else _ONE_ATTRIBUTE
    if found in ("&", "|", ","):
        return "conditions are joined by AND, or by OR"
    if found == "." and re.search(r"\bnext\s*\(\s*\w+$", before, re.IGNORECASE):
        return "NEXT takes a variable: NEXT(T).speed"
    return "compare two things at a time: a < b AND b < c" if kind == "COMPARISON" else None


def _last_word(text: str) -> str:
    match = re.search(r"\w+$", text)
    return match.group() if match else ""
