"""Write the outputs of all scripts anew."""

from tests.planner.plans import write

write()
