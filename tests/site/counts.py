"""Sections of the language reference: how many trends patterns have over a few events."""

from __future__ import annotations

import elsinore
from tests.site.pictures import CASES, SEMANTICS, TEN, Case
from tests.site.references import table

PATTERNS = ("SEQ(A, B)", "B+", "SEQ(A, B+)", "SEQ(A, B+, C)", "SEQ(A, B{2}, C)", "(SEQ(A, B+, C))+", "SEQ(A, NOT X, C)")


def operators() -> str:
    """Return a table of the pictures of operators, with the number of matches of each."""
    cases = [case for name, case in CASES.items() if name not in SEMANTICS]
    rows = [(f"`{_query(case)}`", " ".join(case.events), str(len(case.matches))) for case in cases]
    return table(("query", "events", "matches"), rows)


def semantics() -> str:
    """Return the number of trends of patterns over the ten events, for each semantics."""
    rows = [(f"`{pattern}`", *(str(_count(pattern, one)) for one in SEMANTICS)) for pattern in PATTERNS]
    return table(("pattern", *SEMANTICS), rows)


def _query(case: Case) -> str:
    return " ".join(f"{case.pattern} {case.clauses} WITHIN {case.window}".split())


def _count(pattern: str, semantics: str) -> int:
    query = f"RETURN COUNT(*) PATTERN {pattern} SEMANTICS {semantics} WITHIN 60 seconds SLIDE 60 seconds"
    return sum(row["COUNT(*)"] for row in elsinore.run(query, Case(TEN, pattern).stream, engine="local").rows())
