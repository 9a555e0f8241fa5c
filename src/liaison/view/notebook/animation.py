"""The moving picture of a run as a notebook shows it.

Public names: Animation.
"""

from __future__ import annotations

import os
from html import escape
from typing import Any, final

from liaison.errors import ArgumentError
from liaison.simulation.record.files import write_file

from .frame import inline_frame


@final
class Animation:
    """A moving picture; the last line of a cell shows it, and a saved notebook keeps it.

    Attributes:
        title: what moves, and how long.
        page: the page as text, whole in itself.
        height: of the picture in a cell [px].
        caption: a line below the picture; none if empty.
    """

    def __init__(self, title: str, page: str, height: int, caption: str = "") -> None:
        if not 100 <= height <= 4000:
            raise ArgumentError(f"height is {height} px; a picture in a cell takes 100 to 4000 px.")
        self.title, self.page, self.height, self.caption = title, page, height, caption

    def html(self) -> str:
        """An inline frame with the page in it, and the caption below."""
        frame = inline_frame(self.page, self.title, self.height)
        return frame + (f"<div>{escape(self.caption)}</div>" if self.caption else "")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page as a file that opens in a browser; the folder must exist."""
        write_file(path, self.page)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """For notebooks."""
        return {"text/plain": repr(self), "text/html": self.html()}

    def __repr__(self) -> str:
        return f"<Animation {self.title}; {len(self.page) / 1e6:.2g} MB>"
