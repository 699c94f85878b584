"""Hooks for schemathesis: the name of an existing job, bodies of the service's media types, and short waits."""

from __future__ import annotations

from typing import Any

import schemathesis

JOB, QUERY = "asked", "pairs"


def sent(_: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


for media_type in ("application/vnd.apache.arrow.stream", "application/x-ndjson", "application/msgpack"):
    schemathesis.serializer(media_type)(sent)


@schemathesis.hook
def map_path_parameters(context: Any, parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    """Use the existing job in all requests but DELETE, so that it is never removed."""
    if parameters and context.operation.method.lower() != "delete":
        return {**parameters, "name": JOB} | ({"query": QUERY} if "query" in parameters else {})
    return parameters


@schemathesis.hook
def map_query(_: Any, query: dict[str, Any] | None) -> dict[str, Any] | None:
    if query and isinstance(query.get("wait"), int | float):
        return {**query, "wait": min(query["wait"], 0.2)}
    return query
