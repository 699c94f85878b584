"""The response after a failure of the machine names a short cause, and no internals of the machine."""

from __future__ import annotations

import errno

import pytest

from elsinore.cluster.service.web.refusals import MAX_CAUSE_LENGTH, refusal
from elsinore.connectors.errors import FailedError

JAVA = """Spark gave up on the stream: An error occurred while calling o57.awaitTermination.
: org.apache.spark.sql.streaming.StreamingQueryException: Job aborted
=== Streaming Query ===
\tat org.apache.spark.sql.execution.streaming.StreamExecution.run(StreamExecution.scala:332)
Caused by: org.apache.spark.SparkException: Exception thrown in awaitResult
\tat org.apache.spark.util.ThreadUtils.run(ThreadUtils.scala:1)
Caused by: java.io.IOException: /srv/data/jobs/a/checkpoint/spark/offsets/No space left
\tat java.base/java.io.FileOutputStream.open(FileOutputStream.java:1)"""
ONE_LINE = (
    "Spark gave up: Task 0 in stage 5.0 failed, while reading file:///srv/data/jobs/a/incoming/once-1.parquet "
    "at org.apache.spark.Task.run(Task.scala:141)"
)
SAID = {
    "a stack of Java's": (FailedError(JAVA), "Spark gave up on the stream: No space left; see the log"),
    "a stack in one line": (FailedError(ONE_LINE), "while reading once-1.parquet; see the log"),
    "a file": (
        PermissionError(errno.EACCES, "Permission denied", "/srv/data/jobs/a/rows"),
        "Permission denied; see the log",
    ),
    "a file in a text": (
        OSError("cannot read /srv/data/jobs/a/rows/part-1.arrow"),
        "cannot read part-1.arrow; see the log",
    ),
    "an address": (FailedError("s3://bucket/jobs/a/done/7 is cut short"), "7 is cut short; see the log"),
    "a stack of Python's": (
        FailedError('it failed\nTraceback (most recent call last):\n  File "/srv/a.py"'),
        "it failed; see the log",
    ),
    "nothing": (OSError(), "OSError; see the log"),
    "much": (FailedError("x" * 10_000), "x…; see the log"),
    "our own": (
        FailedError("events/7/0 is not there: later batches follow from it, so this stream cannot go on"),
        "events/7/0 is not there: later batches follow from it, so this stream cannot go on; see the log",
    ),
}


@pytest.mark.parametrize("kind", SAID)
def test_a_failure_tells_its_cause_alone(kind: str) -> None:
    error, says = SAID[kind]
    found = refusal(error)
    assert (found.status, found.kind) == (503, "failed")
    assert says in found.detail
    assert found.detail.endswith("see the log of the service")
    assert len(found.detail) < MAX_CAUSE_LENGTH + 50
    for secret in ("/srv", "org.apache", ".scala", "Traceback", "\n", "bucket"):
        assert secret not in found.detail
