"""`python -m loadtest`: a service, users, a report; fails on a wrong or missing row, not on a slow one."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from loadtest.service import SERVICE_LOG, end, service
from loadtest.shapes import SHAPES
from loadtest.summary import summarized, write

FINISH = 600
"""Seconds that users may take to read their last rows."""


def main() -> None:
    """Run the service with its users, then the embedded stream, and write the summary."""
    parser = argparse.ArgumentParser(prog="python -m loadtest", description=__doc__)
    parser.add_argument("--shape", choices=sorted(SHAPES), default="all", help="how many users there are, and when")
    parser.add_argument("--seconds", type=float, default=120, help="how long they send")
    parser.add_argument("--events", type=int, default=4_000_000, help="events for the embedded stream")
    parser.add_argument("--out", type=Path, default=Path(".build/loadtest"), help="where the reports go")
    arguments = parser.parse_args()
    if arguments.seconds <= 0 or arguments.events <= 0:
        parser.error("--seconds and --events are more than 0")
    out = _emptied(arguments.out.absolute(), parser.error)
    os.environ["XDG_STATE_HOME"] = str(out / "state")  # where the service keeps its token, and users find it
    with service(out) as url:
        load(url, out, arguments.shape, arguments.seconds)
    summary = summarized(out, embedded(arguments.events, out))
    write(summary, out / "summary.json")
    sys.stdout.write(f"{summary.told}\nreports: {out}/report.html, {out}/summary.json\n")
    sys.exit(1 if summary.wrong or not summary.events else 0)


def _emptied(out: Path, refuse: Callable[[str], NoReturn]) -> Path:
    """Return the output folder, emptied of an earlier test; nothing else is ever deleted."""
    if out.exists() and not out.is_dir():
        refuse(f"--out {out} is not a folder")
    if out.exists() and any(out.iterdir()) and not (out / SERVICE_LOG).is_file():
        refuse(f"--out {out} holds other files than those of an earlier load test")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    return out


def load(url: str, out: Path, shape: str, seconds: float) -> None:
    """Run Locust in a process of its own: it has to be imported before any module that uses sockets."""
    environment = os.environ | {
        "LOADTEST_OUT": str(out),
        "LOADTEST_SHAPE": shape,
        "LOADTEST_SECONDS": str(seconds),
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")]),
    }
    command = [
        *(sys.executable, "-m", "locust", "-f", str(Path(__file__).with_name("locustfile.py")), "--headless"),
        *("--host", url, "--html", str(out / "report.html"), "--stop-timeout", str(FINISH), "--only-summary"),
    ]
    with (out / "locust.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        try:
            process.wait(seconds + FINISH + 60)
        finally:
            end(process)


def embedded(events: int, out: Path) -> float:
    """Return events a second of `elsinore.stream`, measured in a process of its own."""
    command = [sys.executable, "-m", "loadtest.embedded", str(events), str(out / "embedded")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"ELSINORE_ENGINE": "ray"})
    try:
        output, _ = process.communicate(timeout=FINISH)
    finally:
        end(process)
    if process.returncode:
        raise SystemExit("the embedded stream could not be measured")
    return float(json.loads(output.splitlines()[-1]))


if __name__ == "__main__":
    # A shell may ignore SIGINT in its background jobs, and SIGTERM's default would leave the service behind.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("stopped")
