"""Ray actors, and what they send each other."""
