"""`python -m elsinore.bench KIND POINT`: measure a point in this process; the point and the outcome are JSON."""

from __future__ import annotations

import json
import sys

from elsinore.bench.figures import KINDS
from elsinore.errors import WorkloadError


def main() -> None:
    kind, fields = sys.argv[1:]
    point = KINDS[kind](**json.loads(fields))
    try:
        result = {"status": "measured", "metrics": point.measured(), "why": ""}
    except WorkloadError as error:
        result = {"status": "refused", "metrics": {}, "why": str(error).splitlines()[0]}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
