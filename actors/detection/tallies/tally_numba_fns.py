"""Count matches with lists, without a list of them.

The single events of a clause are bound one after another, as by a search. Then nothing that holds between a list and
the rest of the match depends on more than one of its events, or on two that follow one another. So the number of lists
is counted by dynamic programming over the candidates, from the latest to the earliest: by candidate and state of the
list's automaton, the ways to bind the events from this one on. A list that ends before another one begins is counted
behind it, by what follows each of its candidates. Other lists are independent of each other, and their numbers
are multiplied.

Counts are those modulo a prime, or exact where they surely fit 64 bits (no modulus).

Legend. Entries, levels and frames are those of `search_numba_fns`. *Candidates* are the entries that a list may bind,
latest first; those of one time are a *group*. Forced entries are those that a list has to bind.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from elsinore.actors.detection.comparing_numba_fns import NO_RIGHT, compared, lower_bound
from elsinore.actors.detection.frames.search_numba_fns import (
    CURSOR,
    ENTRY,
    FIRST,
    GAPS,
    LABEL,
    LABELS,
    LEAF,
    NOWHERE,
    PRECEDING,
    SPAN,
    STRICT,
    SUCCEEDING,
    SUCCESSORS,
    VARIABLE,
    Entries,
    Program,
    Stack,
    accepted,
    begin_level,
    bound_already,
    candidate,
    first_at,
    fits,
    gaps_are_clear,
    last_at,
    stepped,
    trigger,
)
from elsinore.planner.kernels.compiled import kernel, part

Ints = npt.NDArray[np.int64]
Ints32 = npt.NDArray[np.int32]

# Columns of `chains`: the level, the number of states, whether the chain before follows it, and whether none comes
# before it.
OF_LEVEL, STATES, FOLLOWED, IS_HEAD = range(4)
CHAIN_WIDTH = 4


class Tally(NamedTuple):
    """What is counted besides the program of a term, and space to work in."""

    singles: int
    """The number of levels that are bound before lists are counted."""
    chains: Ints32
    """The lists, each behind the one that follows it in time."""
    begin: int
    """The first row that may be bound."""
    lowest: Ints
    """By variable, the row up to which only forced entries may be bound."""
    highest: Ints
    """By variable, the last row that may be bound."""
    forced: Ints
    """Rows that are forced, in ascending order for each variable."""
    forced_at: Ints
    """By variable, where its forced rows begin, and the end of the last."""
    entry: Ints
    """By candidate, its entry."""
    label: Ints
    ways: Ints
    """By candidate and state, the ways to bind the events from it on."""
    sums: Ints
    """By state, the sum of the ways of the groups so far."""
    complete: Ints
    """Alternately for one chain and the next, by candidate, the ways of which it is the first event."""
    times: Ints
    """The same for the candidates' times."""
    cursors: Ints
    """By label, the next candidate, and the first one."""


@part
def is_forced(t: Tally, variable: int, row: int) -> bool:
    end = t.forced_at[variable + 1]
    k = lower_bound(t.forced, t.forced_at[variable], end, row)
    return k < end and t.forced[k] == row


@part
def is_permitted(e: Entries, t: Tally, variable: int, entry: int) -> bool:
    row = e.row[entry]
    if row < t.begin or row > t.highest[variable]:
        return False
    return row > t.lowest[variable] or is_forced(t, variable, row)


@part
def reduced(value: int, modulus: int) -> int:
    return value % modulus if modulus else value


@part
def begin_chain(p: Program, e: Entries, s: Stack, t: Tally, term: int, level: int) -> None:
    """Find the candidates of each label of a chain: those in the range that the bound events leave."""
    last = e.at[s.frames[0, ENTRY]]
    lo, hi = last + 1 - p.terms[term, SPAN], last + 1 - p.levels[level, STRICT]
    if level == p.terms[term, FIRST]:
        hi = last
    for j in range(p.at[PRECEDING, level], p.at[PRECEDING, level + 1]):
        if s.levels[p.data[j], 1]:
            lo = max(lo, last_at(p, e, s, p.data[j]) + 1)
    for j in range(p.at[SUCCEEDING, level], p.at[SUCCEEDING, level + 1]):
        if s.levels[p.data[j], 1]:
            hi = min(hi, first_at(p, e, s, p.data[j]))
    first = p.at[LABELS, level]
    for label in range(p.at[LABELS, level + 1] - first):
        leaf = p.variables[p.data[first + label], LEAF]
        begin, end = e.leaves[leaf], e.leaves[leaf + 1]
        t.cursors[label, 1] = lower_bound(e.at, begin, end, lo)
        t.cursors[label, 0] = lower_bound(e.at, t.cursors[label, 1], end, max(lo, hi)) - 1


@part
def latest(p: Program, e: Entries, t: Tally, level: int) -> int:
    """Return the time of the next group; NO_RIGHT if there is none."""
    found = NO_RIGHT
    for label in range(p.at[LABELS, level + 1] - p.at[LABELS, level]):
        if t.cursors[label, 0] >= t.cursors[label, 1]:
            found = max(found, e.at[t.cursors[label, 0]])
    return found


@part
def gather(p: Program, e: Entries, s: Stack, t: Tally, level: int, now: int, end: int) -> tuple[int, int]:
    """Add the candidates of a time; return the end of the candidates, and how many entries of this time are forced.

    If any is forced, the others are no candidates.
    """
    begin, forced = end, 0
    for label in range(p.at[LABELS, level + 1] - p.at[LABELS, level]):
        variable = p.data[p.at[LABELS, level] + label]
        while t.cursors[label, 0] >= t.cursors[label, 1] and e.at[t.cursors[label, 0]] == now:
            entry = t.cursors[label, 0]
            t.cursors[label, 0] -= 1
            if not is_permitted(e, t, variable, entry):
                continue
            if is_forced(t, variable, e.row[entry]):
                forced += 1
                end = begin
            elif forced:
                continue
            if fits(p, e, s, variable, entry, False) and not bound_already(p, e, s, level, entry):
                t.entry[end], t.label[end] = entry, label
                end += 1
    return end, forced


@part
def following(p: Program, e: Entries, t: Tally, level: int, k: int, state: int, begin: int, end: int, m: int) -> int:
    """Return the ways to go on behind a candidate from a state, with the candidates from `begin` to `end`."""
    variable = p.data[p.at[LABELS, level] + t.label[k]]
    first, stop = p.at[SUCCESSORS, variable], p.at[SUCCESSORS, variable + 1]
    if first == stop:
        return t.sums[state]
    found = 0
    for later in range(begin, end):
        holds = t.ways[later, state] != 0
        if holds and t.label[later] == t.label[k]:
            for j in range(first, stop, 3):
                left = e.keys[e.key_at[p.data[j + 1]] + t.entry[k]]
                right = e.keys[e.key_at[p.data[j + 2]] + t.entry[later]]
                holds = holds and compared(p.data[j], left, right)
        if holds:
            found = reduced(found + t.ways[later, state], m)
    return found


@part
def chain_ways(p: Program, e: Entries, s: Stack, t: Tally, term: int, chain: int, before: int, m: int) -> int:
    """Count the lists of a chain; `before`: the number of candidates of the chain that follows it.

    Return the number of its candidates. What is complete with each of them is left in `t.complete`.
    """
    level, states = t.chains[chain, OF_LEVEL], t.chains[chain, STATES]
    own, other = chain & 1, (chain & 1) ^ 1
    begin_chain(p, e, s, t, term, level)
    t.sums[:states] = 0
    starts = 0 if t.chains[chain, FOLLOWED] else 1
    is_open = True  # whether a list may still begin (at its last event)
    wanted = 0
    for label in range(p.at[LABELS, level], p.at[LABELS, level + 1]):
        wanted += t.forced_at[p.data[label] + 1] - t.forced_at[p.data[label]]
    barrier = begin = end = at = 0
    triggered = level == p.terms[term, FIRST]
    while True:
        if triggered and begin == end == 0 and is_open:
            now = e.at[s.frames[0, ENTRY]]
            t.entry[0], t.label[0], end = s.frames[0, ENTRY], s.frames[0, LABEL], 1
            forced = 1 if is_forced(t, s.frames[0, VARIABLE], e.row[t.entry[0]]) else 0
        else:
            now = latest(p, e, t, level)
            if now == NO_RIGHT:
                break
            end, forced = gather(p, e, s, t, level, now, begin)
        while at < before and t.times[other, at] > now:
            starts = reduced(starts + t.complete[other, at], m)
            at += 1
        for k in range(begin, end):
            t.times[own, k] = now
            t.ways[k, :states] = 0
            for state in range(states):
                after = stepped(p, level, state, t.label[k], 0)
                if after == NOWHERE:
                    continue
                if state == 0:
                    some = starts if is_open else 0
                else:
                    some = following(p, e, t, level, k, state, barrier, begin, m)
                t.ways[k, after] = reduced(t.ways[k, after] + some, m)
        if forced:
            wanted -= forced
            t.complete[own, :begin] = 0
            t.sums[:states] = 0
            barrier = begin
            if forced > 1:
                end = begin
        if forced or triggered:
            is_open = False
        for k in range(begin, end):
            t.complete[own, k] = 0
            for state in range(states):
                some = t.ways[k, state]
                t.sums[state] = reduced(t.sums[state] + some, m)
                if accepted(p, level, state, 0):
                    t.complete[own, k] = reduced(t.complete[own, k] + some, m)
        begin = end
    if wanted:
        t.complete[own, :end] = 0
    return end


@part
def lists(p: Program, e: Entries, s: Stack, t: Tally, term: int, m: int) -> int:
    """Return the number of ways to bind the lists of a term, whose single events are bound."""
    found, before = 1, 0
    for chain in range(len(t.chains)):
        before = chain_ways(p, e, s, t, term, chain, before, m)
        if t.chains[chain, IS_HEAD]:
            some = 0
            for k in range(before):
                some = reduced(some + t.complete[chain & 1, k], m)
            found = reduced(found * some, m)
            before = 0
        if found == 0:
            return 0
    return found


@kernel
def tally(p: Program, e: Entries, s: Stack, t: Tally, term: int, m: int, found: Ints) -> None:
    """Count the matches of a term by trigger, modulo `m` (0: exactly)."""
    top = p.terms[term, FIRST]
    depth = 0
    begin_level(p, e, s, term, top, 0, 0, 0)
    while depth >= 0:
        frame = s.frames[depth]
        level = top + depth
        s.levels[level, 1] = 0
        entry = trigger(p, e, s, term, depth) if depth == 0 else candidate(p, e, s, depth)
        if entry == NOWHERE:
            depth -= 1
            continue
        if not is_permitted(e, t, frame[VARIABLE], entry):
            continue
        if not fits(p, e, s, frame[VARIABLE], entry, False) or bound_already(p, e, s, level, entry):
            continue
        frame[ENTRY] = entry
        s.levels[level, 1] = 1
        if p.at[GAPS, level + 1] > p.at[GAPS, level] and not gaps_are_clear(p, e, s, term, depth):
            continue
        if depth + 1 < t.singles:
            depth += 1
            begin_level(p, e, s, term, level + 1, depth, 0, 0)
            continue
        k = s.frames[0, CURSOR] - 1 - e.triggers_at[term, 0]
        found[k] = reduced(found[k] + lists(p, e, s, t, term, m), m)
