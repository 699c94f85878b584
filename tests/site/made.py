"""The sections of documents that are made from code, by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.site import counts, flink_cep, recognize, references

SECTIONS: dict[str, Callable[[], str]] = {
    "operators": counts.operators,
    "semantics": counts.semantics,
    "patterns of Flink CEP": flink_cep.patterns,
    "patterns of MATCH_RECOGNIZE": recognize.patterns,
    "commands": references.commands,
    "settings of runs": references.settings_of_runs,
    "settings of the service": references.settings_of_the_service,
    "metrics of runs": references.metrics_of_runs,
    "metrics of streams": references.metrics_of_streams,
    "metrics of the service": references.metrics_of_the_service,
    "calls of the service": references.calls,
    "documents of the service": references.documents,
    **{f"figures of {paper}": partial(references.figures, paper) for paper in references.PAPERS},
}


def made(name: str) -> str:
    """Return the text of a section, which ends with a line end."""
    return SECTIONS[name]()
