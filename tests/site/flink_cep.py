"""Ten patterns of Flink CEP's own tests and here: the matches of Flink are those that its tests expect."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import elsinore

VECTORS = Path(__file__).parents[1] / "vectors" / "detection" / "flink.json"


@dataclass(frozen=True)
class Pattern:
    """A test of Flink, its pattern in Java, and the same query here; types are the names of its events."""

    title: str
    test: str
    java: str
    query: str
    note: str = ""


NEXT, ANY, CONTIGUOUS = (f"SEMANTICS {one}" for one in ("skip-till-next-match", "skip-till-any-match", "contiguous"))
LONG = "WITHIN 1 day"

PATTERNS = (
    Pattern(
        "next", "NFAITCase.testStrictContinuityWithResults",
        'begin("middle").where(is("a"))\n  .next("end").where(is("b"))',
        f"PATTERN SEQ(a, b) {CONTIGUOUS} {LONG}",
        "Strict contiguity is `contiguous`: no event at all in between.",
    ),
    Pattern(
        "followedBy", "NFAITCase.testSimplePatternNFA",
        'begin("start").where(is("start"))\n  .followedBy("middle").subtype(Sub.class).where(volume > 5)\n'
        '  .followedBy("end").where(is("end"))',
        f"PATTERN SEQ(start s, Sub m, end e) {NEXT} WHERE m.volume > 5 {LONG}",
        "Relaxed contiguity is `skip-till-next-match`: events that do not fit are left out.",
    ),
    Pattern(
        "followedByAny", "AfterMatchSkipITCase.testNoSkipWithFollowedByAny",
        'begin("start", noSkip()).where(is("a"))\n  .followedByAny("end").where(is("b"))',
        f"PATTERN SEQ(a, b) {ANY} {LONG}",
        "Non-deterministic relaxed contiguity is `skip-till-any-match`, the default.",
    ),
    Pattern(
        "oneOrMore, allowCombinations", "NFAITCase.testAtLeastOne",
        'begin("start").where(is("c"))\n  .followedByAny("middle").where(is("a")).oneOrMore().allowCombinations()\n'
        '  .followedByAny("end1").where(is("b"))',
        f"PATTERN SEQ(c, a+, b) {ANY} {LONG}",
        "A semantics here is one of the whole query, so it covers what is inside of the loop, too.",
    ),
    Pattern(
        "times", "AfterMatchSkipITCase.testNoSkip",
        'begin("start", noSkip()).where(is("a")).times(3)',
        f"PATTERN a{{3}} {NEXT} {LONG}",
    ),
    Pattern(
        "times in a sequence", "NFAITCase.testTimesNotStrictWithFollowedByEager",
        'begin("start").where(is("c"))\n  .followedBy("middle").where(is("a")).times(2)\n'
        '  .followedBy("end1").where(is("b"))',
        f"PATTERN SEQ(c, a{{2}}, b) {NEXT} {LONG}",
        "The third a may be left out: after two of them only a b continues the match.",
    ),
    Pattern(
        "oneOrMore, optional", "NFAITCase.testEndWithZeroOrMore",
        'begin("start").where(is("c"))\n  .followedBy("middle").where(is("a")).oneOrMore().optional()',
        f"PATTERN SEQ(c, a*) {NEXT} {LONG}",
    ),
    Pattern(
        "optional at the start", "NFAITCase.testStartWithOptional",
        'begin("start").where(is("c")).optional()\n  .followedBy("end1").where(is("b"))',
        f"PATTERN SEQ(c?, b) {NEXT} {LONG}",
    ),
    Pattern(
        "groups", "GroupITCase.testGroupFollowedByTimes",
        'begin("start").where(is("c"))\n'
        '  .followedBy(begin("middle1").where(is("a")).followedBy("middle2").where(is("b"))).times(2)\n'
        '  .followedBy("end").where(is("d"))',
        f"PATTERN SEQ(c, (SEQ(a, b)){{2}}, d) {NEXT} {LONG}",
    ),
    Pattern(
        "notFollowedBy", "NotPatternITCase.testNotFollowedByWithBranchingAtStart",
        'begin("start").where(is("a"))\n  .notFollowedBy("notPattern").where(is("b"))\n'
        '  .followedBy("middle").where(is("c"))\n  .followedBy("end").where(is("d"))',
        f"PATTERN SEQ(a, NOT b, c, d) {NEXT} {LONG}",
    ),
    Pattern(
        "within", "NFAITCase.testSimplePatternWithTimeWindowNFAWithinFirstAndLast",
        'begin("start").where(is("start"))\n  .followedBy("middle").where(is("middle"))\n'
        '  .followedBy("end").where(is("end")).within(Duration.ofMillis(10))',
        f"PATTERN SEQ(start s, middle m, end e) {NEXT} WITHIN 10 ms",
        "In both the last event is less than the length after the first. Here a window is required.",
    ),
)  # fmt: skip


def patterns() -> str:
    """Return a section for each pattern; raise AssertionError where Elsinore's matches are not those of Flink."""
    cases = {case["name"]: case for case in json.loads(VECTORS.read_text())}
    return "\n".join(_section(number, one, cases[one.test]) for number, one in enumerate(PATTERNS, start=1))


def _section(number: int, one: Pattern, case: dict[str, Any]) -> str:
    names = {event["id"]: f"{event['kind']}{place}" for place, event in enumerate(case["events"], start=1)}
    theirs = sorted(" ".join(names[event] for event in _ids(row)) for row in case["expected"])
    ours = _matches(one.query, case["events"], names)
    assert ours == theirs, (one.test, ours, theirs)
    times = [f"`{name}` at {event['time']}" for name, event in zip(names.values(), case["events"], strict=True)]
    parts = [f"### {number}. {one.title}\n", *([f"{one.note}\n"] if one.note else [])]
    parts += [f"```java\n{one.java}\n```\n", f"```sql\nRETURN MATCHES\n{_lines(one.query)}\n```\n"]
    parts += [f"Events of Flink's `{one.test}`: {', '.join(times)}. Matches of both:\n"]
    return "\n".join([*parts, "\n".join(f"- `{match}`" for match in ours) + "\n"])


def _lines(query: str) -> str:
    for keyword in (" SEMANTICS", " WHERE", " WITHIN"):
        query = query.replace(keyword, f"\n{keyword.strip()}")
    return query


def _ids(row: dict[str, Any]) -> list[str]:
    """Return the events of a match in the order of their numbers."""
    values = [value for name, value in row.items() if name not in ("query", "start", "end")]
    return sorted(one for value in values for one in (value if isinstance(value, list) else [value]) if one is not None)


def _matches(query: str, events: list[dict[str, Any]], names: dict[str, str]) -> list[str]:
    typed = [
        {
            "type": "Sub" if event.get("volume") is not None else event["kind"],
            "time": event["time"],
            "volume": event.get("volume"),
            "id": event["id"],
        }
        for event in events
    ]
    rows = elsinore.run(f"RETURN MATCHES {query}", typed, engine="local", time_unit="ms").rows()
    found = [[event["id"] for event in _bound(row)] for row in rows]
    return sorted(" ".join(names[event] for event in sorted(ids)) for ids in found)


def _bound(row: dict[str, Any]) -> list[dict[str, Any]]:
    values = [value for name, value in row.items() if name not in ("query", "start", "end")]
    listed = (value if isinstance(value, list) else [value] for value in values)
    return [event for events in listed for event in events if event is not None]
