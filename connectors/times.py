"""The time column: the form of its values, and their conversion to that form."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from elsinore.connectors.columns import cast_or_null, check_zone, decoded, is_coded_text, is_text, without_view
from elsinore.connectors.errors import InputError
from elsinore.planner.time.clock import Clock

ZONE = re.compile(r"\d(Z|[+-]\d\d(:?\d\d)?)\s*$")


def time_form(kind: pa.DataType, head: pa.Array, name: str) -> pa.DataType:
    """Return the form in which times of this Arrow type are counted and shown: int64, float64 or a timestamp."""
    if isinstance(kind, pa.BaseExtensionType):
        return time_form(kind.storage_type, head, name)
    if pa.types.is_timestamp(kind):
        check_zone(kind, name)
        return kind
    if pa.types.is_integer(kind) or pa.types.is_null(kind) or (pa.types.is_decimal(kind) and kind.scale <= 0):
        return pa.int64()
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return pa.float64()
    if pa.types.is_date32(kind):
        return pa.timestamp("s")
    if pa.types.is_date64(kind):
        return pa.timestamp("ms")
    if is_text(kind) or is_coded_text(kind):
        return _form_of_texts(head, name)
    if pa.types.is_run_end_encoded(kind) or pa.types.is_dictionary(kind):
        return time_form(kind.value_type, head, name)
    raise InputError(
        f"the time column {name!r} holds {kind}; times are numbers, timestamps, dates or ISO-8601 texts "
        "(2026-01-31T08:00:00). Name another column with time_column."
    )


def _form_of_texts(head: pa.Array, name: str) -> pa.DataType:
    """Return a timestamp type, in UTC if a text has a time zone: in microseconds, or nanoseconds if a text has them."""
    texts = [str(text).strip() for text in head.to_pylist() if text]
    forms = {
        pa.timestamp(
            "ns" if re.search(r"\.\d{7}", text) else "us",
            "UTC" if ZONE.search(text[10:]) else None,
        )
        for text in texts
    }
    usable = [form for form in forms if cast_or_null(pa.array(texts), form).null_count < len(texts)]
    if texts and not usable:
        raise InputError(
            f"the time column {name!r} holds texts such as {texts[0]!r}; times are numbers, timestamps, dates or "
            "ISO-8601 texts (2026-01-31T08:00:00). Name another column with time_column."
        )
    return max(usable, key=lambda form: (form.tz is not None, form.unit == "ns"), default=pa.timestamp("us"))


def finer(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """Return a form that holds the times of both; None for numbers and timestamps, and for different time zones."""
    if one.equals(other):
        return one
    if pa.types.is_timestamp(one) and pa.types.is_timestamp(other) and one.tz == other.tz:
        return max(one, other, key=lambda form: ("s", "ms", "us", "ns").index(form.unit))
    if pa.types.is_timestamp(one) or pa.types.is_timestamp(other):
        return None
    return pa.float64()


def other_zone(text: object, form: pa.DataType) -> str | None:
    """Return, for a message, how a text's time zone contradicts the stream's form; None if it does not."""
    if not isinstance(text, str) or not pa.types.is_timestamp(form) or bool(ZONE.search(text[10:])) == bool(form.tz):
        return None
    return (
        "no time zone, but the first times of the stream have one"
        if form.tz
        else ("a time zone, but the first times of the stream have none")
    )


def read_times(times: pa.Array, form: pa.DataType) -> pa.Array:
    """Return times in the stream's form, null where a time is missing or cannot be read."""
    if isinstance(times, pa.ExtensionArray):
        return read_times(times.storage, form)
    if times.type.equals(form):
        return _without_nan(times)
    if pa.types.is_run_end_encoded(times.type) or (
        pa.types.is_dictionary(times.type) and not is_coded_text(times.type)
    ):
        return read_times(decoded(times), form)
    if is_coded_text(times.type):
        return read_times(times.dictionary, form).take(times.indices)
    if is_text(times.type) and pa.types.is_timestamp(form):
        times = pc.utf8_trim_whitespace(without_view(times))
    return _without_nan(cast_or_null(times, form))


def _without_nan(times: pa.Array) -> pa.Array:
    if not pa.types.is_floating(times.type):
        return times
    missing = pc.is_nan(times)
    return pc.if_else(missing, None, times) if pc.any(missing, min_count=0).as_py() else times


def too_far(times: pa.Array, clock: Clock) -> npt.NDArray[np.bool_] | None:
    """Return a mask of the times (in the clock's form, perhaps null) that cannot be counted, or None if all can.

    These are too far from zero for 64 bits or, of timestamps, before year 1 or after year 9999.
    """
    plain = times if pa.types.is_floating(times.type) else times.view(pa.int64())
    bounds = pc.min_max(plain)
    factor = float(clock.ticks_per_unit)
    first, last = (bounds[name].as_py() or 0 for name in ("min", "max"))
    early, latest = clock.calendar or (-np.inf, np.inf)
    if max(abs(float(first)), abs(float(last))) * factor < clock.farthest and early <= first and last <= latest:
        return None
    values = np.nan_to_num(plain.cast(pa.float64(), safe=False).fill_null(0.0).to_numpy(), posinf=np.inf)
    far: npt.NDArray[np.bool_] = np.abs(values) >= clock.farthest / factor
    if clock.calendar is not None:
        whole = plain.fill_null(0).to_numpy()
        far = far | (whole < early) | (whole > latest)
    return far
