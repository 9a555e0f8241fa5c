"""Syntax tree of LSD: nodes with their place in the text.

Nodes are built bottom-up while parsing, so nothing recurses here; a node knows its depth, and
one deeper than MAX_DEPTH is rejected, so that whoever walks a node may recurse safely.

Public names: Node, Source, make, path_text, TooDeep, MAX_DEPTH.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, final

from liaison.errors import Cure, Place, TextError

MAX_DEPTH = 100
MAX_SHOWN = 160


@final
class Source:
    """A text and the texts it includes, able to say where a piece of them stands.

    Lines are counted through all texts; a place contains the file and the line in it.
    """

    def __init__(self, file: str, lines: Iterable[str] = ()) -> None:
        self.file = file
        self.folder: Path | None = None  # below which files may be opened
        self.lines: list[str] = []
        self.first: list[int] = []  # of each text, its first line
        self.files: list[str] = []
        if lines:
            self.add(file, lines)

    def add(self, file: str, lines: Iterable[str]) -> int:
        """Appends a text; the number of its first line."""
        self.files.append(file)
        self.first.append(len(self.lines) + 1)
        self.lines += lines
        return self.first[-1]

    def at(self, node: Node) -> Place:
        """The place where a node begins."""
        return self.place(node.line, node.column, node.length)

    def error(
        self, message: str, node: Node, hint: str = "", cure: Cure | None = None
    ) -> TextError:
        """An error about a node; one about cycles or factors of time says how to write an angle."""
        place = self.at(node)
        if "(Hz" in message and not hint:
            hint = "Hz counts cycles; an angle is 2*pi times as much: write 5 rev/s or 2*pi * 5 Hz."
            cure = place.replaced("Hz", "rev/s")
        factor = re.search(r"(?<![\w.])\d[\d.]*(?=\s*\*\s*t\b)", place.words())
        if "give factors their units" in message and factor is not None:
            column = place.column + factor.end()
            cure = Cure(place.file, place.line, column, 0, " rad/s")
        return TextError(message, place=place, hint=hint, cure=cure)

    def swapped(self, a: Node, b: Node) -> Cure | None:
        """The edit that swaps two pieces of one line; None where they are on two."""
        if a.line != b.line:
            return None
        line, start = self.lines[a.line - 1], a.column - 1
        between = line[start + a.length : b.column - 1]
        new = line[b.column - 1 :][: b.length] + between + line[start:][: a.length]
        place = self.at(a)
        return Cure(place.file, place.line, a.column, len(new), new)

    def of(self, word: Any) -> Place:
        """The place of a word."""
        return self.place(word.line, word.column, len(word))

    def place(self, line: int, column: int, length: int = 1) -> Place:
        """The place of `length` characters from (line, column), both counted from 1."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        shift = 0
        if len(text) > MAX_SHOWN:
            shift = max(0, column - 1 - MAX_SHOWN // 2)
            text = text[shift : shift + MAX_SHOWN]
        length = max(1, min(length, len(text) - (column - shift) + 1))
        k = max(0, bisect_right(self.first, line) - 1)
        file, first = (self.files[k], self.first[k]) if self.files else (self.file, 1)
        return Place(file, line - first + 1, column, text.replace("\t", " "), length, shift)


class Node(NamedTuple):
    """One construct: its kind, its parts (nodes and words), and where it begins."""

    kind: str
    parts: tuple[Any, ...]
    line: int
    column: int
    length: int
    depth: int


class TooDeep(Exception):
    """A node nested deeper than MAX_DEPTH."""

    def __init__(self, node: Node) -> None:
        self.node = node
        super().__init__()


def make(kind: str, children: list[Any]) -> Node:
    """A node over its children, reaching from the first to the last one on the same line."""
    depth = 1
    for child in children:
        if type(child) is Node and child.depth >= depth:
            depth = child.depth + 1
    if not children:
        return Node(kind, (), 1, 1, 1, 1)
    first, last = children[0], children[-1]
    line, column = first.line, first.column
    end = last if last.line == line else first
    length = end.column - column + (end.length if type(end) is Node else len(end))
    node = Node(kind, tuple(children), line, column, max(1, length), depth)
    if depth > MAX_DEPTH:
        raise TooDeep(node)
    return node


def path_text(label: Any) -> str:
    """The dotted name of a word, or of a path of words."""
    return ".".join(map(str, label.parts)) if isinstance(label, Node) else str(label)
