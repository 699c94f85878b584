"""Cost models of sharing plans."""
