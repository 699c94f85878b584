"""Ray and Spark, started or joined; and ended with everything that was started."""

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
from ray._common.constants import HEAD_NODE_RESOURCE_NAME
from ray._private import ray_constants, state

from elsinore.cluster.machines.java import prepare_java
from elsinore.cluster.machines.pool import Pool, check_ray, ray_lives
from elsinore.cluster.machines.raydp_gateway import SECRET, authentication, guard_raydp, make_secret, name_driver
from elsinore.cluster.machines.scratch import Scratch
from elsinore.cluster.machines.settings import Settings
from elsinore.connectors.spark.handover import MASTER

LOOPBACK = "127.0.0.1"

LOG = logging.getLogger("elsinore")

MASTER_RESOURCE = "spark.ray.raydp_spark_master.actor.resource"
"""What RayDP's master asks Ray for."""

RETAINED = "50"

LOOK = 1.0
"""Seconds between two looks after RayDP's actors."""


class Session:
    """One for a process: several runs, one after another, share it."""

    def __init__(self, settings: Settings, metrics_port: int | None = None) -> None:
        self.settings = settings
        self.started_ray = not ray.is_initialized()
        self._watch: Watch | None = None
        self._starting = RLock()
        prepare_java()
        self.scratch = Scratch()
        self.log = self.scratch.log
        self.keep_logs = False
        logging.getLogger().addFilter(_of_interest)
        self._made_secret = self.started_ray and settings.address is None and make_secret()
        if self.started_ray:
            try:
                with _interrupted_afterwards(), _told_to(self.log):
                    _start_ray(settings, metrics_port, self.scratch.ray)
            except BaseException:
                self._forget()
                raise
        self.alone = is_alone()
        # On a machine of its own who gets how much of it is the kernel's affair; a cluster has to find room.
        self.pool = Pool(cpus=0 if self.alone else 1)
        atexit.register(self.close)

    @property
    def spark(self) -> Any:
        """Spark, on executors that are actors of Ray's; another one where it was lost, while actors stay."""
        with self._starting:
            if self._watch is None or self._watch.lost:
                self._stop_spark()
                with _interrupted_afterwards():
                    self._watch = Watch(self._started_spark())
            return self._watch.spark

    @property
    def spark_lost(self) -> bool:
        """Whether an actor that RayDP has for Spark is gone for good, and all jobs with it."""
        return self._watch is not None and self._watch.lost

    def lost(self, spark: Any) -> bool:
        """The same of a Spark that somebody got here; there may be another one by now."""
        watch = self._watch
        return watch is None or watch.lost or watch.spark is not spark

    def _started_spark(self) -> Any:
        import raydp

        settings = self.settings
        check_ray()
        # It would stop before this session does, and say what cannot be stopped any more.
        atexit.unregister(raydp.stop_spark)
        # The name is new each time: RayDP's master may still be on its way out under the old one.
        guard_raydp()
        with _told_to(self.log):
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
        """What is started here writes to a log of this session's, not to the terminal."""
        with _told_to(self.log):
            yield

    def close(self) -> None:
        """Ends what this session began."""
        atexit.unregister(self.close)
        global _session
        if _session is self:
            _session = None
        self._stop_spark()
        if self.started_ray and ray.is_initialized():
            ray.shutdown()
        # To close it again must not end what another session began.
        self.started_ray = False
        self._forget()

    def _forget(self) -> None:
        """Remove what was made for the Ray of this session."""
        if self._made_secret:
            os.environ.pop(SECRET, None)
        self._made_secret = False
        self.scratch.close(keep=self.keep_logs)

    def _stop_spark(self) -> None:
        if self._watch is not None:
            import raydp

            self._watch.end()
            self._watch = None
            # Where Java has ended by itself, there is nothing left to stop.
            with suppress(Py4JError, OSError), catch_warnings(action="ignore"):
                raydp.stop_spark()


class Watch:
    """Looks after RayDP's master and executors. Jobs wait for ever for one that does not come back, as an executor does
    not that was killed while it was coming back. So Spark is stopped, they fail, and begin again."""

    def __init__(self, spark: Any) -> None:
        self.lost = False
        self.spark = spark
        self._over = Event()
        Thread(target=self._look, name="elsinore-watch", daemon=True).start()

    def _look(self) -> None:
        job: Any = None
        while ray.is_initialized():
            try:
                # Each Spark's actors are a job of their own to Ray.
                job = job or ray.get_actor(MASTER)._actor_id.job_id
                # A handle is not told of a death that nobody asked it for.
                dead = state.actors(job_id=job, actor_state_name="DEAD")
            except Exception as error:  # noqa: BLE001 - Ray does not answer for a moment; the watch goes on
                LOG.info("Ray cannot be asked about Spark's actors: %s", error)
                dead = {}
            if dead and not self._over.is_set():
                self.lost = True
                with suppress(Py4JError, OSError):
                    self.spark.stop()
                return
            if self._over.wait(LOOK):
                return

    def end(self) -> None:
        self._over.set()


@contextmanager
def _told_to(log: Path) -> Iterator[None]:
    """What Ray, and the Java processes that it and Spark start here, have to say: in a file, and for all their lives.

    They have this process's stdout and stderr, as these are when they start; but rows go to the one, and errors that
    help to the other.
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
    """Ctrl-C while Ray or Spark starts waits for it, some seconds. Ray may take the process down with it, and RayDP
    fails over what is half there. Spark would put a handler of its own for it, too, one that calls Java first."""
    # A handler that is not Python's cannot be put back.
    if current_thread() is not main_thread() or signal.getsignal(signal.SIGINT) is None:
        yield
        return
    asked: list[int] = []
    put = signal.signal
    before = put(signal.SIGINT, lambda number, _: asked.append(number))

    def put_others(number: Any, handler: Any) -> Any:
        ours = number == signal.SIGINT and callable(handler)
        return signal.getsignal(number) if ours else put(number, handler)

    vars(signal)["signal"] = put_others
    try:
        yield
    finally:
        vars(signal)["signal"] = put
        put(signal.SIGINT, before)
        if asked:
            signal.raise_signal(signal.SIGINT)


def _of_interest(record: logging.LogRecord) -> bool:
    """Py4J tells the root logger of whatever it raises, too, with its stack; and of a Ctrl-C during a call."""
    return record.module != "java_gateway"


def is_alone() -> bool:
    """Whether this Ray is of this machine alone: nobody else reaches it."""
    return ray.get_runtime_context().gcs_address.startswith(f"{LOOPBACK}:")


_session: Session | None = None


def current() -> Session | None:
    """The session of this process, if there is one."""
    return _session


def session(settings: Settings) -> Session:
    """The session of this process."""
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
    _listen_here_alone()
    _hide_token()
    ray.init(
        "local",  # not one that somebody else has started on this machine
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
    """Close the folder in which Ray keeps its token, and the token: Ray writes it for all users to read."""
    folder = Path.home() / ".ray"
    # Where it cannot be made or changed, Ray says so itself, or the token comes from elsewhere.
    with suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        (folder / "auth_token").chmod(0o600)


def _listen_here_alone() -> None:
    """Ray takes 127.0.0.1 for the machine's other address, unless it is told that it is alone."""
    os.environ[ray_constants.ENABLE_RAY_CLUSTERS_ENV_VAR] = "0"
    ray_constants.ENABLE_RAY_CLUSTER = False


def _spark_options(settings: Settings, embedded: bool) -> dict[str, str]:
    options = {
        "spark.pyspark.python": sys.executable,
        "spark.ui.enabled": "false",
        # Nobody looks at what Spark remembers of jobs that are done; a live stream has several a second.
        "spark.ui.retainedJobs": RETAINED,
        "spark.ui.retainedStages": RETAINED,
        "spark.ui.retainedTasks": RETAINED,
        "spark.sql.ui.retainedExecutions": RETAINED,
        # Nor is a file looked up again once it is read; of each, for ever, 1 kB would be kept.
        "spark.sql.hive.filesourcePartitionFileCacheSize": "0",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.legacy.parquet.nanosAsLong": "true",
        # Times before 1900 are those of everybody's calendar, whoever wrote them; else Spark refuses files with some.
        "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
        "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "0",
        "spark.sql.adaptive.enabled": "false",
        # How files are read must not depend on how many executors are there by then.
        "spark.sql.files.minPartitionNum": str(settings.spark_executors * settings.spark_cores),
        "spark.ray.actor.resource.cpu": str(settings.spark_cores),
    }
    if settings.spark_packages:
        options["spark.jars.packages"] = settings.spark_packages
    if embedded:
        options |= {"spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK}
    else:
        # With the head node all would end anyway; and the master does next to nothing.
        options |= {f"{MASTER_RESOURCE}.{HEAD_NODE_RESOURCE_NAME}": "0.001", f"{MASTER_RESOURCE}.CPU": "0"}
    return options | authentication() | settings.spark_options
