"""A wheel installs one name, and is the same whether it is built from the repository or from the sdist."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("planner", "actors", "connectors", "cluster")
QUERY = """
import elsinore
rows = elsinore.run("RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 1 minute SLIDE 1 minute",
    [{"type": name, "time": time} for time, name in enumerate("ABB")], engine="local").rows()
assert [row["COUNT(*)"] for row in rows] == [3], rows
assert "site-packages" in elsinore.__file__
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Build a wheel and an sdist of the repository, and a wheel of the unpacked sdist."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder / "one", "wheel", "sdist")
    [wheel], [sdist] = (folder / "one").glob("*.whl"), (folder / "one").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    [unpacked] = (folder / "unpacked").iterdir()
    build(unpacked, folder / "two", "wheel")
    [again] = (folder / "two").glob("*.whl")
    return wheel, sdist, again


def build(folder: Path, into: Path, *targets: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(into)]
    for target in targets:
        command += ["--target", target]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


def tracked(room: str) -> set[str]:
    listed = subprocess.run(["git", "ls-files", room], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return set(listed.split())


def test_a_wheel_has_one_name_and_every_module(built: tuple[Path, Path, Path]) -> None:
    names = set(zipfile.ZipFile(built[0]).namelist())
    assert {name.split("/")[0].split("-")[0] for name in names} == {"elsinore"}
    for room in ROOMS:
        assert {f"elsinore/{name}" for name in tracked(room)} <= names


def test_a_wheel_of_the_sdist_has_the_same_files(built: tuple[Path, Path, Path]) -> None:
    wheel, sdist, again = built
    assert set(zipfile.ZipFile(wheel).namelist()) == set(zipfile.ZipFile(again).namelist())
    with tarfile.open(sdist) as archive:
        assert not any(member.issym() or member.islnk() for member in archive.getmembers())


def test_an_installed_wheel_answers_a_query(built: tuple[Path, Path, Path], tmp_path: Path) -> None:
    """Dependencies are those of this environment; what is tested is that the wheel brings all of its own."""
    venv.create(tmp_path / "env", with_pip=False)
    [site] = (tmp_path / "env").glob("lib/python*/site-packages")
    zipfile.ZipFile(built[0]).extractall(site)
    here = next(path for path in sys.path if path.endswith("site-packages"))
    (site / "zz_dependencies.py").write_text(f"import sys\nsys.path.append({here!r})\n")
    (site / "zz.pth").write_text("import zz_dependencies\n")
    subprocess.run([tmp_path / "env" / "bin" / "python", "-c", QUERY], cwd=tmp_path, check=True, env={"PATH": ""})
