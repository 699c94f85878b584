"""The service as a user starts it, in processes of its own; and a client that does not give up."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
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
    """Until it is stopped or killed; then it can be started again, with the same folder and at the same ports."""

    data: Path
    log: Path
    settings: dict[str, str]
    port: int = field(default_factory=lambda: free_port())
    metrics_port: int = field(default_factory=lambda: free_port())
    process: subprocess.Popen[bytes] = field(init=False)

    def start(self, **environment: str) -> None:
        """`environment`: what else processes find there, this time."""
        self.process = self.another(**environment)
        wait_until_ready(self)

    def another(self, **environment: str) -> subprocess.Popen[bytes]:
        """A process that would be this service."""
        settings = {**self.settings, "metrics_port": str(self.metrics_port)}
        named = {f"ELSINORE_SERVICE_{name.upper()}": value for name, value in settings.items()}
        named |= {"ELSINORE_SERVICE_TOKEN": TOKEN, "ELSINORE_ENGINE": "ray", **environment}
        command = [sys.executable, "-m", "elsinore", "serve", "--data", str(self.data), "--port", str(self.port)]
        with self.log.open("ab") as said:
            return subprocess.Popen(command, stdout=said, stderr=said, env={**os.environ, **named})

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
        if self.process.poll() is not None:
            return
        before = descendants(self.process.pid)
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        finally:
            self._end(before)

    def kill(self) -> None:
        """The process that somebody started, and that began all others. They end with it."""
        before = descendants(self.process.pid)
        self.process.kill()
        self.process.wait()
        self._end(before)

    def kill_all(self) -> None:
        """Everything at once, as when a machine loses its power."""
        for pid in [self.process.pid, *descendants(self.process.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def _end(self, before: list[int]) -> None:
        end = monotonic() + 30
        while (left := [pid for pid in before if alive(pid)]) and monotonic() < end:
            sleep(0.2)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert not left, left


@contextmanager
def served(folder: Path, **settings: str) -> Iterator[Served]:
    found = Served(folder / "data", folder / "log", settings)
    try:
        found.start()
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


def insist(client: httpx2.Client, method: str, path: str, seconds: float = PATIENCE, **how: Any) -> httpx2.Response:
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
