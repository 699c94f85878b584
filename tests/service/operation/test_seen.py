"""Observability of jobs: log lines in JSON, and counters that never decrease except for a reset."""

from __future__ import annotations

import json
import logging
from itertools import pairwise

from elsinore.cluster.service.logs import JsonFormatter
from elsinore.cluster.service.metrics import gained


def test_a_line_says_which_job() -> None:
    record = logging.makeLogRecord({"msg": "begun %s", "args": ("now",), "levelname": "INFO", "job": "rides"})
    found = json.loads(JsonFormatter().format(record))
    assert (found["message"], found["job"], found["level"]) == ("begun now", "rides", "info")


def test_a_line_has_the_whole_error() -> None:
    try:
        raise ValueError("it is wrong\nin two lines")
    except ValueError as error:
        record = logging.makeLogRecord({"msg": "failed", "exc_info": (ValueError, error, error.__traceback__)})
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert "in two lines" in json.loads(line)["error"]


def test_counters_count_what_is_new() -> None:
    values = [0.0, 4, 4, 9, 1, 3]
    assert [gained(before, now) for before, now in pairwise(values)] == [4, 0, 5, 1, 2]
