"""The figures of all papers, by name."""

from __future__ import annotations

from elsinore.bench.a_seq import figures as a_seq
from elsinore.bench.gloria import figures as gloria
from elsinore.bench.hamlet import figures as hamlet

FIGURES = {figure.name: figure for figure in (*a_seq.FIGURES, *hamlet.FIGURES, *gloria.FIGURES)}

KINDS = {figure.kind.__name__: figure.kind for figure in FIGURES.values()}
"""The classes of points, by name."""
