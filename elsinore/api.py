"""The functions of the Python API that run, check, explain and draw a workload."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from elsinore.errors import InputError, WorkloadError
from elsinore.extras import needing_cluster
from elsinore.inputs import check_known, checked, seconds
from elsinore.planner.language.syntax import Workload
from elsinore.workloads import text_of

if TYPE_CHECKING:
    from elsinore.actors.rows.rows import Rows
    from elsinore.cluster.machines.settings import Settings
    from elsinore.cluster.run.analyzed import AnalyzedRun
    from elsinore.cluster.run.engine_choice import EngineChoice
    from elsinore.cluster.run.local import LocalRun
    from elsinore.cluster.run.ray_run import RayRun
    from elsinore.connectors.sources import Source
    from elsinore.drawing.drawing import Drawing
    from elsinore.planner.detection.known import Known
    from elsinore.planner.plans.model import Plan
    from elsinore.result import Result

NUMERICS = ("exact", "approximate")

MOST_MATCHES = 10_000_000
"""Matches of one query that a run in this process lists, unless it is told another number."""


def parse(workload: str | PathLike[str]) -> Workload:
    """Parse a workload, given as text or path, to queries as frozen dataclasses that print back as the language."""
    from elsinore.planner.language.parse import parse

    return parse(text_of(workload))


def check(workload: str | PathLike[str]) -> None:
    """Raise WorkloadError with all problems of a workload, given as text or path."""
    checked(workload)


def explain(
    workload: str | PathLike[str],
    strategy: str = "auto",
    events: Any = None,
    *,
    analyze: bool = False,
    lateness: float | Fraction | timedelta = 0,
    **reading: Any,
) -> str:
    """Return the plan of a workload as text, one line per node, with the reasons for it.

    Plans of queries that return matches follow from rates and selectivities. They are estimated from the first of
    `events`, which are as in `run`, with its options on columns and times as `reading`; without events, assumed. The
    last line says how a run on Spark and Ray with the present settings hands events over to graph actors.

    With `analyze`, run the workload over all `events` in this process, in one thread, and show beside the plan that
    ran what it counted: events taken in and filtered out, bursts, snapshots, stored matches, rows, and seconds by part.
    Rows are thrown away. `lateness` is as in `run`.
    """
    from elsinore.planner.explain.text import explain

    asked = checked(workload)
    made = _planned(asked, strategy)
    if not analyze:
        if lateness:
            raise InputError("lateness is for a run; ask for one with analyze (--analyze), or leave lateness out")
        return "\n".join((explain(made, _known(made, events, reading)), *_hand_over(made)))
    run = _analyzed_run(asked, made, events, seconds(lateness), reading)
    with pointing_into(asked):
        counts = run.counts()
    detects = any(one.query.detects for one in made.queries)
    known = _known(made, events if detects else None, reading)
    return "\n".join((explain(run.plan, known, counts), *_hand_over(made)))


def _analyzed_run(
    asked: Workload, made: Plan, events: Any, lateness: Fraction, reading: Mapping[str, Any]
) -> AnalyzedRun:
    """Return a run that counts what the plan does, over events that can be read a second time if they have to be."""
    if events is None:
        raise InputError("there are no events to run the workload over: give some with analyze (--events FILE)")
    from elsinore.cluster.run.analyzed import AnalyzedRun
    from elsinore.cluster.run.engine_choice import choose_engine
    from elsinore.result import can_be_read_again

    if not can_be_read_again(events) and any(one.query.detects for one in made.queries):
        raise InputError(
            "queries that return matches are explained with events that can be read twice: a frame, a table, or files"
        )
    planned, source = _opened(asked, made, events, reading)
    whole = choose_engine(chosen_settings("auto", {}), {}, source).whole
    return AnalyzedRun(planned, source, lateness=lateness, whole=whole)


def _opened(asked: Workload, planned: Plan, events: Any, reading: Mapping[str, Any]) -> tuple[Plan, Source]:
    """Open events, and check that they have what the queries read; the plan knows their columns."""
    from elsinore.connectors.sources import open_events
    from elsinore.planner.checks.check import check_attributes
    from elsinore.planner.detection.sets import with_event_columns

    source = open_events(events, **reading)
    check_attributes(asked, attributes_of(source, planned.types))
    return with_event_columns(planned, source.event_columns), source


@contextmanager
def pointing_into(workload: Workload) -> Iterator[None]:
    """Give a problem that shows only in the events (text compared with a number) the text into which it points."""
    try:
        yield
    except WorkloadError as error:
        raise WorkloadError(error.problems, workload.text) from None


def _hand_over(made: Plan) -> Iterator[str]:
    from elsinore.planner.plans.hand_over import chosen_hand_over
    from elsinore.planner.plans.routes import routes

    chosen = chosen_settings(None, {})
    if chosen.engine == "ray":
        found = routes(made.workload, spread=chosen.actors > 1)
        way = chosen_hand_over(found, chosen.actors, chosen.address is not None, chosen.hand_over)
        actors = "1 actor" if chosen.actors == 1 else f"{chosen.actors} actors"
        yield f"hand-over to {actors}: {way.way}, {way.why}"


def _known(made: Plan, events: Any, reading: Mapping[str, Any]) -> Known:
    """Return what is known of a stream of which some events are given, or None."""
    from elsinore.planner.detection.known import Known

    if events is None:
        return Known()
    if not any(one.query.detects for one in made.queries):
        raise InputError(
            "events tell the plans of queries that return matches only; leave them out for aggregates, "
            "or run these with analyze (--analyze)"
        )
    from elsinore.sampling import known_from

    return known_from(made, events, reading)


def draw(
    workload: str | PathLike[str], events: Any = None, *, plan: bool = False, strategy: str = "auto", **reading: Any
) -> Drawing:
    """Draw the merged query templates of a workload, given as text or path: one for each set of queries that may share.

    With `events`, draw the HAMLET graph of the first set over these events instead, with all bursts shared: its
    graphlets, the expressions that they propagate, and its snapshots. `events` are as in `run`, and must be few;
    `reading` holds the options of `run` on columns and times.

    With `plan`, draw the GLORIA graphs instead, in which sharing plans are found, as if all types were alike. The
    marked path is the plan of `strategy`; where that does not choose GLORIA, the cheapest plan by the paper.

    Of queries that return matches, draw the graph of the subpatterns that they have in common; with `plan`, the
    multitree of the strategy, or its tree where it chooses orders. What is expected is estimated from the first
    `events`, of which there may be many; without events it is assumed.
    """
    asked = checked(workload)
    if events is not None and not plan:
        from elsinore.drawing.events import draw_events

        return draw_events(asked, events, reading)
    from elsinore.drawing.plans import draw_common, draw_sharing

    made = _planned(asked, strategy)
    if not plan:
        return draw_common(made)
    if events is not None and not all(query.detects for query in asked.queries):
        raise InputError("plan and events cannot be drawn together for aggregates; leave out one of them.")
    return draw_sharing(made, _known(made, events, reading))


def run(
    workload: str | PathLike[str],
    events: Any,
    *,
    engine: Literal["auto", "ray", "local"] | None = None,
    strategy: str = "auto",
    numeric: Literal["exact", "approximate"] = "exact",
    type_column: str = "type",
    time_column: str = "time",
    time_unit: str = "s",
    lateness: float | Fraction | timedelta = 0,
    strict: bool = False,
    dead_letters: str | PathLike[str] | None = None,
    decisions: bool = False,
    progress: bool = False,
    most_matches: int | None = MOST_MATCHES,
    **settings: Any,
) -> Result:
    """Run a workload over events and wait for all rows.

    `workload` is the text of queries or the path of a file. `events` is a pandas or Polars frame, anything that
    implements the Arrow C stream interface, a list of dicts, or one or more paths of CSV, JSON lines and Parquet files.
    Events may be late by `lateness` (a number of seconds, or a timedelta). Bad events, and events that are later, are
    counted and written to `dead_letters`; with `strict` the first bad one raises EventError. With `decisions` the
    result records the decision about each burst. `progress` shows a bar on stderr.

    `engine="ray"` runs the workload on Spark and Ray, which are started on this machine, or joined at `address`;
    `settings` are those of `elsinore.Settings`: `actors=4`, and so on. `engine="local"` runs it in this process alone;
    there a query with more than `most_matches` matches ends the run with their number. `engine="auto"`, the default,
    takes this process for events in memory and for up to 10 million events in files, and Spark and Ray for more, for
    `address` and for any other of the settings; `engine` of the result says which it took.
    """
    from elsinore.connectors.rows.row_tables import answers, bounds_type, columns_of, late_events
    from elsinore.progress import bar
    from elsinore.result import Result, RunSource

    job = prepare(
        workload,
        events,
        engine=engine,
        strategy=strategy,
        numeric=numeric,
        type_column=type_column,
        time_column=time_column,
        time_unit=time_unit,
        lateness=lateness,
        strict=strict,
        dead_letters=dead_letters,
        decisions=decisions,
        most_matches=most_matches,
        settings=settings,
    )
    local = job.run
    columns = columns_of(job.workload)
    with bar(job, progress):
        parts = list(job)
    rows = answers(parts, columns, local.clock)
    late = late_events(local.late, local.clock, type_column, time_column)
    recorded = local.decisions if decisions else None
    reading = {"type_column": type_column, "time_column": time_column, "time_unit": time_unit, "lateness": lateness}
    return Result(
        rows,
        columns,
        bounds_type(local.clock),
        numeric == "approximate",
        local.metrics,
        late,
        recorded,
        job.choice.engine,
        RunSource.kept(workload, events, reading),
    )


@dataclass(frozen=True)
class PreparedRun:
    """A checked workload, ready to run over its events; iterating runs it and yields rows as windows close."""

    workload: Workload
    run: LocalRun | RayRun
    choice: EngineChoice
    progress: Callable[[], float | None]
    """Returns the fraction of the run that is done, or None where it is unknown."""

    def __iter__(self) -> Iterator[Rows]:
        with pointing_into(self.workload):
            yield from self.run


def prepare(
    workload: str | PathLike[str],
    events: Any,
    *,
    engine: str | None = None,
    strategy: str,
    numeric: Literal["exact", "approximate"],
    lateness: float | Fraction | timedelta,
    decisions: bool = False,
    most_matches: int | None = None,
    settings: Mapping[str, Any] | None = None,
    **reading: Any,
) -> PreparedRun:
    """Check everything that can be checked before the first event is read; pass `reading` to `open_events`."""
    chosen = chosen_settings(engine, settings or {})
    check_known("numeric", numeric, NUMERICS)
    allowed = seconds(lateness)
    asked = checked(workload)
    from elsinore.cluster.run.engine_choice import choose_engine

    # A run in this process looks for sharing plans once it has seen events.
    planned, source = _opened(asked, _planned(asked, strategy, searching=False), events, reading)
    choice = choose_engine(chosen, settings or {}, source)
    if choice.engine == "local":
        from elsinore.cluster.run.local import LocalRun, usable_cores

        run = LocalRun(
            planned,
            source,
            numeric=numeric,
            lateness=allowed,
            record_decisions=decisions,
            most_matches=most_matches,
            whole=choice.whole,
            cores=chosen.cores or usable_cores(),
        )
        return PreparedRun(asked, run, choice, source.progress)
    from elsinore.planner.detection.sets import with_event_columns

    with needing_cluster("engine='ray'"):
        from elsinore.cluster.run.ray_run import RayRun

    if strategy == "auto":  # no other strategy leaves the search for later
        planned = with_event_columns(_planned(asked, strategy), source.event_columns)
    spread = RayRun(planned, source, chosen, numeric=numeric, record_decisions=decisions)
    return PreparedRun(asked, spread, choice, spread.progress)


def chosen_settings(engine: str | None, given: Mapping[str, Any]) -> Settings:
    """Return the settings from a user's keyword arguments; an `engine` of None counts as not given."""
    from elsinore.cluster.machines.settings import settings

    return settings(**given) if engine is None else settings(engine=engine, **given)


def _planned(workload: Workload, strategy: str, searching: bool = True) -> Plan:
    from elsinore.planner.plans.planning import STRATEGIES, plan

    check_known("strategy", strategy, STRATEGIES)
    return plan(workload, strategy, searching=searching)


def attributes_of(source: Source, types: Collection[str]) -> Mapping[str, Collection[str]]:
    """Return the attributes of each event type: all columns of the table, where the types share one."""
    if source.attributes_of_types is not None:
        return source.attributes_of_types
    return dict.fromkeys(types, source.attributes) if source.feed.types else {}
