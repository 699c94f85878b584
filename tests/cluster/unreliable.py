"""Graph actors that lose calls or replies."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ray.exceptions import ActorUnavailableError

import elsinore.cluster.run.crew
from elsinore.actors.shells.graph_actor import GraphActor


def unreliable(method: Callable[..., Any]) -> Callable[..., Any]:
    """Make every fourth call of an actor fail: by turns the call is lost, or its reply."""

    @wraps(method)
    def called(self: Any, *arguments: Any) -> Any:
        self.calls = getattr(self, "calls", 0) + 1
        lost = ActorUnavailableError("so it seems to who called", None)
        if self.calls % 8 == 4:
            raise lost
        answer = method(self, *arguments)
        if self.calls % 8 == 0:
            raise lost
        return answer

    return called


class Unreliable(GraphActor):
    begin = unreliable(GraphActor.begin)
    reached = unreliable(GraphActor.reached)
    message_rows = 20
    take = unreliable(GraphActor.take)
    more = unreliable(GraphActor.more)
    save = unreliable(GraphActor.save)
    restore = unreliable(GraphActor.restore)
    inherit = unreliable(GraphActor.inherit)


def only_unreliable() -> None:
    """Replace the graph actors that this process hires; Ray calls this function in each new worker process."""
    elsinore.cluster.run.crew.GraphActor = Unreliable  # type: ignore[attr-defined]
