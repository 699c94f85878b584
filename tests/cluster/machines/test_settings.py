"""Every setting is documented with its default, and a wrong value has a clear message."""

from __future__ import annotations

from pathlib import Path

import pytest

from elsinore import InputError
from elsinore.cluster.machines.settings import Settings, settings
from elsinore.cluster.service.settings import service_settings

DOCUMENT = Path(__file__).parents[3] / "docs" / "running.md"


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_is_written_down(name: str) -> None:
    field = Settings.model_fields[name]
    default = f'"{field.default}"' if isinstance(field.default, str) else field.default
    assert f"| `{name}` | `{default}` | {field.description} |" in DOCUMENT.read_text()


def test_arguments_go_before_the_environment_and_that_before_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("elsinore.toml").write_text("actors = 3\nahead = 4\nrestarts = 5\n")
    monkeypatch.setenv("ELSINORE_ACTORS", "6")
    monkeypatch.setenv("ELSINORE_AHEAD", "7")
    found = settings(actors=8)
    assert (found.actors, found.ahead, found.restarts) == (8, 7, 5)


def test_what_is_wrong_is_said_all_at_once() -> None:
    with pytest.raises(InputError) as error:
        settings(actor=3, ahead=0)
    assert "there is no setting 'actor'; did you mean 'actors'?" in str(error.value)
    assert "the setting ahead (most slices or batches that wait for the actors) is 0" in str(error.value)


SETTINGS = [
    ("elsinore.toml", "ELSINORE_FILE", settings),
    ("elsinore-service.toml", "ELSINORE_SERVICE_FILE", service_settings),
]

GUARDED = [
    ("elsinore.toml", 'spark_packages = "org.example:attack:1.0"'),
    ("elsinore.toml", '[spark_options]\n"spark.driver.extraJavaOptions" = "-javaagent:attack.jar"'),
    ("elsinore.toml", 'address = "192.0.2.1:6379"'),
    ("elsinore.toml", 'Address = "192.0.2.1:6379"'),
    ("elsinore-service.toml", 'host = "0.0.0.0"'),
    ("elsinore-service.toml", 'token = "known to others"'),
]


@pytest.mark.parametrize(("file", "text"), GUARDED)
def test_the_current_folder_decides_on_no_code_and_no_other_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(file).write_text(text)
    [(variable, made)] = [(variable, made) for name, variable, made in SETTINGS if name == file]
    name = text.partition("]")[0].strip("[").partition(" ")[0].lower()
    with pytest.raises(InputError) as error:
        made()
    assert f"{file} in the current folder sets {name}" in str(error.value)
    assert f"{variable}={file}" in str(error.value)
    assert f"{variable.removesuffix('FILE')}{name.upper()}" in str(error.value)
    monkeypatch.setenv(variable, file)
    assert getattr(made(), name)


def test_a_named_file_is_read_and_that_of_the_current_folder_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("elsinore.toml").write_text('actors = 3\naddress = "192.0.2.1:6379"\n')
    named = tmp_path / "named.toml"
    named.write_text("ahead = 4\n")
    monkeypatch.setenv("ELSINORE_FILE", str(named))
    found = settings()
    assert (found.actors, found.ahead, found.address) == (2, 4, None)
    named.unlink()
    with pytest.raises(InputError, match=r"ELSINORE_FILE is .*named\.toml, which is not a file"):
        settings()


@pytest.mark.parametrize("content", [b"actors = ", b"\xff\xfe", b'"\xc3\x28" = 1'])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.chdir(tmp_path)
    Path("elsinore.toml").write_bytes(content)
    with pytest.raises(InputError, match=r"elsinore\.toml cannot be read"):
        settings()
