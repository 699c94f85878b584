"""Build machines from automata by the subset construction, state by state as they are reached."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from elsinore.planner.language.syntax import Semantics
from elsinore.planner.machines.automaton import CLOSED, Automaton, Crossings, either
from elsinore.planner.machines.machine import (
    Append,
    Consume,
    EventClass,
    Machine,
    Moves,
    PartialTrend,
    Reached,
    State,
    Successors,
    Symbol,
    TooComplexError,
)
from elsinore.planner.machines.predicates import Predicates

MAX_STATES = 4096


def machine(
    automata: tuple[Automaton, ...],
    predicates: Predicates,
    named: frozenset[str],
    semantics: Semantics,
    classes: tuple[EventClass, ...],
) -> Machine:
    """Return the machine of the trends that match all of the patterns at once (several only under AND)."""
    return _Builder(automata, predicates, named, semantics, classes).build()


class _Builder:
    def __init__(
        self,
        automata: tuple[Automaton, ...],
        predicates: Predicates,
        named: frozenset[str],
        semantics: Semantics,
        classes: tuple[EventClass, ...],
    ) -> None:
        self.automata = automata
        self.predicates = predicates
        self.named = named
        self.semantics = semantics
        self.classes = classes
        self.numbers: dict[State, int] = {}
        self.appends: dict[int, list[Append]] = {c: [] for c in range(len(classes) + 1)}
        self.consumes: dict[int, dict[tuple[int, str | None], dict[int, int]]] = {
            c: {} for c in range(len(classes) + 1)
        }
        """Moves by class, and by pattern and the variable that binds the event."""
        self.between: dict[tuple[str | None, str | None], tuple[int, ...]] = {}
        """By the variables of two neighbours: the numbers of the links between them."""
        for k, link in enumerate(predicates.links):
            pair = (link.before, link.after)
            self.between[pair] = (*self.between.get(pair, ()), k)
        self.parts: dict[tuple[int, tuple[int, ...], str | None], PartialTrend] = {}
        """The results of `_behind`, by pattern, positions of the last event, and the variable that binds it."""
        self.linked = linked = {link.before for link in predicates.links}
        self.costly = {
            (i, g)
            for i, whole in enumerate(automata)
            for g, guard in enumerate(whole.guards)
            if any(position.variable in linked for position in guard.positions)
        }
        self.symbol_sets = self._close_under_union()
        self.advances: dict[int, dict[int, int]] = {u: {} for u in range(len(self.symbol_sets))}
        self.closes: dict[tuple[int, int], dict[int, int]] = {guard: {} for guard in sorted(self.costly)}

    def build(self) -> Machine:
        firsts = (frozenset({frozenset(whole.first.items())}) for whole in self.automata)
        self._number(State(tuple(self._part(first, CLOSED, frozenset(), None) for first in firsts), started=False))
        done = 0
        while done < len(self.numbers):
            self._visit(list(self.numbers)[done], done)
            done += 1
        symbols = {symbol: u for u, symbol in enumerate(self.symbol_sets)}
        return Machine(
            self.semantics,
            self.classes,
            tuple(self.numbers),
            tuple(s for state, s in self.numbers.items() if state.started and all(part.accept for part in state.parts)),
            tuple(tuple(appends) for appends in self.appends.values()),
            tuple(self._consumes(by_label) for by_label in self.consumes.values()),
            (0, *(symbols[self._symbol(event_class)] for event_class in self.classes)),
            tuple(tuple(symbols[a | b] for b in self.symbol_sets) for a in self.symbol_sets),
            tuple(_ordered(moves) for moves in self.advances.values()),
            tuple((guard, _ordered(moves)) for guard, moves in self.closes.items()),
            (False, *(self._may_end(event_class) for event_class in self.classes)),
        )

    def _symbol(self, event_class: EventClass) -> Symbol:
        return frozenset(entry for entry in event_class.guarded if entry[:2] not in self.costly)

    def _close_under_union(self) -> tuple[Symbol, ...]:
        """Return all symbols that events at one time can give together; raise TooComplexError if they are too many."""
        known = dict.fromkeys([Symbol(), *map(self._symbol, self.classes)])
        while more := {a | b for a in known for b in known} - known.keys():
            if len(known) + len(more) > MAX_STATES:
                raise TooComplexError("the negated sub-patterns are too many to follow together", "split the query")
            known.update(dict.fromkeys(sorted(more, key=sorted)))
        return tuple(known)

    def _may_end(self, event_class: EventClass) -> bool:
        return all(
            any(p in whole.last for p in taken)
            for whole, taken in zip(self.automata, event_class.positions, strict=True)
        )

    def _number(self, state: State) -> int:
        if state not in self.numbers:
            if len(self.numbers) >= MAX_STATES:
                raise TooComplexError(
                    f"the pattern needs more than {MAX_STATES} states", "make it shorter, or split the query"
                )
            self.numbers[state] = len(self.numbers)
        return self.numbers[state]

    def _visit(self, state: State, number: int) -> None:
        extensible = state.started and any(part.threads for part in state.parts)
        following = [{r for thread in part.threads for r, _ in thread} for part in state.parts]
        for c, event_class in enumerate(self.classes, start=1):
            after = [positions & next_ for positions, next_ in zip(event_class.positions, following, strict=True)]
            if not all(after) and self.semantics != "next":
                continue
            self._append(state, number, c, after)
            if extensible and self.semantics == "next":
                self._consume(state, number, c, after)
        if extensible and self.semantics == "contiguous":
            for by_label in self.consumes.values():
                by_label.setdefault((0, None), {})[number] = -1
            return
        for u, symbol in enumerate(self.symbol_sets):
            self._move(self.advances[u], number, state, self._advanced(state, symbol))
        for guard, moves in self.closes.items():
            self._move(moves, number, state, self._closed(state, {guard}))

    def _move(self, moves: dict[int, int], number: int, before: State, after: State | None) -> None:
        if after is None:
            moves[number] = -1
        elif after != before:
            moves[number] = self._number(after)

    def _append(self, state: State, number: int, c: int, after: list[frozenset[int]]) -> None:
        choices = [list(self._lengthened(i, positions)) for i, positions in enumerate(after)]
        for choice in product(*choices):
            bound = [label for label, _ in choice]
            links = {
                link
                for part, label in zip(state.parts, bound, strict=True)
                for link in self.between.get((part.label, label), ())
            }
            for target in self._targets(tuple(part for _, part in choice)):
                names = tuple(sorted({label for label in bound if label}))
                self.appends[c].append(Append(number, self._number(target), names, tuple(sorted(links))))

    def _lengthened(self, i: int, after: frozenset[int]) -> Iterator[tuple[str | None, PartialTrend]]:
        """Yield the part of a trend after an event that takes these positions, per variable that may bind the event."""
        whole = self.automata[i]
        by_label: dict[str | None, list[int]] = {}
        for r in sorted(after):
            by_label.setdefault(self._label(whole, r), []).append(r)
        for label, chosen in by_label.items():
            key = (i, tuple(chosen), label)
            if key not in self.parts:
                self.parts[key] = self._behind(whole, chosen, label)
            yield label, self.parts[key]

    def _behind(self, whole: Automaton, chosen: list[int], label: str | None) -> PartialTrend:
        threads = frozenset(frozenset(whole.follow[r].items()) for r in chosen)
        accept = CLOSED
        for r in chosen:
            accept = either(accept, whole.last.get(r, CLOSED))
        return self._part(threads, accept, frozenset(), label)

    def _label(self, whole: Automaton, position: int) -> str | None:
        variable = whole.positions[position].variable
        return variable if variable in self.named else None

    def _targets(self, parts: tuple[PartialTrend, ...]) -> Iterator[State]:
        """Yield the states of a lengthened trend.

        Under `any` one counter serves trends to end and to go on. Elsewhere these have counters of their own, since
        trends that go on may be consumed.
        """
        ends = all(part.accept for part in parts)
        goes_on = all(part.threads for part in parts)
        if self.semantics == "any":
            if ends or goes_on:
                yield State(parts)
            return
        if ends:
            yield State(tuple(self._part(frozenset(), part.accept, part.reached, None) for part in parts))
        if goes_on:
            yield State(tuple(self._part(part.threads, CLOSED, part.reached, part.label) for part in parts))

    def _consume(self, state: State, number: int, c: int, positions: list[frozenset[int]]) -> None:
        """Record which trends an event consumes, per variable that may bind it: each may have predicates of its own."""
        for i, after in enumerate(positions):
            for label in sorted({self._label(self.automata[i], r) for r in after}, key=str):
                taken = {r for r in after if self._label(self.automata[i], r) == label}
                moves = self.consumes[c].setdefault((i, label), {})
                self._move(moves, number, state, self._consumed(state, i, taken))

    def _consumed(self, state: State, i: int, taken: set[int]) -> State | None:
        part = state.parts[i]
        threads = frozenset(thread for thread in part.threads if not any(r in taken for r, _ in thread))
        left = self._part(threads, part.accept, part.reached, part.label)
        return self._alive([*state.parts[:i], left, *state.parts[i + 1 :]], state.started)

    def _consumes(self, by_label: dict[tuple[int, str | None], dict[int, int]]) -> tuple[Consume, ...]:
        states = list(self.numbers)
        found = []
        for (i, label), moves in by_label.items():
            for source, target in _ordered(moves):
                links = self.between.get((states[source].parts[i].label, label), ())
                found.append(Consume(source, target, links if label else ()))
        return tuple(found)

    def _advanced(self, state: State, symbol: Symbol) -> State | None:
        """Return the state after a symbol advances the guards in its gaps; None if its trends end."""
        parts = []
        matched = set()
        for i, part in enumerate(state.parts):
            reached = dict(part.reached)
            for g in self._guards_of(part):
                taken = {p for j, h, p in symbol if (j, h) == (i, g)}
                guard = self.automata[i].guards[g]
                so_far = reached.get(g, frozenset())
                steps = {p for p in taken if p in guard.first or any(p in guard.follow[q] for q in so_far)}
                if any(p in guard.last for p in steps):
                    matched.add((i, g))
                if so_far | steps:
                    reached[g] = so_far | steps
            parts.append(PartialTrend(part.threads, part.accept, frozenset(reached.items()), part.label))
        return self._closed(State(tuple(parts), state.started), matched)

    def _closed(self, state: State, matched: set[tuple[int, int]]) -> State | None:
        """Return the state without the ways through gaps in which these guards were matched; None if none is left."""
        parts = []
        for i, part in enumerate(state.parts):
            guards = frozenset(g for j, g in matched if j == i)
            threads = frozenset(
                frozenset((r, left) for r, ways in thread if (left := _without(ways, guards)))
                for thread in part.threads
            )
            parts.append(self._part(threads, _without(part.accept, guards), part.reached, part.label))
        return self._alive(parts, state.started)

    def _alive(self, parts: list[PartialTrend], started: bool) -> State | None:
        goes_on = all(part.threads for part in parts)
        ends = all(part.accept for part in parts)
        return State(tuple(parts), started) if goes_on or ends else None

    def _guards_of(self, part: PartialTrend) -> set[int]:
        crossings = [ways for thread in part.threads for _, ways in thread]
        return {g for ways in (*crossings, part.accept) for way in ways for g in way}

    def _part(
        self, threads: frozenset[Successors], accept: Crossings, reached: Reached, label: str | None
    ) -> PartialTrend:
        """Return a part in canonical form, the same for all trends that behave alike, so that they share a counter."""
        threads = frozenset(thread for thread in threads if thread)
        if self.semantics != "next" and len(threads) > 1:
            merged: dict[int, Crossings] = {}
            for r, ways in (edge for thread in threads for edge in thread):
                merged[r] = either(merged.get(r, CLOSED), ways)
            threads = frozenset({frozenset(merged.items())})
        if not threads or label not in self.linked:
            label = None
        part = PartialTrend(threads, accept, reached, label)
        guards = self._guards_of(part)
        return PartialTrend(threads, accept, frozenset(entry for entry in reached if entry[0] in guards), label)


def _without(ways: Crossings, guards: frozenset[int]) -> Crossings:
    return frozenset(way for way in ways if not way & guards) if guards else ways


def _ordered(moves: dict[int, int]) -> Moves:
    """Order moves so that a state is emptied before another is moved into it: nothing moves twice."""
    ordered: dict[int, int] = {}

    def put(source: int) -> None:
        if source in moves and source not in ordered:
            put(moves[source])
            ordered[source] = moves[source]

    for source in moves:
        put(source)
    return tuple(ordered.items())
