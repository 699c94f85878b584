"""Costs that somebody measured, as they are written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Self


@dataclass(frozen=True)
class Measured:
    """Numbers by name; a subclass has them."""

    @classmethod
    def from_dict(cls, costs: Mapping[str, float]) -> Self:
        """What is left out is as by default."""
        known = [one.name for one in fields(cls)]
        unknown = [name for name in costs if name not in known]
        if unknown:
            raise ValueError(f"there is no cost {unknown[0]!r}; choose among {', '.join(known)}")
        return cls(**{name: float(value) for name, value in costs.items()})

    def to_dict(self) -> dict[str, float]:
        return asdict(self)
