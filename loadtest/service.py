"""A service for the duration of a test, in processes of its own, all of which end with it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import httpx2
import psutil

START = 240
"""Seconds that Ray and Spark may take to start."""
STOP = 60

SERVICE_LOG = "service.log"


@contextmanager
def service(folder: Path) -> Iterator[str]:
    """Start a service that keeps its jobs in this folder, and yield its URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"ELSINORE_ENGINE": "ray"}
    command = [sys.executable, "-m", "elsinore", "serve", "--data", str(folder / "data"), "--port", str(port)]
    with (folder / SERVICE_LOG).open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        try:
            _wait(process, f"http://127.0.0.1:{port}", folder / SERVICE_LOG)
            yield f"http://127.0.0.1:{port}"
        finally:
            end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all its descendants."""
    try:
        below = psutil.Process(process.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return
    process.terminate()
    psutil.wait_procs([psutil.Process(process.pid)], timeout=STOP)
    _, left = psutil.wait_procs(below, timeout=STOP / 4)
    for one in [*left, psutil.Process(process.pid)] if process.poll() is None else left:
        one.kill()
    process.wait()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    give_up = monotonic() + START
    while process.poll() is None and monotonic() < give_up:
        try:
            if httpx2.get(f"{url}/v1/ready").status_code == 200:
                return
        except httpx2.TransportError:
            pass
        sleep(0.5)
    raise SystemExit(f"the service did not start:\n{log.read_text()}")
