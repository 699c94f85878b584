"""Every setting is written down, with its default; and what is wrong with one is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.settings import Settings, settings
from elsinore import InputError

DOCUMENT = Path(__file__).parents[2] / "docs" / "running.md"


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
    assert "the setting ahead (slices or batches that may wait for the actors) is 0" in str(error.value)
