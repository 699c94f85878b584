"""File formats that events are read from."""
