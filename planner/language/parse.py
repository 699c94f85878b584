"""Parse text to queries, as the user wrote them.

The stages are: text -> pieces and clauses (`clauses`) -> trees (Lark, grammar.lark) -> values (`building`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

from lark import Lark, Token, Tree, UnexpectedInput
from lark.utils import TextSlice

from elsinore.planner.language.building.builder import Builder
from elsinore.planner.language.building.conditions import ConditionBuilder
from elsinore.planner.language.building.patterns import PatternBuilder
from elsinore.planner.language.building.returns import ReturnBuilder, settled
from elsinore.planner.language.building.windows import WindowBuilder
from elsinore.planner.language.clauses import DEEPEST, FORMS, Clause, Piece, pieces
from elsinore.planner.language.complaints import complaint, misspelled
from elsinore.planner.language.errors import Problem, WorkloadError, enumeration, quote
from elsinore.planner.language.syntax import Aggregate, Equivalence, Grouping, Matches, Place, Query, Span, Workload
from elsinore.planner.language.walk import plainly_named

_STARTS: dict[str, tuple[str, type[Builder]]] = {
    "RETURN": ("returns", ReturnBuilder),
    "PATTERN": ("pattern", PatternBuilder),
    "SEMANTICS": ("semantics", WindowBuilder),
    "WHERE": ("where", ConditionBuilder),
    "GROUP-BY": ("group_by", ReturnBuilder),
    "WITHIN": ("span", WindowBuilder),
    "SLIDE": ("span", WindowBuilder),
    "LIMIT": ("limit", WindowBuilder),
}
"""For each clause, the start rule of the grammar and the builder of its values."""

_NEEDED = ("RETURN", "PATTERN", "WITHIN")
_ONCE = {
    "WHERE": "join the conditions by AND",
    "GROUP-BY": "separate the attributes by commas",
}


@dataclass(frozen=True)
class Reading:
    """The queries that could be parsed, and the problems found on the way.

    A clause that cannot be parsed is replaced by a harmless one, so that the rest of its query can be checked. A query
    whose pattern cannot be parsed is left out.
    """

    workload: Workload
    problems: tuple[Problem, ...]


def parse(text: str) -> Workload:
    """Parse a workload; raise WorkloadError with all its syntax errors."""
    reading = read(text)
    if reading.problems:
        raise WorkloadError(reading.problems, text)
    return reading.workload


def read(text: str) -> Reading:
    """Parse as much of a workload as possible, collecting the problems."""
    queries, problems = [], []
    for piece in pieces(text):
        reader = _Reader(text, piece)
        query = reader.read()
        queries += [query] if query else []
        problems += reader.problems
    return Reading(Workload(tuple(queries), text), tuple(problems))


@cache
def _lark() -> Lark:
    return Lark(
        (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8"),
        parser="lalr",
        start=sorted({start for start, _ in _STARTS.values()}),
        propagate_positions=True,
        maybe_placeholders=True,
    )


@dataclass
class _Reader:
    """The parser of one query: it collects the values of its clauses, and its problems."""

    text: str
    piece: Piece
    values: dict[str, Any] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def read(self) -> Query | None:
        """Parse the query; return None if its pattern cannot be parsed."""
        self._note(self.piece.problem)
        seen: dict[str, Clause] = {}
        waiting = deque(self.piece.clauses)
        while waiting:
            clause = waiting.popleft()
            if clause.keyword in seen:
                self._note(_twice(clause))
                if clause.keyword not in _ONCE:
                    break  # what follows is most likely another query
                continue
            seen[clause.keyword] = clause
            absent = FORMS.keys() - seen.keys() - {other.keyword for other in waiting}
            if rest := self._clause(clause, absent):
                waiting.appendleft(rest)
        self._note(_missing(seen, self.piece), *self._settle())
        return _query(self.piece, self.values, seen.keys()) if self.values.get("PATTERN") else None

    def _settle(self) -> list[Problem]:
        """Settle what RETURN means, which may depend on GROUP-BY; return the problems."""
        returns = self.values.get("RETURN")
        if not isinstance(returns, tuple):
            return []
        groups = {grouping.attribute for grouping in self.values.get("GROUP-BY", ())}
        self.values["RETURN"], problems = settled(returns, groups)
        return problems

    def _note(self, *problems: Problem | None) -> None:
        self.problems += [replace(problem, query=self.piece.name) for problem in problems if problem]

    def _clause(self, clause: Clause, absent: Iterable[str]) -> Clause | None:
        """Parse a clause; return the clause that a misspelled keyword begins inside it, if any."""
        try:
            tree = _tree(self.text, clause)
        except UnexpectedInput as error:
            if slip := misspelled(error, clause, self.text, absent):
                return self._parted(clause, *slip)
            self._note(clause.problem or complaint(error, clause, self.text))
            return None
        if clause.problem:
            self._note(clause.problem)
        else:
            self._value(clause, tree)
        return None

    def _parted(self, clause: Clause, keyword: str, place: Place) -> Clause:
        word = quote(self.text[place.start : place.end])
        self._note(Problem(f"there is no keyword {word}", f"did you mean {quote(keyword)}?", place))
        self._clause(clause.until(_before(self.text, place.start)), ())
        return clause.since(keyword, place)

    def _value(self, clause: Clause, tree: Tree[Token]) -> None:
        if _depth(tree) > DEEPEST:
            place = Place(tree.meta.start_pos, tree.meta.end_pos)
            self._note(
                Problem(f"{clause.keyword} is nested more than {DEEPEST} deep", "write it in a flatter way", place)
            )
            return
        builder = _STARTS[clause.keyword][1]()
        self.values[clause.keyword] = builder.transform(tree)
        self._note(*builder.problems)


def _tree(text: str, clause: Clause) -> Tree[Token]:
    start, _ = _STARTS[clause.keyword]
    return _lark().parse(TextSlice(text, clause.head.end, clause.end), start=start)


def _depth(tree: Tree[Token]) -> int:
    """Return the depth of a tree, without recursion, which a deep tree would exhaust."""
    deepest = 0
    waiting = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting += [(child, depth + 1) for child in node.children if isinstance(child, Tree)]
    return deepest


def _before(text: str, offset: int) -> int:
    """Return the end of the text before `offset`, without trailing blanks."""
    while offset and text[offset - 1].isspace():
        offset -= 1
    return offset


def _twice(clause: Clause) -> Problem:
    hint = _ONCE.get(clause.keyword, "separate the queries by ; or begin each with QUERY and its name")
    return Problem(f"{clause.keyword} occurs twice in one query", hint, clause.head)


def _missing(seen: Collection[str], piece: Piece) -> Problem | None:
    """Return a problem that names the required clauses that are missing.

    A problem before the first clause may be a misspelled RETURN, so then RETURN is not reported as missing.
    """
    missing = [keyword for keyword in _NEEDED if keyword not in seen]
    if piece.problem and (not seen or missing[:1] == ["RETURN"]):
        missing = missing[1:] if seen else []
    if not missing:
        return None
    message = f"the query lacks {enumeration(missing)}"
    return Problem(message, f"add for instance {' '.join(FORMS[keyword] for keyword in missing)}", piece.head)


def _query(piece: Piece, values: dict[str, Any], written: Collection[str]) -> Query:
    """Build the query from the clauses that were parsed, with stand-ins for those that could not be."""
    conjuncts = values.get("WHERE", ())
    returns = values.get("RETURN") or (Aggregate("COUNT", None, None, "COUNT(*)"),)
    within, slide = _window(values, written)
    if isinstance(returns, Matches) and not values.get("SLIDE"):
        slide = None
    limit, limit_place = values.get("LIMIT") or (None, None)
    return Query(
        piece.name,
        returns,
        plainly_named(values["PATTERN"]),
        within,
        values.get("SEMANTICS", "any"),
        tuple(part for part in conjuncts if isinstance(part, Equivalence)),
        tuple(part for part in conjuncts if not isinstance(part, Equivalence)),
        values.get("GROUP-BY") or _groups(returns, written),
        slide,
        limit,
        limit_place=limit_place,
        place=piece.head,
    )


def _window(values: dict[str, Any], written: Collection[str]) -> tuple[Span, Span | None]:
    if all(values.get(keyword) for keyword in ("WITHIN", "SLIDE") if keyword in written or keyword == "WITHIN"):
        return values["WITHIN"], values.get("SLIDE")
    stand_in = Span(Fraction(1), "seconds")
    return stand_in, stand_in


def _groups(returns: Any, written: Collection[str]) -> tuple[Grouping, ...]:
    """Return no groupings; but where GROUP-BY could not be parsed, those that RETURN asks for."""
    if not isinstance(returns, tuple) or "GROUP-BY" not in written:
        return ()
    return tuple(item for item in returns if isinstance(item, Grouping))
