"""A sharing plan at work: the bursts of a partition through shared states.

An *expression* has coefficients per snapshot of its chain, at `snapshot`, lane, word: how many of the trends that it
stands for lengthen one of the snapshot's, and what their events add to the lanes. A snapshot is a variable with a value
per query and row of counters, at chain, `snapshot`, query, row, lane, word. It is either an inlet, or what a state's
queries had counted before, and then they are its own counters, copied.

A state's `flow` is all that ends with its events, for those that go on from there as expressions; its `due` is what the
counters of its early queries do not have yet. Neither outlives the events of a pane, which are *settled* where they
end: coefficient times value, per query. So nobody else sees anything but counters.

Axes of numbers and `least` as in `counters_numba_fns`; coefficients have words of their own, `room.words`.
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
"""In place of a snapshot: it has not been looked for; it would be 0 for everybody."""

GO_ON, ANEW, ALONE = range(3)
"""With the expressions that there are; with what they stand for as one snapshot; each query by itself."""


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
    """What an event does, by node."""

    of_kind: Any  # the type of events of each kind
    type_at: Any  # by type: its nodes
    node: Any
    takes: Any  # (node, kind of event), flat
    at: Any  # by node: arrivals
    state: Any
    loops: Any
    event: Any  # by arrival, if it loops: what an event costs, by snapshot; 0 where bursts are not decided about
    value: Any  # a snapshot for all users: what it is, or what is counted by it
    settled: Any  # the same for all states of the chain
    alone: Any  # a burst for each user by itself, whatever its events
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
    sum_at: Any  # by node: columns that anybody adds up
    sum: Any
    least_at: Any
    least: Any


class PlanRoom(NamedTuple):
    """What one partition needs while its events are taken in."""

    coefficients: Any
    least: Any
    base: Any  # where what comes from elsewhere is put together; the number 1 is at 0
    base_least: Any
    before: Any  # expressions as they were before the events of one time
    before_least: Any
    words: Any
    capacity: Any  # snapshots of a chain
    values: Any
    value_least: Any
    snapshots: Any  # by chain, how many
    made: Any  # how many there have been
    insertions: Any  # how often the values of a snapshot are inserted: once, or more often to see what it costs
    settled: Any  # by chain, how often
    initial: Any  # by state: the snapshot of its own counters
    grown: Any  # by state: has its flow anything that the counters of late users do not have?
    owing: Any  # by state: is anything due?
    current: Any  # by inlet: its snapshot
    sums: Any  # of the events at hand, by column
    minima: Any


@kernel
def evaluate_users(state, first, last, expression, expression_least, chains, states, members, slot, room,
                   numbers, least, w):  # fmt: skip
    """Coefficients times values, to the counters of some of a state's users. The flag."""
    flag = np.int64(0)
    chain = states.chain[state]
    c = room.words
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
            for snapshot in range(room.snapshots[chain]):
                count = (expression + snapshot * chains.lanes[chain]) * c
                if not (is_zero(room.coefficients, count, c) or is_zero(room.values, value, w)):
                    flag = add_coefficient(numbers, o, room.values, value, w, room.coefficients, count, c, flag)
                    for lane in range(1, lanes):
                        place = o + lane * w
                        flag = add_coefficient(
                            numbers, place, room.values, value + lane * w, w, room.coefficients, count, c, flag
                        )
                        own = chains.sum[chains.sum_at[user] + lane - 1]
                        if own > 0:
                            flag = add_coefficient(
                                numbers, place, room.values, value, w, room.coefficients, count + own * c, c, flag
                            )
                    for key in range(keys):
                        best = room.value_least[value_key + key]
                        own = chains.key[chains.key_at[user] + key]
                        if own >= 0:
                            best = min(best, room.least[expression_least + snapshot * chains.keys[chain] + own])
                        least[o_least + key] = min(least[o_least + key], best)
                value += chains.value_width[chain]
                value_key += chains.least_width[chain]
    return flag


@part
def forget_expression(chain, expression, expression_least, chains, room):
    count = room.snapshots[chain]
    clear(room.coefficients, expression * room.words, count * chains.lanes[chain] * room.words)
    for key in range(expression_least, expression_least + count * chains.keys[chain]):
        room.least[key] = NONE


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
def settle_chain(chain, chains, states, inlets, members, slot, room, numbers, least, w):
    """All expressions of a chain to the counters; its snapshots are no more. The flag."""
    flag = np.int64(0)
    room.settled[chain] += 1
    for state in range(chains.state_at[chain], chains.state_at[chain + 1]):
        first, late, last = states.user_at[state], states.late_at[state], states.user_at[state + 1]
        if room.snapshots[chain]:
            due, flow = states.due[state], states.flow[state]
            if due >= 0 and room.owing[state]:
                flag |= evaluate_users(
                    state, first, late, due, states.due_least[state],
                    chains, states, members, slot, room, numbers, least, w,
                )  # fmt: skip
                forget_expression(chain, due, states.due_least[state], chains, room)
            if flow >= 0:
                if room.grown[state] and late < last:
                    if room.initial[state] >= 0:
                        # The expression has them too.
                        clear_users(state, late, last, chains, states, members, slot, numbers, least, w)
                    flag |= evaluate_users(
                        state, late, last, flow, states.flow_least[state],
                        chains, states, members, slot, room, numbers, least, w,
                    )  # fmt: skip
                forget_expression(chain, flow, states.flow_least[state], chains, room)
        room.grown[state] = room.owing[state] = False
        room.initial[state] = UNKNOWN
    for inlet in range(chains.inlet_at[chain], chains.inlet_at[chain + 1]):
        room.current[inlet] = UNKNOWN
    room.snapshots[chain] = 0
    return flag


@part
def new_snapshot(chain, chains, states, inlets, members, slot, room, numbers, least, w, flag):
    """Room for one more: its number, and the flag."""
    if room.snapshots[chain] == room.capacity:
        flag |= settle_chain(chain, chains, states, inlets, members, slot, room, numbers, least, w)
    return room.snapshots[chain], flag


@part
def insert_counted(state, snapshot, chains, states, members, slot, room, numbers, least, w):
    """The values of a snapshot: what the users of a state have counted. Is there any that is not 0?"""
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
            copy(room.values, value + row * width, numbers, src, width)
            copy(room.value_least, value_key + row * keys, least, src_least, keys)
            found |= not is_zero(numbers, src, w)
    return found


@kernel
def begin_state(state, chains, states, inlets, members, slot, room, numbers, least, w):
    """What the users of a state have counted before becomes a snapshot. The flag."""
    flag = np.int64(0)
    chain = states.chain[state]
    snapshot, flag = new_snapshot(chain, chains, states, inlets, members, slot, room, numbers, least, w, flag)
    found = False
    for _ in range(room.insertions):
        found = insert_counted(state, snapshot, chains, states, members, slot, room, numbers, least, w)
    room.initial[state] = NOWHERE
    if found:
        room.initial[state] = snapshot
        room.snapshots[chain] += 1
        room.made[0] += 1
        set_one(room.coefficients, (states.flow[state] + snapshot * chains.lanes[chain]) * room.words)
    return flag


@kernel
def refresh(state, chains, states, inlets, members, slot, room, numbers, least, w):
    """Bring the counters of a state's early users up to date. The flag."""
    flag = np.int64(0)
    if not room.owing[state]:
        return flag
    if states.flow[state] >= 0:
        if room.initial[state] == UNKNOWN:
            flag |= begin_state(state, chains, states, inlets, members, slot, room, numbers, least, w)
        if not room.owing[state]:
            return flag
    flag |= evaluate_users(
        state, states.user_at[state], states.late_at[state], states.due[state], states.due_least[state],
        chains, states, members, slot, room, numbers, least, w,
    )  # fmt: skip
    forget_expression(states.chain[state], states.due[state], states.due_least[state], chains, room)
    room.owing[state] = False
    return flag


@part
def insert_inlet(inlet, snapshot, chains, inlets, members, slot, room, numbers, least, w, flag):
    """The values of a snapshot: what comes in for each user. (is there any that is not 0, flag)"""
    chain = inlets.chain[inlet]
    begin = chains.value_at[chain] + snapshot * chains.value_width[chain]
    least_begin = chains.least_at[chain] + snapshot * chains.least_width[chain]
    clear_trends(
        room.values, begin, room.value_least, least_begin, chains.value_width[chain], chains.least_width[chain]
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
                    room.values, value, room.value_least, least_begin + chains.own_least[user] + row * keys,
                    numbers, base + place * width, least, least_base + place * keys, width, keys, w, flag,
                )  # fmt: skip
            found |= not is_zero(room.values, value, w)
    return found, flag


@part
def let_in(inlet, chains, states, inlets, members, slot, room, numbers, least, w, flag):
    """The snapshot of an inlet, anew. The flag."""
    chain = inlets.chain[inlet]
    for k in range(inlets.ask_at[inlet], inlets.ask_at[inlet + 1]):
        flag |= refresh(inlets.ask[k], chains, states, inlets, members, slot, room, numbers, least, w)
    snapshot, flag = new_snapshot(chain, chains, states, inlets, members, slot, room, numbers, least, w, flag)
    found = False
    for _ in range(room.insertions):
        found, flag = insert_inlet(inlet, snapshot, chains, inlets, members, slot, room, numbers, least, w, flag)
    room.current[inlet] = NOWHERE
    if found:
        room.current[inlet] = snapshot
        room.snapshots[chain] += 1
        room.made[0] += 1
    return flag


@kernel
def prepare(a, arrivals, chains, states, inlets, members, slot, room, numbers, least, w):
    """Snapshots for all that an arrival reads. The flag.

    Where a chain has no room for one it is settled, and with it those that were there.
    """
    flag = np.int64(0)
    state = arrivals.state[a]
    chain = states.chain[state]
    while True:
        settled = room.settled[chain]
        for k in range(arrivals.source_at[a], arrivals.source_at[a + 1]):
            source = arrivals.source[k]
            if room.initial[source] == UNKNOWN:
                flag |= begin_state(source, chains, states, inlets, members, slot, room, numbers, least, w)
        if arrivals.loops[a] and room.initial[state] == UNKNOWN:
            flag |= begin_state(state, chains, states, inlets, members, slot, room, numbers, least, w)
        for k in range(arrivals.inlet_at[a], arrivals.inlet_at[a + 1]):
            if room.current[arrivals.inlet[k]] == UNKNOWN:
                flag = let_in(arrivals.inlet[k], chains, states, inlets, members, slot, room, numbers, least, w, flag)
        if settled == room.settled[chain]:
            return flag


@part
def add_arrivals(a, n, arrivals, chains, states, room, wide):
    """`n` events, whose values are in `room.sums` and `room.minima`, to a state. The flag of coefficients."""
    c = room.words
    state = arrivals.state[a]
    chain = states.chain[state]
    lanes = chains.lanes[chain]
    keys = chains.keys[chain]
    sources = arrivals.source_at[a + 1] - arrivals.source_at[a]
    for k in range(sources + arrivals.inlet_at[a + 1] - arrivals.inlet_at[a]):
        if k < sources:
            source = arrivals.source[arrivals.source_at[a] + k]
            begin, begin_least = states.flow[source], states.flow_least[source]
            low, high = 0, room.snapshots[chain]
        else:
            # A snapshot alone is an expression that has it once: the number 1 and zeros.
            low = room.current[arrivals.inlet[arrivals.inlet_at[a] + k - sources]]
            if low < 0:
                continue
            high = low + 1
            begin, begin_least = -low * lanes, -low * keys
        for snapshot in range(low, high):
            src = (begin + snapshot * lanes) * c
            if is_zero(room.coefficients, src, c):
                continue
            src_least = begin_least + snapshot * keys
            room.grown[state] = room.owing[state] = True
            for expression, expression_least in (
                (states.flow[state], states.flow_least[state]), (states.due[state], states.due_least[state])
            ):  # fmt: skip
                if expression < 0:
                    continue
                dst = (expression + snapshot * lanes) * c
                dst_least = expression_least + snapshot * keys
                for lane in range(0, lanes * c, c):
                    wide = add_times(room.coefficients, dst + lane, room.coefficients, src + lane, n, c, wide)
                for j in range(states.lane_at[state], states.lane_at[state + 1]):
                    column = states.column[j]
                    value = room.sums[column] if column >= 0 else room.sums[0] * 0 + n
                    wide = add_times(
                        room.coefficients, dst + states.lane[j] * c, room.coefficients, src, value, c, wide
                    )
                for key in range(keys):
                    room.least[dst_least + key] = min(room.least[dst_least + key], room.least[src_least + key])
                for j in range(states.key_at[state], states.key_at[state + 1]):
                    place = dst_least + states.key[j]
                    room.least[place] = min(room.least[place], room.minima[states.column_key[j]])
    return wide


@part
def put_together(a, arrivals, chains, states, room, wide):
    """What lengthens with an event but does not end with one of its node, at `room.base`. The flag."""
    c = room.words
    chain = states.chain[arrivals.state[a]]
    lanes = chains.lanes[chain]
    keys = chains.keys[chain]
    count = room.snapshots[chain]
    clear(room.coefficients, room.base * c, count * lanes * c)
    for key in range(room.base_least, room.base_least + count * keys):
        room.least[key] = NONE
    for k in range(arrivals.source_at[a], arrivals.source_at[a + 1]):
        source = arrivals.source[k]
        for place in range(0, count * lanes * c, c):
            wide = add(room.coefficients, room.base * c + place, room.coefficients, states.flow[source] * c + place, c,
                       wide)  # fmt: skip
        for key in range(count * keys):
            best = room.least[states.flow_least[source] + key]
            room.least[room.base_least + key] = min(room.least[room.base_least + key], best)
    for k in range(arrivals.inlet_at[a], arrivals.inlet_at[a + 1]):
        snapshot = room.current[arrivals.inlet[k]]
        if snapshot >= 0:
            wide = add(room.coefficients, (room.base + snapshot * lanes) * c, room.coefficients, 0, c, wide)
    return wide


@part
def add_event(events, i, state, lanes, keys, base, base_least, src, src_least, dst, dst_least, states, room, wide):
    """One event of a loop and one snapshot: from coefficients at `base` and `src` to `dst`, which may be `src`."""
    c = room.words
    for lane in range(c, lanes * c, c):
        wide = add(room.coefficients, dst + lane, room.coefficients, src + lane, c, wide)
        wide = add(room.coefficients, dst + lane, room.coefficients, base + lane, c, wide)
    for j in range(states.lane_at[state], states.lane_at[state + 1]):
        place = dst + states.lane[j] * c
        column = states.column[j]
        if column < 0:
            wide = add(room.coefficients, place, room.coefficients, src, c, wide)
            wide = add(room.coefficients, place, room.coefficients, base, c, wide)
        else:
            value = events.values[column, i]
            wide = add_times(room.coefficients, place, room.coefficients, src, value, c, wide)
            wide = add_times(room.coefficients, place, room.coefficients, base, value, c, wide)
    for key in range(keys):
        best = min(room.least[base_least + key], room.least[src_least + key])
        room.least[dst_least + key] = min(room.least[dst_least + key], best)
    for j in range(states.key_at[state], states.key_at[state + 1]):
        place = dst_least + states.key[j]
        room.least[place] = min(room.least[place], events.keys[states.column_key[j], i])
    # The count comes last, and what may be itself first.
    wide = add(room.coefficients, dst, room.coefficients, src, c, wide)
    return add(room.coefficients, dst, room.coefficients, base, c, wide)


@kernel
def loop(events, after, first, end, node, a, arrivals, chains, states, members, room):
    """The events of a burst, each of which may follow those before it. The flag of coefficients."""
    wide = np.int64(0)
    c = room.words
    state = arrivals.state[a]
    chain = states.chain[state]
    lanes = chains.lanes[chain]
    keys = chains.keys[chain]
    count = room.snapshots[chain]
    wide = put_together(a, arrivals, chains, states, room, wide)
    i = first
    while i != end:
        time = events.time[i]
        tied = after[i] >= 0 and events.time[after[i]] == time
        src, src_least = states.flow[state], states.flow_least[state]
        if tied:
            copy(room.coefficients, room.before * c, room.coefficients, src * c, count * lanes * c)
            copy(room.least, room.before_least, room.least, src_least, count * keys)
            src, src_least = room.before, room.before_least
        while True:
            if arrivals.takes[node * members.kinds + events.kind[i]]:
                for snapshot in range(count):
                    one, base = (src + snapshot * lanes) * c, (room.base + snapshot * lanes) * c
                    if is_zero(room.coefficients, one, c) and is_zero(room.coefficients, base, c):
                        continue
                    room.grown[state] = room.owing[state] = True
                    for expression, expression_least in (
                        (states.due[state], states.due_least[state]), (states.flow[state], states.flow_least[state])
                    ):  # fmt: skip
                        if expression >= 0:
                            wide = add_event(
                                events, i, state, lanes, keys, base, room.base_least + snapshot * keys,
                                one, src_least + snapshot * keys, (expression + snapshot * lanes) * c,
                                expression_least + snapshot * keys, states, room, wide,
                            )  # fmt: skip
            i = after[i]
            if not tied or i < 0 or events.time[i] != time:
                break
    return wide


@part
def loop_at_once(a, n, arrivals, chains, states, room):
    """The same for `n` events of different times, whose values are in `room.sums` and `room.minima`. The flag.

    Each of them lengthens all trends that there are before it, so their number doubles with each: of t trends become
    2**n t. And whatever an event adds to those that it ends is doubled by each event behind it: with all values
    together v, 2**(n - 1) v t in the end.
    """
    c = room.words
    state = arrivals.state[a]
    chain = states.chain[state]
    lanes = chains.lanes[chain]
    keys = chains.keys[chain]
    wide = put_together(a, arrivals, chains, states, room, np.int64(0))
    for snapshot in range(room.snapshots[chain]):
        here, own = (room.base + snapshot * lanes) * c, (states.flow[state] + snapshot * lanes) * c
        if is_zero(room.coefficients, here, c) and is_zero(room.coefficients, own, c):
            continue
        room.grown[state] = room.owing[state] = True
        for lane in range(0, lanes * c, c):
            wide = add(room.coefficients, here + lane, room.coefficients, own + lane, c, wide)
        here_least, own_least = room.base_least + snapshot * keys, states.flow_least[state] + snapshot * keys
        for key in range(keys):
            room.least[here_least + key] = min(room.least[here_least + key], room.least[own_least + key])
        for expression, expression_least in (
            (states.flow[state], states.flow_least[state]), (states.due[state], states.due_least[state])
        ):  # fmt: skip
            if expression >= 0:
                dst_least = expression_least + snapshot * keys
                for key in range(keys):
                    room.least[dst_least + key] = min(room.least[dst_least + key], room.least[here_least + key])
                for j in range(states.key_at[state], states.key_at[state + 1]):
                    place = dst_least + states.key[j]
                    room.least[place] = min(room.least[place], room.minima[states.column_key[j]])
        for lane in range(lanes):
            wide = add_doubled(n, state, lane, here, snapshot * lanes, states, room, wide)
    return wide


@part
def add_doubled(n, state, lane, here, place, states, room, wide):
    """To a lane of a state's expressions: what there is `here` doubles `n` times, and what is new of it is added."""
    c = room.words
    src, half = here + lane * c, room.before * c
    copy(room.coefficients, half, room.coefficients, src, c)
    wide = double(room.coefficients, half, n - 1, c, wide)
    for expression in (states.flow[state], states.due[state]):
        if expression >= 0:
            dst = (expression + place) * c
            for _ in range(2):
                wide = add(room.coefficients, dst + lane * c, room.coefficients, half, c, wide)
            wide = add_times(room.coefficients, dst + lane * c, room.coefficients, src, -1, c, wide)
            for j in range(states.lane_at[state], states.lane_at[state + 1] if lane == 0 else 0):
                column = states.column[j]
                value = room.sums[column] if column >= 0 else room.sums[0] * 0 + n
                wide = add_times(room.coefficients, dst + states.lane[j] * c, room.coefficients, half, value, c, wide)
    return wide


@part
def gather(events, after, i, end, alike, node, arrivals, members, room):
    """Events of a burst that the node takes, as many as can be added up at once.

    The event behind them, how many they are, and the kind of one of them. `alike`: so many are left, all of one kind;
    where nothing of them is added up, no more has to be known.
    """
    n = 0
    kind = -1
    sums = arrivals.sum_at[node + 1] - arrivals.sum_at[node]
    minima = arrivals.least_at[node + 1] - arrivals.least_at[node]
    if alike and i != end and not sums and not minima:
        kind = events.kind[i]
        return end, alike if arrivals.takes[node * members.kinds + kind] else 0, kind
    for k in range(arrivals.sum_at[node], arrivals.sum_at[node + 1]):
        room.sums[arrivals.sum[k]] = 0
    for k in range(arrivals.least_at[node], arrivals.least_at[node + 1]):
        room.minima[arrivals.least[k]] = NONE
    while i != end:
        if arrivals.takes[node * members.kinds + events.kind[i]]:
            crowded = 0
            for k in range(arrivals.sum_at[node], arrivals.sum_at[node + 1]):
                column = arrivals.sum[k]
                total = abs(np.float64(room.sums[column])) + abs(np.float64(events.values[column, i]))
                if total >= MOST:
                    crowded = n
            if crowded:
                break
            for k in range(arrivals.sum_at[node], arrivals.sum_at[node + 1]):
                column = arrivals.sum[k]
                room.sums[column] += events.values[column, i]
            for k in range(arrivals.least_at[node], arrivals.least_at[node + 1]):
                column = arrivals.least[k]
                room.minima[column] = min(room.minima[column], events.keys[column, i])
            n += 1
            kind = events.kind[i]
        i = after[i]
    return i, n, kind


@kernel
def add_own(m, n, kind, members, tables, slot, room, numbers, least, w):
    """`n` events of a node that does not loop, to one query's counters. The flag."""
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
                value = room.sums[column] if column >= 0 else room.sums[0] * 0 + n
                flag = add_times(numbers, dst + tables.bound_lane[b] * w, numbers, src, value, w, flag)
            src_key, dst_key = least_base + source * keys, least_base + target * keys
            for key in range(keys):
                least[dst_key + key] = min(least[dst_key + key], least[src_key + key])
            for b in range(tables.least_at[bound], tables.least_at[bound + 1]):
                key = dst_key + tables.least_key[b]
                least[key] = min(least[key], room.minima[tables.least_column[b]])
    return flag


@part
def way_of(a, n, at_once, arrivals, states, room):
    """How `n` events that may follow one another are run: HAMLET's decision (Section 4.2) in a sharing plan."""
    steps = 1 if at_once else n
    state = arrivals.state[a]
    snapshots = room.snapshots[states.chain[state]]
    stale = room.initial[state] == UNKNOWN
    for k in range(arrivals.inlet_at[a], arrivals.inlet_at[a + 1]):
        stale |= room.current[arrivals.inlet[k]] == UNKNOWN
    go_on = steps * arrivals.event[a] * (snapshots + stale) + stale * 2 * arrivals.value[a]
    anew = steps * arrivals.event[a] + (snapshots + 1) * arrivals.settled[a] + arrivals.value[a]
    alone = arrivals.alone[a] + n * arrivals.alone_event[a] + snapshots * arrivals.settled[a]
    if go_on <= anew and go_on <= alone:
        return GO_ON
    return ANEW if anew <= alone else ALONE


@kernel
def run_loop(
    events, after, first, end, node, a, n, at_once, arrivals, chains, states, inlets, members, tables, slot, room,
    numbers, least, w, scratch,
):  # fmt: skip
    """A burst of `n` events of a node that may follow one another, to a state. (was it shared, and both flags)"""
    flag = np.int64(0)
    state = arrivals.state[a]
    way = way_of(a, n, at_once, arrivals, states, room)
    if way != GO_ON:
        flag |= settle_chain(states.chain[state], chains, states, inlets, members, slot, room, numbers, least, w)
    if way != ALONE:
        flag |= prepare(a, arrivals, chains, states, inlets, members, slot, room, numbers, least, w)
        if at_once:
            return True, flag, loop_at_once(a, n, arrivals, chains, states, room)
        return True, flag, loop(events, after, first, end, node, a, arrivals, chains, states, members, room)
    for k in range(arrivals.inlet_at[a], arrivals.inlet_at[a + 1]):
        inlet = arrivals.inlet[k]
        for ask in range(inlets.ask_at[inlet], inlets.ask_at[inlet + 1]):
            flag |= refresh(inlets.ask[ask], chains, states, inlets, members, slot, room, numbers, least, w)
    for u in range(states.user_at[state], states.user_at[state + 1]):
        m = chains.member[states.user[u]]
        flag |= all_by_one(events, after, first, end, m, members, tables, slot, numbers, least, w, scratch)
    return False, flag, np.int64(0)


@part
def take_in(
    events, after, first, end, alike, tied, node, arrivals, chains, states, inlets, members, tables, slot, room,
    numbers, least, w, scratch, flag, wide,
):  # fmt: skip
    """A burst of events of one node. (did anybody share it, and both flags)"""
    shared = False
    i = first
    taken, n = 0, 0
    while i != end:
        i, n, kind = gather(events, after, i, end, alike, node, arrivals, members, room)
        if n == 0:
            break
        taken += n
        for a in range(arrivals.at[node], arrivals.at[node + 1]):
            if not arrivals.loops[a]:
                shared = True
                flag |= prepare(a, arrivals, chains, states, inlets, members, slot, room, numbers, least, w)
                wide = add_arrivals(a, n, arrivals, chains, states, room, wide)
        for q in range(arrivals.own_at[node], arrivals.own_at[node + 1]):
            if not arrivals.own_loops[q]:
                for k in range(arrivals.ask_at[q], arrivals.ask_at[q + 1]):
                    flag |= refresh(arrivals.ask[k], chains, states, inlets, members, slot, room, numbers, least, w)
                flag |= add_own(arrivals.own_member[q], n, kind, members, tables, slot, room, numbers, least, w)
    if not taken:
        return False, flag, wide
    for a in range(arrivals.at[node], arrivals.at[node + 1]):
        if arrivals.loops[a]:
            together, overflow, wide_overflow = run_loop(
                events, after, first, end, node, a, taken, n == taken and not tied,
                arrivals, chains, states, inlets, members, tables, slot, room, numbers, least, w, scratch,
            )  # fmt: skip
            shared |= together
            flag |= overflow
            wide |= wide_overflow
    for q in range(arrivals.own_at[node], arrivals.own_at[node + 1]):
        if arrivals.own_loops[q]:
            for k in range(arrivals.ask_at[q], arrivals.ask_at[q + 1]):
                flag |= refresh(arrivals.ask[k], chains, states, inlets, members, slot, room, numbers, least, w)
            m = arrivals.own_member[q]
            flag |= all_by_one(events, after, first, end, m, members, tables, slot, numbers, least, w, scratch)
    for k in range(arrivals.stale_at[node], arrivals.stale_at[node + 1]):
        room.current[arrivals.stale[k]] = UNKNOWN
    return shared, flag, wide


@part
def burst_end(events, after, first, arrivals):
    """The event behind a burst; how many it has if all are of one kind and no two of one time, else 0; are there any
    two; is it of several types at one time?"""
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
    members, tables, room, numbers, least, w, scratch, totals,
):  # fmt: skip
    """Take in the events of partitions `touched[first:count]`. (how many, why it stopped)

    `totals` counts bursts, those that queries shared, and snapshots. Where something does not fit, that partition is
    put back as it was, and the room is to be made anew.
    """
    for t in range(first, count):
        slot = touched[t]
        keep_blocks(slot, members, numbers, least, scratch.saved_numbers, scratch.saved_least, False)
        flag = np.int64(0)
        wide = np.int64(0)
        bursts, together = 0, 0
        room.made[0] = 0
        i = starts[t]
        while i >= 0 and not (flag | wide) >> 62:
            own = arrivals.of_kind[events.kind[i]]
            begin = i
            i, alike, tied, mixed = burst_end(events, after, begin, arrivals)
            bursts += 1
            if mixed:
                for chain in range(len(room.snapshots)):
                    flag |= settle_chain(chain, chains, states, inlets, members, slot, room, numbers, least, w)
                for m in range(len(members.base)):
                    flag |= all_by_one(events, after, begin, i, m, members, tables, slot, numbers, least, w, scratch)
                continue
            several = 0
            for k in range(arrivals.type_at[own], arrivals.type_at[own + 1]):
                shared, flag, wide = take_in(
                    events, after, begin, i, alike, tied, arrivals.node[k], arrivals, chains, states, inlets,
                    members, tables, slot, room, numbers, least, w, scratch, flag, wide,
                )  # fmt: skip
                several += shared
            together += several > 0
        for chain in range(len(room.snapshots)):
            flag |= settle_chain(chain, chains, states, inlets, members, slot, room, numbers, least, w)
        if (flag | wide) >> 62:
            keep_blocks(slot, members, numbers, least, scratch.saved_numbers, scratch.saved_least, True)
            return t, NUMBERS if flag >> 62 else COEFFICIENTS
        totals[0] += bursts
        totals[1] += together
        totals[2] += room.made[0]
    return count, DONE
