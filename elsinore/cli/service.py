"""The commands that send requests to a service."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from elsinore.cli.exit_codes import outcomes
from elsinore.cli.options import (
    JobId,
    Lateness,
    Numeric,
    Strategy,
    TimeColumn,
    TimeUnit,
    Token,
    TypeColumn,
    Url,
    WorkloadFile,
)

if TYPE_CHECKING:
    from elsinore.client.facts import JobStatus
    from elsinore.client.options import Options
    from elsinore.client.waiting import Client

INTERACTIVE_SECONDS = 10.0
"""Seconds to retry a request of an interactive command."""
TRANSFER_SECONDS = 120.0
"""Seconds to retry a request that transfers events or rows; the service may restart meanwhile."""


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
    for command in (submit, jobs, send, results, add, drop, pause, resume, remove):
        app.command(rich_help_panel="A service")(outcomes()(command))


def submit(
    workload: WorkloadFile,
    url: Url,
    token: Token = None,
    name: Annotated[str | None, typer.Option(help="The job's id: a-z, 0-9 and -.", show_default="generated")] = None,
    strategy: Strategy = "auto",
    numeric: Numeric = "exact",
    type_column: TypeColumn = "type",
    time_column: TimeColumn = "time",
    time_unit: TimeUnit = "s",
    lateness: Lateness = 0,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME:TYPE",
            help="Of a column, as speed:float64; if of any, then also of the event type and the time.",
            show_default="as sent",
        ),
    ] = None,
    actors: Annotated[int | None, typer.Option(help="Graph actors.", show_default="the service's")] = None,
) -> None:
    """Submit a workload to a service, and print the id of its job."""
    options: Options = {
        "strategy": strategy,
        "numeric": numeric,
        "type_column": type_column,
        "time_column": time_column,
        "time_unit": time_unit,
        "lateness": lateness,
    }
    if name is not None:
        options["name"] = name
    if column:
        options["columns"] = dict(map(_typed, column))
    if actors is not None:
        options["actors"] = actors
    with _client(url, token) as client:
        typer.echo(client.submit(workload, **options).id)


def _typed(column: str) -> tuple[str, str]:
    from elsinore.errors import InputError

    name, there, kind = column.rpartition(":")
    if not there:
        raise InputError(f"--column must be a name and a type, such as speed:float64, not {column!r}")
    return name, kind


def jobs(url: Url, token: Token = None) -> None:
    """Show the jobs of a service."""
    from elsinore.cli.jobs_table import all_jobs, show

    with _client(url, token) as client:
        show(all_jobs(client))


def send(
    job: JobId,
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="CSV, JSON lines or Parquet.")],
    url: Url,
    token: Token = None,
    key: Annotated[
        str | None,
        typer.Option(help="Idempotency key: files sent again with it count once.", show_default=False),
    ] = None,
) -> None:
    """Send files of events to a job, and wait until the service has stored all of them."""
    from elsinore.cli.transfers import Files, send
    from elsinore.progress import counting

    with _client(url, token, TRANSFER_SECONDS) as client:
        to = client.job(job)
        events = Files(files, to)
        with counting(events.total, shown=sys.stderr.isatty()) as progress:
            receipt = send(to, events, key, progress)
    typer.echo(receipt, err=True)


def results(
    job: JobId,
    url: Url,
    token: Token = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow new rows until Ctrl-C.")] = False,
) -> None:
    """Write the rows of a job as JSON lines."""
    from elsinore.cli.transfers import write

    with _client(url, token, TRANSFER_SECONDS) as client:
        write(client.job(job).pages(follow=follow))


def add(job: JobId, workload: WorkloadFile, url: Url, token: Token = None) -> None:
    """Add queries to a job; they answer the windows that begin after the latest event."""
    with _client(url, token) as client:
        _print_status(client.job(job).add(workload))


def drop(
    job: JobId,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Its name.", show_default=False)],
    url: Url,
    token: Token = None,
) -> None:
    """Remove a query from a job; the other queries are not affected."""
    with _client(url, token) as client:
        _print_status(client.job(job).drop(query))


def pause(job: JobId, url: Url, token: Token = None) -> None:
    """Pause a job: its events are stored, and no rows are computed."""
    with _client(url, token) as client:
        _print_status(client.job(job).pause())


def resume(job: JobId, url: Url, token: Token = None) -> None:
    """Resume a paused job."""
    with _client(url, token) as client:
        _print_status(client.job(job).resume())


def remove(job: JobId, url: Url, token: Token = None) -> None:
    """End a job, and delete all its data."""
    with _client(url, token) as client:
        client.job(job).remove()
    typer.echo(f"{job}: removed", err=True)


def watch(url: str, token: str | None) -> None:
    """Run `elsinore status --url`."""
    from elsinore.cli.jobs_table import watch

    with _client(url, token) as client:
        watch(client)


def _client(url: str, token: str | None, patience: float = INTERACTIVE_SECONDS) -> Client:
    from elsinore.client.waiting import connect

    return connect(url, token=token, patience=patience)


def _print_status(status: JobStatus) -> None:
    typer.echo(repr(status)[1:-1], err=True)
