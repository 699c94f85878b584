"""Cost models of detection plans: the paper's, and one of this engine."""
