"""Exit codes and messages of commands; only bugs of Elsinore show a traceback."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer


@contextmanager
def outcomes() -> Iterator[None]:
    """Turn expected exceptions of a command into an exit code and a message on stderr."""
    from elsinore.errors import EventError, FailedError, InputError, UnreachableError, WorkloadError

    try:
        yield
    except (WorkloadError, InputError, EventError) as error:
        _leave(2, str(error), error)
    except KeyboardInterrupt:
        _leave(130, "stopped")
    except BrokenPipeError:
        # The reader of the rows closed the pipe. Redirect stdout, so that Python's flush at exit does not fail.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except UnreachableError as error:
        _leave(1, str(error), error)
    except (FailedError, OSError, MemoryError) as error:
        _leave(1, f"the run failed: {error or type(error).__name__}", error)


def _leave(code: int, message: str, error: BaseException | None = None) -> NoReturn:
    typer.echo("\n".join([message, *getattr(error, "__notes__", ())]), err=True)
    sys.exit(code)
