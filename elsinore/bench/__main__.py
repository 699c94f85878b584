"""`python -m elsinore.bench POINT`: measure a point in this process, and say so on stdout, both as JSON."""

from __future__ import annotations

import json
import sys

from elsinore.bench.replay import measured
from elsinore.bench.settings import Point
from elsinore.errors import WorkloadError


def main() -> None:
    point = Point(**json.loads(sys.argv[1]))
    try:
        said = {"status": "measured", "metrics": measured(point), "why": ""}
    except WorkloadError as error:
        said = {"status": "refused", "metrics": {}, "why": str(error).splitlines()[0]}
    json.dump(said, sys.stdout)


if __name__ == "__main__":
    main()
