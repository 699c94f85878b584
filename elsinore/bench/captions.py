"""Captions of figures: the measurements in a few sentences, to stand beside those of the paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from elsinore.bench.figure import Figure, Metric
from elsinore.bench.outcomes import Outcome
from elsinore.bench.points import Point

LABELS = {
    "hamlet": "HAMLET",
    "hamlet-static": "static decisions",
    "greta": "GRETA",
    "sharon": "SHARON",
    "two-step": "two-step (in place of MCEP)",
    "auto": "auto",
    "gloria": "GLORIA",
    "gloria-noprune": "NoPrune",
    "gloria-greedy": "Greedy",
    "a-seq": "A-Seq",
    "prefix": "A-Seq, prefixes shared",
    "chop-connect": "A-Seq, Chop-Connect",
    "cogra": "two stacks (COGRA)",
}

Outcomes = Mapping[Point, Outcome]


def here(figure: Figure, outcomes: Outcomes, quick: bool) -> str:
    """Compare the first strategy with each other one over the points that both completed; then name missing points."""
    first, *others = figure.strategies
    points = list(dict.fromkeys(figure.points(quick)))
    sentences = [f"{LABELS[first]} {', '.join(_own(figure, first, points, outcomes))}."]
    for strategy in others:
        sentence = list(_compared(figure, (first, strategy), points, outcomes))
        if sentence:
            sentences.append(_sentence("; ".join(sentence)))
    return " ".join([*sentences, *_remarks(figure, points, outcomes), *_missing(figure, points, outcomes)])


def _own(figure: Figure, strategy: str, points: list[Point], outcomes: Outcomes) -> Iterator[str]:
    for metric in figure.metrics:
        values = [v for point in points if point.strategy == strategy if (v := value(outcomes[point], metric))]
        if values:
            yield f"{words(metric)} {shown(min(values), metric)} to {shown(max(values), metric)}"
        else:
            yield f"{words(metric)} not measured"


def _compared(figure: Figure, pair: tuple[str, str], points: list[Point], outcomes: Outcomes) -> Iterator[str]:
    """Yield the range of ratios of each metric: first strategy to the other for throughput, the inverse for costs."""
    for metric in figure.metrics:
        more, less = pair if metric == "throughput" else pair[::-1]
        ratios = []
        for point in points:
            if point.strategy == pair[1]:
                high, low = (value(outcomes[replace(point, strategy=name)], metric) for name in (more, less))
                if high and low:
                    ratios.append(high / low)
        if ratios:
            times = f"{_times(min(ratios))} to {_times(max(ratios))} times"
            yield f"the {words(metric)} of {LABELS[more]} is {times} that of {LABELS[less]}"


def _remarks(figure: Figure, points: list[Point], outcomes: Outcomes) -> Iterator[str]:
    for strategy in figure.strategies:
        own = [outcomes[point] for point in points if point.strategy == strategy]
        sentence = figure.kind.remark([outcome.metrics for outcome in own if outcome.status == "measured"])
        if sentence:
            yield f"{LABELS[strategy]}: {sentence}."


def _sentence(sentence: str) -> str:
    return f"{sentence[0].upper()}{sentence[1:]}."


def _times(ratio: float) -> str:
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2g}"


def _missing(figure: Figure, points: list[Point], outcomes: Outcomes) -> Iterator[str]:
    for strategy in figure.strategies:
        own = [outcomes[point] for point in points if point.strategy == strategy]
        by_reason: dict[str, int] = {}
        for outcome in own:
            if outcome.status != "measured":
                reason = f"{outcome.status} ({outcome.why})"
                by_reason[reason] = by_reason.get(reason, 0) + 1
        for reason, count in by_reason.items():
            yield f"{LABELS[strategy]}: {reason} at {count} of {len(own)} points."


def value(outcome: Outcome, metric: Metric) -> float | None:
    """Return the value of a metric, or None if it was not measured."""
    found = outcome.metrics.get(metric)
    return None if found is None else float(found)


def words(metric: Metric) -> str:
    return metric.replace("_", " ")


def shown(number: float, metric: Metric) -> str:
    if metric == "execution_time":
        return f"{number * 1e6:.3g} µs"
    if metric in ("latency", "optimization_time", "insertion_time"):
        return f"{number * 1000:.3g} ms" if number < 1 else f"{number:.3g} s"
    if metric == "throughput":
        return f"{number:,.0f} events/s"
    if metric == "snapshots":
        return f"{number:,.0f}"
    return f"{number / 1024:,.0f} KiB"
