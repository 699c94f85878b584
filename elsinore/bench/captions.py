"""Captions of figures: the measurements in a few sentences, to stand beside those of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from elsinore.bench.figure import Figure, Sweep
from elsinore.bench.metrics import metric
from elsinore.bench.outcomes import Outcome
from elsinore.bench.points import Point
from elsinore.bench.shapes import Line, Verdict, times
from elsinore.bench.sizes import Size

Outcomes = Mapping[Point, Outcome]


def here(figure: Figure, outcomes: Outcomes, size: Size) -> str:
    """Compare the first strategy with each other one over the points that both completed; then name missing points."""
    first, *others = figure.strategies
    points = list(dict.fromkeys(figure.points(size)))
    sentences = [f"{figure.label(first)} {', '.join(_own(figure, first, points, outcomes))}."]
    for strategy in others:
        sentence = list(_compared(figure, (first, strategy), points, outcomes))
        if sentence:
            sentences.append(_sentence("; ".join(sentence)))
    return " ".join([*sentences, *_remarks(figure, points, outcomes), *_missing(figure, points, outcomes)])


def _own(figure: Figure, strategy: str, points: list[Point], outcomes: Outcomes) -> Iterator[str]:
    for name in figure.metrics:
        values = [v for point in points if point.strategy == strategy if (v := value(outcomes[point], name))]
        kind = metric(name)
        if values:
            yield f"{kind.words} {kind.shown(min(values))} to {kind.shown(max(values))}"
        else:
            yield f"{kind.words} not measured"


def _compared(figure: Figure, pair: tuple[str, str], points: list[Point], outcomes: Outcomes) -> Iterator[str]:
    """Yield the range of ratios of each metric: first strategy to the other if more is better, else the inverse."""
    for name in figure.metrics:
        more, less = pair if metric(name).more_is_better else pair[::-1]
        ratios = []
        for point in points:
            if point.strategy == pair[1]:
                high, low = (value(outcomes[replace(point, strategy=one)], name) for one in (more, less))
                if high and low:
                    ratios.append(high / low)
        if ratios:
            between = f"{times(min(ratios))} to {times(max(ratios))} times"
            yield f"the {metric(name).words} of {figure.label(more)} is {between} that of {figure.label(less)}"


def _remarks(figure: Figure, points: list[Point], outcomes: Outcomes) -> Iterator[str]:
    for strategy in figure.strategies:
        own = [outcomes[point] for point in points if point.strategy == strategy]
        sentence = figure.kind.remark([outcome.metrics for outcome in own if outcome.status == "measured"])
        if sentence:
            yield f"{figure.label(strategy)}: {sentence}."


def _sentence(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}."


def _missing(figure: Figure, points: list[Point], outcomes: Outcomes) -> Iterator[str]:
    for strategy in figure.strategies:
        own = [outcomes[point] for point in points if point.strategy == strategy]
        by_reason: dict[str, int] = {}
        for outcome in own:
            if outcome.status != "measured":
                reason = f"{outcome.status} ({outcome.why})"
                by_reason[reason] = by_reason.get(reason, 0) + 1
        for reason, count in by_reason.items():
            yield f"{figure.label(strategy)}: {reason} at {count} of {len(own)} points."


def value(outcome: Outcome, name: str) -> float | None:
    """Return the value of a metric, or None if it was not measured."""
    found = outcome.metrics.get(name)
    return None if found is None else float(found)


def verdicts(figure: Figure, outcomes: Outcomes, size: Size) -> list[Verdict]:
    """Return whether the measurements have the shape of the paper's, check by check."""

    def lines(name: str, strategy: str) -> list[Line]:
        return [_line(sweep, name, strategy, outcomes, size) for sweep in figure.sweeps]

    return [check.judge(lines, figure.label) for check in figure.shape]


def _line(sweep: Sweep, name: str, strategy: str, outcomes: Outcomes, size: Size) -> Line:
    own = [outcomes[point] for point in sweep.points(strategy, size)]
    return Line(
        sweep.axis,
        sweep.fixed.setting,
        sweep.at(size),
        tuple(value(one, name) for one in own),
        tuple(one.status in ("refused", "timeout", "failed") for one in own),
    )
