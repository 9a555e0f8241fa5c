"""Bodies, shapes, frames and joints as LSD text.

A rotation is written as angle || axis, and a joint with its axis, wherever reading that gives the
very same matrix; otherwise the matrix itself is written.

Public names: Parts.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from liaison.expr import PI, Expr
from liaison.model import (
    JOINT_TYPES,
    Body,
    Box,
    Capsule,
    Composition,
    Cone,
    Cylinder,
    HeightField,
    Hull,
    Joint,
    Line,
    Marker,
    Mesh,
    Quaternion,
    Sphere,
)
from liaison.model.joints import ATTITUDE
from liaison.model.scalars import UPRIGHT
from liaison.spatial import array, number, product, rotation_about, rotation_onto_z

from .formulas import name_of, quoted, unwritable
from .values import Writer

_AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
_SIZES: dict[type, tuple[str, ...]] = {
    Capsule: ("radius", "length"),
    Cylinder: ("radius", "length"),
    Sphere: ("radius",),
    Cone: ("radius", "height"),
}


def equal(A: Any, B: Any) -> bool:
    """Whether two matrices have the same entries, formulas being the same nodes."""
    return all(_same(a, b) for a, b in zip(array(A).flat, array(B).flat, strict=True))


def _same(a: Any, b: Any) -> bool:
    a, b = (x.value if isinstance(x, Expr) and x.op == "const" else x for x in (a, b))
    return a is b or (not isinstance(a, Expr) and not isinstance(b, Expr) and bool(a == b))


class Parts:
    """Writes what has a place on a body; `handles` are the words for bodies."""

    def __init__(self, writer: Writer, handles: dict[str, str]) -> None:
        self.writer, self.handles = writer, handles
        self.seen: dict[Any, str] = {}

    # ---- frames

    def body_word(self, name: str) -> str:
        """The body as it is called in the text."""
        return "earth" if name == "ground" else name_of(self.handles.get(name, name))

    def pose(self, R: Any, p: Any) -> str:
        """[x, y, z] m ++ angle || axis; "" for the body's own frame."""
        parts = [] if all(_same(x, 0) for x in p) else [self.writer.vector(p, "m")]
        turn = self.rotation(R)
        return " ++ ".join(parts + ([turn] if turn else []))

    def frame(self, marker: Marker, R: Any = None) -> str:
        """A marker, with another rotation if one is given."""
        pose, body = self.pose(marker.R if R is None else R, marker.p), self.body_word(marker.body)
        text = f"{pose} @ {body}" if pose else body
        return f"named({quoted(marker.name)}, {text})" if marker.name else text

    def rotation(self, R: Any) -> str:
        """angle || axis, or the matrix; "" for no turn."""
        if equal(R, UPRIGHT):
            return ""
        key = tuple(array(R).flat)
        if key not in self.seen:
            self.seen[key] = self.turn(R) or self.matrix(R)
        return self.seen[key]

    def matrix(self, R: Any) -> str:
        """[[…], […], […]]."""
        return f"[{', '.join(self.writer.vector(row) for row in R)}]"

    def turn(self, R: Any) -> str:
        """angle || axis of a turn about x, y or z; "" where that is not exactly the matrix."""
        for k, axis in enumerate(_AXES):
            if not _same(R[k][k], 1):
                continue
            i, j = (k + 1) % 3, (k + 2) % 3
            for angle in _angles(R[i][i], R[j][i]):
                if equal(rotation_about(axis, angle), R):
                    text = self.writer.scalar(angle, "rad")
                    return f"{text} || {self.writer.vector(axis)}"
        return ""

    # ---- bodies

    def body(self, body: Body, handle: str) -> str:
        """let NAME = body … end ;"""
        write = self.writer
        pairs = [f"mass = {write.scalar(body.mass, 'kg')}"]
        if not all(_same(x, 0) for x in body.com):
            pairs.append(f"center = {write.vector(body.com, 'm')}")
        pairs.append(f"inertia = {self.inertia(body)}")
        pairs += [f"shape = {self.shape(shape)}" for shape in body.shapes]
        return f"let {name_of(handle)} = body\n  " + ",\n  ".join(pairs) + "\nend ;"

    def inertia(self, body: Body) -> str:
        """Three principal moments, or six entries."""
        (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = body.inertia
        pairs = ((xy, yx), (xz, zx), (yz, zy))
        if not all(_same(a, b) for a, b in pairs):
            rows = (self.writer.vector(row) for row in body.inertia)
            return f"[{', '.join(rows)}] kg*m^2"
        if all(_same(a, 0) for a, _ in pairs):
            is_none = all(_same(a, 0) for a in (xx, yy, zz))
            return "0" if is_none else self.writer.vector((xx, yy, zz), "kg*m^2")
        return self.writer.vector((xx, yy, zz, xy, xz, yz), "kg*m^2")

    def shape(self, shape: Any) -> str:
        """POSE @ box(…) and the like."""
        arguments = self.shape_arguments(shape)
        if shape.color:
            arguments.append(f"color = {quoted(shape.color)}")
        is_tube = isinstance(shape, Cylinder) and not _same(shape.inner, 0)
        word = "tube" if is_tube else type(shape).__name__.lower()
        word = "height_field" if isinstance(shape, HeightField) else word
        text = f"{word}({', '.join(arguments)})"
        pose = self.pose(shape.R, shape.p)
        return f"{pose} @ {text}" if pose else text

    def shape_arguments(self, shape: Any) -> list[str]:
        """Sizes, points or the file of a shape."""
        write = self.writer
        if isinstance(shape, Box):
            return [write.vector((shape.x, shape.y, shape.z), "m")]
        if type(shape) in _SIZES:
            names = _SIZES[type(shape)]
            if isinstance(shape, Cylinder) and not _same(shape.inner, 0):
                names = ("radius", "inner", "length")
            return [f"{key} = {write.scalar(getattr(shape, key), 'm')}" for key in names]
        if isinstance(shape, Line) or (isinstance(shape, Hull) and not shape.file):
            return [write.vector(point, "m") for point in shape.points]
        if isinstance(shape, HeightField):
            size = f"size = {write.vector((shape.x, shape.y), 'm')}"
            if shape.file:
                factor = f"scale = {write.scalar(shape.scale, 'm')}"
                return [size, f"file = {quoted(shape.file)}", factor]
            scaled = ([x * shape.scale for x in row] for row in shape.heights)
            rows = ", ".join(write.vector(row) for row in scaled)
            return [size, f"heights = [{rows}] m"]
        if isinstance(shape, Mesh | Hull):
            is_scaled = not all(_same(a, 1) for a in shape.scale)
            scale = [f"scale = {write.vector(shape.scale)}"] if is_scaled else []
            return [quoted(shape.file), *scale]
        raise unwritable(f"the shape {type(shape).__name__}")

    # ---- joints

    def joint(self, joint: Joint) -> str:
        """let NAME = join … and … with TYPE … end ;"""
        sides, axis = self.sides(joint)
        word, pairs = self.kind(joint)
        pairs = axis + pairs
        if joint.successor.body == "ground":
            pairs.append("successor = earth")
        usual = Joint(joint.name, joint.type, joint.predecessor, joint.successor).coordinates
        if usual != joint.coordinates:
            pairs.append(f"labels = {quoted(_joined(joint))}")
        listed = f" {', '.join(pairs)}" if pairs else ""
        return f"let {name_of(joint.name)} = join {sides} with {word}{listed} end ;"

    def sides(self, joint: Joint) -> tuple[str, list[str]]:
        """Both frames, and the axis that turns z of both onto it, if that says it shorter."""
        F, M = joint.predecessor, joint.successor
        if joint.type.HAS_AXIS and not equal(M.R, UPRIGHT):
            axis = [row[2] for row in M.R]
            T = rotation_onto_z(axis)
            base = UPRIGHT if equal(F.R, T) else product(array(F.R), array(T.T))
            if equal(T, M.R) and equal(product(array(base), T), F.R) and _is_turn(base):
                sides = f"{self.frame(F, base)} and {self.frame(M, UPRIGHT)}"
                return sides, [f"axis = {self.writer.vector(axis)}"]
        return f"{self.frame(F)} and {self.frame(M)}", []

    def kind(self, joint: Joint) -> tuple[str, list[str]]:
        """The word of a joint's type, and its properties."""
        kind: Any = joint.type
        if isinstance(kind, Composition):
            return f"link({', '.join(map(name_of, kind.names))})", self.motions(kind)
        if not kind.IN_LSD or type(kind) not in JOINT_TYPES:
            raise unwritable(f"the joint type {kind.name}")
        return kind.WORD, [pair for key, unit in kind.OPTIONS.items()
                           for pair in self.option(key, unit, getattr(kind, key))]  # fmt: skip

    def option(self, key: str, unit: str, value: Any) -> list[str]:
        """KEY = VALUE of an option of a joint type; nothing for a quaternion, which is usual."""
        if unit != ATTITUDE:
            return [f"{key} = {self.writer.scalar(value, unit)}"]
        return [] if isinstance(value, Quaternion) else [f"{key} = {value.WORD}"]

    def motions(self, kind: Composition) -> list[str]:
        """dof1 = turn([0, 0, 1]), …."""
        pairs = []
        for k, motion in enumerate(kind.motions, start=1):
            entries: Any = motion
            arguments = [self.writer.vector(entries.axis)]
            if hasattr(motion, "pitch"):
                arguments.append(self.writer.scalar(entries.pitch, "m/rad"))
            pairs.append(f"dof{k} = {motion.WORD}({', '.join(arguments)})")
        return pairs


def _joined(joint: Joint) -> str:
    return ", ".join(f"`{x}`" if "," in x else x for x in joint.coordinates)


def _is_turn(R: Any) -> bool:
    """Whether a matrix is exact, so that it can be taken apart without rounding."""
    return not any(isinstance(x, float) for x in array(R).flat)


def _angles(cosine: Any, sine: Any) -> list[Any]:
    """What the angle of a turn may be: the argument of its cosine, or a multiple of π/12."""
    candidates: list[Any] = []
    for entry in (cosine, sine):
        while isinstance(entry, Expr) and entry.op == "neg":
            entry = entry.args[0]
        if isinstance(entry, Expr) and entry.op in ("cos", "sin"):
            x = entry.args[0]
            candidates += [x.value if x.op == "const" else x, -x]
    c, s = number(cosine), number(sine)
    if c is not None and s is not None and not isinstance(cosine, float):
        candidates.append(PI * Fraction(round(math.atan2(s, c) * 12 / math.pi), 12))
    return candidates
