"""Ten patterns in SQL's MATCH_RECOGNIZE and here, with the rows of both.

The rows of SQL are those of Flink, recorded in `recognize.json`. To renew them, set `ELSINORE_FLINK_PYTHON` as
`docs/decisions/010-flink.md` says, and call `python -m tests.site.recognize`.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import elsinore
from tests.site.references import table

RECORDED = Path(__file__).with_name("recognize.json")
JOB = Path(__file__).with_name("recognize_job.py")

NEXT_ROW, PAST_LAST = "AFTER MATCH SKIP TO NEXT ROW", "AFTER MATCH SKIP PAST LAST ROW"


@dataclass(frozen=True)
class Pattern:
    """A pattern in both languages; `measures` are the columns of SQL, `items` those of RETURN MATCHES."""

    title: str
    note: str
    kinds: str
    measures: str
    pattern: str
    items: str
    query: str
    prices: tuple[int, ...] = ()
    define: str = ""
    skip: str = NEXT_ROW
    symbols: str = ""
    same: bool = True

    @property
    def events(self) -> list[dict[str, Any]]:
        symbols = self.symbols or "x" * len(self.kinds)
        prices = self.prices or (0,) * len(self.kinds)
        return [
            {"type": kind, "time": time, "second": time, "symbol": symbol, "price": price}
            for time, (kind, symbol, price) in enumerate(zip(self.kinds, symbols, prices, strict=True))
        ]

    @property
    def sql(self) -> str:
        kinds = dict.fromkeys(one for one in self.pattern if one in set(self.kinds) - {"T"})
        define = self.define or ", ".join(f"{one} AS {one}.kind = '{one}'" for one in sorted(kinds))
        partition = "\n  PARTITION BY symbol" if self.symbols else ""
        return (
            f"SELECT {self._columns} FROM events MATCH_RECOGNIZE ({partition}\n  ORDER BY `time`\n"
            f"  MEASURES {self.measures}\n  {self.skip}\n  PATTERN {self.pattern}\n  DEFINE {define}\n)"
        )

    @property
    def names(self) -> list[str]:
        return [measure.rpartition(" AS ")[2] for measure in self.measures.split(", ")]

    @property
    def _columns(self) -> str:
        return ", ".join((["symbol"] if self.symbols else []) + self.names)

    @property
    def text(self) -> str:
        return f"RETURN MATCHES {self.items}\n{self.query}"

    @property
    def rows(self) -> list[list[Any]]:
        """Return the rows of Elsinore, with the columns of SQL."""
        found = elsinore.run(self.text, self.events, engine="local").rows()
        keys = (["symbol"] if self.symbols else []) + self.names
        return sorted([row[key] for key in keys] for row in found)


AB = "A.`second` AS a, B.`second` AS b"
ABC = "A.`second` AS a, FIRST(B.`second`) AS first_b, LAST(B.`second`) AS last_b, C.`second` AS c"
ITEMS = "A.second AS a, FIRST(B).second AS first_b, LAST(B).second AS last_b, C.second AS c"

PATTERNS = (
    Pattern(
        "Neighbours", "A pattern of SQL is contiguous: no row may lie between two rows of a match.",
        "ABXAXB", AB, "(A B)", "A.second AS a, B.second AS b", "PATTERN SEQ(A, B) SEMANTICS contiguous WITHIN 1 hour",
    ),
    Pattern(
        "One or more", "A match for each start, if the next match may begin at the next row.",
        "ABBCABXC", ABC, "(A B+ C)", ITEMS, "PATTERN SEQ(A, B+, C) SEMANTICS contiguous WITHIN 1 hour",
    ),
    Pattern(
        "None or more", "FIRST and LAST of nothing are null in both.",
        "ACABC", ABC, "(A B* C)", ITEMS, "PATTERN SEQ(A, B*, C) SEMANTICS contiguous WITHIN 1 hour",
    ),
    Pattern(
        "Bounds", "`{n,m}` is spelt alike.",
        "ABCABBCABBBBC", ABC, "(A B{2,3} C)", ITEMS, "PATTERN SEQ(A, B{2,3}, C) SEMANTICS contiguous WITHIN 1 hour",
    ),
    Pattern(
        "Anything in between", "A reluctant variable without a definition skips to the first B: skip-till-next-match.",
        "AXBXBAXB", AB, "(A X*? B)", "A.second AS a, B.second AS b",
        "PATTERN SEQ(A, B) SEMANTICS skip-till-next-match WITHIN 1 hour",
        define="A AS A.kind = 'A', B AS B.kind = 'B'",
    ),
    Pattern(
        "Nothing of a kind in between", "What may be skipped is defined in SQL; what may not be is negated here.",
        "AXCABCAC", "A.`second` AS a, C.`second` AS c", "(A X*? C)", "A.second AS a, C.second AS c",
        "PATTERN SEQ(A, NOT B, C) SEMANTICS skip-till-next-match WITHIN 1 hour",
        define="A AS A.kind = 'A', X AS X.kind <> 'B', C AS C.kind = 'C'",
    ),
    Pattern(
        "A time limit",
        "Flink's `WITHIN` is not standard SQL. In both the last event is less than the length after the first.",
        "AXXBAXB", AB, "(A X*? B) WITHIN INTERVAL '3' SECOND", "A.second AS a, B.second AS b",
        "PATTERN SEQ(A, B) SEMANTICS skip-till-next-match WITHIN 3 seconds",
        define="A AS A.kind = 'A', B AS B.kind = 'B'",
    ),
    Pattern(
        "Partitions", "`PARTITION BY` is an equivalence, or GROUP-BY where the attribute is to be in the rows.",
        "AABB", AB, "(A B)", "A.second AS a, B.second AS b",
        "PATTERN SEQ(A, B) SEMANTICS contiguous GROUP-BY symbol WITHIN 1 hour", symbols="xyxy",
    ),
    Pattern(
        "A V in prices", "`LAST(F.price, 1)` is the row before the current one: a predicate on neighbours.",
        "TTTTTTT", "S.`second` AS start_, LAST(F.`second`) AS bottom, U.`second` AS up_", "(S F+ U)",
        "S.second AS start_, LAST(F).second AS bottom, U.second AS up_",
        "PATTERN SEQ(T S, T F+, T U) SEMANTICS contiguous\n"
        "WHERE F.price < S.price AND F.price > NEXT(F).price AND U.price > LAST(F).price WITHIN 1 hour",
        prices=(9, 7, 4, 6, 5, 8, 8),
        define="F AS (LAST(F.price, 1) IS NULL AND F.price < S.price) OR F.price < LAST(F.price, 1), "
        "U AS U.price > LAST(F.price)",
    ),
    Pattern(
        "Aggregates of a match", "",
        "ABBC", "COUNT(B.price) AS n, SUM(B.price) AS total, MAX(B.price) AS most", "(A B+ C)",
        "COUNT(B) AS n, SUM(B.price) AS total, MAX(B.price) AS most",
        "PATTERN SEQ(A, B+, C) SEMANTICS contiguous WITHIN 1 hour", prices=(0, 5, 7, 0),
    ),
    Pattern(
        "Matches that do not overlap",
        "The default of SQL has no counterpart here: skip strategies are reserved for later.",
        "BBBC", "FIRST(B.`second`) AS first_b, C.`second` AS c", "(B+ C)", "FIRST(B).second AS first_b, C.second AS c",
        "PATTERN SEQ(B+, C) SEMANTICS contiguous WITHIN 1 hour", skip=PAST_LAST, same=False,
    ),
)  # fmt: skip


def patterns() -> str:
    """Return a section for each pattern; raise AssertionError where rows that should be the same are not."""
    recorded = json.loads(RECORDED.read_text())
    return "\n".join(_section(number, one, recorded[one.title]) for number, one in enumerate(PATTERNS, start=1))


def _section(number: int, one: Pattern, theirs: list[list[Any]]) -> str:
    ours = one.rows
    assert (ours == theirs) == one.same, (one.title, ours, theirs)
    header = (["symbol"] if one.symbols else []) + one.names
    parts = [f"### {number}. {one.title}\n", *([f"{one.note}\n"] if one.note else [])]
    parts += [f"```sql\n{one.sql}\n```\n", f"```sql\n{one.text}\n```\n", _events(one)]
    if one.same:
        return "\n".join([*parts, "Rows of both:\n", _rows(header, ours)])
    return "\n".join([*parts, "Rows of Flink:\n", _rows(header, theirs), "Rows of Elsinore:\n", _rows(header, ours)])


def _events(one: Pattern) -> str:
    rows = [(kind, "type") for kind in ("type", "symbol", "price") if kind == "type" or getattr(one, f"{kind}s")]
    lines = [[name, *(f"`{event[name]}`" for event in one.events)] for name, _ in rows]
    return table(("second", *(str(event["time"]) for event in one.events)), lines)


def _rows(header: list[str], rows: list[list[Any]]) -> str:
    return table(header, [["null" if value is None else str(value) for value in row] for row in rows])


def record(python: str) -> None:
    """Run all patterns on Flink, and record its rows."""
    cases = json.dumps([{"sql": one.sql, "events": one.events} for one in PATTERNS])
    with TemporaryDirectory() as folder:
        done = subprocess.run([python, JOB, folder], input=cases, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    rows = json.loads(done.stdout.splitlines()[-1])
    found = {one.title: answer for one, answer in zip(PATTERNS, rows, strict=True)}
    lines = ",\n".join(f"{json.dumps(title)}: {json.dumps(answer)}" for title, answer in found.items())
    RECORDED.write_text(f"{{\n{lines}\n}}\n")


if __name__ == "__main__":
    record(os.environ["ELSINORE_FLINK_PYTHON"])
