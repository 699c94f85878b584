"""`python -m elsinore.workbench DESCRIPTOR`: answer the requests of a replica of the service."""

from __future__ import annotations

from elsinore.cluster.service.helper_process import answer_requests
from elsinore.workbench.answers import answer

MAX_MEMORY_BYTES = 8 << 30
"""The most bytes of address space of the process; compiled kernels reserve much that they do not use."""

IDLE_SECONDS = 600.0
"""Seconds without a request after which the process ends; the next request starts another one."""

if __name__ == "__main__":
    answer_requests(answer, MAX_MEMORY_BYTES, IDLE_SECONDS)
