"""The result of `draw`: pictures stacked in one SVG."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from elsinore.connectors.storage.drafts import Draft
from elsinore.drawing.svg import PALE, SIZE, SMALL, Picture, document, group, text, width_of
from elsinore.errors import InputError

PICTURE_GAP = 36


@dataclass(frozen=True, repr=False)
class Drawing:
    """An SVG drawing, which notebooks show and which can be saved."""

    __module__ = "elsinore"

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | PathLike[str]) -> None:
        """Write the drawing to an .svg file."""
        name = Path(path)
        if name.suffix.lower() != ".svg":
            raise InputError(f"{name}: the file name of a drawing must end in .svg.")
        draft = Draft(name)
        try:
            draft.stream.write(self.svg.encode())
        except OSError:
            draft.abandon()
            raise
        draft.close()


@dataclass(frozen=True)
class Titled:
    title: str
    caption: str
    picture: Picture


@dataclass(frozen=True)
class Section:
    """Pictures with a legend at the end."""

    parts: tuple[Titled, ...]
    legend: str


def stacked(parts: Iterable[Titled], legend: str) -> Drawing:
    """Return a drawing of pictures, each below its title, with a legend at the end."""
    return sections([Section(tuple(parts), legend)])


def sections(found: Iterable[Section]) -> Drawing:
    """Return a drawing of sections, one below the other."""
    whole, width, y = group(), 0.0, 0.0
    for section in found:
        for part in section.parts:
            y += PICTURE_GAP if y else 0
            text(whole, 0, y + SIZE, part.title, anchor="start", bold=True)
            text(whole, 0, y + SIZE + 17, part.caption, SMALL, PALE, "start")
            y += SIZE + 34
            group(whole, 0, y).append(part.picture.group)
            y += part.picture.height
            width = max(width, part.picture.width, width_of(part.title) * 1.1, width_of(part.caption, SMALL))
        y += PICTURE_GAP
        text(whole, 0, y, section.legend, SMALL, PALE, "start")
        width = max(width, width_of(section.legend, SMALL))
    return Drawing(document(Picture(whole, width, y + 4)))
