"""A document of a checkpoint that another version wrote is refused before its use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from elsinore._version import __version__
from elsinore.actors.state import FORMAT, UnreadableError, pack, unpack
from elsinore.cluster.stream.checkpoint import BatchRecord, Checkpoint, status
from elsinore.cluster.stream.terms import Terms
from elsinore.errors import InputError
from tests.cluster.eras import terms

WAY_OUT = f"this is Elsinore {__version__}, which reads format {FORMAT}: begin a new checkpoint, or go on with"


def checkpoint(folder: Path, **others: Any) -> Path:
    """Create a checkpoint whose era has a duty that differs from what this version writes."""
    opened = Checkpoint(str(folder))
    era = opened.next_era()
    era.begin(terms().document())
    name = f"{era.name}/duty"
    duty = {**unpack(era.vault.get(name)), **others}
    era.vault.put(name, pack({key: value for key, value in duty.items() if value is not None}))
    era.put_done(BatchRecord(1, 0))
    opened.close()
    return folder


def test_an_era_says_which_version_wrote_it(tmp_path: Path) -> None:
    found = status(str(checkpoint(tmp_path)))
    assert Terms.read(found.terms) == terms()
    duty = unpack(Checkpoint(str(tmp_path)).vault.get("eras/00000001/duty"))
    assert (duty["format"], duty["elsinore"]) == (FORMAT, __version__)


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"format": FORMAT + 1, "elsinore": "9.8"}, f"was written by Elsinore 9.8 in format {FORMAT + 1}; "),
        ({"format": None, "elsinore": None}, "was written by an earlier version of Elsinore; "),
    ],
)
def test_a_checkpoint_of_another_format_is_refused(tmp_path: Path, others: dict[str, Any], message: str) -> None:
    """The refusal comes before the states are read: the format in an era's duty holds for the whole era."""
    with pytest.raises(InputError) as found:
        status(str(checkpoint(tmp_path, **others)))
    assert message in str(found.value)
    assert WAY_OUT in str(found.value)


@pytest.mark.parametrize("others", [{"colour": "red"}, {"workload": None}, {"clock": [1]}, {"ranges": 3}])
def test_terms_with_other_fields_are_refused(tmp_path: Path, others: dict[str, Any]) -> None:
    found = status(str(checkpoint(tmp_path, **others)))
    with pytest.raises(UnreadableError, match="holds other things than this version knows"):
        Terms.read(found.terms)


def test_a_record_with_other_fields_is_refused(tmp_path: Path) -> None:
    opened = Checkpoint(str(checkpoint(tmp_path)))
    era = opened.latest
    assert era is not None
    for folder, read in (("done", era.done), ("events", lambda: era.whole(2))):
        name = f"{era.name}/{folder}/{2:012}" + ("/whole" if folder == "events" else "")
        era.vault.put(name, pack({"number": 2, "colour": "red"}))
        with pytest.raises(UnreadableError, match="record of a batch of other fields") as found:
            read()
        assert WAY_OUT in str(found.value)
    opened.close()
