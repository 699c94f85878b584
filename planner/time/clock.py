"""Time as whole ticks: how the times of a stream are counted inside, and shown outside.

Windows begin and end at exact multiples, so inside there are only integers. How long a
tick is follows from the stream's times and the workload's windows together: whole
seconds and a window of 500 ms are counted in half seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from elsinore.calendar_years import calendar_bounds

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

UNITS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
    "d": Fraction(86400),
}
"""The lengths of `time_unit`, in seconds."""

NANOSECOND = 10**9

FARTHEST = 2.0**62
"""Ticks, and units of the timestamps that are shown, beyond which windows could no longer be counted in 64 bits."""


@dataclass(frozen=True)
class Clock:
    """Ticks to the second, and the form of the user's times: numbers of `unit` seconds, or timestamps."""

    ticks_per_second: int
    unit: Fraction
    form: pa.DataType

    @classmethod
    def of(cls, form: pa.DataType, time_unit: str, spans: Iterable[Fraction]) -> Clock:
        """The coarsest clock that counts times of this Arrow type and windows of these lengths exactly."""
        import pyarrow as pa

        unit = UNITS[form.unit if pa.types.is_timestamp(form) else time_unit]
        lengths = [unit, *spans]
        if pa.types.is_floating(form):
            lengths.append(Fraction(1, NANOSECOND))
        return cls(lcm(*(length.denominator for length in lengths)), unit, form)

    def save(self) -> list[Any]:
        import pyarrow as pa

        form = pa.schema([("time", self.form)]).serialize().to_pybytes()
        return [self.ticks_per_second, self.unit.numerator, self.unit.denominator, form]

    @classmethod
    def load(cls, state: list[Any]) -> Clock:
        import pyarrow as pa

        form = pa.ipc.read_schema(pa.py_buffer(state[3])).field(0).type
        return cls(state[0], Fraction(state[1], state[2]), form)

    def ticks(self, seconds: Fraction) -> int:
        """A length of time in ticks."""
        count = seconds * self.ticks_per_second
        assert count.denominator == 1, "the clock was made without this length"
        return int(count)

    @property
    def ticks_per_unit(self) -> Fraction:
        return self.unit * self.ticks_per_second

    @property
    def farthest(self) -> float:
        """Ticks beyond which a time is too far away to be counted, or to be shown in a timestamp."""
        import pyarrow as pa

        return FARTHEST / (self._shown()[1] or 1) if pa.types.is_timestamp(self.form) else FARTHEST

    @property
    def calendar(self) -> tuple[int, int] | None:
        """The first and the last time, in its unit, that a timestamp may have; None where times are numbers."""
        import pyarrow as pa

        form: Any = self.form
        return calendar_bounds(form.unit) if pa.types.is_timestamp(form) else None

    def read(self, times: pa.Array) -> npt.NDArray[np.int64]:
        """The user's times (of this clock's form, no nulls) as ticks; fails where one is too far away to count."""
        import numpy as np
        import pyarrow as pa

        factor = int(self.ticks_per_unit)
        if pa.types.is_floating(times.type):
            values = times.to_numpy(zero_copy_only=False).astype(np.float64)
            whole = np.floor(values)
            # The whole part times the factor is exact; only the fraction below one unit is rounded, to a nanosecond.
            self._fits(whole, factor)
            return whole.astype(np.int64) * factor + np.rint((values - whole) * factor).astype(np.int64)
        ticks: npt.NDArray[np.int64] = times.cast(pa.int64()).to_numpy(zero_copy_only=False)
        if factor == 1 or not len(ticks):
            return ticks
        self._fits(np.array([ticks.min(), ticks.max()], dtype=np.float64), factor)
        return ticks * factor

    def show(self, ticks: npt.NDArray[np.int64]) -> pa.Array:
        """Ticks as the user's times: integers where they are whole, else floats; timestamps stay timestamps."""
        import numpy as np
        import pyarrow as pa

        factor = int(self.ticks_per_unit)
        if pa.types.is_timestamp(self.form):
            return self._timestamps(ticks, factor)
        whole = bool(np.all(ticks % factor == 0)) and not pa.types.is_floating(self.form)
        if whole:
            return pa.array(ticks // factor, pa.int64())
        return pa.array(ticks // factor + (ticks % factor) / factor, pa.float64())

    def _timestamps(self, ticks: npt.NDArray[np.int64], factor: int) -> pa.Array:
        import pyarrow as pa

        form: Any = self.form
        unit, finer = self._shown()
        return pa.array(ticks // factor if finer is None else ticks * finer, pa.timestamp(unit, form.tz))

    def _shown(self) -> tuple[str, int | None]:
        """Return the unit of the timestamps that are shown, and how many of it a tick is; None where it is no whole
        number of any unit."""
        form: Any = self.form
        for unit in ("s", "ms", "us", "ns"):
            finer = int(1 / UNITS[unit])
            if UNITS[unit] <= self.unit and finer % self.ticks_per_second == 0:
                return unit, finer // self.ticks_per_second
        return form.unit, None

    def _fits(self, values: npt.NDArray[np.float64], factor: int) -> None:
        import numpy as np

        if len(values) and float(np.abs(values).max()) * factor >= 2**62:
            raise OverflowError("a time is too far from zero to be counted; give time_unit, or times nearer to it")
