"""The settings of all papers, by name."""

from __future__ import annotations

from elsinore.bench.gloria import settings as gloria
from elsinore.bench.hamlet import settings as hamlet

SETTINGS = {setting.name: setting for setting in (*hamlet.SETTINGS, *gloria.SETTINGS)}
