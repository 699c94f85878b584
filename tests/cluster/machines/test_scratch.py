"""Temporary files of a session are private to its user, and are deleted with the session."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from elsinore.cluster.machines import scratch
from elsinore.cluster.machines.scratch import LOCK, NEW_SECONDS, PREFIX, Scratch
from elsinore.cluster.machines.session import _output_to

KILLED = """
import os, signal, sys
from pathlib import Path
from elsinore.cluster.machines import scratch
scratch.RAY_FOLDER = Path(sys.argv[1])
scratch.Scratch().log.write_text("of a process that was killed")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(scratch, "RAY_FOLDER", tmp_path)
    return tmp_path


def age(folder: Path) -> None:
    for path in (folder / LOCK, folder):
        os.utime(path, (0, path.stat().st_mtime - 2 * NEW_SECONDS))


def test_nobody_else_reads_it_and_it_goes_with_its_session(place: Path) -> None:
    one, other = Scratch(), Scratch()
    assert one.path != other.path
    assert stat.S_IMODE(one.path.stat().st_mode) == 0o700
    assert one.log.parent == one.ray.parent == one.path
    one.close()
    other.close(keep=True)
    assert list(place.iterdir()) == [other.path]


def test_what_a_killed_process_left_is_swept(place: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(place)], check=False, timeout=60)
    [left] = place.iterdir()
    age(left)
    Scratch().close()
    assert not left.exists()


def test_a_folder_in_use_or_new_or_a_users_own_is_not_swept(place: Path) -> None:
    used, new = Scratch(), Scratch()
    new.close(keep=True)
    users = place / f"{PREFIX}mine"
    users.mkdir()
    (users / "lock").write_text("of something else")
    (place / f"{PREFIX}link").symlink_to(users)
    age(used.path)
    Scratch().close()
    assert {path.name for path in place.iterdir()} == {used.path.name, new.path.name, users.name, f"{PREFIX}link"}
    used.close()


def test_a_symbolic_link_of_another_user_is_not_followed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = place / "victim"
    victim.write_text("untouched")
    monkeypatch.setattr("tempfile.tempdir", str(place))
    (place / f"elsinore-{os.getpid()}.log").symlink_to(victim)
    made = Scratch()
    with _output_to(made.log):
        os.write(1, b"what Java says")
    assert victim.read_text() == "untouched"
    assert made.log.read_text() == "what Java says"
    made.close()
