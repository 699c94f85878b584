"""Print queries as text of the language that they were parsed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal, localcontext
from fractions import Fraction

from elsinore.planner.language.syntax import (
    Aggregate,
    All,
    And,
    Any,
    Arithmetic,
    Attribute,
    Between,
    Comparison,
    Equivalence,
    EventType,
    Expression,
    Grouping,
    In,
    IsNull,
    Item,
    Kleene,
    LiteralValue,
    Matches,
    Minus,
    Negation,
    Node,
    Not,
    Or,
    Pattern,
    Query,
    Seq,
    Span,
    Summary,
    Workload,
)
from elsinore.planner.language.walk import occurrences

SEMANTICS = {"any": "skip-till-any-match", "next": "skip-till-next-match", "contiguous": "contiguous"}

_DIGITS = 100
"""Decimal digits of precision: more than any number of the language has, so that every window prints exactly."""


def show(node: Node) -> str:
    """Return the text of a query or of a part of one."""
    match node:
        case Workload():
            return ";\n\n".join(map(str, node.queries))
        case Query():
            return "\n".join(_clauses(node))
        case EventType() | Kleene() | Seq() | Or() | And() | Not():
            return _pattern(node, occurrences(node), 0)
        case Matches():
            return f"MATCHES {_list(node.items)}" if node.items else "MATCHES"
        case Item():
            return node.text + _alias(node)
        case Aggregate():
            return node.text + _alias(node)
        case Grouping():
            return (f"{node.variable}." if node.variable else "") + node.attribute + _alias(node)
        case Equivalence():
            return f"[{', '.join(node.attributes)}]"
        case Span():
            return f"{_number(node.amount)} {_unit(node)}"
        case _:
            return _expression(node, 0)  # type: ignore[arg-type]


def _clauses(query: Query) -> Iterable[str]:
    yield f"QUERY {query.name}"
    returns = (query.returns,) if isinstance(query.returns, Matches) else query.returns
    yield f"RETURN {_list(returns)}"
    yield f"PATTERN {query.pattern}"
    yield f"SEMANTICS {SEMANTICS[query.semantics]}"
    if query.equivalences or query.predicates:
        yield f"WHERE {_conjuncts(query)}"
    if query.group_by:
        yield f"GROUP-BY {_list(query.group_by)}"
    yield f"WITHIN {query.within}" + (f" SLIDE {query.slide}" if query.slide else "")
    if query.limit is not None:
        yield f"LIMIT {query.limit}"


def _conjuncts(query: Query) -> str:
    alone = len(query.equivalences) + len(query.predicates) == 1
    conditions = [_expression(predicate, 0 if alone else 3) for predicate in query.predicates]
    return " AND ".join([*map(str, query.equivalences), *conditions])


def _list(nodes: Iterable[Node]) -> str:
    return ", ".join(map(str, nodes))


def _alias(item: Aggregate | Grouping | Item) -> str:
    return f" AS {item.alias}" if item.alias else ""


def _unit(span: Span) -> str:
    return span.unit[:-1] if span.amount == 1 and span.unit != "ms" else span.unit


def _number(amount: Fraction) -> str:
    with localcontext() as context:
        context.prec = _DIGITS
        return f"{Decimal(amount.numerator) / amount.denominator:f}"


def _pattern(pattern: Pattern, counts: Counter[str], level: int) -> str:
    """Return the text of a pattern inside one that binds as tightly as `level`: `|` 1, `&` 2, NOT 3, `+` 4."""

    def part(inner: Pattern, least: int) -> str:
        return _pattern(inner, counts, least)

    def joined(parts: Iterable[Pattern], separator: str, least: int) -> str:
        return separator.join(part(inner, least) for inner in parts)

    match pattern:
        case EventType():
            return _event_type(pattern, counts)
        case Seq():
            text = f"SEQ({joined(pattern.parts, ', ', 3)})"
            return _within(text, 3, level)
        case Or() | And() if len(pattern.parts) == 1:
            return f"{type(pattern).__name__.upper()}({part(pattern.parts[0], 0)})"
        case Or():
            return _within(joined(pattern.parts, " | ", 2), 1, level)
        case And():
            return _within(joined(pattern.parts, " & ", 3), 2, level)
        case Not():
            return _within(f"NOT {part(pattern.part, 3)}", 3, level)
        case Kleene():
            return part(pattern.part, 4) + _quantifier(pattern)


def _event_type(leaf: EventType, counts: Counter[str]) -> str:
    """Return the text of an event type, without a variable that `resolve` added.

    Such a variable is synthetic (`B#2`), or the name of a type that stands once.
    """
    variable = leaf.variable
    given = variable is not None and "#" not in variable and (variable != leaf.name or counts[leaf.name] > 1)
    return f"{leaf.name} {variable}" if given else leaf.name


def _quantifier(kleene: Kleene) -> str:
    match kleene.least, kleene.most:
        case 1, None:
            return "+"
        case 0, None:
            return "*"
        case 0, 1:
            return "?"
        case least, None:
            return f"{{{least},}}"
        case least, most if least == most:
            return f"{{{least}}}"
        case least, most:
            return f"{{{least},{most}}}"


def _expression(expression: Expression, level: int) -> str:
    """Return the text of an expression inside one that binds as tightly as `level`.

    The levels are OR 1, AND 2, NOT 3, comparisons 4, sums 5, products 6, a sign 7.
    """

    def joined(parts: Iterable[Expression], separator: str, least: int) -> str:
        return separator.join(_expression(part, least) for part in parts)

    match expression:
        case LiteralValue():
            return _literal(expression.value)
        case Attribute():
            variable = f"NEXT({expression.variable})" if expression.next else expression.variable
            return f"{variable}.{expression.name}"
        case Summary():
            return _summary(expression)
        case Any():
            return _within(joined(expression.parts, " OR ", 2), 1, level)
        case All():
            return _within(joined(expression.parts, " AND ", 3), 2, level)
        case Negation():
            return _within(f"NOT {_expression(expression.part, 3)}", 3, level)
        case Comparison():
            return _within(joined((expression.left, expression.right), f" {expression.operator} ", 5), 4, level)
        case In() | Between() | IsNull():
            return _within(f"{_expression(expression.part, 5)} {_test(expression)}", 4, level)
        case Arithmetic():
            own = 5 if expression.operator in "+-" else 6
            left, right = _expression(expression.left, own), _expression(expression.right, own + 1)
            return _within(f"{left} {expression.operator} {right}", own, level)
        case Minus():
            part = _expression(expression.part, 7)
            return f"-({part})" if part.startswith("-") else f"-{part}"


def _summary(summary: Summary) -> str:
    match summary:
        case Summary(function, variable, None):
            return f"{function}({variable})"
        case Summary("FIRST" | "LAST" as function, variable, attribute):
            return f"{function}({variable}).{attribute}"
        case Summary(function, variable, attribute):
            return f"{function}({variable}.{attribute})"


def _test(test: In | Between | IsNull) -> str:
    negation = "NOT " if test.negated else ""
    match test:
        case In():
            return f"{negation}IN ({_list(test.values)})"
        case Between():
            return f"{negation}BETWEEN {_expression(test.low, 5)} AND {_expression(test.high, 5)}"
        case IsNull():
            return f"IS {negation}NULL"


def _literal(value: int | float | str | bool) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def _within(text: str, own: int, level: int) -> str:
    return f"({text})" if own < level else text


Node.show = show
