"""Make jobs from submissions, and change their queries, with the command line's checks and the service's limits."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from fractions import Fraction

from elsinore.cluster.service.intake import check_readable
from elsinore.cluster.service.jobs import Jobs, Spec, StoredJob, digest, workload_of
from elsinore.cluster.service.planning import PLANNER
from elsinore.cluster.service.settings import ServiceSettings
from elsinore.cluster.service.web.documents import Queries, Submission
from elsinore.cluster.service.web.refusals import RefusalError
from elsinore.connectors.errors import InputError
from elsinore.inputs import check_known, seconds
from elsinore.planner.language.parse import parse
from elsinore.planner.language.syntax import Workload
from elsinore.planner.plans.planning import STRATEGIES
from elsinore.planner.time.clock import UNITS


def submit(jobs: Jobs, submission: Submission, key: str | None, body: bytes, settings: ServiceSettings) -> StoredJob:
    """Add a job, or return the one that the same idempotency key has made before."""
    request = f"{digest(key.encode())} {digest(body)}" if key else ""
    name = submission.name or f"job-{digest(key.encode())[:16] if key else uuid.uuid4().hex[:16]}"
    spec = spec_of(submission, request, settings)
    columns: dict[str, str] = {**(submission.columns or {})}
    if columns:
        check_columns(spec, columns, settings)
    there = {job.name: job for job in jobs.all()}
    if name in there:
        return _again(there[name], request)
    if len(there) >= settings.workloads:
        raise RefusalError(429, f"there are already {len(there)} jobs, which is the limit; remove one first")
    return jobs.add(name, spec, columns)


def _again(job: StoredJob, request: str) -> StoredJob:
    before = job.spec().request if request else ""
    if request and before == request:
        return job
    if request and before.split()[:1] == request.split()[:1]:
        raise RefusalError(409, "this Idempotency-Key was used for another body before; use a new key for each body")
    raise RefusalError(409, f"there is a job {job.name} already; give this one another name, or remove that one")


def spec_of(submission: Submission, request: str, settings: ServiceSettings) -> Spec:
    check_known("strategy", submission.strategy, STRATEGIES)
    check_known("time unit", submission.time_unit, tuple(UNITS))
    checked(submission.workload, submission.strategy, settings)
    return Spec(
        workload=submission.workload,
        strategy=submission.strategy,
        numeric=submission.numeric,
        lateness=str(_lateness(submission.lateness)),
        type_column=submission.type_column,
        time_column=submission.time_column,
        time_unit=submission.time_unit,
        actors=submission.actors,
        created=time.time(),
        request=request,
    )


def _lateness(given: float | str) -> Fraction:
    found = seconds(Fraction(given) if isinstance(given, str) and _is_plain(given) else _no_text(given))
    if found > 10**10:
        raise InputError(f"lateness is {given} seconds; it must be at most {10**10:,}")
    return found


def _is_plain(text: str) -> bool:
    """Return whether a text is a plain decimal or fraction. Others, like 1e999999, may be huge, and are refused."""
    whole, _, rest = text.partition("/" if "/" in text else ".")
    return len(text) <= 40 and text.isascii() and whole.isdigit() and (rest.strip("0").isdigit() or not rest.strip("0"))


def _no_text(given: float | str) -> float:
    if isinstance(given, str) or not 0 <= given < float("inf"):
        raise InputError(f"lateness must be a number of seconds, 0 or more, not {str(given)[:40]}")
    return given


def check_columns(spec: Spec, columns: dict[str, str], settings: ServiceSettings) -> None:
    if len(columns) > settings.columns:
        raise InputError(f"a job can have at most {settings.columns} columns, not {len(columns)}")
    for name, what in ((spec.type_column, "type"), (spec.time_column, "time")):
        if name not in columns:
            raise InputError(f"columns has no {what} column {name!r}; name another with {what}_column, or add it")
    check_readable(spec, columns)


def checked(text: str, strategy: str, settings: ServiceSettings) -> Workload:
    """Return a workload that has no errors and is within the limits of the service."""
    # Each query has one RETURN, so too many queries are noticed before any is parsed.
    if text.upper().count("RETURN") > 2 * settings.queries:
        raise _too_many(settings)
    if len(text) > settings.workload_text:
        raise InputError(
            f"the workload has {len(text):,} characters, and this service accepts at most {settings.workload_text:,}; "
            "split it into several workloads"
        )
    PLANNER.check(text, strategy, settings.planning)
    workload = workload_of(text)
    if len(workload.queries) > settings.queries:
        raise _too_many(settings)
    return workload


def _too_many(settings: ServiceSettings) -> InputError:
    return InputError(
        f"a workload can have at most {settings.queries:,} queries at this service; split it into several workloads"
    )


def with_queries(job: StoredJob, submission: Queries, repeatable: bool, settings: ServiceSettings) -> Spec | None:
    """Return the specification with these queries added; None if it is `repeatable` and all are there already."""
    spec = job.spec()
    before = {query.name: str(query) for query in parse(spec.workload).queries}
    checked(submission.workload, spec.strategy, settings)
    added = {query.name: str(query) for query in parse(submission.workload).queries}
    taken = sorted(added.keys() & before.keys())
    if taken and repeatable and all(before[name] == text for name, text in added.items() if name in before):
        added = {name: text for name, text in added.items() if name not in before}
        if not added:
            return None
    elif taken:
        raise RefusalError(
            409, f"there is a query {taken[0]} already; give this one another name: QUERY name RETURN ..."
        )
    return _changed(spec, {**before, **added}, settings)


def without_query(job: StoredJob, name: str, settings: ServiceSettings) -> Spec:
    spec = job.spec()
    before = {query.name: str(query) for query in parse(spec.workload).queries}
    if name not in before:
        shown = f" {name}" if len(name) <= 64 and name.isprintable() else " of that name"
        raise RefusalError(404, f"the job {job.name} has no query{shown}; it has {', '.join(list(before)[:20])}")
    if len(before) == 1:
        raise RefusalError(409, f"{name} is the last query of {job.name}; remove the job instead")
    return _changed(spec, {other: text for other, text in before.items() if other != name}, settings)


def _changed(spec: Spec, queries: dict[str, str], settings: ServiceSettings) -> Spec:
    changed = replace(spec, workload=";\n\n".join(queries.values()))
    checked(changed.workload, changed.strategy, settings)
    return changed
