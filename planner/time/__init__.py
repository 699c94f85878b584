"""Time as ticks, and the windows and panes of queries."""
