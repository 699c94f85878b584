"""Only this user can read the files of events and states, whatever the umask is."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from elsinore.cluster.service.jobs import Jobs, Spec
from elsinore.cluster.stream.checkpoint import Checkpoint
from elsinore.connectors.storage.drafts import Draft

SPEC = Spec("QUERY q RETURN COUNT(*) PATTERN A WITHIN 1 second", "auto", "exact", "0", "type", "time", "s", None, 0.0)


@pytest.fixture(autouse=True)
def careless() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    """Return the permissions of other users on all files below a folder that they could reach."""
    found = {}
    for path in folder.iterdir():
        mode = stat.S_IMODE(path.stat().st_mode)
        found[path.name] = mode & 0o077
        if path.is_dir() and mode & 0o077:
            found |= {f"{path.name}/{name}": one for name, one in modes(path).items()}
    return found


def test_jobs_are_private(tmp_path: Path) -> None:
    jobs = Jobs(tmp_path / "new" / "data")
    jobs.begin()
    jobs.add("job", SPEC, {"type": "string", "time": "int64"})
    jobs.put_manager({"pid": 1})
    assert modes(tmp_path / "new") == {"data": 0}
    for name in ("jobs/job/job.json", "jobs/job/columns.json", "manager.json"):
        assert stat.S_IMODE((jobs.data / name).stat().st_mode) == 0o600, name


def test_a_folder_that_a_user_made_keeps_its_mode_and_what_is_put_there_is_private(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o750)
    jobs = Jobs(data)
    jobs.begin()
    jobs.put_manager({"pid": 1})
    assert stat.S_IMODE(data.stat().st_mode) == 0o750
    assert set(modes(data).values()) == {0}


def test_checkpoints_are_private(tmp_path: Path) -> None:
    checkpoint = Checkpoint(str(tmp_path / "checkpoint"))
    checkpoint.vault.put("state/0", b"of a stream")
    checkpoint.close()
    assert modes(tmp_path) == {"checkpoint": 0}
    assert stat.S_IMODE((tmp_path / "checkpoint" / "state" / "0").stat().st_mode) == 0o600


def test_rows_have_the_mode_that_their_user_wants(tmp_path: Path) -> None:
    draft = Draft(tmp_path / "rows.csv")
    draft.close()
    assert stat.S_IMODE((tmp_path / "rows.csv").stat().st_mode) == 0o666
