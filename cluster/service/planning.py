"""Plan workloads in a separate process that can be killed: planning a short pattern may take forever."""

from __future__ import annotations

from elsinore.cluster.service.helper_process import HelperProcess, OverrunError, answer_requests
from elsinore.connectors.errors import InputError
from elsinore.planner.checks.check import check_text
from elsinore.planner.language.errors import WorkloadError
from elsinore.planner.plans.planning import plan

MAX_MEMORY_BYTES = 4 << 30
"""The most bytes of memory that the process may use."""


class Planner:
    """The process that plans."""

    def __init__(self) -> None:
        self._process = HelperProcess("elsinore.cluster.service.planning")

    def check(self, text: str, strategy: str, seconds: float) -> None:
        """Plan a workload; raise its errors, or InputError where planning takes too much time or memory."""
        try:
            found: Exception | None = self._process.ask((text, strategy), seconds)
        except OverrunError:
            found = _too_large(seconds)
        if found is not None:
            raise found


def _too_large(seconds: float) -> InputError:
    return InputError(
        f"planning this workload takes more than {seconds:g} seconds or {MAX_MEMORY_BYTES >> 30} GiB; "
        "use fewer queries, or patterns with fewer parts under AND and in repetitions"
    )


def _outcome(request: tuple[str, str]) -> Exception | None:
    text, strategy = request
    try:
        plan(check_text(text), strategy)
    except (WorkloadError, InputError) as error:
        return error
    return None


PLANNER = Planner()

if __name__ == "__main__":
    answer_requests(_outcome, MAX_MEMORY_BYTES)
