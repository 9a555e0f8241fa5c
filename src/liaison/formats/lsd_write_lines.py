"""Long statements of LSD over several lines.

Public names: folded.
"""

from __future__ import annotations

import re

from .lsd_tokens import TEXT

WIDTH = 100
_PIECES = re.compile(rf"(?:{TEXT}|`[^`\n]*`|[^ \"`\n])+")
_BEFORE = {"and", "with", "on", "++", "+", "-", "@"}


def folded(statement: str) -> str:
    """The statement, its lines broken behind commas and before words and signs."""
    return "\n".join(_folded(line) for line in statement.split("\n"))


def _folded(line: str) -> str:
    if len(line) <= WIDTH:
        return line
    indent = " " * (len(line) - len(line.lstrip()))
    lines, current = [], ""
    for piece in _chunks(line):
        if current and len(indent) + len(current) + 1 + len(piece) > WIDTH:
            lines.append(current)
            current = f"    {piece}"
        else:
            current = f"{current} {piece}" if current else piece
    return "\n".join(indent + text for text in [*lines, current])


def _chunks(line: str) -> list[str]:
    """Pieces between which a line may be broken: whole brackets, where these are short."""
    words = _PIECES.findall(line)
    whole = _joined(words, brackets=True)
    short = [[piece] if len(piece) < WIDTH else _joined(piece.split(" ")) for piece in whole]
    if any('"' in piece or "`" in piece for piece in whole if len(piece) >= WIDTH):
        return _joined(words)
    return [piece for pieces in short for piece in pieces]


def _joined(words: list[str], *, brackets: bool = False) -> list[str]:
    found: list[str] = []
    depth = 0
    for word in words:
        is_open = brackets and depth > 0
        if found and (is_open or not (found[-1].endswith(",") or word in _BEFORE)):
            found[-1] += f" {word}"
        else:
            found.append(word)
        bare = re.sub(rf"`[^`]*`|{TEXT}", "", word)
        depth += sum(bare.count(x) for x in "([") - sum(bare.count(x) for x in ")]")
    return found
