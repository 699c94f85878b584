"""Start or join Ray and Spark, and end all that was started."""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, RLock, Thread, current_thread, main_thread
from typing import Any
from warnings import catch_warnings

import ray
from py4j.protocol import Py4JError  # type: ignore[import-untyped]

from elsinore.cluster.machines.java import HARDLY_COMPILED, LATER_COMPILED, prepare_java
from elsinore.cluster.machines.pool import Pool, check_ray, live_nodes, ray_lives
from elsinore.cluster.machines.raydp_gateway import (
    SECRET_VARIABLE,
    authentication,
    guard_raydp,
    make_secret,
    name_driver,
)
from elsinore.cluster.machines.scratch import Scratch
from elsinore.cluster.machines.settings import Settings
from elsinore.connectors.spark.handover import MASTER
from elsinore.connectors.spark.ray_internals import HEAD_NODE, dead_actors, disable_clusters, job_of

LOOPBACK = "127.0.0.1"

LOG = logging.getLogger("elsinore")

MASTER_RESOURCE = "spark.ray.raydp_spark_master.actor.resource"
"""Prefix of the options for the resources that RayDP's master requests of Ray."""

RETAINED_JOBS = "50"

WATCH_SECONDS = 1.0
"""Seconds between two polls for dead RayDP actors."""


class Session:
    """The Ray and Spark of this process, which its runs share one after another."""

    def __init__(self, settings: Settings, metrics_port: int | None = None) -> None:
        self.settings = settings
        self.started_ray = not ray.is_initialized()
        self._watch: SparkWatch | None = None
        self._starting = RLock()
        prepare_java()
        self.scratch = Scratch()
        self.log = self.scratch.log
        self.keep_logs = False
        logging.getLogger().addFilter(_is_not_py4j)
        self._made_secret = self.started_ray and settings.address is None and make_secret()
        if self.started_ray:
            try:
                with _interrupted_afterwards(), _output_to(self.log):
                    _start_ray(settings, metrics_port, self.scratch.ray)
            except BaseException:
                self._forget()
                raise
        self.alone = is_alone()
        # On one machine the kernel shares out processor time. In a cluster Ray has to find a free processor.
        self.pool = Pool(cpus=0 if self.alone else 1)
        atexit.register(self.close)

    @property
    def spark(self) -> Any:
        """Return the Spark session, whose executors are Ray actors; begin a new one if it was lost."""
        with self._starting:
            if self._watch is None or self._watch.lost:
                self._stop_spark()
                with _interrupted_afterwards():
                    self._watch = SparkWatch(self._started_spark())
            return self._watch.spark

    @property
    def several_nodes(self) -> bool:
        """Return whether Ray has several nodes, or may be joined by others."""
        return not self.alone or live_nodes() > 1

    @property
    def spark_lost(self) -> bool:
        """Return whether an actor of RayDP has died for good, and all Spark jobs with it."""
        return self._watch is not None and self._watch.lost

    def lost(self, spark: Any) -> bool:
        """Return whether a Spark session that was handed out here is lost, or replaced by another one."""
        watch = self._watch
        return watch is None or watch.lost or watch.spark is not spark

    def _started_spark(self) -> Any:
        import raydp

        settings = self.settings
        check_ray()
        # RayDP's exit handler would run before this session's, and print errors about what has stopped already.
        atexit.unregister(raydp.stop_spark)
        # The name is new each time, because a RayDP master of the old name may still be ending.
        guard_raydp()
        with _output_to(self.log):
            spark = raydp.init_spark(
                f"elsinore-{uuid.uuid4().hex[:8]}",
                settings.spark_executors,
                settings.spark_cores,
                settings.spark_memory,
                configs=_spark_options(settings, embedded=self.alone),
            )
            name_driver(spark)
            spark.sparkContext.setLogLevel("ERROR")
        return spark

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Send the output of what starts in the block to the log of this session instead of the terminal."""
        with _output_to(self.log):
            yield

    def close(self) -> None:
        """End what this session began."""
        atexit.unregister(self.close)
        global _session
        if _session is self:
            _session = None
        self._stop_spark()
        if self.started_ray and ray.is_initialized():
            ray.shutdown()
        # Closing twice must not end what another session began.
        self.started_ray = False
        self._forget()

    def _forget(self) -> None:
        """Remove the secret and the scratch folder made for the Ray of this session."""
        if self._made_secret:
            os.environ.pop(SECRET_VARIABLE, None)
        self._made_secret = False
        self.scratch.close(keep=self.keep_logs)

    def _stop_spark(self) -> None:
        if self._watch is not None:
            import raydp

            self._watch.end()
            self._watch = None
            # If Java has ended by itself, there is nothing left to stop.
            with suppress(Py4JError, OSError), catch_warnings(action="ignore"):
                raydp.stop_spark()


class SparkWatch:
    """A thread that watches RayDP's master and executors, and stops Spark when one of them has died for good.

    Jobs wait forever for such an actor, for instance an executor that was killed while it restarted. When Spark is
    stopped they fail, and begin again.
    """

    def __init__(self, spark: Any) -> None:
        self.lost = False
        self.spark = spark
        self._over = Event()
        Thread(target=self._poll, name="elsinore-watch", daemon=True).start()

    def _poll(self) -> None:
        job: Any = None
        while ray.is_initialized():
            try:
                # To Ray the actors of each Spark session are a job of their own.
                job = job or job_of(ray.get_actor(MASTER))
                # A handle learns of a death only by a call, so the state of actors is polled.
                dead = dead_actors(job)
            except Exception as error:  # noqa: BLE001 - Ray does not answer for a moment; the watch goes on
                LOG.info("Ray cannot be asked about Spark's actors: %s", error)
                dead = {}
            if dead and not self._over.is_set():
                self.lost = True
                with suppress(Py4JError, OSError):
                    self.spark.stop()
                return
            if self._over.wait(WATCH_SECONDS):
                return

    def end(self) -> None:
        self._over.set()


@contextmanager
def _output_to(log: Path) -> Iterator[None]:
    """Redirect the output of processes that Ray and Spark start in the block to a file, for their lifetime.

    They inherit this process's stdout and stderr as these are when they start. Those two are kept for rows and for
    error messages.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    kept = os.dup(1), os.dup(2)
    try:
        with log.open("ab") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, descriptor in zip((1, 2), kept, strict=True):
            os.dup2(descriptor, number)
            os.close(descriptor)


@contextmanager
def _interrupted_afterwards() -> Iterator[None]:
    """Delay Ctrl-C until the end of the block, while Ray or Spark starts for some seconds.

    Otherwise Ray may take the process down, and RayDP fails on its half-started state. This also keeps Spark from
    installing its own handler for the signal, which calls Java first.
    """
    # A handler that was not set from Python cannot be restored.
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    received: list[int] = []
    put = signal.signal
    before = put(signal.SIGINT, lambda number, _: received.append(number))

    def put_others(number: Any, handler: Any) -> Any:
        ours = number == signal.SIGINT and callable(handler)
        return signal.getsignal(number) if ours else put(number, handler)

    vars(signal)["signal"] = put_others
    try:
        yield
    finally:
        vars(signal)["signal"] = put
        put(signal.SIGINT, before)
        if received:
            signal.raise_signal(signal.SIGINT)


def _is_not_py4j(record: logging.LogRecord) -> bool:
    """Return False for Py4J's log records: stacks of exceptions that it also raises, and a Ctrl-C during a call."""
    return record.module != "java_gateway"


def is_alone() -> bool:
    """Return whether this Ray listens at the loopback address only, so it has no other machine."""
    return ray.get_runtime_context().gcs_address.startswith(f"{LOOPBACK}:")


_session: Session | None = None


def current() -> Session | None:
    """Return the session of this process, or None."""
    return _session


def session(settings: Settings) -> Session:
    """Return the session of this process; begin another one if the settings differ or Ray has died."""
    global _session
    if _session is not None and not (_session.settings.same_machine(settings) and ray_lives()):
        _session.close()
    if _session is None:
        _session = Session(settings)
    return _session


def _start_ray(settings: Settings, metrics_port: int | None, folder: Path) -> None:
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "configure_logging": False}
    if settings.address is not None:
        ray.init(settings.address, **options)
        return
    disable_clusters()
    _hide_token()
    ray.init(
        "local",  # not a Ray that already runs on this machine
        num_cpus=settings.spark_executors * settings.spark_cores + 2,
        object_store_memory=settings.object_store,
        include_dashboard=False,
        _node_ip_address=LOOPBACK,
        _metrics_export_port=metrics_port,
        _temp_dir=str(folder),
        **options,
    )
    _hide_token()


def _hide_token() -> None:
    """Make Ray's token and its folder private to this user: Ray makes them readable for all users."""
    folder = Path.home() / ".ray"
    # If the folder cannot be made or changed, Ray itself fails, or takes the token from elsewhere.
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        (folder / "auth_token").chmod(0o600)


def _spark_options(settings: Settings, embedded: bool) -> dict[str, str]:
    options = {
        "spark.pyspark.python": sys.executable,
        "spark.ui.enabled": "false",
        # What Spark keeps of finished jobs is not used, and a live stream has several jobs a second.
        "spark.ui.retainedJobs": RETAINED_JOBS,
        "spark.ui.retainedStages": RETAINED_JOBS,
        "spark.ui.retainedTasks": RETAINED_JOBS,
        "spark.sql.ui.retainedExecutions": RETAINED_JOBS,
        # A file is read only once, but Spark would cache 1 kB about each forever.
        "spark.sql.hive.filesourcePartitionFileCacheSize": "0",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.legacy.parquet.nanosAsLong": "true",
        # Read times before 1900 in the proleptic Gregorian calendar, whichever program wrote them. By default Spark
        # refuses files with such times.
        "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
        "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "0",
        "spark.sql.adaptive.enabled": "false",
        # The partitions of files must not depend on how many executors have started.
        "spark.sql.files.minPartitionNum": str(settings.spark_executors * settings.spark_cores),
        "spark.ray.actor.resource.cpu": str(settings.spark_cores),
        "spark.driver.extraJavaOptions": LATER_COMPILED,
        "spark.executor.extraJavaOptions": LATER_COMPILED,
        "spark.ray.raydp_app_master.extraJavaOptions": HARDLY_COMPILED,
    }
    if settings.spark_packages:
        options["spark.jars.packages"] = settings.spark_packages
    if embedded:
        options |= {"spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK}
    else:
        # Place the master on the head node, without which all ends anyway. It needs almost no processor time.
        options |= {f"{MASTER_RESOURCE}.{HEAD_NODE}": "0.001", f"{MASTER_RESOURCE}.CPU": "0"}
    return options | authentication() | settings.spark_options
