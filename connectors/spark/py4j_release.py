"""Early release of Java objects that Python no longer needs."""

from __future__ import annotations

from typing import Any


def release(*held: Any) -> None:
    """Release Java objects that Py4J holds for Python; references between Java objects are not affected.

    Py4J releases an object by itself only when Python collects its proxy. That is late, because a proxy and its methods
    refer to each other: until Python's next cycle collection, Java holds the DataFrames of a hundred micro-batches,
    with the files, plans and broadcasts of each. By then they are old, and stay until Java's next full collection.
    """
    for one in held:
        one._detach()
