"""Run the cases of `tests.site.recognize` on Flink, and print their rows as JSON; for a Python that has `apache-flink`.

`python tests/site/recognize_job.py FOLDER < cases.json`: each case has SQL over the table `events`, and its events.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyflink.table import EnvironmentSettings, TableEnvironment  # type: ignore[import-not-found]

EVENTS = """
CREATE TABLE events (
  kind STRING, `second` BIGINT, symbol STRING, price BIGINT,
  `time` AS TO_TIMESTAMP_LTZ(`second`, 0),
  WATERMARK FOR `time` AS `time`
) WITH ('connector' = 'filesystem', 'path' = '{path}', 'format' = 'csv')
"""


def main() -> None:
    folder = Path(sys.argv[1])
    found = [rows(case, folder / f"{number}.csv") for number, case in enumerate(json.load(sys.stdin))]
    sys.stdout.write(f"{json.dumps(found)}\n")


def rows(case: dict[str, Any], path: Path) -> list[list[Any]]:
    lines = [f"{event['type']},{event['time']},{event['symbol']},{event['price']}\n" for event in case["events"]]
    path.write_text("".join(lines))
    tables: Any = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    tables.get_config().set("parallelism.default", "1")
    tables.execute_sql(EVENTS.format(path=path))
    with tables.execute_sql(case["sql"]).collect() as found:
        return sorted(list(row) for row in found)


if __name__ == "__main__":
    main()
