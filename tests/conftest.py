"""Set up all tests: they run on the local engine, and only those marked `ray` may start Ray and Spark."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from elsinore.cluster.machines.java import HARDLY_COMPILED, LATER_COMPILED
from elsinore.planner.kernels.interpreted import compile_always
from tests.support.without_ray import HOOK, REFUSAL

os.environ.setdefault("ELSINORE_ENGINE", "local")

# Most tests have few events, and are there for compiled kernels; `test_interpreted.py` is for the others.
compile_always()

# Many tests start short Python processes, which would otherwise compile all sources of the project each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Processes that are started in the background ignore Ctrl-C, and so do all that they start; but tests press it.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests run beside others, and their times say nothing: no generated case fails for its time alone.
settings.register_profile("beside others", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("beside others")

JAVA_OPTIONS = f"{LATER_COMPILED} {HARDLY_COMPILED}"
SPARK_OPTIONS = json.dumps({f"spark.{role}.extraJavaOptions": JAVA_OPTIONS for role in ("driver", "executor")})
"""Short tests end before code that Java compiles well has paid for itself."""

STARTS_RAY = {"running", "service", "cluster", "alone"}
"""Fixtures of the two folders below that start Ray, or are for tests that do: such tests get the mark by themselves."""

FOLDERS = [Path(__file__).parent / name for name in ("cluster", "service")]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    cases = Counter[tuple[Path, str]]()
    for item in items:
        mark = item.get_closest_marker("one_in")
        if mark:
            function = (item.path, item.name.partition("[")[0])
            if cases[function] % mark.args[0]:
                item.add_marker("slow")
            cases[function] += 1
        inside = any(item.path.is_relative_to(folder) for folder in FOLDERS)
        if inside and STARTS_RAY.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("ray")
        if not inside and item.get_closest_marker("ray"):
            raise pytest.UsageError(f"{item.nodeid} has the mark `ray`: move it to tests/cluster or tests/service")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Make `ray.init` fail in a test without the mark `ray`, and in the processes that it starts."""
    with pytest.MonkeyPatch.context() as patched:
        if item.get_closest_marker("ray"):
            patched.setenv("ELSINORE_SPARK_OPTIONS", SPARK_OPTIONS)
        else:
            patched.setenv(HOOK, REFUSAL)
        return (yield)
