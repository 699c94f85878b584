"""Tests run in this process alone, but for those that say otherwise: they have Spark and Ray, started once."""

from __future__ import annotations

import os
import signal

os.environ.setdefault("ELSINORE_ENGINE", "local")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # So it is for whoever is begun in the background, and for all that it begins; but tests press Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
