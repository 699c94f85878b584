"""The search of frames: lists, chains and guards, and conditions that are no comparisons."""
