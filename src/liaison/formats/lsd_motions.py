"""Motions of a link said one by one: turn(axis), slide(axis), screw(axis, pitch).

Each `dof` so said belongs to the coordinate of the same rank, and the joint stays a composition,
whatever its motions make together.

Public names: MOTIONS, is_motion, motion_of.
"""

from __future__ import annotations

from typing import Any

from liaison.errors import TextError
from liaison.model import Rotation, Screw, Translation

from .lsd_formulas import ANY, Where, scalar_of, vector_of
from .lsd_names import Book
from .lsd_nodes import Node
from .lsd_values import plain

MOTIONS: dict[str, Any] = {"turn": Rotation, "slide": Translation, "screw": Screw}


def is_motion(node: Node) -> bool:
    """Whether a formula is one of these calls."""
    return node.kind == "call" and str(node.parts[0]) in MOTIONS


def motion_of(node: Node, where: Where, book: Book) -> Any:
    """The motion of a call.

    Raises:
        TextError: an axis or a pitch is missing.
    """
    word, arguments = str(node.parts[0]), node.parts[1:]
    takes = ("axis", "pitch") if word == "screw" else ("axis",)
    if len(arguments) != len(takes):
        said = f"{word} takes {' and '.join(takes)}."
        raise TextError(said, place=book.source.at(node))
    axis = vector_of(arguments[0], book, Where(where.path, ANY), f"the axis of this {word}")
    if word != "screw":
        return MOTIONS[word](tuple(axis))
    pitch = scalar_of(arguments[1], book, Where(where.path, "m/rad"), "the pitch of this screw")
    return Screw(tuple(axis), plain(pitch))
