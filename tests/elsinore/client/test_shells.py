"""Test both shells over real sockets, against a small server that fails as specified."""

from __future__ import annotations

import asyncio
import os
import socketserver
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

import elsinore
from tests.elsinore.client.small import ROWS, TABLE, TOKEN, WRITTEN, small

ROOT = Path(__file__).parents[3]


def waiting(url: str) -> Any:
    """Make every call of a client once."""
    with elsinore.connect(url, token=TOKEN, patience=20) as client:
        job = client.submit("RETURN COUNT(*) PATTERN Ride+ WITHIN 10 seconds SLIDE 10 seconds", name="rides")
        sent = [job.send(TABLE), job.send(TABLE.to_pylist(), key="mine"), job.send(TABLE.to_pylist(), key="mine")]
        rows = list(job.results())
        tables = [page.table.num_rows for page in job.pages(after="6")]
        followed = list(islice(job.results(follow=True, after="2"), 5))
        result = job.result()
        asked = [job.explain(), job.statistics(), job.decisions(5).to_pylist(), repr(client.jobs()), repr(job), job.id]
        changed = [one.state for one in (job.status(), job.pause(), job.resume(), job.add("RETURN"), job.drop("trips"))]
        again = client.job("rides")
        again.remove()
        return sent, rows, tables, followed, result.rows(), asked, changed


def awaiting(url: str) -> Any:
    """Make the same calls with asyncio."""
    return asyncio.run(_awaiting(url))


async def _awaiting(url: str) -> Any:
    async with elsinore.connect_async(url, token=TOKEN, patience=20) as client:
        job = await client.submit("RETURN COUNT(*) PATTERN Ride+ WITHIN 10 seconds SLIDE 10 seconds", name="rides")
        dicts = TABLE.to_pylist()
        sent = [await job.send(TABLE), await job.send(dicts, key="mine"), await job.send(dicts, key="mine")]
        rows = [row async for row in job.results()]
        tables = [page.table.num_rows async for page in job.pages(after="6")]
        followed = []
        async for row in job.results(follow=True, after="2"):
            followed.append(row)
            if len(followed) == 5:
                break
        result = await job.result()
        asked = [
            await job.explain(),
            await job.statistics(),
            (await job.decisions(5)).to_pylist(),
            repr(await client.jobs()).replace("AsyncJob", "Job"),
            repr(job).replace("AsyncJob", "Job"),
            job.id,
        ]
        changed = [await job.status(), await job.pause(), await job.resume()]
        changed += [await job.add("RETURN"), await job.drop("trips")]
        again = await client.job("rides")
        await again.remove()
        return sent, rows, tables, followed, result.rows(), asked, [one.state for one in changed]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("shell", [waiting, awaiting])
@pytest.mark.parametrize("seed", range(4))
def test_everything_is_as_without_faults(shell: Any, seed: int) -> None:
    faults = Random(seed).choices(["", "drop", "forget", "503", "429"], [6, 1, 1, 1, 1], k=20) if seed else []
    with small(rows=WRITTEN, faults=faults) as service:
        sent, rows, tables, followed, result, asked, changed = shell(service.url)
    assert service.requests > len(faults)
    assert service.removed
    assert sum(service.taken.values()) == 6
    assert [one.events for one in sent] == [3, 3, 3]
    assert sent[2].repeated == 3
    assert rows == result == ROWS
    assert followed == ROWS[2:7]
    assert tables == [2]
    assert asked == [
        "trips: apart",
        {"events": {"Ride": 3}},
        [{"choice": "shared"}],
        "[<Job rides: running, 1 query, 1,234 events, 5 rows>]",
        "<Job rides: running, 1 query, 1,234 events, 5 rows>",
        "rides",
    ]
    assert changed == ["running"] * 5


def test_a_token_that_is_refused() -> None:
    with small() as service, elsinore.connect(service.url, token="wrong") as client:
        with pytest.raises(elsinore.RefusedError, match=r"this service requires a token\. Give the service's token"):
            client.jobs()
        assert repr(client) == f"<Client: {service.url}>"
        assert TOKEN not in repr(elsinore.connect(service.url, token=TOKEN))


def test_a_job_that_is_not_there() -> None:
    with small() as service:
        client = elsinore.connect(service.url, token=TOKEN)
        with pytest.raises(elsinore.InputError, match="there is no job nothing"):
            client.job("nothing")
        client.close()


def test_nobody_there() -> None:
    client = elsinore.connect("http://127.0.0.1:9", patience=1)
    with pytest.raises(elsinore.UnreachableError, match=r"did not answer GET /v1/workloads within .*refused"):
        client.jobs()
    client.close()


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "http://", "http://[::1", "", "http://x:port"])
def test_what_is_no_url(url: str) -> None:
    with pytest.raises(elsinore.InputError, match=r"is not (a|the) URL"):
        elsinore.connect(url)


@pytest.mark.parametrize(
    "url",
    ["http://me:secret@localhost:8000", "https://secret@example.org", "http://h/?a=b", "http://h/#x", "http://a b"],
)
def test_what_is_more_than_a_url(url: str) -> None:
    """Test URLs with a user and a password, which would be sent instead of the token."""
    with pytest.raises(elsinore.InputError, match="is not the URL of a service") as raised:
        elsinore.connect(url, token=TOKEN)
    assert "secret" not in str(raised.value)


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the port of a server with a self-signed certificate, and the bytes that it received."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    valid_from = datetime.now(UTC) - timedelta(days=1)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, valid_from, valid_from + timedelta(days=2))
    certificate = made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (tmp_path / "both.pem").write_bytes(certificate + key.private_bytes(*form))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "both.pem")
    asked: list[bytes] = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError), context.wrap_socket(self.request, server_side=True) as connection:
                if received := connection.recv(4096):
                    asked.append(received)

    with socketserver.TCPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1], asked
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("url", ["https", "HTTPS", "Https", "hTTpS"])
@pytest.mark.parametrize("shell", ["waiting", "awaiting"])
def test_a_stranger_is_not_shown_the_token_however_https_is_written(url: str, shell: str, stranger: Any) -> None:
    """Test that a server with a self-signed certificate gets no request."""
    port, asked = stranger

    async def ask() -> Any:
        async with elsinore.connect_async(f"{url}://127.0.0.1:{port}", token=TOKEN, patience=0) as client:
            return await client.jobs()

    client = elsinore.connect(f"{url}://127.0.0.1:{port}", token=TOKEN, patience=0)
    with pytest.raises(elsinore.UnreachableError, match=r"(?i)certificate"):
        asyncio.run(ask()) if shell == "awaiting" else client.jobs()
    client.close()
    assert asked == []


def test_a_redirect_is_not_followed() -> None:
    with small() as there, small(faults=[f"to {there.url}/v1/workloads"]) as service:
        with pytest.raises(elsinore.InputError, match="the service answered 307"):
            elsinore.connect(service.url, token=TOKEN).jobs()
        assert there.requests == 0


@pytest.mark.parametrize("token", ["", " ", "é", "a\nb"])
def test_what_is_no_token(token: str) -> None:
    with pytest.raises(elsinore.InputError, match="printable ASCII"):
        elsinore.connect("http://localhost", token=token)


ALONE = """
import asyncio, sys
import elsinore

with elsinore.connect(URL, token=TOKEN, patience=5) as client:
    job = client.submit("RETURN COUNT(*) PATTERN Ride+ WITHIN 10 seconds SLIDE 10 seconds")
    job.send([{"type": "Ride", "time": 1}])
    rows = list(job.results())
    job.explain(), job.decisions(), job.statistics(), job.pause(), job.resume(), job.add("RETURN"), job.drop("trips")
    job.remove()
    try:
        client.job("nothing")
    except elsinore.WorkloadError:
        raise
    except elsinore.InputError:
        pass
print(len(rows), "rows")
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_it_needs_nothing_of_what_it_asks_for(tmp_path: Path) -> None:
    """Test that no name of a room is imported, so a user may have a `planner.py`."""
    (tmp_path / "planner.py").write_text("raise SystemExit('not this one')")
    with small(rows=WRITTEN) as service:
        code = ALONE.replace("URL", repr(service.url)).replace("TOKEN", repr(TOKEN), 1)
        environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
        done = subprocess.run(
            [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    said, modules = done.stdout.splitlines()
    assert said == "8 rows"
    heavy = {"planner", "actors", "connectors", "cluster", "ray", "raydp", "pyspark", "numba", "pandas", "polars"}
    assert not heavy & set(modules.split())
    assert not {"lark", "pydantic", "typer", "rich", "fastapi"} & set(modules.split())
