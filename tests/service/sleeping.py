"""A helper process that leaves a temporary file behind when it is killed; `python -m tests.service.sleeping`."""

from __future__ import annotations

import tempfile
from time import sleep
from typing import Any

from elsinore.cluster.service.helper_process import answer_requests


def answer(request: Any) -> str:
    """Return the path of a temporary file, or sleep."""
    with tempfile.NamedTemporaryFile(delete=False) as file:
        if request == "sleep":
            sleep(60)
        if request == "fail":
            raise MemoryError
        return file.name


if __name__ == "__main__":
    answer_requests(answer, 4 << 30)
