"""Cost models of this engine, and the decision whether another plan is worth the change."""
