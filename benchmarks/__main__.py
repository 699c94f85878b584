"""`python -m benchmarks`: prints a table of figures, and writes the same as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import HEADER, Benchmark, Figure, line
from benchmarks.papers.aseq import aseq
from benchmarks.papers.auto import auto
from benchmarks.papers.changing import changing
from benchmarks.papers.everyday import board, shares
from benchmarks.papers.gloria import gloria
from benchmarks.papers.hamlet import hamlet
from benchmarks.papers.linked import doubling, linked
from benchmarks.papers.moving import moving
from benchmarks.papers.type_grained import semantics, sliding, tumbling
from benchmarks.runtime.end_to_end import end_to_end
from benchmarks.runtime.flink import flink
from benchmarks.runtime.live import growth, latency
from benchmarks.runtime.memory import memory
from benchmarks.runtime.scale_out import scale_out
from benchmarks.runtime.spark_and_ray import runtime
from benchmarks.runtime.starting import starting
from benchmarks.runtime.why import why
from elsinore.bench.machine import machine

BENCHMARKS: dict[str, Benchmark] = {
    benchmark.__name__: benchmark
    for benchmark in (
        tumbling,
        shares,
        board,
        sliding,
        semantics,
        linked,
        doubling,
        moving,
        hamlet,
        gloria,
        auto,
        aseq,
        changing,
        memory,
        starting,
        why,
        flink,
        runtime,
        scale_out,
        end_to_end,
        latency,
        growth,
    )
}


def main() -> None:
    """Measure the figures that are asked for, and print them line by line."""
    arguments = _arguments()
    print(HEADER)
    figures = measured(arguments.only or BENCHMARKS, arguments.events)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "machine": machine(),
        "events": arguments.events,
        "figures": [figure.document() for figure in figures],
    }
    arguments.out.write_text(json.dumps(document, indent=2) + "\n")


def measured(names: Sequence[str] | dict[str, Benchmark], events: int) -> list[Figure]:
    figures = []
    for name in names:
        for figure in BENCHMARKS[name](events):
            print(line(figure), flush=True)
            figures.append(figure)
    return figures


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="How fast Elsinore is.")
    parser.add_argument("--events", type=int, default=10_000_000, help="events of a stream (default: %(default)s)")
    parser.add_argument(
        "--only", nargs="+", choices=BENCHMARKS, metavar="NAME", help=f"some of {', '.join(BENCHMARKS)}"
    )
    parser.add_argument("--out", type=Path, default=Path(".build/benchmarks.json"), help="default: %(default)s")
    return parser.parse_args()


if __name__ == "__main__":
    main()
