"""Whatever is asked by somebody who has only read the OpenAPI document: no 5xx, and no answer that is not in it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.service.serving import TOKEN, Served

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,unsupported_method,ignored_auth"
)


def asked(service: Served, *more: str) -> None:
    command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run"]
    command += [f"{service.url}/openapi.json", "--header", f"Authorization: Bearer {TOKEN}", "--checks", CHECKS]
    # A stream of rows has no end.
    command += ["--exclude-path-regex", "results/stream", "--seed", "7", "--no-color", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_no_answer_outside_of_the_document(service: Served) -> None:
    asked(service, "--max-examples", "8", "--phases", "examples,fuzzing")


@pytest.mark.long
def test_no_answer_outside_of_the_document_for_long(service: Served) -> None:
    asked(service, "--max-examples", "100")
