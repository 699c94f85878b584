"""Refuse to start Ray, through a hook that Ray calls in `ray.init` of a process and of those that it starts."""

from __future__ import annotations

HOOK = "RAY_RUNTIME_ENV_HOOK"

REFUSAL = f"{__name__}.refuse"


def refuse(runtime_env: object) -> None:
    raise RuntimeError("this test starts Ray: give it the mark `ray`, so that it does not run beside others")
