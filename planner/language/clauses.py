"""Split the text of a workload into queries, and each query into clauses.

Each clause is then parsed on its own, so a mistake in one clause does not hide mistakes in the next. Mistakes in the
frame of a query (a missing clause, a repeated clause, unbalanced brackets) get messages of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from elsinore.planner.language.errors import Problem, quote
from elsinore.planner.language.suggest import did_you_mean
from elsinore.planner.language.syntax import Place

FORMS = {
    "RETURN": "RETURN district, COUNT(*), SUM(T.duration) AS total",
    "PATTERN": "PATTERN SEQ(Request R, Travel T+, NOT Pickup, Cancel)",
    "SEMANTICS": "SEMANTICS skip-till-any-match",
    "WHERE": "WHERE [driver, rider] AND T.speed < 10",
    "GROUP-BY": "GROUP-BY district",
    "WITHIN": "WITHIN 30 minutes",
    "SLIDE": "SLIDE 5 minutes",
    "LIMIT": "LIMIT 10",
}
"""The keywords of the clauses, each with an example of the clause."""

DEEPEST = 100
LONGEST_NUMBER = 40

_TOKEN = re.compile(
    r"""(?P<blank>(?:\s|--[^\n]*)+)
    |(?P<text>'(?:[^'\n]|'')*'|"(?:[^"\n]|"")*")
    |(?P<open>['"][^\n]*)
    |(?P<number>\d+(?:\.\d+)?|\.\d+)
    |(?P<word>group(?:-|\s+)by\b|[^\W\d]\w*)
    |(?P<mark>.)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_BEFORE_A_NAME = frozenset("(,|&!")
_BEHIND_A_NAME = frozenset(".,)]+*?|&{")


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    start: int
    end: int

    @property
    def place(self) -> Place:
        return Place(self.start, self.end)

    @property
    def clause(self) -> str | None:
        """Return the keyword of the clause that this word would begin; None for other tokens."""
        if self.kind != "word":
            return None
        word = self.text.upper()
        if word.startswith("GROUP") and word.endswith("BY"):
            return "GROUP-BY"
        return word if word in FORMS else None


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause, not yet parsed: `head` is the place of its keyword; its text stands between the keyword and `end`."""

    keyword: str
    head: Place
    end: int
    problem: Problem | None = None
    """A problem that shows before parsing, such as an unbalanced bracket."""

    def until(self, end: int) -> Clause:
        """Return the clause cut off at `end`."""
        inside = self.problem and self.problem.place and self.problem.place.start < end
        return replace(self, end=end, problem=self.problem if inside else None)

    def since(self, keyword: str, head: Place) -> Clause:
        """Return the text after `head` as a clause of its own."""
        inside = self.problem and self.problem.place and self.problem.place.start >= head.end
        return Clause(keyword, head, self.end, self.problem if inside else None)


@dataclass(frozen=True, slots=True)
class Piece:
    """The text of a query, split into clauses but not yet parsed."""

    head: Place
    """The place of QUERY and the name, or of the first word if there is no such header."""
    name: str
    clauses: tuple[Clause, ...]
    problem: Problem | None
    """The first problem before the first clause."""


def pieces(text: str) -> Iterator[Piece]:
    """Yield the queries of a workload, separated by `;` or beginning with QUERY."""
    tokens = [
        Token(match.lastgroup or "", match.group(), *match.span())
        for match in _TOKEN.finditer(text)
        if match.lastgroup != "blank"
    ]
    for position, part in enumerate(_part(tokens), start=1):
        yield _piece(part, position)


def _part(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    part: list[Token] = []
    for token, head in zip(tokens, _heads(tokens), strict=True):
        if head in ("QUERY", ";") and part:
            yield part
            part = []
        if head != ";":
            part.append(token)
    if part:
        yield part


def _heads(tokens: Sequence[Token]) -> Iterator[str | None]:
    """Yield for each token what it begins: a clause, QUERY, the end of a query (`;`), or None."""
    depth = 0
    for i, token in enumerate(tokens):
        head = ";" if token.text == ";" else _keyword(tokens, i, inside=depth > 0)
        depth = 0 if head else depth + (token.text == "(") - (token.text == ")")
        yield head


def _keyword(tokens: Sequence[Token], i: int, inside: bool) -> str | None:
    """Return the keyword at token i; None if the token is a name, such as the type `Return` in `SEQ(Order, Return)`."""
    word = "QUERY" if tokens[i].text.upper() == "QUERY" else tokens[i].clause
    if word is None:
        return None
    before = tokens[i - 1].text.upper() if i else ""
    behind = tokens[i + 1].text if i + 1 < len(tokens) else ""
    if word == "LIMIT" and not (behind == "-" or behind[:1].isdigit()):
        return None  # an event type or attribute of that name
    query = word == "QUERY" and (before in (",", "QUERY") or (i > 0 and tokens[i - 1].clause == "GROUP-BY"))
    named = query or before == "." or behind in _BEHIND_A_NAME or (inside and before in _BEFORE_A_NAME)
    return None if named else word


def _piece(tokens: Sequence[Token], position: int) -> Piece:
    heads = list(_heads(tokens))
    starts = [i for i, head in enumerate(heads) if head in FORMS]
    ends = [*starts, len(tokens)][1:]
    header = tokens[: starts[0] if starts else len(tokens)]
    named = len(header) > 1 and header[0].text.upper() == "QUERY" and header[1].kind == "word"
    return Piece(
        Place(tokens[0].start, tokens[1 if named else 0].end),
        header[1].text if named else f"q{position}",
        tuple(_clause(heads[i] or "", tokens[i:end]) for i, end in zip(starts, ends, strict=True)),
        next(_header_problems(header), None),
    )


def _header_problems(tokens: Sequence[Token]) -> Iterator[Problem]:
    """Check that nothing but QUERY and a name stands before the first clause."""
    shape = "a query reads RETURN COUNT(*) PATTERN A+ WITHIN 10 minutes, with QUERY and a name before it"
    if tokens and tokens[0].text.upper() != "QUERY":
        hint = did_you_mean(tokens[0].text, ("QUERY", *FORMS)) or shape
        yield Problem(f"a query begins with QUERY or RETURN, not with {quote(tokens[0].text)}", hint, tokens[0].place)
    elif len(tokens) == 1 or (tokens and tokens[1].kind != "word"):
        yield Problem("QUERY needs a name", "write QUERY and a word, such as QUERY slow_trips", tokens[0].place)
    elif len(tokens) > 2:
        hint = did_you_mean(tokens[2].text, FORMS) or "a name is one word of letters, digits and _; RETURN follows it"
        message = f"behind QUERY {quote(tokens[1].text)} comes RETURN, not {quote(tokens[2].text)}"
        yield Problem(message, hint, tokens[2].place)


def _clause(keyword: str, tokens: Sequence[Token]) -> Clause:
    head, *body = tokens
    problems = chain(_empty(keyword, head, body), _token_problems(body), _bracket_problems(body))
    return Clause(keyword, head.place, tokens[-1].end, next(problems, None))


def _empty(keyword: str, head: Token, body: Sequence[Token]) -> Iterator[Problem]:
    if not body:
        yield Problem(f"nothing follows {keyword}", f"write for instance {FORMS[keyword]}", head.place)


def _token_problems(tokens: Sequence[Token]) -> Iterator[Problem]:
    for token in tokens:
        if token.kind == "open":
            quotation = token.text[0]
            yield Problem(
                "this text has no closing quotation mark",
                f"close it with {quotation} on the same line; a {quotation} inside a text is written twice",
                token.place,
            )
        if token.kind == "number" and len(token.text) > LONGEST_NUMBER:
            yield Problem(
                f"this number has more than {LONGEST_NUMBER} digits", "write a number that fits 64 bits", token.place
            )


def _bracket_problems(tokens: Sequence[Token]) -> Iterator[Problem]:
    opened: list[Token] = []
    for token in tokens:
        if token.text in _CLOSING:
            opened.append(token)
            if len(opened) > DEEPEST:
                message = f"the brackets are nested more than {DEEPEST} deep"
                yield Problem(message, "leave out those that are not needed", token.place)
        elif token.text in _CLOSING.values():
            if opened and _CLOSING[opened[-1].text] == token.text:
                opened.pop()
            else:
                yield _unopened(token, opened)
    if opened:
        hint = f"add the {quote(_CLOSING[opened[-1].text])}"
        yield Problem(f"this {quote(opened[-1].text)} is never closed", hint, opened[-1].place)


def _unopened(token: Token, opened: Sequence[Token]) -> Problem:
    if opened:
        hint = f"close the {quote(opened[-1].text)} first, with {quote(_CLOSING[opened[-1].text])}"
        return Problem(f"this {quote(token.text)} does not close {quote(opened[-1].text)}", hint, token.place)
    return Problem(f"this {quote(token.text)} has no opening bracket", "remove it", token.place)
