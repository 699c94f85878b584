"""The stream of one engine: order, partitions, key groups, statistics."""
