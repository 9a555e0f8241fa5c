"""`read`: a file or a text in any language the house knows, told by its suffix.

Public names: read.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from liaison.errors import TextError
from liaison.model import Mechanism

from .lsd import read_lsd
from .urdf import read_urdf

MAX_BYTES = 32_000_000

READERS: dict[str, Callable[..., Mechanism]] = {".lsd": read_lsd, ".urdf": read_urdf}


def read(source: str | Path, **options: Any) -> Mechanism:
    """The mechanism of a file, or of a text.

    Args:
        source: a path ending in .lsd or .urdf, or the text itself: URDF if it begins with '<',
            otherwise LSD.
        options: for URDF, see `read_urdf`.

    Raises:
        TextError: a suffix that is not known, a file that cannot be read, or what the reader of
            the language refuses.
    """
    text = str(source)
    if isinstance(source, Path) or _is_path(text):
        return _read_file(Path(source), options)
    return (read_urdf if text.lstrip().startswith("<") else read_lsd)(text, **options)


def _is_path(text: str) -> bool:
    """A text has several words or lines; a path has neither '<' nor ';' nor a line's end."""
    return bool(text.strip()) and not any(mark in text for mark in "<;\n\0")


def _read_file(path: Path, options: dict[str, Any]) -> Mechanism:
    suffix = path.suffix.lower()
    if suffix not in READERS:
        known = " and ".join(READERS)
        raise TextError(f"{path}: the suffix {suffix!r} is not known; files end in {known}.")
    try:
        if path.stat().st_size > MAX_BYTES:
            raise TextError(f"{path}: the file is larger than {MAX_BYTES} bytes.")
        data = path.read_bytes()
    except OSError as error:
        raise TextError(f"{path}: the file cannot be read: {error.strerror}.") from None
    if suffix == ".urdf":
        return read_urdf(data, file=str(path), **options)
    try:
        return read_lsd(data.decode("utf-8-sig"), file=str(path), folder=path.parent, **options)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TextError(f"{path}, line {line}: this is not UTF-8 text.") from None
