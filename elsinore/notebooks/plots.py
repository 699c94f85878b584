"""Plots of results: values over windows, matches over time."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from io import BytesIO, StringIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from elsinore.connectors.storage.drafts import Draft
from elsinore.drawing.themes import COLOURS, alone, themed
from elsinore.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH_INCHES, PANEL_INCHES, DPI = 7.2, 3.0, 140
MOST_GROUPS = 8
"""Lines of a panel: the groups with the largest values. There are as many colours."""
MOST_MATCHES = 60
"""Bars of a panel: the first matches."""
FLAT_RATIO = 1_000
"""Ratio of the largest value to the smallest above which an axis is logarithmic."""
LINEAR_VALUES = 1e300
"""Values beyond this need a logarithmic axis, because no float holds their multiples."""
FROM_ZERO = 0.6
"""Ratio of the smallest value to the largest above which an axis does not begin at 0."""
MOST_MARKERS = 40
"""Values of a line above which they have no markers."""

PAPER = """
svg { background: var(--paper); } :root { --paper: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --paper: #16191e; } }
"""


class Rows(Protocol):
    """The rows of a workload, as `elsinore.Result` has them."""

    @property
    def queries(self) -> tuple[str, ...]: ...
    @property
    def columns(self) -> Mapping[str, Sequence[str]]: ...
    def query(self, name: str) -> Any: ...


@dataclass(frozen=True, repr=False)
class Plot:
    """A plot of a result, which notebooks show in light or dark colours, and which can be saved."""

    __module__ = "elsinore"

    svg: str
    png: bytes

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | PathLike[str]) -> None:
        """Write the plot to an .svg or a .png file; a .png has light colours."""
        name = Path(path)
        kinds = {".svg": self.svg.encode(), ".png": self.png}
        if name.suffix.lower() not in kinds:
            raise InputError(f"{name}: the file name of a plot must end in .svg or .png.")
        draft = Draft(name)
        try:
            draft.stream.write(kinds[name.suffix.lower()])
        except OSError:
            draft.abandon()
            raise
        draft.close()


@dataclass(frozen=True)
class Panel:
    """What is drawn of a query: lines of values, or bars of matches."""

    title: str
    axis: str
    value: str
    lines: Mapping[str, tuple[list[Any], list[Any]]]
    """By group, where windows end, and their values."""
    bars: Sequence[tuple[Any, Any]] = ()


def plot(result: Rows, query: str | None, value: str | None, by: Sequence[str] | None) -> Plot:
    """Return a plot with a panel for each query that has rows, or for the named one."""
    names = [name for name in result.queries if len(result.query(name))] if query is None else [query]
    panels = [_panel(name, result.query(name).rows(), result.columns[name], value, by) for name in names]
    if not panels or not any(panel.lines or panel.bars for panel in panels):
        raise InputError("there are no rows to plot; result.why() explains why")
    return _drawn(panels)


def _panel(name: str, rows: list[dict[str, Any]], columns: Sequence[str], value: str | None, by: Any) -> Panel:
    if tuple(columns[:2]) == ("start", "end"):
        shown = f", the first {MOST_MATCHES:,}" if len(rows) > MOST_MATCHES else ""
        bars = [(row["start"], row["end"]) for row in rows[:MOST_MATCHES]]
        return Panel(f"{name}: {len(rows):,} matches{shown}", "time", "match", {}, bars)
    items = columns[2:]
    chosen = value or next((item for item in items if "(" in item), items[-1])
    _check(name, (chosen, *(by or ())), items)
    groups = by if by is not None else [item for item in items if isinstance(rows[0][item], str)]
    lines: dict[tuple[Hashable, ...], tuple[list[Any], list[Any]]] = {}
    for row in rows:
        if row[chosen] is not None:
            at, values = lines.setdefault(tuple(row[group] for group in groups), ([], []))
            at.append(row[columns[1]])
            values.append(row[chosen])
    most = sorted(lines, key=lambda group: max(lines[group][1]), reverse=True)[:MOST_GROUPS]
    left = f", {MOST_GROUPS} of {len(lines)} groups" if len(lines) > MOST_GROUPS else ""
    return Panel(f"{name}{left}", columns[1], chosen, {", ".join(map(str, group)): lines[group] for group in most})


def _check(name: str, asked: Sequence[str], items: Sequence[str]) -> None:
    if missing := [one for one in asked if one not in items]:
        raise InputError(f"the rows of {name} have no column {missing[0]!r}; they have {', '.join(items)}")


def _drawn(panels: Sequence[Panel]) -> Plot:
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise InputError("plots are drawn by matplotlib; install it with: pip install 'elsinore[plot]'") from None

    look: Any = {"font.size": 9, "axes.grid": True, "grid.alpha": 0.5, "svg.fonttype": "none", "svg.hashsalt": "plot"}
    size = (WIDTH_INCHES, PANEL_INCHES * len(panels))
    with mpl.rc_context(look):
        figure = Figure(figsize=size, layout=ConstrainedLayoutEngine())
        FigureCanvasSVG(figure)
        for axes, panel in zip(figure.subplots(len(panels), squeeze=False)[:, 0], panels, strict=True):
            _draw(axes, panel)
        figure.patch.set_alpha(0)
        text = StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None})
        svg = alone(themed(text.getvalue(), ", ".join(panel.title for panel in panels)))
        FigureCanvasAgg(figure)
        png = _png(figure)
    return Plot(svg.replace("<style>", f"<style>{PAPER}", 1), png)


def _png(figure: Figure) -> bytes:
    image = BytesIO()
    figure.savefig(image, format="png", dpi=DPI, facecolor="white")
    return image.getvalue()


def _draw(axes: Any, panel: Panel) -> None:
    axes.patch.set_alpha(0)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_title(panel.title, loc="left", fontsize=10)
    axes.set_xlabel(panel.axis)
    axes.set_ylabel(panel.value)
    if panel.bars:
        _bars(axes, panel.bars)
        return
    values = [value for _, some in panel.lines.values() for value in some]
    scaled = _log10 if _is_wide(values) else float
    if len({when for at, _ in panel.lines.values() for when in at}) == 1 and len(panel.lines) > 1:
        _dots(axes, panel, [scaled(some[0]) for _, some in panel.lines.values()])
        _ticks(axes.xaxis, scaled is _log10)
        return
    _lines(axes, panel, scaled)
    low, high = axes.get_ylim()
    if scaled is float and low <= FROM_ZERO * high:
        axes.set_ylim(bottom=min(0.0, low))
    _ticks(axes.yaxis, scaled is _log10)


def _dots(axes: Any, panel: Panel, values: Sequence[float]) -> None:
    """Draw one window of several groups: a line for each group, with its value."""
    [when] = {when for at, _ in panel.lines.values() for when in at}
    axes.set_title(f"{panel.title}, {panel.axis} {when}", loc="left", fontsize=10)
    axes.set_xlabel(panel.value)
    axes.set_ylabel("")
    axes.plot(values, list(panel.lines), color=COLOURS[0], marker="o", linestyle="none")
    axes.invert_yaxis()


def _lines(axes: Any, panel: Panel, scaled: Callable[[Any], float]) -> None:
    few = max(len(at) for at, _ in panel.lines.values()) <= MOST_MARKERS
    for number, (name, (at, values)) in enumerate(panel.lines.items()):
        style: Any = {"color": COLOURS[number], "linewidth": 1.5, "marker": "o" if few else None, "markersize": 4}
        axes.plot(at, list(map(scaled, values)), label=name, **style)
    if len(panel.lines) > 1:
        axes.legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))


def _bars(axes: Any, bars: Sequence[tuple[Any, Any]]) -> None:
    for number, (start, end) in enumerate(bars, start=1):
        axes.plot([start, end], [number, number], color=COLOURS[0], linewidth=2, marker="|", markersize=4)
    axes.invert_yaxis()
    axes.yaxis.get_major_locator().set_params(integer=True)


def _is_wide(values: Sequence[Any]) -> bool:
    """Return whether values need a logarithmic axis; raise InputError where they need one and have no logarithm."""
    low, high = min(values), max(values)
    if high <= LINEAR_VALUES and low >= -LINEAR_VALUES:
        return low > 0 and high > low * FLAT_RATIO
    if low <= 0:
        raise InputError("some values are too long for an axis, and some are not positive; choose another `value`")
    return True


def _log10(value: Any) -> float:
    """Return the logarithm of a number, also of an integer that no float can hold."""
    return float(value.log10()) if isinstance(value, Decimal) else math.log10(value)


def _ticks(axis: Any, logarithmic: bool) -> None:
    from matplotlib.ticker import EngFormatter, FuncFormatter, MaxNLocator

    if logarithmic:
        axis.set_major_locator(MaxNLocator(integer=True, nbins=7))
        axis.set_major_formatter(FuncFormatter(lambda power, _: f"1e{power:.0f}"))
    else:
        axis.set_major_formatter(EngFormatter(sep=""))
