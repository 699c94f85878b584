"""`python -m benchmarks.scaling`: measure the parts of a cluster, and simulate a larger one over what was measured."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

import numpy as np

from benchmarks.scaling.model import Capacities, Cluster, Stream
from benchmarks.scaling.simulation import Outcome, limits, simulate

MEASURED = Path(__file__).parent / "board.json"
"""Capacities that were measured with `examples/board` on two cores."""


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
    outcome, most = simulate(capacities, cluster, stream), limits(capacities, cluster, stream)
    verdict = "keeps up" if outcome.keeps_up else f"falls behind: the {outcome.busiest.name} is too slow"
    places = f"{cluster.nodes} nodes with {cluster.actors} graph actors each"
    return [
        f"{stream.events_per_second / 1e6:g} M events/s on {places}: {verdict}",
        f"{'part':<16} {'copies':>6} {'busy':>7}  keeps up with",
        *(
            f"{one.name:<16} {one.copies:>6} {outcome.load[one.name]:>7.1%}  {_rate(most[one.name])}"
            for one in outcome.parts
        ),
        f"sustained: {_rate(min(most.values()))}; latency {_latency(outcome)}",
    ]


def _rate(rate: float) -> str:
    if rate == 0:
        return "no events"
    return "any rate" if math.isinf(rate) else f"{rate / 1e6:,.1f} M events/s"


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
    simulating.add_argument("--capacities", type=Path, default=MEASURED)
    for kind in (Cluster, Stream):
        for one in fields(kind):
            simulating.add_argument(f"--{one.name.replace('_', '-')}", type=type(one.default), default=one.default)
    return parser


if __name__ == "__main__":
    main()
