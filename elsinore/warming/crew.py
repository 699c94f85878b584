"""Processes that run tasks: each gets the next task as soon as it has finished one."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import cast

from elsinore.errors import FailedError
from elsinore.warming.tasks import Task
from elsinore.warming.work import Report, perform

SPAWN = get_context("spawn")
"""Forked processes would inherit the threads' locks of Arrow and of Numba, but not the threads."""


def performed(tasks: Sequence[Task], processes: int) -> Iterator[Report]:
    """Run tasks in their order, in some processes, and yield their reports as they come.

    The processes end with this iterator, in whatever way it ends.
    """
    waiting = iter(tasks)
    with _crew(min(processes, len(tasks))) as crew:
        for worker in crew:
            _give(worker, waiting)
        busy = list(crew)
        while busy:
            for one in wait(busy):
                worker = cast(Connection, one)
                yield _reported(worker)
                if not _give(worker, waiting):
                    busy.remove(worker)


@contextmanager
def _crew(size: int) -> Iterator[list[Connection]]:
    """Start processes, and yield the connections to them."""
    started: list[SpawnProcess] = []
    connections = []
    try:
        with _without_interrupts():
            for _ in range(size):
                ours, theirs = SPAWN.Pipe()
                process = SPAWN.Process(target=_work, args=(theirs,), daemon=True)
                process.start()
                started.append(process)
                theirs.close()
                connections.append(ours)
        yield connections
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.join()


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let processes that are started ignore Ctrl-C, from their first moment on: the shell sends it to all at once."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _give(worker: Connection, waiting: Iterator[Task]) -> bool:
    """Give a process the next task, if there is any."""
    task = next(waiting, None)
    if task is not None:
        worker.send(task)
    return task is not None


def _reported(worker: Connection) -> Report:
    try:
        report = worker.recv()
    except EOFError:
        raise FailedError("a process that compiled kernels has died; was there too little memory?") from None
    if isinstance(report, Exception):
        raise report
    return cast(Report, report)


def _work(tasks: Connection) -> None:
    """Run tasks until there is nobody left who gives any."""
    while True:
        try:
            task = tasks.recv()
        except EOFError:
            return
        try:
            tasks.send(perform(task))
        except Exception as error:  # noqa: BLE001
            tasks.send(error)
