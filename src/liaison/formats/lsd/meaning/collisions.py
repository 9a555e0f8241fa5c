"""`collide a, ball[*] and earth with … end`: contact among many.

Public names: collision_of.
"""

from __future__ import annotations

import re
from dataclasses import replace

from liaison.errors import Place
from liaison.formats.lsd.formulas.formulas import path_of
from liaison.formats.lsd.formulas.names import Book, no_such
from liaison.formats.lsd.syntax.nodes import Node, make
from liaison.model import Collision, Marker

from .contacts import FRICTION, SMOOTHING, friction_told
from .properties import Told

ALL = "all"
"""The word that stands for every body, unless something is named so."""
KEYS = (*(x for x in FRICTION if x != "across"), *SMOOTHING, "restitution")


def collision_of(name: str | None, node: Node, place: Place, book: Book) -> Collision:
    """The contacts among the bodies and planes that a statement names."""
    groups = [part for part in node.parts if isinstance(part, Node) and part.kind == "group"]
    pairs = node.parts[-1] if node.parts[-1].kind == "pairs" else make("pairs", [])
    x = _Colliding(name or book.free_name("collision"), "collide", pairs, place, book)
    x.keys.check(KEYS)
    parts, others = (*(x.group(part) for part in groups), ())[:2]
    e = x.scalar("restitution", "", 0)
    return Collision(x.name, parts, others, friction_told(x), e, place=place)


class _Colliding(Told):
    """A statement `collide`."""

    ON_FRAMES = "names bodies and frames on the ground, not"

    def group(self, node: Node) -> tuple[Marker, ...]:
        """Bodies and planes, families of bodies opened."""
        return tuple(marker for part in node.parts for marker in self.item(part))

    def item(self, node: Node) -> list[Marker]:
        """What one word of a group stands for."""
        place = self.book.source.at(node)
        if node.kind == "family":
            return [Marker(x, place=place) for x in self.family(str(node.parts[0]), place)]
        path = path_of(node) or ""
        known = (self.book.bodies, self.book.lets, self.book.frames)
        if path == ALL and not any(path in names for names in known):
            return [Marker(x, place=place) for x in self.book.bodies]
        marker = self.frame(node)
        if marker.body == "ground" and not marker.name and path in self.book.lets:
            marker = replace(marker, name=path)
        return [marker]

    def family(self, base: str, place: Place) -> list[str]:
        """The bodies whose name is this one with a number behind it."""
        form = re.compile(rf"{re.escape(base)}(\d+)")
        found = [x for x in self.book.bodies if form.fullmatch(x)]
        if not found:
            bases = {x.rstrip("0123456789") for x in self.book.bodies if x[-1:].isdigit()}
            raise no_such("family of bodies", base, bases, place)
        return found
