"""Write all states anew."""

from tests.golden_states import write

write()
