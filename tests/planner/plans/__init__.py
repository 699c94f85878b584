"""Plans as scripts that a reviewer can read: a workload, what each stage makes of it, and rows over a few events.

A script has sections. `> workload` and `> events` are written by hand; all others are outputs, and after a change that
is meant `python -m tests.planner.plans` writes them anew; read the difference before it goes in.

| section | what it shows |
|---|---|
| `> checked` | the queries as they are read and resolved |
| `> machines` | by query: granularities, windows, and what is counted |
| `> share sets STRATEGY` | who shares what under a strategy, who runs apart and why; of `auto`, its choices and costs |
| `> refused STRATEGY` | what a strategy says of a workload that it cannot run |
| `> rows STRATEGY ...` | the rows, which have to be the same under all these strategies |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import elsinore
from elsinore.planner.checks.check import check_text
from elsinore.planner.explain.text import explain
from elsinore.planner.plans.planning import plan

FOLDER = Path(__file__).parent
SCRIPTS = sorted(FOLDER.glob("*.txt"))
MARK = "> "
GIVEN = ("workload", "events")


@dataclass(frozen=True)
class Script:
    """What a script is about, and its sections in their order: a command and the text below it."""

    about: str
    sections: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, text: str) -> Script:
        about, *parts = f"\n{text}".split(f"\n{MARK}")
        sections = (part.partition("\n") for part in parts)
        return cls(about.strip(), tuple((command.strip(), body.strip("\n")) for command, _, body in sections))

    def __str__(self) -> str:
        return "\n\n".join([self.about, *(f"{MARK}{command}\n{body}" for command, body in self.sections)]) + "\n"

    @property
    def workload(self) -> str:
        return dict(self.sections)["workload"]

    @property
    def events(self) -> list[dict[str, Any]]:
        """Return the events: a time, a type and attributes each, with commas or lines between them."""
        found = []
        for one in dict(self.sections)["events"].replace("\n", ",").split(","):
            if one.strip():
                time, kind, *attributes = one.split()
                values = (attribute.partition("=") for attribute in attributes)
                found.append({"time": int(time), "type": kind, **{name: _value(text) for name, _, text in values}})
        names = {name: None for event in found for name in event}
        return [{**names, **event} for event in found]

    def played(self) -> Script:
        """Return the script with the outputs of today."""
        return Script(self.about, tuple((command, self._output(command, body)) for command, body in self.sections))

    def _output(self, command: str, body: str) -> str:
        if command in GIVEN:
            return body
        name = next(name for name in COMMANDS if command.startswith(name))
        return "\n".join(COMMANDS[name](self, command.removeprefix(name).split()))


def _value(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdigit() else text


def _checked(script: Script, _: list[str]) -> Iterable[str]:
    return str(check_text(script.workload)).splitlines()


def _machines(script: Script, _: list[str]) -> Iterable[str]:
    workload = check_text(script.workload)
    alone = "auto" if any(query.detects for query in workload.queries) else "cogra"
    return _queries(explain(plan(workload, alone)).splitlines())


def _queries(lines: list[str]) -> list[str]:
    return lines[next(number for number, line in enumerate(lines) if line.startswith("query ")) :]


def _share_sets(script: Script, strategies: list[str]) -> Iterable[str]:
    (strategy,) = strategies
    lines = explain(plan(check_text(script.workload), strategy)).splitlines()
    return lines[: -len(_queries(lines))]


def _refused(script: Script, strategies: list[str]) -> Iterator[str]:
    (strategy,) = strategies
    try:
        plan(check_text(script.workload), strategy)
    except elsinore.WorkloadError as error:
        yield from str(error).splitlines()


def _rows(script: Script, strategies: list[str]) -> Iterable[str]:
    found = {strategy: list(map(_shown, _answers(script, strategy))) for strategy in strategies}
    first, *others = found
    assert [other for other in others if found[other] != found[first]] == [], found
    return found[first]


def _answers(script: Script, strategy: str) -> list[dict[str, Any]]:
    return elsinore.run(script.workload, script.events, engine="local", strategy=strategy).rows()


def _shown(row: dict[str, Any]) -> str:
    start, end = (value for name, value in row.items() if name in BOUNDS)
    values = ", ".join(f"{name} = {_short(value)}" for name, value in row.items() if name not in ("query", *BOUNDS))
    return f"{row['query']} {start} to {end}: {values}"


def _short(value: Any) -> str:
    """Return a value as text: of an event its time, of a list of events their times."""
    if isinstance(value, list):
        return f"[{', '.join(map(_short, value))}]"
    return str(value["time"] if isinstance(value, dict) else value)


BOUNDS = ("window_start", "window_end", "start", "end")

COMMANDS: dict[str, Callable[[Script, list[str]], Iterable[str]]] = {
    "checked": _checked,
    "machines": _machines,
    "share sets": _share_sets,
    "refused": _refused,
    "rows": _rows,
}


def write() -> None:
    """Write the outputs of all scripts anew."""
    for path in SCRIPTS:
        path.write_text(str(Script.read(path.read_text("utf-8")).played()), encoding="utf-8")
