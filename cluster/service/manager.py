"""The manager: one actor that owns the Spark session and the live stream of each job.

All its state is on disk: Ray restarts it when it dies, and it finds its jobs in their folders.
"""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Event, Lock, Thread
from time import sleep
from typing import IO, Any

from elsinore.cluster.machines.holding import HeldError, hold
from elsinore.cluster.machines.session import session
from elsinore.cluster.machines.settings import Settings
from elsinore.cluster.service.at_work import LOG, AtWork
from elsinore.cluster.service.jobs import Jobs, Spec
from elsinore.cluster.service.logs import log_as_json
from elsinore.cluster.service.metrics import Gauges
from elsinore.cluster.service.settings import ServiceSettings
from elsinore.cluster.service.web.refusals import RefusedError
from elsinore.connectors.errors import FailedError

NAME, NAMESPACE = "elsinore-manager", "elsinore"

HEARTBEAT_SECONDS = 0.5
"""Seconds between two signs of life."""

LOCK_POLL_SECONDS = 0.2
"""Seconds between two attempts to get the lock of another manager."""


class Manager:
    """The manager actor; several of its methods may run at a time."""

    def __init__(self, service: ServiceSettings, settings: Settings) -> None:
        log_as_json()
        self.service, self.settings = service, settings
        self.jobs = Jobs(service.data)
        self.jobs.begin()
        self._held = _held(self.jobs)
        self.jobs.sweep()
        self.at_work: dict[str, AtWork] = {}
        self.gauges = Gauges()
        self.spark = False
        self._starting, self._looking = Lock(), Lock()
        self._over = Event()
        Thread(target=self._warm, name="spark", daemon=True).start()
        Thread(target=self._go, name="manager", daemon=True).start()
        LOG.info("the manager is here", extra={"pid": os.getpid()})

    def pid(self) -> int:
        return os.getpid()

    def pause(self, name: str) -> None:
        self._of(name).pause()

    def resume(self, name: str) -> None:
        self._of(name).resume()

    def change(self, name: str, spec: Spec, before: str) -> None:
        self._of(name).change(spec, before)

    def remove(self, name: str) -> None:
        """Remove a job without waiting for its current batch, of which nothing is needed."""
        found = self._of(name)
        found.end(at_once=True)
        with self._looking:
            try:
                self.jobs.remove(self.jobs.get(name))
            finally:
                # If the folder could not be removed, `_look` finds it and makes another AtWork.
                if self.at_work.get(name) is found:
                    del self.at_work[name]
        self.gauges.forget(name)
        LOG.info("removed", extra={"job": name})

    def decisions(self, name: str) -> list[Any]:
        return self._of(name).decisions()

    def stop(self) -> None:
        """Stop all jobs after their current batches; those that do not stop in time, at once."""
        self._over.set()
        with self._looking:
            jobs = list(self.at_work.values())
        for found in jobs:
            try:
                found.end()
            except FailedError as error:
                LOG.warning("not stopped in time", extra={"job": found.job.name}, exc_info=error)
                with suppress(FailedError):
                    found.end(at_once=True)

    def _of(self, name: str) -> AtWork:
        self._look()
        try:
            return self.at_work[name]
        except KeyError:
            raise RefusedError(404, f"there is no job {name}") from None

    def _warm(self) -> None:
        """Start Spark in advance, because it takes longest to start."""
        with self._starting:
            found = session(self.settings)
            found.spark.range(1).count()
            self.spark = True

    def _go(self) -> None:
        """Find new jobs, give signs of life and publish metrics, until the manager stops."""
        while not self._over.is_set():
            for step in (self._look, self._tell):
                try:
                    step()
                except Exception as error:  # noqa: BLE001 - it is retried
                    LOG.error("the manager failed", exc_info=error)
            for name, found in list(self.at_work.items()):
                try:
                    self.gauges.set(name, found.last)
                except Exception as error:  # noqa: BLE001 - the metrics of other jobs are still published
                    LOG.error("its numbers cannot be told", extra={"job": name}, exc_info=error)
            self._over.wait(HEARTBEAT_SECONDS)

    def _tell(self) -> None:
        self.jobs.seen({"pid": os.getpid(), "spark": self.spark})

    def _look(self) -> None:
        with self._looking:
            for job in self.jobs.all():
                if job.name not in self.at_work:
                    try:
                        self.at_work[job.name] = AtWork(job, self.settings, self.service, self._starting)
                    except Exception as error:  # noqa: BLE001 - the other jobs go on, and this one is retried soon
                        LOG.error("nobody looks after it", extra={"job": job.name}, exc_info=error)


def _held(jobs: Jobs) -> IO[str]:
    """Lock the jobs for this process; retry until another manager, which may still be ending, has released them."""
    told = False
    while True:
        try:
            return hold(jobs.lock)
        except HeldError as error:
            if not told:
                LOG.warning("somebody else is at work", extra={"data": str(jobs.data), "holder": str(error)})
            told = True
        sleep(LOCK_POLL_SECONDS)
