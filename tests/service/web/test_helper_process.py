"""A process that is killed for a request leaves nothing behind, and the next request gets another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from elsinore.cluster.service.helper_process import HelperProcess, OverrunError


@pytest.mark.parametrize("request_", ["sleep", "fail"])
def test_temporary_files_of_a_process_that_is_killed_are_deleted(request_: str) -> None:
    process = HelperProcess("tests.service.sleeping")
    file = Path(process.ask("path", 30))
    assert file.is_file()
    with pytest.raises(OverrunError):
        process.ask(request_, 0.2 if request_ == "sleep" else 30)
    assert not file.exists()
    assert Path(process.ask("path", 30)).is_file()
    process._end()


def test_a_process_that_does_not_start_is_no_mistake_of_the_service() -> None:
    process = HelperProcess("tests.service.no_such_module")
    for _ in range(2):
        with pytest.raises(OverrunError):
            process.ask("anything", 1)
