"""How a workload is to be run: what `submit` may be told beside the workload."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import pyarrow as pa

from elsinore.errors import InputError

if TYPE_CHECKING:
    from decimal import Decimal


class Options(TypedDict, total=False):
    """Those of `elsinore.stream`, and what a service wants to know beforehand; what is left out is as it is there."""

    name: str
    """The job's id, of a-z, 0-9 and -; without one the service makes it."""
    strategy: str
    numeric: Literal["exact", "approximate"]
    type_column: str
    time_column: str
    time_unit: str
    lateness: float | Fraction | Decimal | timedelta
    columns: Mapping[str, str] | pa.Schema
    """Types of columns, those of event type and time among them: "int64", "float64", "string", "bool", "timestamp",
    "timestamp_ntz"; or an Arrow schema."""
    actors: int


def wired(options: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON has them."""
    for name in options:
        if name not in Options.__annotations__:
            raise InputError(f"there is no option {name!r}; there is {', '.join(Options.__annotations__)}")
    return {name: _wire(value) for name, value in options.items() if value is not None}


def _wire(value: Any) -> Any:
    """Lengths of time and exact numbers are texts with all their digits."""
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}e-6"
    if isinstance(value, pa.Schema):
        return {field.name: _kind(field.type) for field in value}
    return dict(value) if isinstance(value, Mapping) else value if isinstance(value, int | float | str) else str(value)


def _kind(kind: pa.DataType) -> str:
    """What the service calls a type of Arrow's."""
    if pa.types.is_dictionary(kind):
        return _kind(kind.value_type)
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    if pa.types.is_integer(kind):
        return "int64"
    if pa.types.is_floating(kind):
        return "float64"
    return "bool" if pa.types.is_boolean(kind) else "string"
