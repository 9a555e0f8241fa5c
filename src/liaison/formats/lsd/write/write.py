"""A mechanism as LSD text: the canonical form, which reads back as the same mechanism.

`read_lsd(write_lsd(m)) == m` for every mechanism made of the house's own records.

Public names: write_lsd.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from liaison.expr import Expr, collector_paused
from liaison.formats.guard import MAX_BODIES
from liaison.formats.lsd.syntax.parse import MAX_LINE, MAX_TEXT
from liaison.formats.lsd.syntax.tokens import TEXT
from liaison.model import Gravity, Mechanism
from liaison.model.checks import MEANINGS

from .acts import Acts
from .parts import Parts
from .values import Writer, name_of, quoted, refused


def write_lsd(mechanism: Mechanism) -> str:
    """The text of a mechanism, one statement for each of its records.

    Raises:
        TextError: something of it is of a kind that is not the house's own (a joint type, a load,
            a shape), or it is larger than what may be read.
    """
    with collector_paused():
        text = _Text(mechanism).text()
    longest = max(map(len, text.split("\n")))
    for what, size, limit in (
        ("bodies", len(mechanism.bodies) - 1, MAX_BODIES),
        ("characters", len(text), MAX_TEXT),
        ("characters in a line", longest, MAX_LINE),
    ):
        if size > limit:
            raise refused(f"{mechanism.name[:40]!r}: {size} {what} are more than {limit} and")
    return text


class _Text:
    """The sections of a text, and the words that the parts go by."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = m = mechanism
        labels: tuple[Any, ...] = (*m.joints, *m.parameters, *m.inputs, *m.outputs)
        self.taken = {*MEANINGS, *(x.name for x in labels)}
        self.renames: list[str] = []
        self.relations: tuple[Any, ...] = (*m.constraints, *m.contacts)
        kinds = (m.bodies[1:], self.relations, m.forces, m.events)
        self.handles = [self.handles_of(records) for records in kinds]
        units = {x.name: x.unit for x in (*m.parameters, *m.inputs)}
        self.writer = Writer(units, self.taken)
        self.writer.share(_formulas(mechanism))
        self.parts = Parts(self.writer, self.handles[0])
        self.acts = Acts(self.parts, _units(mechanism))

    def handles_of(self, records: Iterable[Any]) -> dict[str, str]:
        """A word for each record: its name, or one like it where that is taken."""
        found = {}
        for record in records:
            handle, count = record.name, 1
            while handle in self.taken:
                count += 1
                handle = f"{record.name}_{count}"
            if handle != record.name:
                self.renames.append(f"{name_of(handle)}.name = {quoted(record.name)} ;")
            self.taken.add(handle)
            found[record.name] = handle
        return found

    def text(self) -> str:
        """All sections, with a line between them."""
        m, acts, parts = self.mechanism, self.acts, self.parts
        bodies, relations, forces, events = self.handles
        loads, head = self.loads(), self.head()
        given = [acts.parameter(x) for x in m.parameters] + [acts.input(x) for x in m.inputs]
        sections = [
            [parts.body(x, bodies[x.name]) for x in m.bodies[1:]],
            self.earth(),
            [parts.joint(x) for x in m.joints],
            [acts.force(x, forces[x.name]) for x in loads],
            [acts.constraint(x, relations[x.name]) for x in self.relations],
            [acts.start(x) for x in m.starts],
            [acts.event(x, events[x.name]) for x in m.events],
            [acts.output(x) for x in m.outputs],
            self.renames,
        ]
        kept = [section for section in [head, given, self.writer.lets, *sections] if section]
        return "\n\n".join("\n".join(map(folded, section)) for section in kept) + "\n"

    def head(self) -> list[str]:
        """Its name, and gravity where that is the first of the loads."""
        lines = [f"name = {quoted(self.mechanism.name)} ;"]
        for force in self.mechanism.forces[:1]:
            if isinstance(force, Gravity) and _is_plain(force):
                lines.append(f"gravity = {self.writer.vector(force.vector, 'm/s^2')} ;")
        return lines

    def loads(self) -> tuple[Any, ...]:
        """All loads but the gravity of the head."""
        forces = self.mechanism.forces
        return forces[1:] if forces and _is_plain(forces[0]) else forces

    def earth(self) -> list[str]:
        """The shapes of the ground."""
        shapes = self.mechanism.bodies[0].shapes
        return [f"earth.shape = {self.parts.shape(shape)} ;" for shape in shapes]


def _formulas(record: Any) -> list[Expr]:
    """Every formula in a record and in what it holds."""
    if isinstance(record, Expr):
        return [record]
    if isinstance(record, tuple):
        return [x for part in record for x in _formulas(part)]
    if is_dataclass(record) and not isinstance(record, type):
        kept = (getattr(record, f.name) for f in fields(record) if f.compare)
        return [x for part in kept for x in _formulas(part)]
    return []


def _is_plain(force: Any) -> bool:
    return isinstance(force, Gravity) and force.name == "gravity"


def _units(mechanism: Mechanism) -> dict[str, str]:
    """The unit of every coordinate and speed."""
    found: dict[str, str] = {}
    for joint in mechanism.joints:
        found |= zip(joint.coordinates, joint.type.coordinate_units, strict=True)
        found |= zip(joint.speeds, joint.type.speed_units, strict=True)
    return found


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
