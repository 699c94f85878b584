"""Tests run in this process alone, but for those that say otherwise: they have Spark and Ray, started once."""

from __future__ import annotations

import os

os.environ.setdefault("ELSINORE_ENGINE", "local")
