"""Files that are written completely or not at all, to disk or to an address that fsspec reaches."""
