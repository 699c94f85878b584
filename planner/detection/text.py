"""Patterns and nodes as text: types for events, with a number where a type stands twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from elsinore.planner.detection.pattern import Condition, Event, Kind, Pattern, Window, bounds_text, filled


def structure_text(pattern: Pattern, called: Mapping[str, str] | None = None) -> str:
    """Return a pattern's structure, as `SEQ(A, AND(B, C), NOT D, E)`; events are called by their types by default."""
    names = [event.name for event in pattern.positive]
    return _part(pattern, names, pattern.negated, called or titles(pattern.events))


def titles(events: Sequence[Event]) -> dict[str, str]:
    """Return what each event is called: its type, with a number if the type stands more than once."""
    counts, seen = Counter(event.type for event in events), Counter[str]()
    found = {}
    for event in events:
        seen[event.type] += 1
        found[event.name] = f"{event.type}#{seen[event.type]}" if counts[event.type] > 1 else event.type
    return found


def conditions_text(pattern: Pattern) -> str:
    """Return a pattern's conditions on more than one event, sorted."""
    return condition_texts(pattern.conditions, titles(pattern.events))


def condition_texts(conditions: Iterable[Condition], called: Mapping[str, str]) -> str:
    return " AND ".join(sorted(filled(one.text, [called[name] for name in one.events]) for one in conditions))


def window_text(window: Window) -> str:
    return f"{window.length:g} {'s' if window.clock == 'time' else 'events'}"


def event_text(event: Event, title: str) -> str:
    """Return an event with its kind and own condition."""
    own = f"[{filled(event.own, [title])}]" if event.own else ""
    if event.kind is Kind.NEGATED:
        return f"NOT {title}{own}"
    if event.kind is Kind.SINGLE:
        return f"{title}{own}"
    return f"{title}{bounds_text(event)}{own}"


def _part(pattern: Pattern, names: Sequence[str], negated: Sequence[Event], called: Mapping[str, str]) -> str:
    """Return a part of a structure: one event, parts in a sequence, parts in any order, or pairs of events in order."""
    if len(names) == 1 and not negated:
        return event_text(pattern.by_name[names[0]], called[names[0]])
    blocks = _connected(names, lambda x, y: not _ordered(pattern, x, y))
    if len(blocks) > 1 or len(names) == 1:
        blocks.sort(key=lambda block: len(pattern.predecessors(block[0])))
        return f"SEQ({', '.join(_in_sequence(pattern, blocks, negated, called))})"
    blocks = _connected(names, lambda x, y: _ordered(pattern, x, y))
    if len(blocks) > 1:
        return f"AND({', '.join(_part(pattern, block, _within(pattern, block, negated), called) for block in blocks)})"
    pairs = sorted((called[x], called[y]) for x in names for y in names if (x, y) in pattern.before)
    events = ", ".join(event_text(pattern.by_name[name], called[name]) for name in names)
    return f"AND({events}; {', '.join(f'{x} before {y}' for x, y in pairs)})"


def _in_sequence(
    pattern: Pattern, blocks: Sequence[Sequence[str]], negated: Sequence[Event], called: Mapping[str, str]
) -> list[str]:
    inner = {event.name: block[0] for block in blocks for event in _within(pattern, block, negated)}
    between = [event for event in negated if event.name not in inner]
    texts = []
    for place in range(len(blocks) + 1):
        passed = {name for block in blocks[:place] for name in block}
        for event in between:
            before = pattern.predecessors(event.name) & {name for block in blocks for name in block}
            if before == passed:
                texts.append(event_text(event, called[event.name]))
        if place < len(blocks):
            mine = [event for event in negated if inner.get(event.name) == blocks[place][0]]
            texts.append(_part(pattern, blocks[place], mine, called))
    return texts


def _within(pattern: Pattern, block: Sequence[str], negated: Sequence[Event]) -> list[Event]:
    """Return the negated events whose gap is between events of a block."""
    members = set(block)
    return [
        event
        for event in negated
        if pattern.predecessors(event.name) & members and pattern.successors(event.name) & members
    ]


def _ordered(pattern: Pattern, x: str, y: str) -> bool:
    return (x, y) in pattern.before or (y, x) in pattern.before


def _connected(names: Sequence[str], related: Callable[[str, str], bool]) -> list[list[str]]:
    """Return the classes of names that are related, directly or through others."""
    blocks: list[list[str]] = []
    for name in names:
        touching = [block for block in blocks if any(related(name, other) for other in block)]
        blocks = [block for block in blocks if block not in touching]
        blocks.append([*(other for block in touching for other in block), name])
    place = {name: number for number, name in enumerate(names)}
    return sorted((sorted(block, key=place.__getitem__) for block in blocks), key=lambda block: place[block[0]])
