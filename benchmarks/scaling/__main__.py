"""`python -m benchmarks.scaling`: measure the parts of a cluster, and simulate a larger one over what was measured."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np

from benchmarks.scaling.model import Capacities, Cluster, Stream
from benchmarks.scaling.simulation import MOST_EVENTS, Outcome, simulate, sustained


def main(words: Sequence[str] | None = None) -> None:
    arguments = _parser().parse_args(words)
    if arguments.command == "measure":
        from benchmarks.scaling.measuring import measure

        measure(arguments.workload, arguments.events).write(arguments.out)
        return
    capacities = Capacities.read(arguments.capacities)
    given = vars(arguments)
    cluster = Cluster(**{one.name: given[one.name] for one in fields(Cluster)})
    stream = Stream(**{one.name: given[one.name] for one in fields(Stream)})
    print("\n".join(report(capacities, cluster, stream)))


def report(capacities: Capacities, cluster: Cluster, stream: Stream) -> list[str]:
    """Return the lines about a simulated cluster."""
    outcome = simulate(capacities, cluster, stream)
    most = sustained(capacities, cluster, stream)
    verdict = "keeps up" if outcome.keeps_up else f"falls behind: the {outcome.busiest.name} is too slow"
    places = f"{cluster.nodes} nodes with {cluster.actors} graph actors each"
    return [
        f"{stream.events_per_second / 1e6:g} M events/s on {places}: {verdict}",
        f"{'part':<16} {'copies':>6} {'busy':>7}  saturated at",
        *(_line(capacities, cluster, stream, outcome, name) for name in outcome.load),
        f"sustained: {most / 1e6:,.1f} M events/s; latency {_latency(outcome)}",
    ]


def _line(capacities: Capacities, cluster: Cluster, stream: Stream, outcome: Outcome, name: str) -> str:
    copies = next(part.copies for part in outcome.parts if part.name == name)
    most = sustained(capacities, cluster, stream, name)
    limit = "no rate" if most > MOST_EVENTS / 4 else f"{most / 1e6:,.1f} M events/s" if most >= 1 else "any rate"
    return f"{name:<16} {copies:>6} {outcome.load[name]:>7.1%}  {limit}"


def _latency(outcome: Outcome) -> str:
    if not outcome.keeps_up:
        return "without bound"
    half, most = np.quantile(outcome.latencies, [0.5, 0.99])
    return f"{half:.2f} s p50, {most:.2f} s p99"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure", help="measure the parts on this machine, with Spark and Ray")
    measuring.add_argument("--workload", type=Path, default=Path("examples/board/workload.elsinore"))
    measuring.add_argument("--events", type=int, default=10_000_000)
    measuring.add_argument("--out", type=Path, default=Path("capacities.json"))
    simulating = commands.add_parser("simulate", help="simulate a cluster over what was measured")
    simulating.add_argument("--capacities", type=Path, default=Path("capacities.json"))
    for kind in (Cluster, Stream):
        for one in fields(kind):
            simulating.add_argument(f"--{one.name.replace('_', '-')}", type=type(one.default), default=one.default)
    return parser


if __name__ == "__main__":
    main()
