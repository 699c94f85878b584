"""The command line. Rows go to stdout, everything else to stderr.

Exit codes: 0, 1 for a run that failed, 2 for bad input, 130 after Ctrl-C.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from elsinore import __version__
from elsinore.cli import service
from elsinore.cli.exit_codes import outcomes
from elsinore.cli.options import (
    EventFiles,
    GraphActors,
    Lateness,
    MoreEventFiles,
    Numeric,
    RayAddress,
    Strategy,
    TimeColumn,
    TimeUnit,
    Token,
    TypeColumn,
    WorkloadFile,
    given,
)

app = typer.Typer(
    name="elsinore",
    help="Workloads of event trend aggregation queries over streams, answered exactly.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
generate = typer.Typer(help="Generate example streams.", no_args_is_help=True)
app.add_typer(generate, name="generate")


def main() -> None:
    """Run the `elsinore` command."""
    app()


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False) -> None:
    if version:
        typer.echo(f"elsinore {__version__}")
        raise typer.Exit


@app.command()
@outcomes()
def check(workload: WorkloadFile) -> None:
    """Check a workload, and report all its problems at once."""
    from elsinore.api import check, parse

    check(workload)
    count = len(parse(workload).queries)
    typer.echo(f"{workload}: {count} {'query' if count == 1 else 'queries'}, nothing wrong")


@app.command()
@outcomes()
def explain(
    workload: WorkloadFile,
    strategy: Strategy = "auto",
    events: Annotated[
        Path | None,
        typer.Option(
            "--events",
            "-e",
            metavar="FILE",
            help="Estimate rates and selectivities for RETURN MATCHES from these events.",
            show_default=False,
        ),
    ] = None,
    analyze: Annotated[
        bool, typer.Option("--analyze", help="Run it over these events, and show what was counted beside the plan.")
    ] = False,
    type_column: TypeColumn = "type",
    time_column: TimeColumn = "time",
    time_unit: TimeUnit = "s",
    lateness: Lateness = 0,
) -> None:
    """Show the plan of a workload, with the reasons for it."""
    from elsinore.api import explain

    reading = {"type_column": type_column, "time_column": time_column, "time_unit": time_unit}
    typer.echo(explain(workload, strategy, events, analyze=analyze, lateness=lateness, **reading))


@app.command()
@outcomes()
def draw(
    workload: WorkloadFile,
    events: Annotated[
        Path | None,
        typer.Option(
            "--events",
            "-e",
            metavar="FILE",
            help="Draw the graph over these events; few. With --plan: estimate rates and selectivities from them.",
            show_default=False,
        ),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Draw how its queries share work.")] = False,
    strategy: Annotated[str, typer.Option(help="The strategy whose plan is drawn.")] = "auto",
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="An .svg file, or - for stdout.")] = "-",
    type_column: TypeColumn = "type",
    time_column: TimeColumn = "time",
    time_unit: TimeUnit = "s",
) -> None:
    """Draw a workload as SVG: its templates and multi-pattern graphs, its HAMLET graph over a few events, its plans."""
    from elsinore.api import draw

    reading = {"type_column": type_column, "time_column": time_column, "time_unit": time_unit}
    drawing = draw(workload, events, plan=plan, strategy=strategy, **reading)
    if out == "-":
        typer.echo(drawing.svg, nl=False)
    else:
        drawing.save(out)


@app.command()
@outcomes()
def run(
    workload: WorkloadFile,
    events: EventFiles,
    more_events: MoreEventFiles = None,
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The output: a file .jsonl, .csv or .parquet.")
    ] = "-",
    engine: Annotated[
        Literal["auto", "ray", "local"] | None,
        typer.Option(help="Run on Spark and Ray, or in this process; auto chooses by size.", show_default="auto"),
    ] = None,
    address: RayAddress = None,
    actors: GraphActors = None,
    strategy: Strategy = "auto",
    numeric: Numeric = "exact",
    type_column: TypeColumn = "type",
    time_column: TimeColumn = "time",
    time_unit: TimeUnit = "s",
    lateness: Lateness = 0,
    strict: Annotated[bool, typer.Option("--strict", help="Stop at the first bad event.")] = False,
    dead_letters: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write bad and late events here, with the reason.", show_default=False),
    ] = None,
    decisions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Record the sharing decisions here: .parquet or .jsonl.", show_default=False),
    ] = None,
) -> None:
    """Run a workload over files of events; rows are written as windows close."""
    from elsinore.api import prepare
    from elsinore.cli.runs import answer, check_decisions, write_decisions

    if decisions is not None:
        check_decisions(decisions)
    job = prepare(
        workload,
        [*events, *(more_events or [])],
        engine=engine,
        strategy=strategy,
        numeric=numeric,
        lateness=lateness,
        type_column=type_column,
        time_column=time_column,
        time_unit=time_unit,
        strict=strict,
        dead_letters=dead_letters,
        decisions=decisions is not None,
        settings=given(address=address, actors=actors),
    )
    typer.echo(answer(job, out, approximate=numeric == "approximate"), err=True)
    if decisions is not None:
        write_decisions(job, decisions)


@app.command()
@outcomes()
def why(
    workload: WorkloadFile,
    events: EventFiles,
    more_events: MoreEventFiles = None,
    query: Annotated[
        str | None, typer.Option("--query", "-q", metavar="NAME", help="One query.", show_default="all")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="VALUE", help="The group of the expected row: a value, or name=value.", show_default=False
        ),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Where the window of the expected row starts.", show_default=False),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    type_column: TypeColumn = "type",
    time_column: TimeColumn = "time",
    time_unit: TimeUnit = "s",
    lateness: Lateness = 0,
) -> None:
    """Explain why a query has no row over files of events, and which change would give one."""
    import json

    from elsinore.reasons.asking import why

    found = why(
        workload,
        [*events, *(more_events or [])],
        query=query,
        group=group,
        window=window,
        type_column=type_column,
        time_column=time_column,
        time_unit=time_unit,
        lateness=lateness,
    )
    typer.echo(json.dumps(found.to_dict(), default=str) if as_json else str(found))


@app.command()
@outcomes()
def stream(
    workload: WorkloadFile,
    source: Annotated[Path, typer.Option("--source", "-s", metavar="DIR", help="A folder in which files appear.")],
    checkpoint: Annotated[
        str, typer.Option("--checkpoint", "-c", metavar="DIR", help="The folder of its saved state.")
    ],
    out: Annotated[
        str,
        typer.Option("--out", "-o", metavar="DIR", help="The output: a folder .jsonl, .csv, .parquet, or .delta."),
    ] = "-",
    address: RayAddress = None,
    actors: GraphActors = None,
    strategy: Strategy = "auto",
    numeric: Numeric = "exact",
    type_column: TypeColumn = "type",
    time_column: TimeColumn = "time",
    time_unit: TimeUnit = "s",
    lateness: Lateness = 0,
    dead_letters: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write bad events here, with the reason.", show_default=False)
    ] = None,
) -> None:
    """Run a workload over a growing folder until Ctrl-C; when started again, it resumes where it stopped."""
    from elsinore.cli.runs import wait_for_end
    from elsinore.live import stream

    live = stream(
        workload,
        source,
        out,
        checkpoint=checkpoint,
        strategy=strategy,
        numeric=numeric,
        type_column=type_column,
        time_column=time_column,
        time_unit=time_unit,
        lateness=lateness,
        dead_letters=dead_letters,
        **given(address=address, actors=actors),
    )
    typer.echo(wait_for_end(live, source), err=True)


@app.command()
@outcomes()
def serve(
    data: Annotated[
        Path | None,
        typer.Option("--data", "-d", metavar="DIR", help="The folder of all jobs.", show_default="elsinore-data"),
    ] = None,
    host: Annotated[
        str | None, typer.Option(metavar="HOST", help="The address to listen at.", show_default="127.0.0.1")
    ] = None,
    port: Annotated[int | None, typer.Option(metavar="N", help="The port to listen at.", show_default="8000")] = None,
    actors: Annotated[int | None, typer.Option(help="Graph actors of a job.", show_default="2")] = None,
) -> None:
    """Run the HTTP service on this machine until Ctrl-C; without ELSINORE_SERVICE_TOKEN it makes a token."""
    from elsinore.api import chosen_settings
    from elsinore.extras import needing_cluster

    with needing_cluster("a service"):
        from elsinore.cluster.service.embedded import serve_until_stopped
        from elsinore.cluster.service.settings import service_settings

    settings = chosen_settings("ray", given(actors=actors))
    serve_until_stopped(
        service_settings(**given(data=data, host=host, port=port)), settings, lambda text: typer.echo(text, err=True)
    )


@app.command()
@outcomes()
def status(
    checkpoint: Annotated[
        str | None, typer.Argument(metavar="[DIR]", help="The checkpoint of a live stream.", show_default=False)
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(
            envvar="ELSINORE_URL", help="Show the jobs of this service instead, until Ctrl-C.", show_default=False
        ),
    ] = None,
    token: Token = None,
) -> None:
    """Show the progress of a live stream, from its checkpoint; or the jobs of a service."""
    if checkpoint is None:
        if url is None:
            raise typer.BadParameter("give the checkpoint of a live stream, or the --url of a service")
        service.watch(url, token)
        return
    from rich.console import Console

    from elsinore.cli.checkpoint_table import status_table

    Console().print(status_table(checkpoint))


@app.command()
@outcomes()
def bench(
    figures: Annotated[
        list[str],
        typer.Argument(
            metavar="FIGURE...",
            help="aseq-fig12 to 16, cogra-fig5 to 13, hamlet-fig8 to 12, gloria-fig11 to 19, multi-fig10 to 14; all",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="The folder for the page, images and numbers.")
    ] = Path("figures"),
    size: Annotated[
        str, typer.Option(metavar="SIZE", help="full; small or tiny: 3 or 2 values of each axis, over shorter streams.")
    ] = "full",
) -> None:
    """Measure figures of the papers on this machine: a page, and for each figure images, JSON and CSV."""
    from elsinore.bench.command import bench

    for path in bench(figures, out, size, shown=sys.stderr.isatty()):
        typer.echo(path)


@app.command()
@outcomes()
def warm(
    workloads: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[WORKLOAD...]", help="Files of queries.", show_default="all that auto may run"),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Compile for every strategy, not for auto alone.")] = False,
    cores: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="The number of processes.", show_default="the cores of this machine"),
    ] = None,
) -> None:
    """Compile the kernels that workloads need, in parallel, so that the first run on this machine waits for nothing."""
    from elsinore.warming.command import warm

    typer.echo(warm(workloads or (), everything=everything, cores=cores, shown=sys.stderr.isatty()), err=True)


@generate.command()
@outcomes()
def ridesharing(
    events: Annotated[int, typer.Option(metavar="N", help="How many.")],
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="A .parquet, .csv or .jsonl file.")],
    rate: Annotated[float, typer.Option(metavar="N", help="Events a minute.")] = 10_000,
    groups: Annotated[int, typer.Option(metavar="N", help="Pairs of a driver and a rider.")] = 1_000,
    burst: Annotated[float, typer.Option(metavar="N", help="Events of a type in a row, on average.")] = 10,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of the random numbers: the same seed, the same events.")
    ] = 0,
) -> None:
    """Write HAMLET's ridesharing stream: 20 event types, in bursts, in order of time."""
    from elsinore.connectors.ridesharing import write
    from elsinore.progress import counting

    with counting(events, shown=sys.stderr.isatty()) as progress:
        write(out, events, rate=rate, groups=groups, burst=burst, seed=seed, progress=progress)
    typer.echo(f"{out}: {events:,} events", err=True)


service.register(app)
