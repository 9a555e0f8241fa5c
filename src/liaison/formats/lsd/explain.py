"""What a text of LSD declares, and what was deduced from it or named by its place.

Public names: explained.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from liaison.errors import Place
from liaison.expr import as_expr, topological
from liaison.formats.guard import Reading
from liaison.formats.lsd.syntax.nodes import Node, path_text
from liaison.formats.lsd.syntax.parse import parse
from liaison.formats.lsd.write.values import Writer
from liaison.formats.read import data_of, text_of
from liaison.model import Body, Gravity, Joint, Mechanism
from liaison.spatial import is_zero

from .expand import expanded

_UNSAID = {"mass": "an unknown number", "inertia": "unknown principal moments"}


def _assignments(mechanism: Mechanism, statements: tuple[Node, ...]) -> list[str]:
    """Declared and deduced assignments, a line each.

    Args:
        mechanism: what the statements were read as.
        statements: of the text, with repetitions written out.
    """
    summary = _Explanation(mechanism)
    lines: list[str] = []
    for statement in statements:
        if statement.kind == "let" and statement.parts[2].kind == "body":
            lines += summary.body(path_text(statement.parts[1]), statement.parts[2])
    for joint in mechanism.joints:
        lines += summary.joint(joint, statements)
    return [*lines, *summary.unnamed(statements), *summary.unknowns(), *summary.rest()]


class _Explanation:
    """Says what each part of a mechanism came from."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.writer = Writer({p.name: p.unit for p in mechanism.parameters}, plain=True)
        self.bodies = {body.name: body for body in mechanism.bodies}

    def body(self, name: str, node: Node) -> list[str]:
        """Mass, centre and inertia of a body: said, filled, unknown or left at the origin."""
        body = self.bodies.get(name)
        if body is None:
            return []
        declared = {str(pair.parts[0]) for pair in node.parts[1].parts}
        is_filled = "density" in declared or (
            "mass" in declared
            and bool(body.shapes)
            and not declared & {"center", "iframe", "inertia"}
        )
        lines = [self.mass(body, declared, is_filled), self.center(body, declared, is_filled)]
        lines += [self.inertia(body, declared, is_filled), self.about_origin(body)]
        return [f"body {name!r}", *(f"  {line}" for line in lines)]

    def mass(self, body: Body, declared: set[str], is_filled: bool) -> str:
        """Declared, or of the shapes, or unknown."""
        word = "declared" if "mass" in declared else "deduced " if is_filled else "unknown "
        why = ": from its density" if is_filled else f": {_UNSAID['mass']}"
        text = f"{word}  mass = {self.writer.scalar(body.mass, 'kg')}"
        return text if "mass" in declared else text + why

    def center(self, body: Body, declared: set[str], is_filled: bool) -> str:
        """Where the mass centre is."""
        text = self.writer.vector(body.com, "m")
        if "center" in declared:
            return f"declared  center = {text}"
        why = "the shapes', evenly filled" if is_filled else "not said, the origin of its frame"
        if "iframe" in declared:
            why = "the origin of its iframe"
        return f"deduced   center = {text}: {why}"

    def inertia(self, body: Body, declared: set[str], is_filled: bool) -> str:
        """About the mass centre."""
        text = self.matrix(body.inertia)
        if "inertia" in declared:
            turned = ", turned from the axes of its iframe" if "iframe" in declared else ""
            return f"declared  inertia = {text}{turned}"
        if is_filled:
            return f"deduced   inertia = {text}: the shapes', evenly filled"
        return f"unknown   inertia = {text}: {_UNSAID['inertia']}"

    def about_origin(self, body: Body) -> str:
        """The inertia about the origin of the body's frame."""
        if is_zero(body.mass) and all(is_zero(x) for row in body.inertia for x in row):
            return "deduced   inertia about its origin = 0: it has no mass, wherever its centre is"
        moved = body.spatial_inertia.about((0, 0, 0))
        return f"deduced   inertia about its origin = {self.matrix(moved)}"

    def matrix(self, rows: Any) -> str:
        """Three moments, or six entries."""
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = rows
        diagonal = all(is_zero(x) for x in (xy, xz, yz))
        return self.writer.vector((xx, yy, zz, *(() if diagonal else (xy, xz, yz))), "kg*m^2")

    def joint(self, joint: Joint, statements: tuple[Node, ...]) -> list[str]:
        """Its type and coordinates, and a name it was given."""
        named = ", ".join(joint.coordinates) or "none"
        line = f"joint {joint.name!r}: {joint.type.name}, coordinates {named}"
        if any(_is_at(joint.place, s) for s in statements if s.kind == "unnamed"):
            line += "; named after its bodies"
        if joint.predecessor.body == "ground":
            line += "; the ground is its predecessor"
        return [line]

    def unnamed(self, statements: tuple[Node, ...]) -> list[str]:
        """Loads and relations that were named by their place."""
        nameless = [s for s in statements if s.kind == "unnamed"]
        records: tuple[Any, ...] = (*self.mechanism.forces, *self.mechanism.constraints)
        return [
            f"{type(x).__name__.lower()} {x.name!r}: named by its place"
            for x in records
            if any(_is_at(x.place, s) for s in nameless)
        ]

    def unknowns(self) -> list[str]:
        """Numbers and laws named by their place."""
        lines = []
        for p in self.mechanism.parameters:
            if "." in p.name:
                value = "no value yet" if p.value is None else self.writer.scalar(p.value, p.unit)
                lines.append(f"unknown {p.name!r} [{p.unit or '1'}]: named by its place; {value}")
        names = {
            node.data[0].name
            for force in self.mechanism.forces
            for node in topological([as_expr(x) for x in force.formulas()])
            if node.op == "call"
        }
        return lines + [f"unknown law {name!r}: named by its place" for name in sorted(names)]

    def rest(self) -> list[str]:
        """Gravity and starts that are not said."""
        lines = []
        if not any(isinstance(force, Gravity) for force in self.mechanism.forces):
            lines.append("gravity: not said, none acts")
        started = {start.label for start in self.mechanism.starts}
        free = [x for x in self.mechanism.coordinates if x not in started]
        if free:
            lines.append(f"start of {', '.join(free)}: not said, zero or what closes the loops")
        return lines


def _is_at(place: Place | None, node: Node) -> bool:
    return place is not None and (place.line, place.column) == (node.line, node.column)


def explained(path: Path, reading: Reading) -> list[str]:
    """Declared and deduced assignments of a file that was read, a line each."""
    if path.suffix.lower() != ".lsd":
        return list(reading.deduced)
    source, statements = parse(text_of(data_of(path), path), str(path), path.parent)
    return _assignments(reading.mechanism, expanded(statements, source))
