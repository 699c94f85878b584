"""Search for matches depth first over the elements of a clause, on columns of events.

A search runs a *term*: the elements of a clause in some order (its *levels*), the first of which has the last
event of the match (or the first event, if the term is searched `by_first`). Levels bind single events, or chains: a
chain is read event by event, forwards or backwards in time, by a deterministic automaton. Guards are terms, too; for
these the search only finds whether they have a match between two times. The events of single elements may be given by
a join that found them before: then a level has one candidate for each trigger.

Legend. Entries are the events of all leaves (events of one type that satisfy the same conditions), one leaf after
another, each sorted by partition and time. `at` is a virtual time: it differs by more than a window between partitions.
Frames are the stack of the search: each binds one event, and those of a level are adjacent. The stack is also the
cursor from which a search continues after its output was full. Ranges include their first, and exclude their last time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.comparing_numba_fns import (
    EQUAL,
    NO_LEFT,
    NO_RIGHT,
    compared,
    ordered,
    sought,
)
from elsinore.planner.kernels.compiled import kernel, part

Ints = npt.NDArray[np.int64]
Ints32 = npt.NDArray[np.int32]

# Modes of a search.
LIST, COUNT, RESUME = range(3)

FULL = -1
"""The result of a search whose output has no space for the next match."""

NOWHERE = -1

# Lists of numbers that a program has by level, variable, gap and so on: `data[at[kind, i] : at[kind, i + 1]]`.
(
    LABELS,  # by level: the variables that it binds
    GUARDS,  # by level: pairs of a guard in its chain, and whether it can only be decided at the end
    EARLIER,  # by level: the levels bound before that come before it in time
    LATER,  # by level: the levels bound before that come after it
    UNEQUAL,  # by level: the levels bound before that might bind the same events
    PRECEDING,  # by level: all levels of its term that come before it in time
    SUCCEEDING,  # by level: all levels of its term that come after it
    GAPS,  # by level: the gaps that can be decided once it is bound
    AFTER,  # by gap: the levels behind which it begins
    BEFORE,  # by gap: the levels before which it ends
    WAYS,  # by gap: each way as the number of its guards and these
    TERMS,  # by guard: its terms
    COMPARED,  # by variable: other variable, operator, own side, other side, whether both are of one level
    SUCCESSORS,  # by variable: operator, side of the earlier event, side of the later event
    TESTED,  # by variable: pairs of a test, and whether its variables are all of one level
    CHOSEN,  # by test: its variables
    CODE,  # by test: six numbers an operation
    COLUMNS,  # by term: the variables that it writes
    FINALS,  # by term: tests of complete matches
) = range(19)
LISTS = 19

# Columns of `levels`.
FORWARDS, FOLLOWING, STEPS, ACCEPTS, MASKS, LATE, STRICT, IS_SINGLE, GIVEN = range(9)
LEVEL_WIDTH = 9

# What follows an event in a chain: FOLLOWING.
ANY, NEXT, CONTIGUOUS = range(3)

# Columns of `terms`.
FIRST, END, SPAN, BY_FIRST, TRIGGERED = range(5)
TERM_WIDTH = 5

# Columns of `variables`.
LEVEL, LEAF = range(2)

# Columns of frames.
ENTRY, VARIABLE, STATE, OF, STAGE, CURSOR, STOP, LABEL, FROM, LO, HI, SCANNING, BEST, MASK = range(14)
FRAME_WIDTH = 14

# Stages of a frame: its next step.
SEEK, TAKE, COMPLETE, DEEPER, MATCHED, EXTEND, RELEASE = range(7)

# Why `proceed` returns: the end; an event of a chain whose next state depends on guards; a level behind which gaps
# have to be clear; a match.
DONE, CROSSING, BOUND, MATCH = range(4)

# Operations of tests. Those up to SUMMARY push a value; those from ADD on take two values and push one.
(
    COMPARE_KEYS,
    TRUTH,
    VALUE,
    WHOLE_LITERAL,
    REAL_LITERAL,
    NOTHING,
    SUMMARY,
    NEGATE,
    NEGATE_REAL,
    KNOWN,
    INVERT,
    BOTH,
    EITHER,
    COMPARE,
    COMPARE_REAL,
    ADD,
    SUBTRACT,
    MULTIPLY,
    MODULO,
    ADD_REAL,
    SUBTRACT_REAL,
    MULTIPLY_REAL,
    DIVIDE_REAL,
    MODULO_REAL,
) = range(24)
CODE_WIDTH = 6

# Functions of SUMMARY.
OF_COUNT, OF_SUM, OF_AVERAGE, OF_MINIMUM, OF_MAXIMUM, OF_FIRST, OF_LAST = range(7)


class Program(NamedTuple):
    """What is searched."""

    at: Ints32
    data: Ints32
    terms: Ints
    levels: Ints32
    variables: Ints32
    steps: Ints32
    """By level, state, label and mask: the next state."""
    accepts: npt.NDArray[np.bool_]
    reals: npt.NDArray[np.float64]
    """Literals of tests."""
    wholes: Ints


class Entries(NamedTuple):
    """The events that are searched."""

    at: Ints
    row: Ints32
    leaves: Ints
    """Where each leaf begins, and the end of the last."""
    before: Ints
    """By entry, the latest time of an event of its partition before its own, of whatever type; for contiguous."""
    after: Ints
    fresh: npt.NDArray[np.bool_]
    """Whether the entry may be the last of a match that is asked for."""
    triggers: Ints
    """By term, the entries that its first level may bind first, in the order of time."""
    labels: Ints
    """By trigger, the label of the variable to which it is bound."""
    triggers_at: Ints
    """By term, where its triggers begin, and where they end."""
    given: Ints
    """The entries that levels bind with each trigger, where they are known."""
    given_at: Ints
    """By level, where these begin."""
    keys: Ints
    key_at: Ints
    """By side of a comparison: what to add to an entry to find its key."""
    wholes: Ints
    reals: npt.NDArray[np.float64]
    known: npt.NDArray[np.bool_]
    value_at: Ints
    """By side of a test: what to add to an entry to find its value in the three columns above."""


class Stack(NamedTuple):
    frames: Ints
    levels: Ints
    """By level, the first of its frames, how many of them are bound, and where its last candidates began."""
    choice: Ints
    """By variable, the entry that a test is about."""
    turn: Ints
    """While a test is made, by variable of the test, the frame that has its turn."""
    wholes: Ints
    reals: npt.NDArray[np.float64]
    known: npt.NDArray[np.bool_]
    depth: Ints
    """The depth at which a search that was interrupted goes on; the last trigger with matches, and their number."""


class Output(NamedTuple):
    rows: Ints32
    """The events of matches, by match and column."""
    counts: Ints32
    """By match and column, how many there are; no column where each has one."""
    used: Ints
    """The number of matches, and of rows, so far."""
    most: int
    found: Ints
    """By trigger, the number of matches, where they are counted."""
    first: int
    """The number of matches of a trigger after which the next trigger is taken."""


@part
def find_range(p: Program, e: Entries, s: Stack, level: int, variable: int, frame: Ints, hi: int) -> None:
    """Set the candidates of a frame: the events of a variable from the frame's first time on and before `hi`."""
    leaf = p.variables[variable, LEAF]
    first, end = e.leaves[leaf], e.leaves[leaf + 1]
    lo = sought(e.at, first, end, s.levels[level, 2], frame[LO])
    s.levels[level, 2] = lo
    frame[VARIABLE], frame[CURSOR] = variable, lo
    frame[STOP] = sought(e.at, lo, end, lo, hi)


@part
def compared_reals(operator: int, a: float, b: float) -> bool:
    return ordered(operator, a, b) if operator <= EQUAL else a != b


@part
def holds(p: Program, e: Entries, s: Stack, test: int) -> bool:
    """Return whether a test holds for the entries that are chosen."""
    top = -1
    wholes, reals, known = s.wholes, s.reals, s.known
    for c in range(p.at[CODE, test], p.at[CODE, test + 1], CODE_WIDTH):
        code, a, b = p.data[c], p.data[c + 1], p.data[c + 2]
        if code <= SUMMARY:
            top += 1
            if code == COMPARE_KEYS:
                left = e.keys[e.key_at[b] + s.choice[p.data[c + 3]]]
                right = e.keys[e.key_at[p.data[c + 4]] + s.choice[p.data[c + 5]]]
                wholes[top], known[top] = compared(a, left, right), True
            elif code == WHOLE_LITERAL:
                wholes[top], known[top] = p.wholes[a], True
            elif code == REAL_LITERAL:
                reals[top], known[top] = p.reals[a], True
            elif code == NOTHING:
                known[top] = False
            elif code == SUMMARY:
                known[top] = summarise(p, e, s, a, b, p.data[c + 3], top)
            else:
                k = e.value_at[a] + s.choice[b]
                wholes[top], reals[top], known[top] = e.wholes[k], e.reals[k], e.known[k]
                if code == TRUTH:
                    wholes[top], known[top] = known[top] and wholes[top] != 0, True
        elif code == NEGATE:
            wholes[top] = -wholes[top]
        elif code == NEGATE_REAL:
            reals[top] = -reals[top]
        elif code == KNOWN:
            wholes[top], known[top] = known[top], True
        elif code == INVERT:
            wholes[top] = 1 - wholes[top]
        else:
            top -= 1
            both = known[top] and known[top + 1]
            if code == BOTH:
                wholes[top] = wholes[top] & wholes[top + 1]
            elif code == EITHER:
                wholes[top] = wholes[top] | wholes[top + 1]
            elif code == COMPARE:
                wholes[top], known[top] = both and compared(a, wholes[top], wholes[top + 1]), True
            elif code == COMPARE_REAL:
                wholes[top], known[top] = both and compared_reals(a, reals[top], reals[top + 1]), True
            elif code < ADD_REAL:
                known[top] = calculate(code, wholes, top, both)
            else:
                known[top] = calculate_reals(code, reals, top, both)
    return wholes[0] != 0


@part
def summarise(p: Program, e: Entries, s: Stack, function: int, variable: int, side: int, top: int) -> bool:
    """Push a value of all events of a variable, as an integer and as a float; return whether there is one."""
    level = p.variables[variable, LEVEL]
    first, count = s.levels[level, 0], s.levels[level, 1]
    found = 0
    whole, real, rest = 0, 0.0, 0.0
    for i in range(count):
        frame = s.frames[first + i if p.levels[level, FORWARDS] else first + count - 1 - i]
        if frame[VARIABLE] != variable:
            continue
        if function == OF_COUNT:
            found += 1
            continue
        k = e.value_at[side] + frame[ENTRY]
        if not e.known[k]:
            continue
        found += 1
        if function == OF_SUM or function == OF_AVERAGE:
            whole += e.wholes[k]
            # The rounding error of each addition is added up, too (Neumaier).
            added = real + e.reals[k]
            if abs(real) >= abs(e.reals[k]):
                rest += (real - added) + e.reals[k]
            else:
                rest += (e.reals[k] - added) + real
            real = added
        elif (
            found == 1
            or function == OF_LAST
            or (function == OF_MINIMUM and (e.reals[k] < real or e.wholes[k] < whole))
            or (function == OF_MAXIMUM and (e.reals[k] > real or e.wholes[k] > whole))
        ):
            whole, real = e.wholes[k], e.reals[k]
    if function == OF_COUNT:
        s.wholes[top], s.reals[top] = found, found
        return True
    real += rest
    s.wholes[top], s.reals[top] = whole, real / found if function == OF_AVERAGE and found else real
    return found > 0


@part
def calculate(code: int, wholes: Ints, top: int, known: bool) -> bool:
    """Calculate with the two values on top of the stack, and return whether there is a result."""
    a, b = wholes[top], wholes[top + 1]
    if code == ADD:
        wholes[top] = a + b
    elif code == SUBTRACT:
        wholes[top] = a - b
    elif code == MULTIPLY:
        wholes[top] = a * b
    elif b == 0:
        return False
    else:
        wholes[top] = a % b
    return known


@part
def calculate_reals(code: int, reals: npt.NDArray[np.float64], top: int, known: bool) -> bool:
    a, b = reals[top], reals[top + 1]
    if code == ADD_REAL:
        reals[top] = a + b
    elif code == SUBTRACT_REAL:
        reals[top] = a - b
    elif code == MULTIPLY_REAL:
        reals[top] = a * b
    elif b == 0.0:
        return False
    elif code == DIVIDE_REAL:
        reals[top] = a / b
    else:
        reals[top] = a % b
    return known and reals[top] == reals[top]


@part
def first_at(p: Program, e: Entries, s: Stack, level: int) -> int:
    """Return the time of the first event that a level binds."""
    frame = s.levels[level, 0]
    if not p.levels[level, FORWARDS]:
        frame += s.levels[level, 1] - 1
    return e.at[s.frames[frame, ENTRY]]


@part
def last_at(p: Program, e: Entries, s: Stack, level: int) -> int:
    frame = s.levels[level, 0]
    if p.levels[level, FORWARDS]:
        frame += s.levels[level, 1] - 1
    return e.at[s.frames[frame, ENTRY]]


@part
def begin_level(p: Program, e: Entries, s: Stack, term: int, level: int, depth: int, lo: int, hi: int) -> None:
    """Push the frame of the first event that a level binds. `lo`, `hi`: the range of a guard."""
    top = p.terms[term, FIRST]
    if p.terms[term, TRIGGERED] and level > top:
        strict = p.levels[level, STRICT]
        if p.terms[term, BY_FIRST]:
            lo = first_at(p, e, s, top)
            hi = lo + p.terms[term, SPAN]
            lo += strict
        else:
            hi = last_at(p, e, s, top) + 1
            lo = hi - p.terms[term, SPAN]
            hi -= strict
    for j in range(p.at[EARLIER, level], p.at[EARLIER, level + 1]):
        lo = max(lo, last_at(p, e, s, p.data[j]) + 1)
    for j in range(p.at[LATER, level], p.at[LATER, level + 1]):
        hi = min(hi, first_at(p, e, s, p.data[j]))
    s.levels[level, 0], s.levels[level, 1] = depth, 0
    begin_frame(s, level, depth, 0, lo, hi, 0)
    if p.levels[level, GIVEN]:
        frame = s.frames[depth]
        entry = e.given[e.given_at[level] + s.frames[s.levels[top, 0], CURSOR] - 1 - e.triggers_at[term, 0]]
        frame[LABEL], frame[VARIABLE] = 0, p.data[p.at[LABELS, level]]
        frame[CURSOR], frame[STOP] = entry, entry + 1


@part
def begin_frame(s: Stack, level: int, depth: int, state: int, lo: int, hi: int, scanning: int) -> None:
    frame = s.frames[depth]
    frame[OF], frame[STAGE], frame[FROM] = level, SEEK, state
    frame[CURSOR], frame[STOP], frame[LABEL] = 0, 0, -1
    frame[LO], frame[HI] = lo, hi
    frame[SCANNING], frame[BEST] = scanning, hi


@part
def begin_next(p: Program, e: Entries, s: Stack, depth: int) -> None:
    """Push a frame for the event behind (or, backwards, before) the last one of an unfinished chain."""
    level = s.frames[depth, OF]
    entry = s.frames[depth, ENTRY]
    first = s.levels[level, 0]
    lo, hi = s.frames[first, LO], s.frames[first, HI]
    following = p.levels[level, FOLLOWING]
    if p.levels[level, FORWARDS]:
        lo = e.at[entry] + 1
        if following == CONTIGUOUS:
            lo = e.after[entry]
            hi = min(hi, lo + 1)
    else:
        hi = e.at[entry]
        if following == CONTIGUOUS:
            hi = e.before[entry] + 1
            lo = max(lo, e.before[entry])
    begin_frame(s, level, depth + 1, s.frames[depth, STATE], lo, hi, following == NEXT)


@part
def candidate(p: Program, e: Entries, s: Stack, depth: int) -> int:
    """Return the next entry that a frame might bind; NOWHERE if there is none."""
    frame = s.frames[depth]
    level = frame[OF]
    while True:
        k = frame[CURSOR]
        if k < frame[STOP]:
            frame[CURSOR] = k + 1
            return k
        frame[LABEL] += 1
        label = p.at[LABELS, level] + frame[LABEL]
        if label >= p.at[LABELS, level + 1]:
            if not frame[SCANNING] or frame[BEST] == frame[HI]:
                return NOWHERE
            # The next time at which an event can continue the chain is known: take the events of that time.
            frame[SCANNING], frame[LABEL] = 0, -1
            frame[LO], frame[HI] = frame[BEST], frame[BEST] + 1
            continue
        if stepped(p, level, frame[FROM], frame[LABEL], p.levels[level, MASKS] - 1) == NOWHERE:
            continue
        variable = p.data[label]
        find_range(p, e, s, level, variable, frame, frame[BEST] if frame[SCANNING] else frame[HI])


@part
def trigger(p: Program, e: Entries, s: Stack, term: int, depth: int) -> int:
    """Return the next entry that the first frame of a term might bind; NOWHERE if there is none."""
    frame = s.frames[depth]
    if frame[LABEL] < 0:
        frame[CURSOR] = e.triggers_at[term, 0]
    k = frame[CURSOR]
    if k == e.triggers_at[term, 1]:
        return NOWHERE
    frame[CURSOR], frame[LABEL] = k + 1, e.labels[k]
    frame[VARIABLE] = p.data[p.at[LABELS, frame[OF]] + frame[LABEL]]
    return e.triggers[k]


@part
def stepped(p: Program, level: int, state: int, label: int, mask: int) -> int:
    labels = p.at[LABELS, level + 1] - p.at[LABELS, level]
    return p.steps[p.levels[level, STEPS] + (state * labels + label) * p.levels[level, MASKS] + mask]


@part
def accepted(p: Program, level: int, state: int, mask: int) -> bool:
    return p.accepts[p.levels[level, ACCEPTS] + state * p.levels[level, MASKS] + mask]


@part
def fits(p: Program, e: Entries, s: Stack, variable: int, entry: int, own: bool) -> bool:
    """Return whether an event satisfies the conditions with all events bound so far; `own`: those of its level."""
    for j in range(p.at[COMPARED, variable], p.at[COMPARED, variable + 1], 5):
        other = p.data[j]
        level = p.variables[other, LEVEL]
        count = s.levels[level, 1]
        if count == 0 or (own and not p.data[j + 4]):
            continue
        mine = e.keys[e.key_at[p.data[j + 2]] + entry]
        theirs = e.key_at[p.data[j + 3]]
        first = s.levels[level, 0]
        for i in range(first, first + count):
            if s.frames[i, VARIABLE] == other and not compared(
                p.data[j + 1], mine, e.keys[theirs + s.frames[i, ENTRY]]
            ):
                return False
    for j in range(p.at[TESTED, variable], p.at[TESTED, variable + 1], 2):
        if (not own or p.data[j + 1]) and not holds_for_all(p, e, s, p.data[j], variable, entry):
            return False
    return True


@part
def holds_for_all(p: Program, e: Entries, s: Stack, test: int, variable: int, entry: int) -> bool:
    """Return whether a test holds for an event with every choice of bound events of the other variables.

    With `variable` NOWHERE, for every choice of events of all its variables.
    """
    first, end = p.at[CHOSEN, test], p.at[CHOSEN, test + 1]
    if variable != NOWHERE:
        s.choice[variable] = entry
    for j in range(first, end):
        other = p.data[j]
        s.turn[j - first] = s.levels[p.variables[other, LEVEL], 0]
        if other != variable and not turned(p, s, other, j - first):
            return True
    while True:
        if not holds(p, e, s, test):
            return False
        j = first
        while j < end:
            other = p.data[j]
            if other != variable:
                s.turn[j - first] += 1
                if turned(p, s, other, j - first):
                    break
                s.turn[j - first] = s.levels[p.variables[other, LEVEL], 0]
                turned(p, s, other, j - first)
            j += 1
        if j == end:
            return True


@part
def finals_hold(p: Program, e: Entries, s: Stack, term: int) -> bool:
    """Return whether a match satisfies the conditions that speak of all events of a variable together."""
    for j in range(p.at[FINALS, term], p.at[FINALS, term + 1]):
        if not holds_for_all(p, e, s, p.data[j], NOWHERE, NOWHERE):
            return False
    return True


@part
def turned(p: Program, s: Stack, variable: int, at: int) -> bool:
    """Choose the next bound event of a variable; return whether there is one more."""
    level = p.variables[variable, LEVEL]
    frame, end = s.turn[at], s.levels[level, 0] + s.levels[level, 1]
    while frame < end and s.frames[frame, VARIABLE] != variable:
        frame += 1
    s.turn[at] = frame
    if frame >= end:
        return False
    s.choice[variable] = s.frames[frame, ENTRY]
    return True


@part
def succeeds(p: Program, e: Entries, s: Stack, depth: int, variable: int, entry: int) -> bool:
    """Return whether an event and its neighbour in an unfinished chain satisfy the conditions with NEXT."""
    frame = s.frames[depth - 1]
    if frame[VARIABLE] != variable:
        return True
    older, newer = frame[ENTRY], entry
    if not p.levels[frame[OF], FORWARDS]:
        older, newer = newer, older
    for j in range(p.at[SUCCESSORS, variable], p.at[SUCCESSORS, variable + 1], 3):
        left = e.keys[e.key_at[p.data[j + 1]] + older]
        right = e.keys[e.key_at[p.data[j + 2]] + newer]
        if not compared(p.data[j], left, right):
            return False
    return True


@part
def bound_already(p: Program, e: Entries, s: Stack, level: int, entry: int) -> bool:
    """Return whether a level that is not ordered with this one binds the same event."""
    for j in range(p.at[UNEQUAL, level], p.at[UNEQUAL, level + 1]):
        first = s.levels[p.data[j], 0]
        for i in range(first, first + s.levels[p.data[j], 1]):
            if e.row[s.frames[i, ENTRY]] == e.row[entry]:
                return True
    return False


@part
def gap_begin(p: Program, e: Entries, s: Stack, term: int, at: int, end: int) -> int:
    """Return the first time behind all events of these levels; without any, the start of the window."""
    found = NO_RIGHT
    if at == end:
        for level in range(p.terms[term, FIRST], p.terms[term, END]):
            found = max(found, last_at(p, e, s, level))
        return found - p.terms[term, SPAN] + 1
    for j in range(at, end):
        found = max(found, last_at(p, e, s, p.data[j]))
    return found + 1


@part
def gap_end(p: Program, e: Entries, s: Stack, term: int, at: int, end: int) -> int:
    """Return the time of the first event of these levels; without any, the end of the window."""
    found = NO_LEFT
    if at == end:
        for level in range(p.terms[term, FIRST], p.terms[term, END]):
            found = min(found, first_at(p, e, s, level))
        return found + p.terms[term, SPAN]
    for j in range(at, end):
        found = min(found, first_at(p, e, s, p.data[j]))
    return found


@part
def write(p: Program, e: Entries, s: Stack, o: Output, term: int) -> bool:
    """Write the match that is bound; return whether there was room for it."""
    match, used = o.used[0], o.used[1]
    total = 0
    for level in range(p.terms[term, FIRST], p.terms[term, END]):
        total += s.levels[level, 1]
    if match == o.most or used + total > len(o.rows):
        return False
    columns = p.at[COLUMNS, term]
    for j in range(columns, p.at[COLUMNS, term + 1]):
        variable = p.data[j]
        level = p.variables[variable, LEVEL]
        first, count = s.levels[level, 0], s.levels[level, 1]
        before = used
        for i in range(count):
            frame = s.frames[first + i if p.levels[level, FORWARDS] else first + count - 1 - i]
            if frame[VARIABLE] == variable:
                o.rows[used] = e.row[frame[ENTRY]]
                used += 1
        if o.counts.shape[1]:
            o.counts[match, j - columns] = used - before
    o.used[0], o.used[1] = match + 1, used
    return True


@part
def proceed(p: Program, e: Entries, s: Stack, term: int, base: int, depth: int, lo: int, hi: int) -> tuple[int, int]:
    """Go on with a search until there is something to decide; return what, and the depth of its frame."""
    top, end = p.terms[term, FIRST], p.terms[term, END]
    while depth >= base:
        frame = s.frames[depth]
        level = frame[OF]
        if frame[STAGE] == SEEK:
            starting = depth == s.levels[level, 0]
            if starting and level == top and p.terms[term, TRIGGERED]:
                entry = trigger(p, e, s, term, depth)
            else:
                entry = candidate(p, e, s, depth)
            if entry == NOWHERE:
                depth -= 1
                continue
            scanning = frame[SCANNING] != 0
            if not fits(p, e, s, frame[VARIABLE], entry, scanning):
                continue
            if not scanning and bound_already(p, e, s, level, entry):
                continue
            if not starting and not succeeds(p, e, s, depth, frame[VARIABLE], entry):
                continue
            frame[ENTRY], frame[STAGE], frame[MASK] = entry, TAKE, p.levels[level, MASKS] - 1
            if frame[MASK] and not starting:
                return CROSSING, depth
        if frame[STAGE] == TAKE:
            take(p, e, s, term, depth)
        if frame[STAGE] == COMPLETE:
            frame[STAGE] = EXTEND
            ready = accepted(p, level, frame[STATE], p.levels[level, MASKS] - 1)
            if ready and level == top and p.terms[term, TRIGGERED] and p.levels[level, FORWARDS]:
                ready = p.terms[term, BY_FIRST] != 0 or e.fresh[frame[ENTRY]]
            if ready:
                frame[STAGE] = DEEPER
                if p.at[GAPS, level + 1] > p.at[GAPS, level]:
                    return BOUND, depth
        if frame[STAGE] == DEEPER:
            if level + 1 == end:
                frame[STAGE] = MATCHED
            else:
                frame[STAGE] = EXTEND
                depth += 1
                begin_level(p, e, s, term, level + 1, depth, lo, hi)
                continue
        if frame[STAGE] == MATCHED:
            return MATCH, depth
        if frame[STAGE] == EXTEND:
            frame[STAGE] = RELEASE
            if not p.levels[level, IS_SINGLE]:
                begin_next(p, e, s, depth)
                depth += 1
                continue
        if frame[STAGE] == RELEASE:
            s.levels[level, 1] -= 1
            frame[STAGE] = SEEK
    return DONE, depth


@part
def take(p: Program, e: Entries, s: Stack, term: int, depth: int) -> None:
    """Bind the event of a frame; while the next time is looked for, note the time instead."""
    frame = s.frames[depth]
    level = frame[OF]
    entry = frame[ENTRY]
    frame[STAGE] = SEEK
    state = stepped(p, level, frame[FROM], frame[LABEL], frame[MASK])
    if state == NOWHERE:
        return
    if frame[SCANNING]:
        frame[BEST], frame[CURSOR] = e.at[entry], frame[STOP]
        return
    frame[STATE], frame[STAGE] = state, COMPLETE
    if depth == s.levels[level, 0] and level == p.terms[term, FIRST] and p.terms[term, TRIGGERED]:
        frame[LO], frame[HI] = e.at[entry] - p.terms[term, SPAN] + 1, e.at[entry] + p.terms[term, SPAN]
    s.levels[level, 1] += 1


@kernel
def exists(p: Program, e: Entries, s: Stack, term: int, base: int, lo: int, hi: int) -> bool:
    """Return whether a term of a guard has a match in a range; its frames lie from `base` on."""
    depth = base
    begin_level(p, e, s, term, p.terms[term, FIRST], depth, lo, hi)
    while True:
        event, depth = proceed(p, e, s, term, base, depth, lo, hi)
        if event == DONE:
            return False
        if event == MATCH and finals_hold(p, e, s, term):
            for level in range(p.terms[term, FIRST], p.terms[term, END]):
                s.levels[level, 1] = 0
            return True
        s.frames[depth, STAGE] = EXTEND


@part
def is_clear(p: Program, e: Entries, s: Stack, guard: int, base: int, lo: int, hi: int) -> bool:
    """Return whether none of the terms of a guard has a match in a range."""
    for j in range(p.at[TERMS, guard], p.at[TERMS, guard + 1]):
        if exists(p, e, s, p.data[j], base, lo, hi):
            return False
    return True


@part
def crossing_mask(p: Program, e: Entries, s: Stack, depth: int) -> int:
    """Return which guards are clear between the events of a frame and of the one before; late ones count as such."""
    frame = s.frames[depth]
    level, mask = frame[OF], frame[MASK]
    lo, hi = e.at[s.frames[depth - 1, ENTRY]] + 1, e.at[frame[ENTRY]]
    if not p.levels[level, FORWARDS]:
        lo, hi = hi + 1, lo - 1
    first = p.at[GUARDS, level]
    for j in range(first, p.at[GUARDS, level + 1], 2):
        if not p.data[j + 1] and not is_clear(p, e, s, p.data[j], depth + 1, lo, hi):
            mask ^= 1 << ((j - first) >> 1)
    return mask


@part
def gaps_are_clear(p: Program, e: Entries, s: Stack, term: int, depth: int) -> bool:
    """Return whether the gaps are clear that can be decided once the level of a frame is bound."""
    level = s.frames[depth, OF]
    for j in range(p.at[GAPS, level], p.at[GAPS, level + 1]):
        gap = p.data[j]
        lo = gap_begin(p, e, s, term, p.at[AFTER, gap], p.at[AFTER, gap + 1])
        hi = gap_end(p, e, s, term, p.at[BEFORE, gap], p.at[BEFORE, gap + 1])
        clear = False
        way = p.at[WAYS, gap]
        while way < p.at[WAYS, gap + 1] and not clear:
            clear = True
            for i in range(way + 1, way + 1 + p.data[way]):
                if not is_clear(p, e, s, p.data[i], depth + 1, lo, hi):
                    clear = False
                    break
            way += 1 + p.data[way]
        if not clear:
            return False
    return True


@part
def chains_are_clear(p: Program, e: Entries, s: Stack, term: int, depth: int) -> bool:
    """Read chains once more whose guards stand at an edge, or are about events that were not bound yet."""
    for level in range(p.terms[term, FIRST], p.terms[term, END]):
        if p.levels[level, LATE]:
            begin = gap_begin(p, e, s, term, p.at[PRECEDING, level], p.at[PRECEDING, level + 1])
            stop = gap_end(p, e, s, term, p.at[SUCCEEDING, level], p.at[SUCCEEDING, level + 1])
            if not chain_is_clear(p, e, s, level, depth, begin, stop):
                return False
    return True


@part
def chain_is_clear(p: Program, e: Entries, s: Stack, level: int, depth: int, begin: int, stop: int) -> bool:
    forwards = p.levels[level, FORWARDS]
    first, count = s.levels[level, 0], s.levels[level, 1]
    guards = p.at[GUARDS, level]
    state = 0
    for i in range(first, first + count + 1):
        lo, hi = begin, stop
        if i > first:
            known = e.at[s.frames[i - 1, ENTRY]]
            lo, hi = (known + 1, hi) if forwards else (lo, known)
        if i < first + count:
            known = e.at[s.frames[i, ENTRY]]
            lo, hi = (lo, known) if forwards else (known + 1, hi)
        mask = 0
        for j in range(guards, p.at[GUARDS, level + 1], 2):
            if is_clear(p, e, s, p.data[j], depth + 1, lo, hi):
                mask |= 1 << ((j - guards) >> 1)
        if i == first + count:
            return accepted(p, level, state, mask)
        state = stepped(p, level, state, s.frames[i, LABEL], mask)
        if state == NOWHERE:
            return False
    return True


@part
def is_enough(p: Program, s: Stack, o: Output, term: int) -> bool:
    """Count a match of a trigger; return whether no more are asked for, and release all levels but the first if so."""
    if s.depth[1] != s.frames[0, CURSOR]:
        s.depth[1], s.depth[2] = s.frames[0, CURSOR], 0
    s.depth[2] += 1
    if s.depth[2] < o.first:
        return False
    for level in range(p.terms[term, FIRST] + 1, p.terms[term, END]):
        s.levels[level, 1] = 0
    return True


@kernel
def search(p: Program, e: Entries, s: Stack, o: Output, term: int, asked: int) -> int:
    """Search a term that is triggered by its first level.

    LIST: write the matches, and return their number; FULL if there was no room for the next one. RESUME: go on after
    that. COUNT: return the number of matches, and add it up by trigger.
    """
    found = depth = 0
    if asked == RESUME:
        depth = s.depth[0]
    else:
        begin_level(p, e, s, term, p.terms[term, FIRST], depth, 0, 0)
    while True:
        event, depth = proceed(p, e, s, term, 0, depth, 0, 0)
        if event == DONE:
            return found
        frame = s.frames[depth]
        if event == CROSSING:
            frame[MASK] = crossing_mask(p, e, s, depth)
        elif event == BOUND:
            if not gaps_are_clear(p, e, s, term, depth):
                frame[STAGE] = EXTEND
        else:
            if finals_hold(p, e, s, term) and chains_are_clear(p, e, s, term, depth):
                if asked == COUNT:
                    o.found[s.frames[0, CURSOR] - 1] += 1
                elif not write(p, e, s, o, term):
                    s.depth[0] = depth
                    return FULL
                found += 1
                if is_enough(p, s, o, term):
                    depth = 0
                    s.frames[0, STAGE] = RELEASE
                    continue
            frame[STAGE] = EXTEND
