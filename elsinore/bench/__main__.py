"""`python -m elsinore.bench KIND POINT`: measure a point in this process; the point and the outcome are JSON."""

from __future__ import annotations

import json
import sys

from elsinore.bench.inserting import Inserting
from elsinore.bench.planning import Planning
from elsinore.bench.points import Point
from elsinore.bench.replay import Run
from elsinore.bench.sequences import Sequences
from elsinore.bench.sharing_plans import Bursty, Planned
from elsinore.errors import WorkloadError

POINT_CLASSES: dict[str, type[Point]] = {
    kind.__name__: kind for kind in (Run, Planning, Sequences, Planned, Bursty, Inserting)
}


def main() -> None:
    kind, fields = sys.argv[1:]
    point = POINT_CLASSES[kind](**json.loads(fields))
    try:
        result = {"status": "measured", "metrics": point.measured(), "why": ""}
    except WorkloadError as error:
        result = {"status": "refused", "metrics": {}, "why": str(error).splitlines()[0]}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
