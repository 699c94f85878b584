"""How fast Elsinore is: ratios measured in one run, on one core.

Whoever could use more cores is told not to here, before it is imported.
"""

import os

ONE_CORE = dict.fromkeys(("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "ARROW_IO_THREADS", "NUMBA_NUM_THREADS"), "1")

os.environ.update(ONE_CORE)
