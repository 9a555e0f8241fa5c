"""`explained`: what a file declares, and what was deduced from it.

Public names: explained.
"""

from __future__ import annotations

from pathlib import Path

from .lsd_expand import expanded
from .lsd_explain import assignments_of
from .lsd_syntax import parse
from .notes import Reading
from .read import data_of, text_of


def explained(path: Path, found: Reading) -> list[str]:
    """Declared and deduced assignments of a file that was read, a line each."""
    if path.suffix.lower() != ".lsd":
        return list(found.deduced)
    source, statements = parse(text_of(data_of(path), path), str(path), path.parent)
    return assignments_of(found.mechanism, expanded(statements, source))
