"""The metrics of all figures: their words, units, and numbers as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Metric:
    """How a metric is written."""

    words: str
    unit: Literal["s", "B", ""] = ""
    more_is_better: bool = False
    axis: str = ""
    """The label of an axis, where the words would not say enough."""

    def shown(self, number: float) -> str:
        """Return a value as text, with a unit that suits its size."""
        if self.unit == "B":
            return f"{number / 1024:,.0f} KiB"
        if self.unit == "s":
            for least, factor, name in ((1, 1, "s"), (1e-3, 1e3, "ms"), (0, 1e6, "µs")):
                if number >= least:
                    return f"{number * factor:.3g} {name}"
        text = f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
        return f"{text} {self.axis}" if self.axis else text


METRICS = {
    "latency": Metric("latency", "s"),
    "throughput": Metric("throughput", more_is_better=True, axis="events/s"),
    "memory": Metric("memory", "B"),
    "optimization_time": Metric("optimization time", "s"),
    "execution_time": Metric("execution time", "s", axis="execution time of an event"),
    "insertion_time": Metric("insertion time", "s"),
    "snapshots": Metric("snapshots"),
    "gain": Metric("gain over trivial", more_is_better=True),
    "trivial": Metric("throughput of trivial", more_is_better=True, axis="events/s"),
    "expected": Metric("matches expected per pattern and window"),
    "seen": Metric("matches seen per pattern and window"),
}


def metric(name: str) -> Metric:
    """Return a metric by name; one without a line above is a number that is better if it is lower."""
    return METRICS.get(name, Metric(name.replace("_", " ")))
