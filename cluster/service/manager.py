"""The manager: one actor that owns the Spark session and the live stream of each job.

All its state is on disk: Ray restarts it when it dies, and it finds its jobs in their folders.
"""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Event, Lock, Thread
from time import sleep
from typing import IO, Any

from elsinore.cluster.machines.file_locks import HeldError, hold
from elsinore.cluster.machines.session import session
from elsinore.cluster.machines.settings import Settings
from elsinore.cluster.service.job_runner import LOG, JobRunner
from elsinore.cluster.service.jobs import Jobs, Spec
from elsinore.cluster.service.logs import log_as_json
from elsinore.cluster.service.metrics import Gauges
from elsinore.cluster.service.settings import ServiceSettings
from elsinore.cluster.service.web.refusals import RefusalError
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
        self._held = _lock_jobs(self.jobs)
        self.jobs.sweep()
        self.runners: dict[str, JobRunner] = {}
        self.gauges = Gauges()
        self.spark = False
        self._starting, self._runners_lock = Lock(), Lock()
        self._over = Event()
        Thread(target=self._start_spark, name="spark", daemon=True).start()
        Thread(target=self._go, name="manager", daemon=True).start()
        LOG.info("manager started", extra={"pid": os.getpid()})

    def pid(self) -> int:
        return os.getpid()

    def pause(self, name: str) -> None:
        self._runner(name).pause()

    def resume(self, name: str) -> None:
        self._runner(name).resume()

    def change(self, name: str, spec: Spec, before: str) -> None:
        self._runner(name).change(spec, before)

    def remove(self, name: str) -> None:
        """Remove a job without waiting for its current batch, of which nothing is needed."""
        found = self._runner(name)
        found.end(at_once=True)
        with self._runners_lock:
            try:
                self.jobs.remove(self.jobs.get(name))
            finally:
                # If the folder could not be removed, `_find_jobs` finds it and makes another JobRunner.
                if self.runners.get(name) is found:
                    del self.runners[name]
        self.gauges.forget(name)
        LOG.info("job removed", extra={"job": name})

    def decisions(self, name: str) -> list[Any]:
        return self._runner(name).decisions()

    def stored(self, name: str) -> list[Any]:
        return self._runner(name).stored()

    def stop(self) -> None:
        """Stop all jobs after their current batches; those that do not stop in time, at once."""
        self._over.set()
        with self._runners_lock:
            jobs = list(self.runners.values())
        for found in jobs:
            try:
                found.end()
            except FailedError as error:
                LOG.warning("the job did not stop in time", extra={"job": found.job.name}, exc_info=error)
                with suppress(FailedError):
                    found.end(at_once=True)

    def _runner(self, name: str) -> JobRunner:
        self._find_jobs()
        try:
            return self.runners[name]
        except KeyError:
            raise RefusalError(404, f"there is no job {name}") from None

    def _start_spark(self) -> None:
        """Start Spark in advance, because it takes longest to start."""
        with self._starting:
            found = session(self.settings)
            found.spark.range(1).count()
            self.spark = True

    def _go(self) -> None:
        """Find new jobs, give signs of life and publish metrics, until the manager stops."""
        while not self._over.is_set():
            for step in (self._find_jobs, self._give_sign_of_life):
                try:
                    step()
                except Exception as error:  # noqa: BLE001 - it is retried
                    LOG.error("the manager failed", exc_info=error)
            for name, found in list(self.runners.items()):
                try:
                    self.gauges.set(name, found.last)
                except Exception as error:  # noqa: BLE001 - the metrics of other jobs are still published
                    LOG.error("the metrics cannot be published", extra={"job": name}, exc_info=error)
            self._over.wait(HEARTBEAT_SECONDS)

    def _give_sign_of_life(self) -> None:
        self.jobs.put_manager({"pid": os.getpid(), "spark": self.spark})

    def _find_jobs(self) -> None:
        with self._runners_lock:
            for job in self.jobs.all():
                if job.name not in self.runners:
                    try:
                        self.runners[job.name] = JobRunner(job, self.settings, self.service, self._starting)
                    except Exception as error:  # noqa: BLE001 - the other jobs go on, and this one is retried soon
                        LOG.error("the job cannot be run; retrying", extra={"job": job.name}, exc_info=error)


def _lock_jobs(jobs: Jobs) -> IO[str]:
    """Lock the jobs for this process; retry until another manager, which may still be ending, has released them."""
    warned = False
    while True:
        try:
            return hold(jobs.lock)
        except HeldError as error:
            if not warned:
                LOG.warning(
                    "another manager holds the lock; waiting", extra={"data": str(jobs.data), "holder": str(error)}
                )
            warned = True
        sleep(LOCK_POLL_SECONDS)
