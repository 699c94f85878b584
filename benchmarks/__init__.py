"""How fast Elsinore is: ratios measured in one run, on one core.

Whoever could use more cores is told not to here, before it is imported.
"""

import os

from elsinore.bench import ONE_CORE

os.environ.update(ONE_CORE)
