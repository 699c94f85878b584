"""Benchmarks of Elsinore: ratios measured in one run, on one core.

Libraries that could use more cores are limited to one here, before they are imported. Kernels are compiled however few
the events are.
"""

import os

from elsinore.bench import ONE_CORE

os.environ.update(ONE_CORE)

from elsinore.planner.kernels.interpreted import compile_always

compile_always()
