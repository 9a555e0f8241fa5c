"""One `apply` statement as its readers see it: what it is on, its properties, what comes with it.

Public names: Applied.
"""

from __future__ import annotations

from typing import Any

import liaison.model as model
from liaison.errors import Place
from liaison.expr import symbol
from liaison.formats.lsd.formulas.formulas import path_of
from liaison.formats.lsd.formulas.names import Book, bases
from liaison.formats.lsd.formulas.values import Quantity
from liaison.formats.lsd.syntax.nodes import Node

from .properties import Told, coordinate_of


class Applied(Told):
    """One `apply` statement: its keys, what it is on, and the name it gets."""

    def __init__(self, name: str | None, node: Node, place: Place, book: Book) -> None:
        self.targets = list(node.parts[3].parts) if len(node.parts) > 3 else []
        kind = str(node.parts[1])
        words = [_target_word(target, book) for target in self.targets]
        wish = "_".join([kind, *(["on"] if words else []), *words])
        super().__init__(name or book.free_name(wish), kind, node.parts[2], place, book)
        self.inputs: list[model.Input] = []
        self.parts: list[Any] = []  # what comes with it: a rotor, its bearing, its gear

    def input(self, name: str, unit: str) -> Any:
        """A new input, zero until someone gives it."""
        self.inputs.append(model.Input(name, unit, 0, place=self.place))
        self.book.symbols[name] = Quantity(symbol(name), None)
        return symbol(name)

    def frames(self, count: int) -> list[model.Marker]:
        """The frames it is on."""
        if len(self.targets) != count:
            where = "'on FRAME'" if count == 1 else "'on FRAME and FRAME'"
            raise self.refused(f"{self.kind} {self.name!r} is applied {where}.")
        return [self.frame(node) for node in self.targets]

    def measure(self) -> tuple[model.Measure, bool]:
        """What the effort works on, and whether it is an angle."""
        if len(self.targets) == 2:
            a, b = self.frames(2)
            return model.Distance(a, b), False
        if len(self.targets) != 1:
            said = f"{self.kind} {self.name!r} does not say what it is on."
            raise self.refused(said, hint="Write 'on A' for a joint A, or 'on FRAME and FRAME'.")
        (target,) = self.targets
        if target.kind == "call" and str(target.parts[0]) in ("distance", "angle"):
            word = str(target.parts[0])
            if len(target.parts) != 3:
                raise self.refused(f"{word} is between two frames.", target)
            a, b = (self.frame(part) for part in target.parts[1:])
            return (model.Angle(a, b), True) if word == "angle" else (model.Distance(a, b), False)
        label = coordinate_of(target, self.book)
        return model.Coordinate(label), self.book.symbols[label].dimension == (0, 0, 0, 1)


def _target_word(node: Node, book: Book) -> str:
    while node.kind == "on_body":
        node = node.parts[1]
    path = path_of(node)
    if path is None:
        return str(node.parts[0])
    known = [name for name in bases(path) if name in book.places]
    return known[-1] if known else path.partition(".")[0]
