"""Run the bursts of a partition through the shared states of a sharing plan.

An *expression* has coefficients per snapshot of its chain, at `snapshot`, lane, word: how many of the trends that it
counts extend one trend of the snapshot, and what their events add to the lanes. A snapshot is a variable with a value
per query and row of counters, at chain, `snapshot`, query, row, lane, word. It is either an inlet, or what the queries
of a state had counted before; the latter is a copy of their own counters.

The `flow` of a state is the expression of all trends that end with its events, for states that continue from there. Its
`due` is what the counters of its early queries still lack. Both are *settled* at the end of a pane's events:
coefficient times value is added per query, so that everything outside this module sees only counters.

Axes of numbers and `least` as in `counters_numba_fns`; coefficients have `work.words` words. `flag` is the overflow
flag of numbers, `wide` that of coefficients.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from elsinore.actors.algebra.counters_numba_fns import NONE
from elsinore.actors.algebra.numbers_numba_fns import (
    add,
    add_coefficient,
    add_times,
    clear,
    copy,
    double,
    is_zero,
    set_one,
)
from elsinore.actors.hamlet.bursts_numba_fns import COEFFICIENTS, DONE, NUMBERS, all_by_one, keep_blocks, same_time
from elsinore.actors.hamlet.graphlets_numba_fns import MOST, add_trends, clear_trends
from elsinore.planner.kernels.compiled import kernel, part

UNKNOWN, NOWHERE = -2, -1
"""In place of a snapshot: it has not been made yet; it would be 0 for all queries."""

GO_ON, ANEW, ALONE = range(3)
"""Ways to run a burst: with the present expressions; with their sum as one new snapshot; each query by itself."""


class Chains(NamedTuple):
    state_at: Any  # by chain
    inlet_at: Any  # by chain
    lanes: Any  # of its expressions, as `keys`
    keys: Any
    value_at: Any  # in the table of snapshots, where it begins
    value_width: Any  # of one snapshot
    least_at: Any
    least_width: Any
    member: Any  # by query of a chain, chain by chain
    own_value: Any  # where in a snapshot
    own_least: Any
    sum_at: Any  # by lane of the member behind the count: the expression's lane, 0 where events add nothing
    sum: Any
    key_at: Any  # by key of the member: the expression's key, -1 where events do not matter
    key: Any


class States(NamedTuple):
    chain: Any
    flow: Any  # where its expressions are, or -1
    flow_least: Any
    due: Any
    due_least: Any
    user_at: Any
    late_at: Any  # the first user that is not early
    user: Any  # number among the queries of all chains
    place: Any  # the state of that member's machine
    lane_at: Any  # what an event of the node adds to
    lane: Any
    column: Any
    key_at: Any
    key: Any
    column_key: Any


class Inlets(NamedTuple):
    chain: Any
    user_at: Any
    user: Any
    from_at: Any  # by user: states of that member's machine
    source: Any
    ask_at: Any  # states
    ask: Any


class Arrivals(NamedTuple):
    """The effect of an event, by node."""

    of_kind: Any  # the type of events of each kind
    type_at: Any  # by type: its nodes
    node: Any
    takes: Any  # (node, kind of event), flat
    at: Any  # by node: arrivals
    state: Any
    loops: Any
    event: Any  # by arrival, if it loops: the cost of an event per snapshot; 0 if bursts are not decided about
    value: Any  # the cost of a snapshot's values for all users, made or evaluated
    settled: Any  # the same for all states of the chain
    alone: Any  # the fixed cost of a burst for all users, each by itself
    alone_event: Any
    source_at: Any  # by arrival: states
    source: Any
    inlet_at: Any  # by arrival: inlets
    inlet: Any
    own_at: Any  # by node: queries by themselves
    own_member: Any
    own_loops: Any
    ask_at: Any  # by query: states
    ask: Any
    stale_at: Any  # by node: inlets that its events change
    stale: Any
    sum_at: Any  # by node: columns that any query adds up
    sum: Any
    least_at: Any
    least: Any


class PlanWorkspace(NamedTuple):
    """The memory that one partition needs while its events are processed."""

    coefficients: Any
    least: Any
    base: Any  # where `put_together` writes; the number 1 is at 0
    base_least: Any
    before: Any  # expressions as they were before the events of one time
    before_least: Any
    words: Any
    capacity: Any  # snapshots of a chain
    values: Any
    value_least: Any
    snapshots: Any  # by chain, how many
    made: Any  # how many have been made
    insertions: Any  # how often the values of a snapshot are inserted: once, or more often to measure the cost
    settled: Any  # by chain, how often
    initial: Any  # by state: the snapshot of its own counters
    grown: Any  # by state: whether its flow has trends that the counters of late users lack
    owing: Any  # by state: whether its `due` is not empty
    current: Any  # by inlet: its snapshot
    sums: Any  # of the events at hand, by column
    minima: Any


@kernel
def evaluate_users(state, first, last, expression, expression_least, chains, states, members, slot, work,
                   numbers, least, w):  # fmt: skip
    """Add coefficients times values to the counters of the users `first` to `last` of a state."""
    flag = np.int64(0)
    chain = states.chain[state]
    c = work.words
    for u in range(first, last):
        user = states.user[u]
        m = chains.member[user]
        lanes = members.lanes[m]
        keys = members.keys[m]
        base = members.base[m] + slot * members.block[m]
        least_base = members.least_base[m] + slot * members.least_block[m]
        for row in range(members.rows[m]):
            state_place = row * members.states[m] + states.place[u]
            o = base + state_place * lanes * w
            o_least = least_base + state_place * keys
            value = chains.value_at[chain] + chains.own_value[user] + row * lanes * w
            value_key = chains.least_at[chain] + chains.own_least[user] + row * keys
            for snapshot in range(work.snapshots[chain]):
                count = (expression + snapshot * chains.lanes[chain]) * c
                if not (is_zero(work.coefficients, count, c) or is_zero(work.values, value, w)):
                    flag = add_coefficient(numbers, o, work.values, value, w, work.coefficients, count, c, flag)
                    for lane in range(1, lanes):
                        place = o + lane * w
                        flag = add_coefficient(
                            numbers, place, work.values, value + lane * w, w, work.coefficients, count, c, flag
                        )
                        own = chains.sum[chains.sum_at[user] + lane - 1]
                        if own > 0:
                            flag = add_coefficient(
                                numbers, place, work.values, value, w, work.coefficients, count + own * c, c, flag
                            )
                    for key in range(keys):
                        best = work.value_least[value_key + key]
                        own = chains.key[chains.key_at[user] + key]
                        if own >= 0:
                            best = min(best, work.least[expression_least + snapshot * chains.keys[chain] + own])
                        least[o_least + key] = min(least[o_least + key], best)
                value += chains.value_width[chain]
                value_key += chains.least_width[chain]
    return flag


@part
def forget_expression(chain, expression, expression_least, chains, work):
    count = work.snapshots[chain]
    clear(work.coefficients, expression * work.words, count * chains.lanes[chain] * work.words)
    for key in range(expression_least, expression_least + count * chains.keys[chain]):
        work.least[key] = NONE


@part
def clear_users(state, first, last, chains, states, members, slot, numbers, least, w):
    for u in range(first, last):
        m = chains.member[states.user[u]]
        width = members.lanes[m] * w
        for row in range(members.rows[m]):
            place = row * members.states[m] + states.place[u]
            clear_trends(
                numbers, members.base[m] + slot * members.block[m] + place * width,
                least, members.least_base[m] + slot * members.least_block[m] + place * members.keys[m],
                width, members.keys[m],
            )  # fmt: skip


@kernel
def settle_chain(chain, chains, states, inlets, members, slot, work, numbers, least, w):
    """Add all expressions of a chain to the counters, and forget its snapshots."""
    flag = np.int64(0)
    work.settled[chain] += 1
    for state in range(chains.state_at[chain], chains.state_at[chain + 1]):
        first, late, last = states.user_at[state], states.late_at[state], states.user_at[state + 1]
        if work.snapshots[chain]:
            due, flow = states.due[state], states.flow[state]
            if due >= 0 and work.owing[state]:
                flag |= evaluate_users(
                    state, first, late, due, states.due_least[state],
                    chains, states, members, slot, work, numbers, least, w,
                )  # fmt: skip
                forget_expression(chain, due, states.due_least[state], chains, work)
            if flow >= 0:
                if work.grown[state] and late < last:
                    if work.initial[state] >= 0:
                        # The expression includes them.
                        clear_users(state, late, last, chains, states, members, slot, numbers, least, w)
                    flag |= evaluate_users(
                        state, late, last, flow, states.flow_least[state],
                        chains, states, members, slot, work, numbers, least, w,
                    )  # fmt: skip
                forget_expression(chain, flow, states.flow_least[state], chains, work)
        work.grown[state] = work.owing[state] = False
        work.initial[state] = UNKNOWN
    for inlet in range(chains.inlet_at[chain], chains.inlet_at[chain + 1]):
        work.current[inlet] = UNKNOWN
    work.snapshots[chain] = 0
    return flag


@part
def new_snapshot(chain, chains, states, inlets, members, slot, work, numbers, least, w, flag):
    """Return (the number of a new snapshot, flag); settle the chain first if it has no memory for one."""
    if work.snapshots[chain] == work.capacity:
        flag |= settle_chain(chain, chains, states, inlets, members, slot, work, numbers, least, w)
    return work.snapshots[chain], flag


@part
def insert_counted(state, snapshot, chains, states, members, slot, work, numbers, least, w):
    """Write what a state's users have counted as the values of a snapshot. Return whether any is not 0."""
    chain = states.chain[state]
    found = False
    for u in range(states.user_at[state], states.user_at[state + 1]):
        user = states.user[u]
        m = chains.member[user]
        width = members.lanes[m] * w
        keys = members.keys[m]
        value = chains.value_at[chain] + snapshot * chains.value_width[chain] + chains.own_value[user]
        value_key = chains.least_at[chain] + snapshot * chains.least_width[chain] + chains.own_least[user]
        for row in range(members.rows[m]):
            place = row * members.states[m] + states.place[u]
            src = members.base[m] + slot * members.block[m] + place * width
            src_least = members.least_base[m] + slot * members.least_block[m] + place * keys
            copy(work.values, value + row * width, numbers, src, width)
            copy(work.value_least, value_key + row * keys, least, src_least, keys)
            found |= not is_zero(numbers, src, w)
    return found


@kernel
def begin_state(state, chains, states, inlets, members, slot, work, numbers, least, w):
    """Make a snapshot of what the users of a state have counted before."""
    flag = np.int64(0)
    chain = states.chain[state]
    snapshot, flag = new_snapshot(chain, chains, states, inlets, members, slot, work, numbers, least, w, flag)
    found = False
    for _ in range(work.insertions):
        found = insert_counted(state, snapshot, chains, states, members, slot, work, numbers, least, w)
    work.initial[state] = NOWHERE
    if found:
        work.initial[state] = snapshot
        work.snapshots[chain] += 1
        work.made[0] += 1
        set_one(work.coefficients, (states.flow[state] + snapshot * chains.lanes[chain]) * work.words)
    return flag


@kernel
def refresh(state, chains, states, inlets, members, slot, work, numbers, least, w):
    """Bring the counters of a state's early users up to date."""
    flag = np.int64(0)
    if not work.owing[state]:
        return flag
    if states.flow[state] >= 0:
        if work.initial[state] == UNKNOWN:
            flag |= begin_state(state, chains, states, inlets, members, slot, work, numbers, least, w)
        if not work.owing[state]:
            return flag
    flag |= evaluate_users(
        state, states.user_at[state], states.late_at[state], states.due[state], states.due_least[state],
        chains, states, members, slot, work, numbers, least, w,
    )  # fmt: skip
    forget_expression(states.chain[state], states.due[state], states.due_least[state], chains, work)
    work.owing[state] = False
    return flag


@part
def insert_inlet(inlet, snapshot, chains, inlets, members, slot, work, numbers, least, w, flag):
    """Write what comes in for each user as the values of a snapshot. Return (whether any is not 0, flag)."""
    chain = inlets.chain[inlet]
    begin = chains.value_at[chain] + snapshot * chains.value_width[chain]
    least_begin = chains.least_at[chain] + snapshot * chains.least_width[chain]
    clear_trends(
        work.values, begin, work.value_least, least_begin, chains.value_width[chain], chains.least_width[chain]
    )
    found = False
    for u in range(inlets.user_at[inlet], inlets.user_at[inlet + 1]):
        user = inlets.user[u]
        m = chains.member[user]
        width = members.lanes[m] * w
        keys = members.keys[m]
        base = members.base[m] + slot * members.block[m]
        least_base = members.least_base[m] + slot * members.least_block[m]
        for row in range(members.rows[m]):
            value = begin + chains.own_value[user] + row * width
            for k in range(inlets.from_at[u], inlets.from_at[u + 1]):
                place = row * members.states[m] + inlets.source[k]
                flag = add_trends(
                    work.values, value, work.value_least, least_begin + chains.own_least[user] + row * keys,
                    numbers, base + place * width, least, least_base + place * keys, width, keys, w, flag,
                )  # fmt: skip
            found |= not is_zero(work.values, value, w)
    return found, flag


@part
def let_in(inlet, chains, states, inlets, members, slot, work, numbers, least, w, flag):
    """Make a new snapshot of an inlet."""
    chain = inlets.chain[inlet]
    for k in range(inlets.ask_at[inlet], inlets.ask_at[inlet + 1]):
        flag |= refresh(inlets.ask[k], chains, states, inlets, members, slot, work, numbers, least, w)
    snapshot, flag = new_snapshot(chain, chains, states, inlets, members, slot, work, numbers, least, w, flag)
    found = False
    for _ in range(work.insertions):
        found, flag = insert_inlet(inlet, snapshot, chains, inlets, members, slot, work, numbers, least, w, flag)
    work.current[inlet] = NOWHERE
    if found:
        work.current[inlet] = snapshot
        work.snapshots[chain] += 1
        work.made[0] += 1
    return flag


@kernel
def prepare(a, arrivals, chains, states, inlets, members, slot, work, numbers, least, w):
    """Make snapshots of all that an arrival reads.

    A chain without memory for another snapshot is settled, and the snapshots made before are then made again.
    """
    flag = np.int64(0)
    state = arrivals.state[a]
    chain = states.chain[state]
    while True:
        settled = work.settled[chain]
        for k in range(arrivals.source_at[a], arrivals.source_at[a + 1]):
            source = arrivals.source[k]
            if work.initial[source] == UNKNOWN:
                flag |= begin_state(source, chains, states, inlets, members, slot, work, numbers, least, w)
        if arrivals.loops[a] and work.initial[state] == UNKNOWN:
            flag |= begin_state(state, chains, states, inlets, members, slot, work, numbers, least, w)
        for k in range(arrivals.inlet_at[a], arrivals.inlet_at[a + 1]):
            if work.current[arrivals.inlet[k]] == UNKNOWN:
                flag = let_in(arrivals.inlet[k], chains, states, inlets, members, slot, work, numbers, least, w, flag)
        if settled == work.settled[chain]:
            return flag


@part
def add_arrivals(a, n, arrivals, chains, states, work, wide):
    """Add `n` events, whose values are in `work.sums` and `work.minima`, to a state. Return `wide`."""
    c = work.words
    state = arrivals.state[a]
    chain = states.chain[state]
    lanes = chains.lanes[chain]
    keys = chains.keys[chain]
    sources = arrivals.source_at[a + 1] - arrivals.source_at[a]
    for k in range(sources + arrivals.inlet_at[a + 1] - arrivals.inlet_at[a]):
        if k < sources:
            source = arrivals.source[arrivals.source_at[a] + k]
            begin, begin_least = states.flow[source], states.flow_least[source]
            low, high = 0, work.snapshots[chain]
        else:
            # A snapshot alone is an expression that has it once: the number 1 and zeros.
            low = work.current[arrivals.inlet[arrivals.inlet_at[a] + k - sources]]
            if low < 0:
                continue
            high = low + 1
            begin, begin_least = -low * lanes, -low * keys
        for snapshot in range(low, high):
            src = (begin + snapshot * lanes) * c
            if is_zero(work.coefficients, src, c):
                continue
            src_least = begin_least + snapshot * keys
            work.grown[state] = work.owing[state] = True
            for expression, expression_least in (
                (states.flow[state], states.flow_least[state]), (states.due[state], states.due_least[state])
            ):  # fmt: skip
                if expression < 0:
                    continue
                dst = (expression + snapshot * lanes) * c
                dst_least = expression_least + snapshot * keys
                for lane in range(0, lanes * c, c):
                    wide = add_times(work.coefficients, dst + lane, work.coefficients, src + lane, n, c, wide)
                for j in range(states.lane_at[state], states.lane_at[state + 1]):
                    column = states.column[j]
                    value = work.sums[column] if column >= 0 else work.sums[0] * 0 + n
                    wide = add_times(
                        work.coefficients, dst + states.lane[j] * c, work.coefficients, src, value, c, wide
                    )
                for key in range(keys):
                    work.least[dst_least + key] = min(work.least[dst_least + key], work.least[src_least + key])
                for j in range(states.key_at[state], states.key_at[state + 1]):
                    place = dst_least + states.key[j]
                    work.least[place] = min(work.least[place], work.minima[states.column_key[j]])
    return wide


@part
def put_together(a, arrivals, chains, states, work, wide):
    """Add up, at `work.base`, the trends that an event extends and that do not end with an event of its node."""
    c = work.words
    chain = states.chain[arrivals.state[a]]
    lanes = chains.lanes[chain]
    keys = chains.keys[chain]
    count = work.snapshots[chain]
    clear(work.coefficients, work.base * c, count * lanes * c)
    for key in range(work.base_least, work.base_least + count * keys):
        work.least[key] = NONE
    for k in range(arrivals.source_at[a], arrivals.source_at[a + 1]):
        source = arrivals.source[k]
        for place in range(0, count * lanes * c, c):
            wide = add(work.coefficients, work.base * c + place, work.coefficients, states.flow[source] * c + place, c,
                       wide)  # fmt: skip
        for key in range(count * keys):
            best = work.least[states.flow_least[source] + key]
            work.least[work.base_least + key] = min(work.least[work.base_least + key], best)
    for k in range(arrivals.inlet_at[a], arrivals.inlet_at[a + 1]):
        snapshot = work.current[arrivals.inlet[k]]
        if snapshot >= 0:
            wide = add(work.coefficients, (work.base + snapshot * lanes) * c, work.coefficients, 0, c, wide)
    return wide


@part
def add_event(events, i, state, lanes, keys, base, base_least, src, src_least, dst, dst_least, states, work, wide):
    """Add one event of a loop, for one snapshot: from coefficients at `base` and `src` to `dst`, which may be `src`."""
    c = work.words
    for lane in range(c, lanes * c, c):
        wide = add(work.coefficients, dst + lane, work.coefficients, src + lane, c, wide)
        wide = add(work.coefficients, dst + lane, work.coefficients, base + lane, c, wide)
    for j in range(states.lane_at[state], states.lane_at[state + 1]):
        place = dst + states.lane[j] * c
        column = states.column[j]
        if column < 0:
            wide = add(work.coefficients, place, work.coefficients, src, c, wide)
            wide = add(work.coefficients, place, work.coefficients, base, c, wide)
        else:
            value = events.values[column, i]
            wide = add_times(work.coefficients, place, work.coefficients, src, value, c, wide)
            wide = add_times(work.coefficients, place, work.coefficients, base, value, c, wide)
    for key in range(keys):
        best = min(work.least[base_least + key], work.least[src_least + key])
        work.least[dst_least + key] = min(work.least[dst_least + key], best)
    for j in range(states.key_at[state], states.key_at[state + 1]):
        place = dst_least + states.key[j]
        work.least[place] = min(work.least[place], events.keys[states.column_key[j], i])
    # Add the count last, and `src` first, because it may be `dst`.
    wide = add(work.coefficients, dst, work.coefficients, src, c, wide)
    return add(work.coefficients, dst, work.coefficients, base, c, wide)


@kernel
def loop(events, after, first, end, node, a, arrivals, chains, states, members, work):
    """Run the events of a burst, each of which may follow those before it. Return `wide`."""
    wide = np.int64(0)
    c = work.words
    state = arrivals.state[a]
    chain = states.chain[state]
    lanes = chains.lanes[chain]
    keys = chains.keys[chain]
    count = work.snapshots[chain]
    wide = put_together(a, arrivals, chains, states, work, wide)
    i = first
    while i != end:
        time = events.time[i]
        tied = after[i] >= 0 and events.time[after[i]] == time
        src, src_least = states.flow[state], states.flow_least[state]
        if tied:
            copy(work.coefficients, work.before * c, work.coefficients, src * c, count * lanes * c)
            copy(work.least, work.before_least, work.least, src_least, count * keys)
            src, src_least = work.before, work.before_least
        while True:
            if arrivals.takes[node * members.kinds + events.kind[i]]:
                for snapshot in range(count):
                    one, base = (src + snapshot * lanes) * c, (work.base + snapshot * lanes) * c
                    if is_zero(work.coefficients, one, c) and is_zero(work.coefficients, base, c):
                        continue
                    work.grown[state] = work.owing[state] = True
                    for expression, expression_least in (
                        (states.due[state], states.due_least[state]), (states.flow[state], states.flow_least[state])
                    ):  # fmt: skip
                        if expression >= 0:
                            wide = add_event(
                                events, i, state, lanes, keys, base, work.base_least + snapshot * keys,
                                one, src_least + snapshot * keys, (expression + snapshot * lanes) * c,
                                expression_least + snapshot * keys, states, work, wide,
                            )  # fmt: skip
            i = after[i]
            if not tied or i < 0 or events.time[i] != time:
                break
    return wide


@part
def loop_at_once(a, n, arrivals, chains, states, work):
    """Run `n` events of different times, whose values are in `work.sums` and `work.minima`. Return `wide`.

    Each of them extends all trends before it, so the number of trends doubles with each: t trends become 2**n t. What
    an event adds to the trends that it ends is doubled by each event behind it: if v is the sum of all values, the
    result is 2**(n - 1) v t.
    """
    c = work.words
    state = arrivals.state[a]
    chain = states.chain[state]
    lanes = chains.lanes[chain]
    keys = chains.keys[chain]
    wide = put_together(a, arrivals, chains, states, work, np.int64(0))
    for snapshot in range(work.snapshots[chain]):
        here, own = (work.base + snapshot * lanes) * c, (states.flow[state] + snapshot * lanes) * c
        if is_zero(work.coefficients, here, c) and is_zero(work.coefficients, own, c):
            continue
        work.grown[state] = work.owing[state] = True
        for lane in range(0, lanes * c, c):
            wide = add(work.coefficients, here + lane, work.coefficients, own + lane, c, wide)
        here_least, own_least = work.base_least + snapshot * keys, states.flow_least[state] + snapshot * keys
        for key in range(keys):
            work.least[here_least + key] = min(work.least[here_least + key], work.least[own_least + key])
        for expression, expression_least in (
            (states.flow[state], states.flow_least[state]), (states.due[state], states.due_least[state])
        ):  # fmt: skip
            if expression >= 0:
                dst_least = expression_least + snapshot * keys
                for key in range(keys):
                    work.least[dst_least + key] = min(work.least[dst_least + key], work.least[here_least + key])
                for j in range(states.key_at[state], states.key_at[state + 1]):
                    place = dst_least + states.key[j]
                    work.least[place] = min(work.least[place], work.minima[states.column_key[j]])
        for lane in range(lanes):
            wide = add_doubled(n, state, lane, here, snapshot * lanes, states, work, wide)
    return wide


@part
def add_doubled(n, state, lane, here, place, states, work, wide):
    """Double the coefficients `here` `n` times, and add what is new to a lane of a state's expressions."""
    c = work.words
    src, half = here + lane * c, work.before * c
    copy(work.coefficients, half, work.coefficients, src, c)
    wide = double(work.coefficients, half, n - 1, c, wide)
    for expression in (states.flow[state], states.due[state]):
        if expression >= 0:
            dst = (expression + place) * c
            for _ in range(2):
                wide = add(work.coefficients, dst + lane * c, work.coefficients, half, c, wide)
            wide = add_times(work.coefficients, dst + lane * c, work.coefficients, src, -1, c, wide)
            for j in range(states.lane_at[state], states.lane_at[state + 1] if lane == 0 else 0):
                column = states.column[j]
                value = work.sums[column] if column >= 0 else work.sums[0] * 0 + n
                wide = add_times(work.coefficients, dst + states.lane[j] * c, work.coefficients, half, value, c, wide)
    return wide


@part
def gather(events, after, i, end, alike, node, arrivals, members, work):
    """Sum up events of a burst that the node takes, as many as fit a word.

    Return (the event behind them, how many they are, the kind of one of them). `alike` is the number of events left if
    all are of one kind, else 0; if nothing is summed up, no event is read then.
    """
    n = 0
    kind = -1
    sums = arrivals.sum_at[node + 1] - arrivals.sum_at[node]
    minima = arrivals.least_at[node + 1] - arrivals.least_at[node]
    if alike and i != end and not sums and not minima:
        kind = events.kind[i]
        return end, alike if arrivals.takes[node * members.kinds + kind] else 0, kind
    for k in range(arrivals.sum_at[node], arrivals.sum_at[node + 1]):
        work.sums[arrivals.sum[k]] = 0
    for k in range(arrivals.least_at[node], arrivals.least_at[node + 1]):
        work.minima[arrivals.least[k]] = NONE
    while i != end:
        if arrivals.takes[node * members.kinds + events.kind[i]]:
            crowded = 0
            for k in range(arrivals.sum_at[node], arrivals.sum_at[node + 1]):
                column = arrivals.sum[k]
                total = abs(np.float64(work.sums[column])) + abs(np.float64(events.values[column, i]))
                if total >= MOST:
                    crowded = n
            if crowded:
                break
            for k in range(arrivals.sum_at[node], arrivals.sum_at[node + 1]):
                column = arrivals.sum[k]
                work.sums[column] += events.values[column, i]
            for k in range(arrivals.least_at[node], arrivals.least_at[node + 1]):
                column = arrivals.least[k]
                work.minima[column] = min(work.minima[column], events.keys[column, i])
            n += 1
            kind = events.kind[i]
        i = after[i]
    return i, n, kind


@kernel
def add_own(m, n, kind, members, tables, slot, work, numbers, least, w):
    """Add `n` events of a node that does not loop to one query's counters."""
    flag = np.int64(0)
    what = members.classes[m * members.kinds + kind]
    width = members.lanes[m] * w
    keys = members.keys[m]
    base = members.base[m] + slot * members.block[m]
    least_base = members.least_base[m] + slot * members.least_block[m]
    for a in range(tables.append_at[what], tables.append_at[what + 1]):
        bound = tables.append_bound[a]
        for row in range(members.rows[m]):
            source = row * members.states[m] + tables.append_from[a]
            target = row * members.states[m] + tables.append_to[a]
            src, dst = base + source * width, base + target * width
            if is_zero(numbers, src, w):
                continue
            for lane in range(0, width, w):
                flag = add_times(numbers, dst + lane, numbers, src + lane, n, w, flag)
            for b in range(tables.bound_at[bound], tables.bound_at[bound + 1]):
                column = tables.bound_column[b]
                value = work.sums[column] if column >= 0 else work.sums[0] * 0 + n
                flag = add_times(numbers, dst + tables.bound_lane[b] * w, numbers, src, value, w, flag)
            src_key, dst_key = least_base + source * keys, least_base + target * keys
            for key in range(keys):
                least[dst_key + key] = min(least[dst_key + key], least[src_key + key])
            for b in range(tables.least_at[bound], tables.least_at[bound + 1]):
                key = dst_key + tables.least_key[b]
                least[key] = min(least[key], work.minima[tables.least_column[b]])
    return flag


@part
def way_of(a, n, at_once, arrivals, states, work):
    """Choose how to run `n` events that may follow one another: HAMLET's decision (Section 4.2) in a sharing plan."""
    steps = 1 if at_once else n
    state = arrivals.state[a]
    snapshots = work.snapshots[states.chain[state]]
    stale = work.initial[state] == UNKNOWN
    for k in range(arrivals.inlet_at[a], arrivals.inlet_at[a + 1]):
        stale |= work.current[arrivals.inlet[k]] == UNKNOWN
    go_on = steps * arrivals.event[a] * (snapshots + stale) + stale * 2 * arrivals.value[a]
    anew = steps * arrivals.event[a] + (snapshots + 1) * arrivals.settled[a] + arrivals.value[a]
    alone = arrivals.alone[a] + n * arrivals.alone_event[a] + snapshots * arrivals.settled[a]
    if go_on <= anew and go_on <= alone:
        return GO_ON
    return ANEW if anew <= alone else ALONE


@kernel
def run_loop(
    events, after, first, end, node, a, n, at_once, arrivals, chains, states, inlets, members, tables, slot, work,
    numbers, least, w, scratch,
):  # fmt: skip
    """Run a burst of `n` events that may follow one another through a state. Return (whether shared, both flags)."""
    flag = np.int64(0)
    state = arrivals.state[a]
    way = way_of(a, n, at_once, arrivals, states, work)
    if way != GO_ON:
        flag |= settle_chain(states.chain[state], chains, states, inlets, members, slot, work, numbers, least, w)
    if way != ALONE:
        flag |= prepare(a, arrivals, chains, states, inlets, members, slot, work, numbers, least, w)
        if at_once:
            return True, flag, loop_at_once(a, n, arrivals, chains, states, work)
        return True, flag, loop(events, after, first, end, node, a, arrivals, chains, states, members, work)
    for k in range(arrivals.inlet_at[a], arrivals.inlet_at[a + 1]):
        inlet = arrivals.inlet[k]
        for ask in range(inlets.ask_at[inlet], inlets.ask_at[inlet + 1]):
            flag |= refresh(inlets.ask[ask], chains, states, inlets, members, slot, work, numbers, least, w)
    for u in range(states.user_at[state], states.user_at[state + 1]):
        m = chains.member[states.user[u]]
        flag |= all_by_one(events, after, first, end, m, members, tables, slot, numbers, least, w, scratch)
    return False, flag, np.int64(0)


@part
def take_in(
    events, after, first, end, alike, tied, node, arrivals, chains, states, inlets, members, tables, slot, work,
    numbers, least, w, scratch, flag, wide,
):  # fmt: skip
    """Run a burst through one node. Return (whether any state shared it, both flags)."""
    shared = False
    i = first
    taken, n = 0, 0
    while i != end:
        i, n, kind = gather(events, after, i, end, alike, node, arrivals, members, work)
        if n == 0:
            break
        taken += n
        for a in range(arrivals.at[node], arrivals.at[node + 1]):
            if not arrivals.loops[a]:
                shared = True
                flag |= prepare(a, arrivals, chains, states, inlets, members, slot, work, numbers, least, w)
                wide = add_arrivals(a, n, arrivals, chains, states, work, wide)
        for q in range(arrivals.own_at[node], arrivals.own_at[node + 1]):
            if not arrivals.own_loops[q]:
                for k in range(arrivals.ask_at[q], arrivals.ask_at[q + 1]):
                    flag |= refresh(arrivals.ask[k], chains, states, inlets, members, slot, work, numbers, least, w)
                flag |= add_own(arrivals.own_member[q], n, kind, members, tables, slot, work, numbers, least, w)
    if not taken:
        return False, flag, wide
    for a in range(arrivals.at[node], arrivals.at[node + 1]):
        if arrivals.loops[a]:
            together, overflow, wide_overflow = run_loop(
                events, after, first, end, node, a, taken, n == taken and not tied,
                arrivals, chains, states, inlets, members, tables, slot, work, numbers, least, w, scratch,
            )  # fmt: skip
            shared |= together
            flag |= overflow
            wide |= wide_overflow
    for q in range(arrivals.own_at[node], arrivals.own_at[node + 1]):
        if arrivals.own_loops[q]:
            for k in range(arrivals.ask_at[q], arrivals.ask_at[q + 1]):
                flag |= refresh(arrivals.ask[k], chains, states, inlets, members, slot, work, numbers, least, w)
            m = arrivals.own_member[q]
            flag |= all_by_one(events, after, first, end, m, members, tables, slot, numbers, least, w, scratch)
    for k in range(arrivals.stale_at[node], arrivals.stale_at[node + 1]):
        work.current[arrivals.stale[k]] = UNKNOWN
    return shared, flag, wide


@part
def burst_end(events, after, first, arrivals):
    """Return the end of a burst and its shape.

    (the event behind it; how many events it has if all are of one kind and of different times, else 0; whether two are
    of one time; whether it is a time with events of several types)
    """
    kind = events.kind[first]
    own = arrivals.of_kind[kind]
    count, times, of_kind = 0, 0, 0
    i = first
    while i >= 0 and arrivals.of_kind[events.kind[i]] == own:
        j, tied, alike = same_time(events, after, i, arrivals)
        if not alike:
            if i == first:
                return j, 0, True, True
            break
        count += tied
        times += 1
        of_kind += tied == 1 and events.kind[i] == kind
        i = j
    return i, count if count == of_kind else 0, count != times, False


@kernel
def run_plan(
    events, after, touched, starts, first, count, arrivals, chains, states, inlets,
    members, tables, work, numbers, least, w, scratch, totals,
):  # fmt: skip
    """Run the events of partitions `touched[first:count]`. Return (how many, why it stopped).

    `totals` counts bursts, those that queries shared, and snapshots. If something does not fit, the counters of that
    partition are restored, and the caller has to lay out a new workspace.
    """
    for t in range(first, count):
        slot = touched[t]
        keep_blocks(slot, members, numbers, least, scratch.saved_numbers, scratch.saved_least, False)
        flag = np.int64(0)
        wide = np.int64(0)
        bursts, together = 0, 0
        work.made[0] = 0
        i = starts[t]
        while i >= 0 and not (flag | wide) >> 62:
            own = arrivals.of_kind[events.kind[i]]
            begin = i
            i, alike, tied, mixed = burst_end(events, after, begin, arrivals)
            bursts += 1
            if mixed:
                for chain in range(len(work.snapshots)):
                    flag |= settle_chain(chain, chains, states, inlets, members, slot, work, numbers, least, w)
                for m in range(len(members.base)):
                    flag |= all_by_one(events, after, begin, i, m, members, tables, slot, numbers, least, w, scratch)
                continue
            several = 0
            for k in range(arrivals.type_at[own], arrivals.type_at[own + 1]):
                shared, flag, wide = take_in(
                    events, after, begin, i, alike, tied, arrivals.node[k], arrivals, chains, states, inlets,
                    members, tables, slot, work, numbers, least, w, scratch, flag, wide,
                )  # fmt: skip
                several += shared
            together += several > 0
        for chain in range(len(work.snapshots)):
            flag |= settle_chain(chain, chains, states, inlets, members, slot, work, numbers, least, w)
        if (flag | wide) >> 62:
            keep_blocks(slot, members, numbers, least, scratch.saved_numbers, scratch.saved_least, True)
            return t, NUMBERS if flag >> 62 else COEFFICIENTS
        totals[0] += bursts
        totals[1] += together
        totals[2] += work.made[0]
    return count, DONE
