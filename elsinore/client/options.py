"""The options of `submit`: how to run a workload."""

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
    """The options of `elsinore.stream`, and those of a service alone; omitted options have the service's defaults."""

    name: str
    """The job's id, of a-z, 0-9 and -; by default the service generates one."""
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
    """Return the options as JSON values; raise InputError for an unknown option."""
    for name in options:
        if name not in Options.__annotations__:
            raise InputError(f"there is no option {name!r}; there is {', '.join(Options.__annotations__)}")
    return {name: _wire(value) for name, value in options.items() if value is not None}


def _wire(value: Any) -> Any:
    """Return one option as a JSON value; lengths of time and exact numbers become texts with all their digits."""
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}e-6"
    if isinstance(value, pa.Schema):
        return {field.name: _kind(field.type) for field in value}
    return dict(value) if isinstance(value, Mapping) else value if isinstance(value, int | float | str) else str(value)


def _kind(kind: pa.DataType) -> str:
    """Return the service's name for an Arrow type."""
    if pa.types.is_dictionary(kind):
        return _kind(kind.value_type)
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    if pa.types.is_integer(kind):
        return "int64"
    if pa.types.is_floating(kind):
        return "float64"
    return "bool" if pa.types.is_boolean(kind) else "string"
