"""The settings of all papers, by name."""

from __future__ import annotations

from elsinore.bench.cogra import settings as cogra
from elsinore.bench.gloria import settings as gloria
from elsinore.bench.hamlet import settings as hamlet

ALL = (*cogra.SETTINGS, *hamlet.SETTINGS, *gloria.SETTINGS)
SETTINGS = {setting.name: setting for setting in ALL}
assert len(SETTINGS) == len(ALL), "two settings have the same name"
