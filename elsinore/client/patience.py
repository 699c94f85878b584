"""Retries: when to retry a request, for how long, and which error to raise in the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from random import uniform

from elsinore.client.error_replies import refusal
from elsinore.client.exchange import PROBLEM, NoResponse, Pause, Request, Response, Steps
from elsinore.errors import UnreachableError

RETRY_STATUSES = frozenset({408, 429, 503})
"""Statuses with which a running service asks for a later retry."""


@dataclass(frozen=True)
class Patience:
    """The retry policy: how long to retry, with exponential backoff and jitter, all in seconds."""

    seconds: float = 60
    first: float = 0.2
    longest: float = 10

    def pauses(self) -> Iterator[float]:
        for attempt in count():
            yield uniform(0.5, 1) * min(self.longest, self.first * 2 ** min(attempt, 30))


@dataclass(frozen=True)
class FinalResponse:
    """A response, and whether an earlier attempt was lost: then the service may have executed it already."""

    response: Response
    lost: bool


def answered(request: Request, patience: Patience) -> Steps[FinalResponse]:
    """Retry a request until a response is final, whatever its status. All requests are idempotent."""
    spent, lost = 0.0, False
    for pause in patience.pauses():
        answer = yield request
        assert answer is not None
        if isinstance(answer, NoResponse):
            spent, lost = spent + answer.seconds, True
        elif stands(answer):
            return FinalResponse(answer, lost)
        # A service that was killed while it processed the request may have executed it.
        lost = lost or (isinstance(answer, Response) and answer.status >= 500)
        longer = max(pause, _asked_for(answer))
        if spent + longer > patience.seconds:
            raise _given_up(request, answer, spent)
        yield Pause(longer)
        spent += longer
    raise AssertionError("pauses do not end")


def stands(response: Response) -> bool:
    """Return whether a response is final. A 5xx without a problem document comes from a proxy, so it is not."""
    if response.status in RETRY_STATUSES:
        return False
    return response.status < 500 or response.kind == PROBLEM


def _asked_for(answer: Response | NoResponse) -> float:
    """Return the seconds of the header Retry-After, 0 without one."""
    after = answer.headers.get("retry-after", "") if isinstance(answer, Response) else ""
    return float(after) if after.isascii() and after.isdigit() else 0.0


def _given_up(request: Request, answer: Response | NoResponse, spent: float) -> Exception:
    if isinstance(answer, Response):
        return refusal(answer)
    return UnreachableError(
        f"the service did not answer {request.method} {request.path} within {spent:.0f} s: {answer.reason}. "
        "Check that it is running, and its address"
    )
