"""The choice of how a member of a set keeps its windows, where these have panes."""

from __future__ import annotations

from elsinore.actors.members import SetMember
from elsinore.actors.windows.panes import PaneGraph, WindowMethod
from elsinore.actors.windows.window_maps import WindowMaps
from elsinore.actors.windows.window_rows import WindowRows
from elsinore.planner.time.clock import Clock
from elsinore.planner.time.windows import Windows


def pane_graph(member: SetMember, clock: Clock, exact: bool) -> PaneGraph:
    """Return the type-grained graph of a counter whose windows have panes."""
    windows, shape = Windows.of(member.plan.query, clock), member.shape(1 if exact else 2)
    method: WindowMethod = WindowRows(windows, member.plan.rows_by_begin(member.counter))
    if member.plan.window_method(member.counter) == "pane maps":
        method = WindowMaps(windows, shape._replace(rows=len(member.counter.machine.starts)), exact)
    return PaneGraph(member.tables(), shape._replace(rows=method.rows), windows, method, exact)
