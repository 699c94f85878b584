"""A workload of one query, a few events and their rows."""

from __future__ import annotations

WORKLOAD = """
QUERY rides
RETURN district, COUNT(*), SUM(T.speed)
PATTERN SEQ(Request R, Travel T+, Cancel C)
GROUP-BY district
WITHIN 10 seconds SLIDE 10 seconds
"""

EVENTS = [
    {"type": "Request", "time": 0, "district": "west"},
    {"type": "Travel", "time": 1, "district": "west", "speed": 5},
    {"type": "Travel", "time": 2, "district": "west", "speed": 7},
    {"type": "Travel", "time": 3, "district": None, "speed": 7},
    {"type": "Cancel", "time": 4, "district": "west"},
    {"type": "Request", "time": 11, "district": "west"},
]

ROWS = [
    {
        "query": "rides",
        "window_start": 0,
        "window_end": 10,
        "district": "west",
        "COUNT(*)": 3,
        "SUM(T.speed)": 24,
    }
]
