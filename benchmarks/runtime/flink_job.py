"""The work that `benchmarks.runtime.flink` gives to Flink; run by a Python that has `apache-flink`, without Elsinore.

`python flink_job.py EVENTS OUT PARALLELISM` prints seconds as JSON, and writes the counts to a folder of CSV files.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]

EVENTS = """
CREATE TABLE events (
  `type` STRING, `time` BIGINT, district STRING, rider BIGINT,
  moment AS TO_TIMESTAMP_LTZ(`time`, 3),
  `window` AS `time` / 600000,
  WATERMARK FOR moment AS moment
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
"""

ANSWERS = """
CREATE TABLE answers (district STRING, `window` BIGINT, trends BIGINT, travels BIGINT)
WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
"""

READ = """
INSERT INTO answers SELECT district, `window`, COUNT(*), COUNT(rider) FROM events GROUP BY district, `window`
"""

MATCHED = """
INSERT INTO answers
SELECT district, `window`, COUNT(*), SUM(travels)
FROM events MATCH_RECOGNIZE (
  PARTITION BY district, rider, `window`
  ORDER BY moment
  MEASURES COUNT(T.`time`) AS travels
  ONE ROW PER MATCH
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (T+ Z)
  DEFINE T AS T.`type` = 'Travel', Z AS Z.`type` = 'Arrive'
)
GROUP BY district, `window`
"""

TIMES = 3
"""Number of runs of each kind of work in one JVM, which compiles only in the first ones."""


def main() -> None:
    path, out, parallelism = sys.argv[1:]
    figures = {name: [done(work, path, out, parallelism) for _ in range(TIMES)] for name, work in WORKS.items()}
    print(json.dumps(figures))


WORKS = {"read": READ, "matched": MATCHED}


def done(work: str, path: str, out: str, parallelism: str) -> tuple[float, float]:
    """Return the seconds from the submission of a job to its end: wall-clock time, and processor time."""
    shutil.rmtree(out, ignore_errors=True)
    tables: Any = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    tables.get_config().set("parallelism.default", parallelism)
    tables.execute_sql(EVENTS.format(path=path))
    tables.execute_sql(ANSWERS.format(path=out))
    begin, used = perf_counter(), processors()
    tables.execute_sql(work).wait()
    return perf_counter() - begin, processors() - used


def processors() -> float:
    """Return the processor seconds that the JVM, the only child of this process, has used."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == os.getpid():
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
