"""Answer the requests of the workbench: check a workload, plan and draw it, run it over a few events, and explain."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from elsinore.api import draw, explain, run
from elsinore.errors import InputError, WorkloadError
from elsinore.reasons.asking import why

MAX_ROWS = 1000
"""Rows that an answer has, the first ones."""

MAX_MATCHES = 100_000
"""Matches of a query above which a run ends with an error."""

MAX_LETTERS = 20
"""Dead letters that an answer has, the first ones."""

COUNTERS = ("events", "rows", "late", "dead", "dropped", "bursts", "shared_bursts", "snapshots")


def answer(request: tuple[str, ...]) -> dict[str, Any] | Exception:
    """Return the answer to a request, or the error of its workload or events, which the replica raises."""
    kind, text, *others = request
    try:
        return ANSWERS[kind](as_text(text), *others)
    except (WorkloadError, InputError) as error:
        return error


def _named(message: str, path: Path) -> str:
    """Return a message about a file as one about the events, which is what the browser has sent."""
    return message.replace(str(path), "the events")


def as_text(workload: str) -> str:
    """Return a workload that is not taken for the path of a file: the text comes from a browser."""
    return f"{workload}\n"


def planned(text: str, strategy: str) -> dict[str, Any]:
    return {"plan": explain(text, strategy)}


def drawn(text: str, strategy: str) -> dict[str, Any]:
    """Return the plan, and its pictures: what the queries have in common, and how they share it."""
    pictures = [draw(text, strategy=strategy).svg, draw(text, plan=True, strategy=strategy).svg]
    return {"plan": explain(text, strategy), "pictures": list(dict.fromkeys(pictures))}


@contextmanager
def _written(events: str, suffix: str) -> Iterator[Path]:
    """Write events to a file; an error about the file becomes one about the events."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"events{suffix}"
        path.write_text(events)
        try:
            yield path
        except InputError as error:
            raise InputError(_named(str(error), path)) from None


def tried(text: str, strategy: str, events: str, suffix: str) -> dict[str, Any]:
    """Run a workload over the events of a file, given as text, in this process."""
    with _written(events, suffix) as path:
        dead = path.parent / "dead.jsonl"
        options: Any = {"engine": "local", "cores": 1, "dead_letters": dead, "most_matches": MAX_MATCHES}
        found = run(text, path, strategy=strategy, **options)
        letters = [json.loads(line) for line in dead.read_text().splitlines()] if dead.exists() else []
    rows = found.head(MAX_ROWS)[:MAX_ROWS]
    counters = asdict(found.metrics)  # type: ignore[arg-type]
    return {
        "rows": [json.dumps(row, default=str) for row in rows],
        "counters": {name: counters[name] for name in COUNTERS},
        "queries": {name: len(found.query(name)) for name in found.queries},
        "dead": [_shown(letter) for letter in letters[:MAX_LETTERS]],
    }


def reasoned(text: str, events: str, suffix: str, query: str) -> dict[str, Any]:
    """Explain why a query has no row over the events of a file; as JSON, which keeps every digit of the events."""
    with _written(events, suffix) as path:
        (reason,) = why(text, path, query=query).reasons
    return {"reason": _named(json.dumps(reason.to_dict(), default=str), path)}


def _shown(letter: Mapping[str, Any]) -> str:
    """Return the place of a dead letter, where it is known, and the reason."""
    return f"line {letter['line']}: {letter['reason']}" if "line" in letter else letter["reason"]


ANSWERS: dict[str, Callable[..., dict[str, Any]]] = {
    "check": planned,
    "draw": drawn,
    "try": tried,
    "why": reasoned,
}
