"""`include "file.lsd"`: the files that a model may open, all below its own folder.

No absolute path, no way up, no link that leads out; not in a circle, not too deep, not too many.

Public names: Folder.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath

from liaison.errors import Place, TextError

MAX_INCLUDED = 100  # files of a model
MAX_LEVELS = 8  # files that include files
MAX_FILE = 4_000_000  # bytes of one


class Folder:
    """The folder of a model, and the files of it that are open."""

    def __init__(self, folder: Path | None, file: str) -> None:
        self.folder = None if folder is None else folder.resolve()
        self.open: list[Path] = [] if self.folder is None else [self.folder / Path(file).name]
        self.count = 0

    @contextmanager
    def opened(self, name: str, place: Place) -> Iterator[tuple[str, str]]:
        """The text of a file below the folder, and its name for messages."""
        path = self.found(name, place)
        self.count += 1
        if self.count > MAX_INCLUDED or len(self.open) > MAX_LEVELS:
            many = f"{MAX_INCLUDED} files, {MAX_LEVELS} one inside another"
            raise TextError(f"too many files are included; the limit is {many}.", place=place)
        text = _text(path, name, place)
        self.open.append(path)
        yield text, name
        self.open.pop()

    def found(self, name: str, place: Place) -> Path:
        """The file of that name, if it may be opened."""
        if self.folder is None:
            raise TextError(
                "this text lies in no folder, so it can include no file.",
                place=place,
                hint="Read it from a file, or write what is included here.",
            )
        parts = {*PurePosixPath(name).parts, *PureWindowsPath(name).parts}
        rooted = PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor != ""
        if rooted or ".." in parts or not name.endswith(".lsd"):
            raise _outside(name, place)
        path = self.inside(name, place)
        if path in self.open:
            chain = " → ".join([*(file.name for file in self.open), path.name])
            raise TextError(f"{name!r} includes itself: {chain}.", place=place)
        return path

    def inside(self, name: str, place: Place) -> Path:
        """The file, all links followed, below the folder."""
        assert self.folder is not None
        try:
            path = (self.folder / name).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            raise TextError(
                f"there is no file {name!r} in the model's folder.", place=place
            ) from None
        if not path.is_relative_to(self.folder):
            raise _outside(name, place)
        if not path.is_file():
            raise TextError(f"{name!r} is no file.", place=place)
        return path


def _outside(name: str, place: Place) -> TextError:
    return TextError(
        f"{name!r} is not included: only .lsd files in the model's folder or below it are.",
        place=place,
        hint="Write the path from the model's folder, without '..'.",
    )


def _text(path: Path, name: str, place: Place) -> str:
    try:
        if path.stat().st_size > MAX_FILE:
            raise TextError(f"{name!r} is larger than {MAX_FILE} bytes.", place=place)
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise TextError(f"{name!r} cannot be read: {error.strerror}.", place=place) from None
    except UnicodeDecodeError:
        raise TextError(f"{name!r} is not UTF-8 text.", place=place) from None
