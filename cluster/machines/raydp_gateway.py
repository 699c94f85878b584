"""Authentication for what RayDP opens: the Py4J gateway of its master, and Spark's own ports.

RayDP's master starts a Java process and commands it through a Py4J gateway that asks for no token. The gateway listens
at the loopback address, so every user of the machine could run code as the user of this process. `Master` starts the
same Java process with Py4J's own entry point, which makes a token and hands it over through a pipe.

Spark's ports (driver, executors, and RayDP's application master) take serialized Java objects. They ask for a shared
secret where `SECRET_VARIABLE` is in the environment of all of Spark's processes. It is not passed on as an option of
Spark: options stand on command lines, which every user can read.

This is the only file that relies on RayDP's private names (raydp>=1.6.5,<1.7).
"""

from __future__ import annotations

import os
import secrets
import shlex
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import ray
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway  # type: ignore[import-untyped]
from raydp import context, versions
from raydp.spark import ray_cluster
from raydp.spark import ray_cluster_master as original

from elsinore.connectors.spark.java_objects import java_context, java_runs, start_java
from elsinore.connectors.spark.ray_internals import logs_folder

SECRET_VARIABLE = "_SPARK_AUTH_SECRET"
"""The environment variable in which Spark looks for its secret, before it looks at its options."""

SECRET_OPTION = "spark.authenticate.secret"

BRIDGE = "org.apache.spark.deploy.raydp.AppMasterJavaBridge"

BACKEND = "org.apache.spark.scheduler.cluster.raydp.RayCoarseGrainedSchedulerBackend"

APPLICATION, CLIENTS = f"{BACKEND.replace('.', '$')}$$appId", "protected$clientFactory"
"""Names that Scala gives in Java to members that are not public."""

STDERR = 2


class Master(original.RayDPSparkMaster.__ray_metadata__.modified_class):  # type: ignore[misc]
    """RayDP's master, whose Java process asks for a token."""

    def _launch_gateway(self, class_path: str, popen_kwargs: Any = None) -> Any:
        """Start the Java process, and connect to it. It ends with this process, whose end closes its stdin."""
        [py4j] = Path(self._spark_home, "jars").glob("py4j-*.jar")
        port, token, process = launch_gateway(
            jarpath=str(py4j),  # Py4J itself would look in the current folder first
            classpath=class_path,
            javaopts=self._java_options(),
            die_on_exit=True,
            redirect_stderr=STDERR,
            create_new_process_group=True,
            enable_auth=True,
            return_proc=True,
        )
        gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token, auto_convert=True))
        gateway.proc = process
        gateway.entry_point = EntryPoint(gateway.jvm)
        return gateway

    def _create_app_master(self, extra_classpath: str) -> None:
        """Start the application master without the secret: its options are on its command line."""
        self._configs.pop(SECRET_OPTION, None)
        super()._create_app_master(extra_classpath)

    def _java_options(self) -> list[str]:
        """Return the options that RayDP starts Java with."""
        configs: dict[str, str] = self._configs
        return [
            *shlex.split(configs.get(original.RAYDP_APPMASTER_EXTRA_JAVA_OPTIONS, "")),
            *shlex.split(os.environ.get("JAVA_OPTS", "")),
            f"-javaagent:{configs[original.SPARK_JAVAAGENT]}",
            f"-Dray.logging.dir={logs_folder()}",
            f"-D{original.SPARK_RAY_LOG4J_FACTORY_CLASS_KEY}={configs[original.SPARK_RAY_LOG4J_FACTORY_CLASS_KEY]}",
            f"-D{versions.RAY_LOG4J_CONFIG_FILE_NAME_KEY}={configs[original.RAY_LOG4J_CONFIG_FILE_NAME]}",
        ]


class Cluster(ray_cluster.SparkCluster):  # type: ignore[misc]
    """RayDP's Spark, whose driver starts its Java process and joins Ray while the master starts."""

    def _set_up_master(self, resources: dict[str, float], kwargs: Any) -> None:
        with ThreadPoolExecutor(1) as threads:
            driver = threads.submit(self._start_driver)
            super()._set_up_master(resources, kwargs)
            driver.result()

    def _start_driver(self) -> None:
        """Start the driver's Java process, and let it join Ray through this process's own node."""
        java = start_java(self._configs)
        java.org.apache.spark.deploy.raydp.RayAppMaster.setProperties(Master._generate_ray_configs(None))
        if not java.io.ray.api.Ray.isInitialized():
            java.io.ray.api.Ray.init()


class EntryPoint:
    """The entry point that RayDP's master expects: it returns the bridge to the application master."""

    def __init__(self, jvm: Any) -> None:
        self._classes = jvm

    def getAppMasterBridge(self) -> Any:  # noqa: N802 - the name is RayDP's
        found = self._classes
        for name in BRIDGE.split("."):
            found = getattr(found, name)
        return found()


def guard_raydp() -> None:
    """Make RayDP use `Cluster` and `Master` instead of its own; must be called before `raydp.init_spark`."""
    ray_cluster.RayDPSparkMaster = ray.remote(Master)
    context.SparkCluster = Cluster


def make_secret() -> bool:
    """Put a secret for Spark into the environment, unless there is one; must be called before Ray starts.

    Return whether it was made here. Then it has to be removed when this Ray ends: another Ray does not know it.
    """
    if SECRET_VARIABLE in os.environ:
        return False
    os.environ[SECRET_VARIABLE] = _secret()
    return True


@cache
def _secret() -> str:
    """Make one secret per process: its Java process survives a restart of Ray, and keeps its environment."""
    return secrets.token_hex(32)


def authentication() -> dict[str, str]:
    """Return the options that make Spark's ports ask for the secret of the environment; none if there is no secret.

    Spark refuses to start without a secret in its options, but prefers the one of the environment. A new Java process
    gets the environment, and the options on its command line. A running one gets the options through its gateway, and
    may have another environment.
    """
    if SECRET_VARIABLE not in os.environ:
        return {}
    running = java_runs()
    return {
        "spark.authenticate": "true",
        SECRET_OPTION: os.environ[SECRET_VARIABLE] if running else "in the environment",
    }


def name_driver(spark: Any) -> None:
    """Give the driver the application id that its executors have, where Spark's ports authenticate.

    Spark hands blocks only to processes that authenticate under the id of the process that holds them. The id that
    RayDP's application master gives to the executors is not passed on to the driver, which has made one of its own.
    """
    if SECRET_VARIABLE not in os.environ:
        return
    context = java_context(spark)
    name = getattr(context.schedulerBackend(), APPLICATION)().get()
    service = context.env().blockManager().blockTransferService()
    transport = _field(service, "transportContext").get(service)
    server = _field(transport, "rpcHandler").get(transport)
    _field(server, "appId").set(server, name)
    clients = getattr(service, CLIENTS)(service)
    for bootstrap in _field(clients, "clientBootstraps").get(clients):
        _field(bootstrap, "appId").set(bootstrap, name)


def _field(thing: Any, name: str) -> Any:
    field = thing.getClass().getDeclaredField(name)
    field.setAccessible(True)
    return field
