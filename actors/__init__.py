"""What holds state: graphs of counters over partitions, and the engine that feeds them."""
