"""Live streams: checkpoints, recovery, replanning."""
