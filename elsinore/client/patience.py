"""Asking again: when, how often, and what is said in the end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from random import uniform

from elsinore.client.exchange import PROBLEM, Pause, Request, Response, Silence, Steps
from elsinore.client.refusals import refusal
from elsinore.errors import UnreachableError

AGAIN = frozenset({408, 429, 503})
"""The service is there, and asks to be asked later."""


@dataclass(frozen=True)
class Patience:
    """How long to go on asking: pauses double, up to the longest, and are spread, lest all clients come at once."""

    seconds: float = 60
    first: float = 0.2
    longest: float = 10

    def pauses(self) -> Iterator[float]:
        for attempt in count():
            yield uniform(0.5, 1) * min(self.longest, self.first * 2 ** min(attempt, 30))


@dataclass(frozen=True)
class Answered:
    """A response, and whether an earlier request like it was lost on the way: then it may have been done already."""

    response: Response
    lost: bool


def answered(request: Request, patience: Patience) -> Steps[Answered]:
    """Ask until there is an answer that stands, whatever it says; every request can be repeated without harm."""
    spent, lost = 0.0, False
    for pause in patience.pauses():
        answer = yield request
        assert answer is not None
        if isinstance(answer, Silence):
            spent, lost = spent + answer.seconds, True
        elif stands(answer):
            return Answered(answer, lost)
        # A service that was killed at its work does not tell whether it was done.
        lost = lost or (isinstance(answer, Response) and answer.status >= 500)
        longer = max(pause, _asked_for(answer))
        if spent + longer > patience.seconds:
            raise _given_up(request, answer, spent)
        yield Pause(longer)
        spent += longer
    raise AssertionError("pauses do not end")


def stands(response: Response) -> bool:
    """Whether asking again makes no sense. A proxy that does not reach the server answers for itself."""
    if response.status in AGAIN:
        return False
    return response.status < 500 or response.kind == PROBLEM


def _asked_for(answer: Response | Silence) -> float:
    """The seconds of Retry-After."""
    after = answer.headers.get("retry-after", "") if isinstance(answer, Response) else ""
    return float(after) if after.isdigit() else 0.0


def _given_up(request: Request, answer: Response | Silence, spent: float) -> Exception:
    if isinstance(answer, Response):
        return refusal(answer)
    return UnreachableError(
        f"the service does not answer {request.method} {request.path}, asked for {spent:.0f} s: {answer.reason}. "
        "Look whether it runs, and at its address"
    )
