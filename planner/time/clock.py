"""Count time in whole ticks: convert the times of a stream to ticks, and back.

Windows begin and end at exact multiples, so times inside an engine are integers. The length of a tick follows from the
times of the stream and the windows of the workload together: whole seconds and a window of 500 ms are counted in half
seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING, Any

from elsinore.calendar_years import calendar_bounds
from elsinore.errors import InputError

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
"""By `time_unit`, its length in seconds."""

NANOSECOND = 10**9

FARTHEST = 2.0**62
"""Largest distance from zero, in ticks or units of the timestamps shown, at which windows can be counted in 64 bits."""


@dataclass(frozen=True)
class Clock:
    """A unit of time: the ticks in a second, and the form of the user's times.

    These are numbers of `unit` seconds, or timestamps.
    """

    ticks_per_second: int
    unit: Fraction
    form: pa.DataType

    @classmethod
    def of(cls, form: pa.DataType, time_unit: str, spans: Iterable[Fraction]) -> Clock:
        """Return the coarsest clock that counts times of this Arrow type and windows of these lengths exactly.

        Raise InputError where a length has more ticks than an engine can add to a time.
        """
        import pyarrow as pa

        unit = UNITS[form.unit if pa.types.is_timestamp(form) else time_unit]
        lengths = [unit, *spans]
        if pa.types.is_floating(form):
            lengths.append(Fraction(1, NANOSECOND))
        found = cls(lcm(*(length.denominator for length in lengths)), unit, form)
        if (longest := max(lengths)) * found.ticks_per_second >= FARTHEST:
            raise InputError(
                f"{float(longest):g} seconds have too many ticks to be counted in 64 bits, with these times "
                f"{found.ticks_per_second:,} a second; write a shorter WITHIN or lateness, or use a coarser unit"
            )
        return found

    def save(self) -> list[Any]:
        import pyarrow as pa

        form = pa.schema([("time", self.form)]).serialize().to_pybytes()
        return [self.ticks_per_second, self.unit.numerator, self.unit.denominator, form]

    @classmethod
    def load(cls, state: list[Any]) -> Clock:
        import pyarrow as pa

        form = pa.ipc.read_schema(pa.py_buffer(state[3])).field(0).type
        return cls(state[0], Fraction(state[1], state[2]), form)

    @classmethod
    def of_events(cls) -> Clock:
        """Return the clock that counts events: each is a second, and a tick."""
        import pyarrow as pa

        return cls(1, Fraction(1), pa.int64())

    def ticks(self, seconds: Fraction) -> int:
        """Convert a length of time to ticks."""
        count = seconds * self.ticks_per_second
        assert count.denominator == 1, "the clock was made without this length"
        return int(count)

    @property
    def ticks_per_unit(self) -> Fraction:
        return self.unit * self.ticks_per_second

    @property
    def farthest(self) -> float:
        """Return the largest distance from zero, in ticks, at which a time can be counted, and shown in a timestamp."""
        import pyarrow as pa

        return FARTHEST / (self._shown()[1] or 1) if pa.types.is_timestamp(self.form) else FARTHEST

    @property
    def calendar(self) -> tuple[int, int] | None:
        """Return the first and the last time that a timestamp may have, in its unit; None where times are numbers."""
        import pyarrow as pa

        form: Any = self.form
        return calendar_bounds(form.unit) if pa.types.is_timestamp(form) else None

    def read(self, times: pa.Array) -> npt.NDArray[np.int64]:
        """Convert the user's times (of this clock's form, without nulls) to ticks.

        Raise OverflowError if a converted time is too far from zero. Times that are ticks already are not checked.
        """
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
        """Convert ticks to the user's times: integers where they are whole, else floats; timestamps stay timestamps."""
        import numpy as np
        import pyarrow as pa

        factor = int(self.ticks_per_unit)
        if pa.types.is_timestamp(self.form):
            return self._timestamps(ticks, factor)
        floating = pa.types.is_floating(self.form)
        if factor == 1 and not floating:
            return pa.array(ticks, pa.int64())
        if not floating and bool(np.all(ticks % factor == 0)):
            return pa.array(ticks // factor, pa.int64())
        return pa.array(ticks // factor + (ticks % factor) / factor, pa.float64())

    def _timestamps(self, ticks: npt.NDArray[np.int64], factor: int) -> pa.Array:
        import pyarrow as pa

        form: Any = self.form
        unit, finer = self._shown()
        return pa.array(ticks // factor if finer is None else ticks * finer, pa.timestamp(unit, form.tz))

    def _shown(self) -> tuple[str, int | None]:
        """Return the unit in which timestamps are shown, and how many of it a tick is.

        The latter is None if a tick is no whole number of any unit.
        """
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
