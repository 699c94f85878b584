"""The search for the matches of one query: its terms, their orders, and the program that the kernel reads."""

from __future__ import annotations

from collections.abc import Iterator

from elsinore.actors.detection.conditions import pair_of
from elsinore.actors.detection.entries import Bindable, Clocked, Leaves
from elsinore.actors.detection.formulas import Formula, Operation, Sides, UnsureError
from elsinore.actors.detection.keys import comparable
from elsinore.actors.detection.orders import TESTED, Seen, ordered, selectivity
from elsinore.actors.detection.searching import Compiled, Search
from elsinore.actors.detection.terms import Assembly, Code, Codes, PairCode, Term, terms_of
from elsinore.actors.detection.window import Window
from elsinore.planner.detection.normal_form import Clause, Condition, NormalForm
from elsinore.planner.language.errors import Problem, WorkloadError


class Finder:
    """The search for the matches of one query."""

    def __init__(self, form: NormalForm, span: int) -> None:
        self.form = form
        self.span = span
        self.counts_events = form.query.counts_events
        self.ahead = form.looks_ahead
        """Whether a match is known only when its window is over."""
        self.by_first = self.ahead and form.query.limit is None
        """Whether matches are searched from their first events. LIMIT asks for all matches with one end together."""
        self.terms = tuple(term for clause in form.clauses for term in terms_of(clause, self.by_first))
        conditions = (one for clause in (*form.clauses, *self._guarding()) for one in clause.conditions)
        self.conditions = tuple(dict.fromkeys(conditions))
        self._seen: Seen | None = None
        self._ordered = self.terms
        self._compiled: tuple[object, Compiled] | None = None

    def _guarding(self) -> Iterator[Clause]:
        for guard in self.form.guards:
            yield from guard.clauses

    def search(self, window: Window, leaves: Leaves, clocked: Clocked, lo: int, hi: int) -> Search:
        """Return the search for the matches whose last (or first) event is one of the rows from `lo` to `hi`."""
        events = Bindable(self.form, leaves, clocked)
        codes, sides = self._codes(events)
        compiled = self._program(events, codes, self._orders(events, codes, sides))
        return Search(compiled, window, events, sides, lo, hi)

    def _codes(self, events: Bindable) -> tuple[dict[Condition, Code], Sides]:
        sides = Sides()
        codes: dict[Condition, Code] = {}
        for condition in self.conditions:
            pair = pair_of(condition.expression)
            if pair is not None and not condition.summarised:
                left = events.values(pair.left.variable, pair.left_side)
                right = events.values(pair.right.variable, pair.right_side)
                keys = comparable(left, right, pair.text, self.form.query.name)
                numbers = sides.add_keys(pair.left.variable, keys[0]), sides.add_keys(pair.right.variable, keys[1])
                codes[condition] = PairCode(pair.operator, pair.left, numbers[0], pair.right, numbers[1])
            elif code := self._formula(condition, events, sides):
                codes[condition] = code
        return codes, sides

    def _formula(self, condition: Condition, events: Bindable, sides: Sides) -> tuple[Operation, ...] | None:
        formula = Formula(events, sides)
        try:
            formula.condition(condition.expression)
        except UnsureError:
            late = condition.whole or self.form.query.semantics != "next"
            if late and condition.variables <= set(self.form.columns):
                return None
            message = f"{condition.expression} has to be decided while events are searched, and is no sum of numbers"
            hint = "compare numbers whose sums and products fit 64 bits"
            place, name = condition.expression.place, self.form.query.name
            raise WorkloadError([Problem(f"{message} that fit 64 bits", hint, place, name)]) from None
        return tuple(formula.code)

    def _orders(self, events: Bindable, codes: Codes, sides: Sides) -> tuple[Term, ...]:
        """Return the terms, each in the order that is cheapest for the events that there are."""
        if all(len(term.order) < 3 for term in self.terms):
            return self.terms
        seen = self._see(events, codes, sides)
        if self._seen is None or not self._seen.is_like(seen):
            self._seen, self._ordered = seen, tuple(ordered(term, seen) for term in self.terms)
        return self._ordered

    def _see(self, events: Bindable, codes: Codes, sides: Sides) -> Seen:
        at, order = events.clocked.at, events.clocked.order
        windows = max(1.0, float(at[order[-1]] - at[order[0]]) / self.span) if len(order) else 1.0
        rates = {name: len(events.rows(name)) / windows for name in self.form.types}
        found: dict[frozenset[str], float] = {}
        for condition, code in codes.items():
            if not condition.successive and not condition.whole:
                share = TESTED
                if isinstance(code, PairCode):
                    share = selectivity(code.operator, sides.keys[code.left_side][1], sides.keys[code.right_side][1])
                found[condition.variables] = found.get(condition.variables, 1.0) * share
        return Seen(rates, found)

    def _program(self, events: Bindable, codes: Codes, terms: tuple[Term, ...]) -> Compiled:
        signature = (tuple(codes.items()), terms)
        if self._compiled is None or self._compiled[0] != signature:
            assembly = Assembly(self.form, events.leaf_of, codes, self.span)
            numbers = [assembly.main(term) for term in terms]
            filters = frozenset(one for one in self.conditions if one not in codes)
            program = assembly.program()
            numbered = tuple(zip(numbers, terms, strict=True))
            self._compiled = (
                signature,
                Compiled(self.form, self.span, self.by_first, program, numbered, tuple(assembly.names), filters),
            )
        return self._compiled[1]
