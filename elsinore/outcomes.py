"""How a command ends: what may go wrong as an exit code and a line; a traceback is for our own mistakes alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer


@contextmanager
def outcomes() -> Iterator[None]:
    """Around every command."""
    from elsinore.errors import EventError, FailedError, InputError, UnreachableError, WorkloadError

    try:
        yield
    except (WorkloadError, InputError, EventError) as error:
        _leave(2, str(error), error)
    except KeyboardInterrupt:
        _leave(130, "stopped")
    except BrokenPipeError:
        # Whoever read the rows has had enough; what Python would still flush at exit goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except UnreachableError as error:
        _leave(1, str(error), error)
    except (FailedError, OSError, MemoryError) as error:
        _leave(1, f"the run failed: {error or type(error).__name__}", error)


def _leave(code: int, message: str, error: BaseException | None = None) -> NoReturn:
    typer.echo("\n".join([message, *getattr(error, "__notes__", ())]), err=True)
    sys.exit(code)
