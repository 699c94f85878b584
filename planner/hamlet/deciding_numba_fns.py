"""Choose the plan of a burst, compiled: the choice is made for every burst, so it has to be cheap.

Rows and bursts as in `hamlet.bursts`. Costs are sums of the `Terms` that a cost model fills in (`hamlet.terms`).
"""

from __future__ import annotations

import math

from elsinore.planner.hamlet.bursts import APART, FEWEST, OWN, SHARED
from elsinore.planner.kernels.compiled import allocating

TRIED, WORTH = 1, 2
"""Marks of a row: sharing pays if no other row introduces snapshots; sharing pays with all rows that were tried."""


@allocating
def graphlet(terms, events, window, queries, snapshots):
    """Return the cost of one shared graphlet."""
    propagated = terms.event * (snapshots * 0.5 + 1.0) + terms.predecessor * window * (snapshots + 1.0)
    evaluated = terms.query * ((snapshots + 1.0) * (snapshots + 2.0) * 0.25 + 0.5)
    return terms.graphlet + events * propagated + queries * (evaluated + terms.query_event * events * (snapshots + 1.0))


@allocating
def apart(terms, events, window, queries):
    """Return the cost of the same events if each of the queries runs by itself."""
    return queries * (terms.apart + events * (terms.apart_event + terms.apart_predecessor * window))


@allocating
def fewest(terms, events, window, snapshots, query_apart):
    """Return from how many queries on a graphlet costs no more than these by themselves, each at `query_apart`."""
    whole = graphlet(terms, events, window, 0.0, snapshots)
    saved = query_apart - (graphlet(terms, events, window, 1.0, snapshots) - whole)
    return max(FEWEST, math.ceil(whole / saved)) if saved > 0.0 else FEWEST


@allocating
def alone(terms, events, window, queries):
    return min(graphlet(terms, events, window, queries, 0.0), apart(terms, events, window, queries))


@allocating
def choose(terms, size, window, at, queries, taken, snapshots, choice, together, own, marks):
    """Choose the cheapest of the plans that the pruning principles leave, for each burst, in time linear in its rows.

    Theorem 4.3: rows without snapshots share. Theorem 4.5 from below: a row that does not pay if no other row
    introduces snapshots never pays; it is dropped first, so that no other row is charged for its snapshots. Theorem
    4.5: each remaining row is judged once, against sharing with all.
    """
    for b in range(len(size)):
        first, end = at[b], at[b + 1]
        n = float(window[b])
        for r in range(first, end):
            e, k = float(taken[r]), float(queries[r])
            choice[r] = OWN if graphlet(terms, e, n, k, 0.0) < apart(terms, e, n, k) else APART
            own[r] = together[r] = fewest(terms, e, n, 0.0, apart(terms, e, n, 1.0))
            marks[r] = 0
        if end - first == 1:
            continue
        least_events = float(taken[first])
        most_events = float(size[b])
        sure = 0.0
        for r in range(first, end):
            if snapshots[r] == 0:
                sure += queries[r]
                marks[r] = TRIED
        least = graphlet(terms, min(most_events, least_events), n, sure, 0.0)
        k, s = sure, 0.0
        for r in range(first, end):
            if snapshots[r] > 0:
                events = min(most_events, least_events + snapshots[r])
                joined = graphlet(terms, events, n, sure + queries[r], float(snapshots[r]))
                if joined <= least + alone(terms, float(taken[r]), n, float(queries[r])):
                    marks[r] = TRIED
                    k += queries[r]
                    s += snapshots[r]
        whole = graphlet(terms, min(most_events, least_events + s), n, k, s)
        chosen_k, chosen_s, by_themselves, all_apart = 0.0, 0.0, 0.0, 0.0
        for r in range(first, end):
            if marks[r] == TRIED:
                single = alone(terms, float(taken[r]), n, float(queries[r]))
                events = min(most_events, least_events + s - snapshots[r])
                if whole <= graphlet(terms, events, n, k - queries[r], s - snapshots[r]) + single:
                    marks[r] |= WORTH
                if marks[r] & WORTH or snapshots[r] == 0:
                    chosen_k += queries[r]
                    chosen_s += snapshots[r]
                    by_themselves += single
                    all_apart += apart(terms, float(taken[r]), n, float(queries[r]))
        # False if no row joins the base, whose graphlet then costs what it costs by itself.
        events = min(most_events, least_events + chosen_s)
        if graphlet(terms, events, n, chosen_k, chosen_s) < by_themselves:
            together[first] = fewest(terms, events, n, chosen_s, all_apart / chosen_k)
            for r in range(first, end):
                if marks[r] & WORTH or (marks[r] and snapshots[r] == 0):
                    choice[r] = SHARED


@allocating
def whole_costs(terms, size, window, at, queries, taken, snapshots, shared, by_query):
    """Compute top and bottom of the search space (Figure 7): all rows in one graphlet, each query by itself."""
    for b in range(len(size)):
        n = float(window[b])
        k, s, all_apart = 0.0, 0.0, 0.0
        for r in range(at[b], at[b + 1]):
            k += queries[r]
            s += snapshots[r]
            all_apart += apart(terms, float(taken[r]), n, float(queries[r]))
        shared[b] = graphlet(terms, min(float(size[b]), float(taken[at[b]]) + s), n, k, s)
        by_query[b] = all_apart
