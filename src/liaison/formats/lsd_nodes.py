"""What the parser hands to the readers of meaning: nodes with their place in the text.

Nodes are built bottom-up while parsing, so nothing recurses here; a node knows its depth, and
one deeper than MAX_DEPTH is refused, so that whoever walks a node may recurse safely.

Public names: Node, Source, Builder, TooDeep, MAX_DEPTH.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

from liaison.errors import Place

MAX_DEPTH = 100
MAX_SHOWN = 160


@final
@dataclass(frozen=True, slots=True)
class Source:
    """A text with its name, able to say where a piece of it stands."""

    file: str
    lines: tuple[str, ...]

    def at(self, node: Node) -> Place:
        """The place where a node begins."""
        return self.place(node.line, node.column, node.length)

    def place(self, line: int, column: int, length: int = 1) -> Place:
        """The place of `length` characters from (line, column), both counted from 1."""
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        if len(text) > MAX_SHOWN:
            start = max(0, column - 1 - MAX_SHOWN // 2)
            text, column = text[start : start + MAX_SHOWN], column - start
        length = max(1, min(length, len(text) - column + 1))
        return Place(self.file, line, column, text.replace("\t", " "), length)


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


class Builder:
    """Callbacks of the parser: each rule of the grammar becomes a node of that kind."""

    def __getattr__(self, rule: str) -> Any:
        if rule.startswith("_") or rule.isupper():
            raise AttributeError(rule)
        return lambda children: make(rule, children)


def make(kind: str, children: list[Any]) -> Node:
    """A node over its children, reaching from the first to the last one on the same line."""
    depth = 1
    for child in children:
        if type(child) is Node and child.depth >= depth:
            depth = child.depth + 1
    first: Any = children[0] if children else None
    last: Any = children[-1] if children else None
    line, column = getattr(first, "line", 1), getattr(first, "column", 1)
    end = column + _length(first)
    if getattr(last, "line", None) == line:
        end = last.column + _length(last)
    node = Node(kind, tuple(children), line, column, max(1, end - column), depth)
    if depth > MAX_DEPTH:
        raise TooDeep(node)
    return node


def _length(item: Any) -> int:
    return item.length if isinstance(item, Node) else len(item or "")
