"""The figures of all papers, by name."""

from __future__ import annotations

from elsinore.bench.a_seq import figures as a_seq
from elsinore.bench.cogra import figures as cogra
from elsinore.bench.gloria import figures as gloria
from elsinore.bench.hamlet import figures as hamlet
from elsinore.bench.multi import figures as multi

PAPERS = (a_seq, cogra, hamlet, gloria, multi)

FIGURES = {figure.name: figure for paper in PAPERS for figure in paper.FIGURES}

KINDS = {figure.kind.__name__: figure.kind for figure in FIGURES.values()}
"""The classes of points, by name."""
