"""Measured costs, as they are written to files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Self


@dataclass(frozen=True)
class Measured:
    """Costs by name, which are the fields of a subclass."""

    @classmethod
    def from_dict(cls, costs: Mapping[str, float]) -> Self:
        """Return costs from a mapping; those left out have their defaults."""
        known = [one.name for one in fields(cls)]
        unknown = [name for name in costs if name not in known]
        if unknown:
            raise ValueError(f"there is no cost {unknown[0]!r}; choose among {', '.join(known)}")
        return cls(**{name: float(value) for name, value in costs.items()})

    def to_dict(self) -> dict[str, float]:
        return asdict(self)
