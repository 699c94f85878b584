"""The functions of the Python API that run, check, explain and draw a workload."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from elsinore.errors import InputError, WorkloadError
from elsinore.extras import needing_cluster
from elsinore.planner.language.errors import enumeration
from elsinore.planner.language.syntax import Workload
from elsinore.planner.time.clock import NANOSECOND
from elsinore.workloads import text_of

if TYPE_CHECKING:
    from elsinore.actors.rows.rows import Rows
    from elsinore.cluster.machines.settings import Settings
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


def explain(workload: str | PathLike[str], strategy: str = "auto", events: Any = None, **reading: Any) -> str:
    """Return the plan of a workload as text, one line per node, with the reasons for it.

    Plans of queries that return matches follow from rates and selectivities. They are estimated from the first of
    `events`, which are as in `run`, with its options on columns and times as `reading`; without events, assumed. The
    last line says how a run on Spark and Ray with the present settings hands events over to graph actors.
    """
    from elsinore.planner.explain.text import explain

    made = _planned(checked(workload), strategy)
    return "\n".join((explain(made, _known(made, events, reading)), *_hand_over(made)))


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
        raise InputError("events tell the plans of queries that return matches only; leave them out for aggregates.")
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
    from elsinore.result import Result

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
    return Result(
        rows,
        columns,
        bounds_type(local.clock),
        numeric == "approximate",
        local.metrics,
        late,
        recorded,
        job.choice.engine,
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
        try:
            yield from self.run
        except WorkloadError as error:
            # Some problems show only in the events (text compared with a number); the run has no text to point into.
            raise WorkloadError(error.problems, self.workload.text) from None


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
    planned = _planned(asked, strategy)

    from elsinore.cluster.run.engine_choice import choose_engine
    from elsinore.connectors.sources import open_events
    from elsinore.planner.checks.check import check_attributes
    from elsinore.planner.detection.sets import with_event_columns

    source = open_events(events, **reading)
    check_attributes(asked, attributes_of(source, planned.types))
    planned = with_event_columns(planned, source.event_columns)
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
    with needing_cluster("engine='ray'"):
        from elsinore.cluster.run.ray_run import RayRun

    spread = RayRun(planned, source, chosen, numeric=numeric, record_decisions=decisions)
    return PreparedRun(asked, spread, choice, spread.progress)


def chosen_settings(engine: str | None, given: Mapping[str, Any]) -> Settings:
    """Return the settings from a user's keyword arguments; an `engine` of None counts as not given."""
    from elsinore.cluster.machines.settings import settings

    return settings(**given) if engine is None else settings(engine=engine, **given)


def seconds(length: float | Fraction | timedelta) -> Fraction:
    """Return a length of time as an exact number of seconds, to the nanosecond; a float counts as its decimal text."""
    if isinstance(length, timedelta):
        length = Fraction(length // timedelta(microseconds=1), 10**6)
    try:
        exact = Fraction(round(Fraction(str(length)) * NANOSECOND), NANOSECOND)
    except ValueError:
        exact = Fraction(-1)
    if exact < 0:
        raise InputError(f"lateness must be a number of seconds, 0 or more, not {length}")
    return exact


def checked(workload: str | PathLike[str]) -> Workload:
    """Parse and check a workload, given as text or path; raise WorkloadError if it has problems."""
    from elsinore.planner.checks.check import check_text

    return check_text(text_of(workload))


def _planned(workload: Workload, strategy: str) -> Plan:
    from elsinore.planner.plans.planning import STRATEGIES, plan

    check_known("strategy", strategy, STRATEGIES)
    return plan(workload, strategy)


def attributes_of(source: Source, types: Collection[str]) -> Mapping[str, Collection[str]]:
    """Return the attributes of each event type: all columns of the table, where the types share one."""
    if source.attributes_of_types is not None:
        return source.attributes_of_types
    return dict.fromkeys(types, source.attributes) if source.feed.types else {}


def check_known(what: str, name: str, names: tuple[str, ...]) -> None:
    """Raise InputError if a name is not one of the allowed names."""
    if name not in names:
        raise InputError(f"there is no {what} {name!r}; there is {enumeration(map(repr, names))}")
