"""What cannot run here is kept valid: workflow files, templates, and what documents name."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml

from elsinore._version import __version__
from tests.support.modules import ROOMS, files_of

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
DOCUMENTS = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md"), *ROOT.glob(".github/*.md")]
ARCHITECTURE = ROOT / "docs" / "architecture.md"
TARGETS = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
CODE = re.compile(r"`((?:elsinore|planner|actors|connectors|cluster|tests|deploy|benchmarks|loadtest)/[\w/.-]*\w)`")
MODULE = re.compile(r"`([\w/]+\.py)`")
MEMBER = re.compile(r"`([\w/]+\.py)` `(\w+)(?:\.(\w+))?`")
SOURCES = [path for room in (*ROOMS, "tests", "benchmarks") for path in files_of(ROOT / room)]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_parses_and_its_commands_exist(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] > 0
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            if "run" in step:
                command, target = step["run"].split()
                assert (command, target in TARGETS) == ("make", True), step["run"]


def test_the_tests_of_a_workflow_run_on_each_python_that_is_named() -> None:
    classifiers = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text())
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text())
    tested = workflow["jobs"]["fast"]["strategy"]["matrix"]["python"]
    assert tested == ["3.11", "3.12", "3.13"]
    assert classifiers
    assert set(classifiers) <= set(tested)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_an_issue_form_parses(path: Path) -> None:
    form = yaml.safe_load(path.read_text())
    if path.name != "config.yml":
        assert form["name"]
        assert all(field["attributes"]["label"] for field in form["body"])


def test_a_version_is_the_same_wherever_it_is_written() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    released = re.findall(
        r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )
    assert released[0] == (__version__, str(citation["date-released"]))
    assert citation["version"] == __version__
    for name in ("cluster.yaml", "rayservice.yaml", "Dockerfile"):
        assert f"/elsinore:{__version__}" in (ROOT / "deploy" / name).read_text()


def test_the_citation_names_the_papers() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert len(citation["references"]) == 5
    assert all(paper["authors"] and paper["year"] for paper in citation["references"])


def test_hooks_run_tools_of_the_environment() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert [hook["entry"].split()[0] for hook in hooks] == [".venv/bin/ruff", ".venv/bin/ruff", ".venv/bin/mypy"]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_names_is_there(path: Path) -> None:
    text = path.read_text()
    missing = [link for link in LINK.findall(text) if not (path.parent / link).exists()]
    missing += [named for named in CODE.findall(text) if not (ROOT / named).exists()]
    missing += [named for named in MODULE.findall(text) if not modules_named(named)]
    assert missing == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_function_that_a_document_names_is_in_its_module(path: Path) -> None:
    for named, first, second in MEMBER.findall(path.read_text()):
        defined = {name for source in modules_named(named) for name in definitions(source)}
        assert {first, second or first} <= defined, named


def test_the_map_of_rooms_has_all_folders() -> None:
    """The first name of a row is a path; each of the others is a folder beside it."""
    named = set[str]()
    for row in re.findall(r"^\| (\*{0,2}`[^|]*)\|", ARCHITECTURE.read_text(), re.MULTILINE):
        first, *others = re.findall(r"`([\w/.]+)`", row)
        named |= {first, *(f"{first.rpartition('/')[0]}/{other}" for other in others)}
    folders = {str(path.parent.relative_to(ROOT)) for room in ROOMS for path in files_of(ROOT / room)}
    assert sorted(folders - named) == []


def test_a_batch_is_traced_in_few_steps() -> None:
    traces = re.findall(r"^## One batch through.*?(?=^## |\Z)", ARCHITECTURE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(traces) == 2
    for trace in traces:
        assert 10 < len(re.findall(r"^\d+\. ", trace, re.MULTILINE)) <= 15


def modules_named(named: str) -> list[Path]:
    """Return the files that a document means by a path, or by the end of one."""
    if (ROOT / named).exists():
        return [ROOT / named]
    return [path for path in SOURCES if f"/{path.relative_to(ROOT)}".endswith(f"/{named}")]


def definitions(source: Path) -> set[str]:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return {node.name for node in ast.walk(ast.parse(source.read_text())) if isinstance(node, kinds)}
