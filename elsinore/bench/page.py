"""One page of all figures: each beside what its paper reports, and whether it has the paper's shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from elsinore.bench.figure import Figure
from elsinore.bench.metrics import metric
from elsinore.bench.shapes import Verdict
from elsinore.bench.sizes import Size

PAGE = Template(Path(__file__).with_name("page.html").read_text())


@dataclass(frozen=True)
class Shown:
    """A figure as it is shown on the page."""

    figure: Figure
    document: Mapping[str, Any]
    """What is written to its JSON file."""
    checks: Sequence[Verdict]
    panels: Sequence[str]
    """The panels as SVG."""


def page(
    figures: Sequence[Figure], shown: Mapping[str, Shown], machine: Mapping[str, Any], size: Size, command: str
) -> str:
    """Return the page, with a line for each figure that is not measured."""
    from elsinore.drawing.themes import theme

    papers = dict.fromkeys(_paper(figure) for figure in figures)
    parts = "".join(_of_paper(paper, [one for one in figures if _paper(one) == paper], shown) for paper in papers)
    return PAGE.substitute(
        theme=theme(),
        facts=_facts(machine, size, command),
        summary=_summary(figures, shown),
        contents=_contents(figures, shown),
        figures=parts,
    )


def _paper(figure: Figure) -> str:
    return figure.title.split(",")[0]


def _facts(machine: Mapping[str, Any], size: Size, command: str) -> str:
    versions = ", ".join(f"{name} {machine[name]}" for name in ("elsinore", "numba", "numpy", "polars", "pyarrow"))
    part = f": {size.values} values of each axis, over a part of the stream" if size.values else ""
    facts = {
        "measured": machine["when"].replace("T", " ").replace("+00:00", " UTC"),
        "machine": f"{machine['processor']}, {machine['cores']} cores, {machine['system']}",
        "commit": machine["commit"] or "not a repository",
        "versions": versions,
        "size": size.name + part,
        "command": command,
    }
    return "".join(
        f"<dt>{name}</dt><dd>{f'<code>{escape(said)}</code>' if name in ('command', 'commit') else escape(said)}</dd>"
        for name, said in facts.items()
    )


STATES = {
    "holds": ("✓", "the shape holds"),
    "part": ("◐", "holds in part"),
    "fails": ("✗", "the shape does not hold"),
    "open": ("?", "not decided"),
    "missing": ("○", "not measured"),
}
"""By state of a figure, its mark and what it says."""


def state(figure: Figure, shown: Mapping[str, Shown]) -> str:
    """Return a key of `STATES`: `part` where some checks hold and some do not."""
    if figure.name not in shown:
        return "missing"
    decided = [check.holds for check in shown[figure.name].checks if check.holds is not None]
    if not decided:
        return "open"
    if all(decided):
        return "holds"
    return "part" if any(decided) else "fails"


def _summary(figures: Sequence[Figure], shown: Mapping[str, Shown]) -> str:
    states = [state(figure, shown) for figure in figures]
    return "".join(
        f'<li class="{key}"><b>{states.count(key)}</b> {escape(said)}</li>'
        for key, (_, said) in STATES.items()
        if key in states
    )


def _contents(figures: Sequence[Figure], shown: Mapping[str, Shown]) -> str:
    links = []
    for figure in figures:
        key = state(figure, shown)
        mark, said = STATES[key]
        links.append(f'<a class="{key}" href="#{figure.name}" title="{said}">{mark} {figure.name}</a>')
    return "".join(links)


def _of_paper(paper: str, figures: Sequence[Figure], shown: Mapping[str, Shown]) -> str:
    return f"<h2>{escape(paper)}</h2>" + "".join(
        _card(shown[figure.name], state(figure, shown)) if figure.name in shown else _absent(figure)
        for figure in figures
    )


def _absent(figure: Figure) -> str:
    return (
        f'<article id="{figure.name}" class="absent"><h3>{_title(figure)}</h3>'
        f"<p>Not measured: the run was stopped before. Run <code>elsinore bench {figure.name}</code>.</p></article>"
    )


def _title(figure: Figure) -> str:
    return escape(figure.title.split(",", 1)[-1].strip())


def _card(shown: Shown, key: str) -> str:
    figure, document = shown.figure, shown.document
    mark, said = STATES[key]
    section = f" ({escape(figure.section)})" if figure.section else ""
    return (
        f'<article id="{figure.name}"><header><h3>{_title(figure)}</h3><span class="state {key}">{mark} {said}</span>'
        f"</header><p><b>The paper{section}:</b> {escape(figure.paper)}</p>{_legend(shown)}"
        f'<div class="panels">{"".join(_panels(shown))}</div>{_checks(shown.checks)}'
        f"<p><b>Here:</b> {escape(document['here'])}</p>{_numbers(shown)}{_conditions(shown)}</article>"
    )


def _legend(shown: Shown) -> str:
    from elsinore.bench.plots import key_of

    return f'<p class="legend">{"".join(key_of(shown.figure, one) for one in shown.figure.strategies)}</p>'


def _panels(shown: Shown) -> Iterator[str]:
    from elsinore.bench.plots import title

    for place, svg in enumerate(shown.panels):
        yield f"<figure><figcaption>{escape(title(shown.figure, place))}</figcaption>{svg}</figure>"


def _checks(checks: Sequence[Verdict]) -> str:
    if not checks:
        return ""
    keys = {True: "holds", False: "fails", None: "open"}
    rows = "".join(
        f'<tr><td class="{keys[one.holds]}" title="{STATES[keys[one.holds]][1]}">{STATES[keys[one.holds]][0]}</td>'
        f"<td>{escape(one.claim)}</td><td>{escape(one.paper or 'no number')}</td><td>{escape(one.measured)}</td></tr>"
        for one in checks
    )
    return (
        '<div class="wide"><table><thead><tr><th></th><th>Shape</th><th>Paper</th><th>Here</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _numbers(shown: Shown) -> str:
    """Return the measured points as a table that is closed at first."""
    figure = shown.figure
    axes = list(dict.fromkeys(sweep.axis for sweep in figure.sweeps))
    metrics = (*figure.metrics, *(name for name in figure.kind.beside if name not in figure.metrics))
    heads = ["setting", "strategy", *axes, *metrics]
    rows = [
        [
            point["setting"],
            figure.label(point["strategy"]),
            *("" if point[axis] is None else f"{point[axis]:,}" for axis in axes),
            *(_value(point, name) for name in metrics),
        ]
        for point in shown.document["points"]
    ]
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in heads)
    return (
        '<details><summary>Numbers</summary><div class="wide"><table class="numbers"><thead><tr>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div></details>"
    )


def _value(point: Mapping[str, Any], name: str) -> str:
    found = point.get(name)
    return metric(name).shown(found) if isinstance(found, int | float) else f"{point['status']}: {point.get('why', '')}"


def _conditions(shown: Shown) -> str:
    document, name = shown.document, shown.figure.name
    said = {**document["settings"], **document["definitions"]}
    items = "".join(f"<dt>{escape(one.replace('_', ' '))}</dt><dd>{escape(what)}</dd>" for one, what in said.items())
    return (
        f"<details><summary>Streams, workloads, definitions</summary><dl>{items}</dl></details>"
        f'<p class="files"><code>{escape(document["command"])}</code> '
        f'<a href="{name}.json">JSON</a> <a href="{name}.csv">CSV</a> <a href="{name}.png">PNG</a></p>'
    )
