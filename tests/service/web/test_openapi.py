"""Any request by the OpenAPI document gets a response that the document describes, and no 5xx."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.rides import submitted
from tests.service.serving import TOKEN, Served

SIMPLE = "QUERY pairs RETURN COUNT(*) PATTERN SEQ(A, B+) WITHIN 10 seconds SLIDE 10 seconds"
HOOKS = {"SCHEMATHESIS_HOOKS": "tests.service.schemathesis_hooks", "PYTHONPATH": str(Path(__file__).parents[3])}

CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance,unsupported_method,ignored_auth"
)


def asked(service: Served, folder: Path, *more: str) -> None:
    command = [sys.executable, "-c", "from schemathesis.cli import schemathesis; schemathesis()", "run"]
    command += [f"{service.url}/openapi.json", "--header", f"Authorization: Bearer {TOKEN}", "--checks", CHECKS]
    # A stream of rows has no end. Run in a folder of the test, where schemathesis stores its examples.
    command += ["--exclude-path-regex", "results/stream", "--seed", "7", "--no-color", *more]
    with service.client() as client, submitted(client, SIMPLE, name="asked"):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=600, check=False, env={**os.environ, **HOOKS}, cwd=folder
        )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_no_answer_outside_of_the_document(service: Served, tmp_path: Path) -> None:
    asked(service, tmp_path, "--max-examples", "8")


@pytest.mark.long
def test_no_answer_outside_of_the_document_for_long(service: Served, tmp_path: Path) -> None:
    asked(service, tmp_path, "--max-examples", "100")
