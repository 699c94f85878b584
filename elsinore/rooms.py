"""The packages beside this one have plain names; a user's own `planner.py` would silently stand in for ours."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

ROOMS = ("planner", "actors", "connectors", "cluster")


def require_own_rooms() -> None:
    """Refuse to go on where one of Elsinore's packages is shadowed, and say what to rename."""
    home = Path(__file__).resolve().parent.parent
    for room in ROOMS:
        found = _place_of(room)
        if found is None:
            raise ImportError(f"Elsinore's package {room!r} is missing; install elsinore anew")
        if found != home / room / "__init__.py":
            raise ImportError(
                f"Elsinore needs its own package {room!r}, but Python finds {found} first; "
                f"rename that file or folder, or take its folder off sys.path"
            )


def _place_of(room: str) -> Path | None:
    """The file that `import room` reads, or would read."""
    if room in sys.modules:
        place = getattr(sys.modules[room], "__file__", None)
        return Path(place).resolve() if place else Path(f"<{room} in sys.modules>")
    spec = find_spec(room)
    if spec is None:
        return None
    if spec.origin is None:
        return Path(next(iter(spec.submodule_search_locations or [room]))).resolve()
    return Path(spec.origin).resolve()
