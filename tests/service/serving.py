"""The service as a user starts it, in processes of its own; and a client that does not give up."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx2

TOKEN = "a token that nobody guesses"

PATIENCE = 180

SHOW_ACTORS = """
import json, sys
from ray._private.state import GlobalState
from ray._raylet import GcsClientOptions
found = GlobalState()
options = GcsClientOptions.create(sys.argv[1], None, allow_cluster_id_nil=True, fetch_cluster_id_if_nil=True)
found._initialize_global_state(options)
alive = [one for one in found.actor_table(None, None, None).values() if one["State"] == "ALIVE"]
print(json.dumps([[one["ActorClassName"], one["Name"], one["Pid"]] for one in alive]))
"""
"""Asked of the GCS, without joining the cluster."""


@dataclass
class Served:
    process: subprocess.Popen[bytes]
    port: int
    metrics_port: int
    data: Path
    log: Path

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, token: str | None = TOKEN) -> httpx2.Client:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx2.Client(base_url=self.url, timeout=130, headers=headers)

    def actors(self) -> dict[str, int]:
        """The processes of the actors that live, by class and by name."""
        address = next(word.split("=")[1] for word in self._raylet() if word.startswith("--gcs-address="))
        command = [sys.executable, "-c", SHOW_ACTORS, address]
        # A Ray that is started on a machine wants the token that it left in the user's home.
        environment = {**os.environ, "RAY_AUTH_MODE": "token"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=environment)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout.splitlines()[-1])
        return {name: pid for class_, own, pid in found for name in (class_, own) if name}

    def _raylet(self) -> list[str]:
        for pid in descendants(self.process.pid):
            words = (Path("/proc") / str(pid) / "cmdline").read_bytes().decode().split("\0")
            if any(word.startswith("--gcs-address=") for word in words) and "raylet" in words[0]:
                return words
        raise AssertionError("there is no raylet")

    def stop(self) -> None:
        """All processes that the service began end with it."""
        before = descendants(self.process.pid)
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        finally:
            end = monotonic() + 30
            while (left := [pid for pid in before if alive(pid)]) and monotonic() < end:
                sleep(0.2)
            for pid in left:
                os.kill(pid, signal.SIGKILL)
        assert not left, left


@contextmanager
def served(folder: Path, **settings: str) -> Iterator[Served]:
    port, metrics_port = free_port(), free_port()
    settings |= {"metrics_port": str(metrics_port)}
    named = {f"ELSINORE_SERVICE_{name.upper()}": value for name, value in settings.items()}
    environment = {**os.environ, "ELSINORE_SERVICE_TOKEN": TOKEN, "ELSINORE_ENGINE": "ray", **named}
    command = [sys.executable, "-m", "elsinore", "serve", "--data", str(folder / "data"), "--port", str(port)]
    log = folder / "log"
    with log.open("ab") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said, env=environment)
    found = Served(process, port, metrics_port, folder / "data", log)
    try:
        wait_until_ready(found)
        yield found
    finally:
        found.stop()


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_until_ready(service: Served) -> None:
    end = monotonic() + PATIENCE
    with service.client() as client:
        while not is_ready(client):
            assert service.process.poll() is None, service.log.read_text()
            assert monotonic() < end, service.log.read_text()
            sleep(0.2)


def is_ready(client: httpx2.Client) -> bool:
    try:
        return bool(client.get("/v1/ready").status_code == 200)
    except httpx2.TransportError:
        return False


def descendants(pid: int) -> list[int]:
    """All processes below one, the nearest first."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    parents = {int(child): int(parent) for child, parent in (line.split() for line in listed.splitlines())}
    found, level = list[int](), [pid]
    while level:
        level = [child for child, parent in parents.items() if parent in level]
        found += level
    return found


def alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in (Path("/proc") / str(pid) / "status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def insist(client: httpx2.Client, method: str, path: str, seconds: float = 120, **how: Any) -> httpx2.Response:
    """As a client does that wants to be served: again and again, with the same key."""
    end = monotonic() + seconds
    while True:
        try:
            answer = client.request(method, path, **how)
        except httpx2.TransportError:
            assert monotonic() < end
        else:
            if answer.status_code < 500 and answer.status_code not in (408, 429):
                return answer
            assert monotonic() < end, answer.text
        sleep(0.2)
