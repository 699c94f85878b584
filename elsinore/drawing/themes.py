"""Colours of plots for a light and a dark scheme, as variables of CSS."""

from __future__ import annotations

import re
from html import escape

COLOURS = ("#0b6e4f", "#c8553d", "#3a5a98", "#b8860b", "#7d3c98", "#111111", "#0e7c86", "#b83280")

THEME = """
:root { --ink: #1b1f24; --grid: #c8ccd2; LIGHT }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e7eb; --grid: #4a515b; DARK } }
"""
DARK = ("#45c49a", "#f0866c", "#86a9ee", "#e3b341", "#c893e0", "#f2f2f2", "#4fc9d3", "#f288c4")


def theme() -> str:
    """Return the variables of the colours of plots, for a light and a dark scheme."""
    light, dark = (" ".join(f"--c{k}: {one};" for k, one in enumerate(all)) for all in (COLOURS, DARK))
    return THEME.replace("LIGHT", light).replace("DARK", dark)


def themed(svg: str, name: str) -> str:
    """Return an SVG of matplotlib with variables for its colours, and a name for those who do not see it."""
    for place, colour in enumerate(COLOURS):
        svg = svg.replace(colour, f"var(--c{place})")
    svg = svg.replace("#000000", "var(--ink)").replace("#b0b0b0", "var(--grid)")
    svg = re.sub(r"(<text )", r'\1fill="var(--ink)" ', svg)
    svg = re.sub(r' id="(?:figure|axes|patch|line2d|text|matplotlib\.axis|xtick|ytick|legend)_\d+"', "", svg)
    svg = re.sub(
        r'<svg ([^>]*?)width="[^"]*pt" height="[^"]*pt"|<svg height="[^"]*pt" width="[^"]*pt"', r"<svg \1", svg
    )
    head = svg.index("<svg")
    return svg[head:].replace("<svg ", f'<svg role="img" aria-label="{escape(name)}" ', 1).strip()


def alone(svg: str) -> str:
    """Return a plot with the variables of its colours, as a file of its own."""
    head = svg.index(">") + 1
    return f"{svg[:head]}<style>{theme()}</style>{svg[head:]}\n"
