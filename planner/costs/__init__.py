"""Cost models of this engine, and whether another plan is worth the change."""
