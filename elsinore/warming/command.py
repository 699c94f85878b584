"""The implementation of `elsinore warm`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from time import perf_counter

from elsinore.cluster.run.local import usable_cores
from elsinore.inputs import checked
from elsinore.progress import tasks_bar
from elsinore.warming.crew import performed
from elsinore.warming.tasks import Task, tasks_of, tasks_of_all


@dataclass(frozen=True)
class Warmed:
    """What was compiled."""

    kernels: int
    seconds: float
    problems: tuple[str, ...]
    """Of workloads that could not be run over made-up events."""

    def __str__(self) -> str:
        what = f"{self.kernels} {'kernel' if self.kernels == 1 else 'kernels'} compiled in {self.seconds:.1f} s"
        return "\n".join((*self.problems, what if self.kernels else "nothing to compile: all kernels are there"))


def warm(
    workloads: Sequence[str | PathLike[str]] = (),
    *,
    everything: bool = False,
    cores: int | None = None,
    shown: bool = False,
) -> Warmed:
    """Compile the kernels that workloads need, given as texts or paths; without any, those that any workload needs.

    These are the kernels of the strategy `auto`; with `everything`, of all strategies. What was compiled before is not
    compiled again. There are as many processes as `cores`, by default those of this machine.
    """
    started = perf_counter()
    tasks = [task for task in _tasks(workloads, everything) if not task.done]
    kernels, problems = 0, []
    with tasks_bar(len(tasks), shown) as finished:
        for report in performed(tasks, cores or usable_cores()) if tasks else ():
            kernels += report.kernels
            if report.problem:
                problems.append(f"{report.task.name}: {report.problem}")
            finished(kernels)
    return Warmed(kernels, perf_counter() - started, tuple(dict.fromkeys(problems)))


def _tasks(workloads: Sequence[str | PathLike[str]], everything: bool) -> Iterator[Task]:
    if not workloads:
        yield from tasks_of_all(everything)
    found = (task for one in workloads for task in tasks_of(str(one), checked(one).queries, everything))
    yield from dict.fromkeys(found)
