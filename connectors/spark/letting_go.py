"""Objects of Java's that Python has no more use for."""

from __future__ import annotations

from typing import Any


def let_go(*held: Any) -> None:
    """Java need not keep them for Python; what they know of each other it keeps.

    Py4J says so by itself only when Python collects what stands for an object, and that is late: it knows its methods,
    and these know it. Until Python looks for cycles Java has the DataFrames of a hundred micro-batches, with the
    files, plans and broadcasts of each; and they are old by then, so they wait for Java to look through all its memory.
    """
    for one in held:
        one._detach()
