"""The figures of all papers, by name."""

from __future__ import annotations

from elsinore.bench import aseq_figures, gloria_figures, hamlet_figures

FIGURES = {figure.name: figure for figure in (*hamlet_figures.FIGURES, *gloria_figures.FIGURES, *aseq_figures.FIGURES)}
