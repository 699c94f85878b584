"""All ports of a session require a token or a secret, so that other users of the machine cannot command it."""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
import ray
from ray._private import worker

from elsinore.cluster.machines.raydp_gateway import SECRET_VARIABLE
from elsinore.cluster.machines.session import Session
from elsinore.connectors.spark.handover import SparkBlocks
from tests.cluster.live_rides import pid_of

COMMAND = b"c\nz:java.lang.System\ngetProperty\nsuser.name\ne\n"
"""A command that a Py4J gateway without a token answers with !y and a name."""

NOBODY = 65534

RPC_REQUEST, RPC_FAILURE = 3, 5
"""Types of Spark's RPC messages."""

SECONDS = 5

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def processes() -> list[int]:
    """Return the ids of this process and of all its descendants."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = path.read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        parents.setdefault(int(parent), []).append(int(path.parent.name))
    found = [os.getpid()]
    for process in found:
        found += parents.get(process, [])
    return found


def command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def listening(process: int) -> Iterator[int]:
    """Yield the ports at which a process listens; none if it has gone."""
    try:
        links = [str(path.readlink()) for path in Path(f"/proc/{process}/fd").iterdir()]
        tables = [Path(f"/proc/{process}/net/{name}").read_text() for name in ("tcp", "tcp6")]
    except OSError:
        return
    sockets = {found[1] for link in links if (found := re.fullmatch(r"socket:\[(\d+)\]", link))}
    for table in tables:
        for line in table.splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in sockets:
                yield int(fields[1].rpartition(":")[2], 16)


def answer(port: int, sent: bytes) -> bytes:
    """Return the reply of a port, which is empty if it says nothing or was closed since it was listed."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as link:
            link.sendall(sent)
            return link.recv(1 << 16)
    except OSError:
        return b""


def answers(ports: Iterable[int], sent: bytes) -> dict[int, bytes]:
    """Return the reply of each port; wait for silent ones in parallel."""
    found = list(ports)
    with ThreadPoolExecutor(64) as threads:
        return dict(zip(found, threads.map(lambda port: answer(port, sent), found), strict=True))


def ports_of(what: str) -> dict[int, int]:
    """Return the ports of the processes with this text in their command line, with the process of each."""
    return {port: one for one in processes() if what in command(one) for port in listening(one)}


def check_gateways() -> None:
    master = ports_of("py4j.GatewayServer")
    assert master, "RayDP's master has another gateway than the one with a token"
    assert not ports_of("AppMasterEntryPoint")
    replies = answers({port: one for one in processes() for port in listening(one)}, COMMAND)
    assert not [port for port, one in replies.items() if one.startswith(b"!y")]
    assert any(b"Authentication error" in replies.get(port, b"") for port in master)
    assert any(b"Authentication error" in replies.get(port, b"") for port in ports_of("SparkSubmit"))


def test_gateways_ask_for_a_token(running: Session) -> None:
    assert running.spark.range(10).count() == 10
    check_gateways()


@pytest.mark.skipif(os.getuid() != 0, reason="only root may become another user")
def test_another_user_is_refused(running: Session) -> None:
    assert running.spark.range(10).count() == 10
    replies = [
        subprocess.run(
            ["/bin/bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{port}; cat >&3; timeout {SECONDS} head -c 2 <&3"],
            input=COMMAND, capture_output=True, user=NOBODY, group=NOBODY, extra_groups=[], check=False, cwd="/",
        ).stdout
        for port in ports_of("py4j.GatewayServer")
    ]  # fmt: skip
    assert replies
    assert b"!x" in replies
    assert b"!y" not in replies


def test_sparks_ports_ask_for_a_secret(running: Session) -> None:
    """Without a secret, Spark deserializes any request."""
    blocks = SparkBlocks(running.spark.range(100).toDF("id"))
    assert sum(len(ray.get(blocks.reference(one))) for one in range(len(blocks))) > 0
    blocks.close()
    body = b"no serialized object"
    request = struct.pack(">QBQI", 21 + len(body), RPC_REQUEST, 1, len(body)) + body
    replies = answers(ports_of("SparkSubmit") | ports_of("raydp"), request).values()
    failures = [one for one in replies if len(one) > 9 and one[8] == RPC_FAILURE]
    assert len(failures) >= 3, "the driver, an executor and the application master"
    for one in failures:
        assert b"Sasl" in one or b"auth" in one.lower(), one
        assert b"serializ" not in one, one


def test_secrets_are_on_no_command_line_and_in_no_file_of_others(running: Session) -> None:
    assert running.spark.conf.get("spark.authenticate") == "true"
    secret = os.environ[SECRET_VARIABLE]
    assert not [one for one in processes() if secret in command(one)]
    node: Any = worker._global_node
    assert running.scratch.path in Path(node.get_session_dir_path()).parents
    assert running.scratch.path.stat().st_mode & 0o077 == 0
    token = Path.home() / ".ray" / "auth_token"
    assert not token.exists() or (token.stat().st_mode | token.parent.stat().st_mode) & 0o077 == 0


@pytest.mark.long
def test_a_master_that_comes_back_asks_for_a_token(running: Session) -> None:
    assert running.spark.range(10).count() == 10
    before = set(ports_of("py4j.GatewayServer"))
    os.kill(pid_of("RAY_APP_MASTER"), signal.SIGKILL)
    end = monotonic() + 100
    while not running.spark_lost:
        assert monotonic() < end
        sleep(0.1)
    assert running.spark.range(10).count() == 10
    assert set(ports_of("py4j.GatewayServer")).isdisjoint(before)
    check_gateways()
