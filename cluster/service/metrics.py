"""Publish the metrics of each job to Prometheus, through Ray."""

from __future__ import annotations

from typing import Any

from ray.util.metrics import Counter, Gauge

COUNTERS = {
    "events": "events processed, including late and dropped ones",
    "rows": "rows written",
    "late": "events behind the watermark",
    "dead": "events without a type or a time",
    "set_aside": "appends whose files were damaged on disk",
    "unmatched": "events of types that no query names",
    "dropped": "events without a value in an attribute that splits the stream",
    "batches": "batches completed",
    "bursts": "bursts that several queries could share",
    "shared_bursts": "bursts whose graphlet several queries shared",
    "snapshots": "snapshots created by shared graphlets",
    "questions": "requests to the optimizer actor",
    "missed": "requests to the optimizer actor without a reply in time",
    "decision_seconds": "seconds spent on decisions",
    "checkpoint_seconds": "seconds spent on recording batches",
}

GAUGES = {
    "watermark_lag": "seconds between the latest event and the watermark",
    "sharing_rate": "fraction of bursts that were shared",
    "checkpoint_age": "seconds since the last batch was recorded",
}


class Gauges:
    def __init__(self) -> None:
        self._counters = {name: Counter(f"elsinore_{name}", text, ("workload",)) for name, text in COUNTERS.items()}
        self._gauges = {name: Gauge(f"elsinore_{name}", text, ("workload",)) for name, text in GAUGES.items()}
        self._before: dict[str, dict[str, float]] = {}

    def set(self, job: str, metrics: dict[str, Any]) -> None:
        """Publish the counters of a job."""
        before = self._before.setdefault(job, {})
        for name, counter in self._counters.items():
            now = float(metrics.get(name, 0))
            if more := gained(before.get(name, 0.0), now):
                counter.inc(more, {"workload": job})
            before[name] = now
        for name, gauge in self._gauges.items():
            gauge.set(float(metrics.get(name) or 0.0), {"workload": job})

    def forget(self, job: str) -> None:
        self._before.pop(job, None)


def gained(before: float, now: float) -> float:
    """Return the gain of a counter; some begin at 0 again when a stream is resumed."""
    return now - before if now >= before else now
