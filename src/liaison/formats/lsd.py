"""LSD: the text language for mechanisms. `read_lsd` makes a `Mechanism` of a text.

The text is parsed (lsd_syntax), its names are collected (lsd_names), then bodies, joints, forces
and the rest are made in this order; a name may be used before the line that declares it. Nothing of
a text is ever executed. docs/lsd.md is the reference of the language.

Public names: read_lsd, read_value.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from liaison.errors import Place, TextError
from liaison.expr import collector_paused
from liaison.model import Body, Gravity, Mechanism

from .guard import computable
from .lsd_bodies import body_of
from .lsd_forces import effort_of, force_of
from .lsd_formulas import Where, value_of, vector_of
from .lsd_joints import joint_of
from .lsd_names import Book, no_such
from .lsd_nodes import Node
from .lsd_statements import Statements
from .lsd_syntax import parse, parse_formula
from .lsd_units import si_unit
from .lsd_values import Quantity, Word, kind_of

SETTINGS = ("name", "gravity", "note")


def read_lsd(text: str, file: str = "text") -> Mechanism:
    """The mechanism that an LSD text describes.

    Args:
        text: the description.
        file: its name, for messages; its stem names the mechanism unless the text does.

    Raises:
        TextError: the text is not LSD, with file, line, column and what would do.
        NamingError: a name that is not declared, or declared twice.
        ModelError: a description that no mechanism can have.
    """
    with collector_paused(), computable(Place(file, 1)):
        source, statements = parse(text, file)
        return _Reading(Book(source), statements).mechanism()


def read_value(text: str, file: str = "value") -> tuple[Any, str]:
    """A number with or without a unit, as given on a command line: "30 deg", "2.5 kg".

    Returns:
        The exact value in SI, and its SI unit ("" for a number alone).
    """
    source, node = parse_formula(text, file)
    value = value_of(node, Book(source), Where(file))
    if not isinstance(value, Quantity):
        raise TextError(f"a value is a number, not {kind_of(value)}.", place=source.at(node))
    return value.value, "" if value.bare else si_unit(value.dimension)


class _Reading:
    """The passes over a text, from names to the finished description."""

    def __init__(self, book: Book, statements: tuple[Node, ...]) -> None:
        self.book = book
        self.statements = statements
        self.name = PurePath(book.source.file).stem
        self.bodies: dict[str, Body] = {}
        self.things: list[tuple[str | None, Node, Place]] = []  # joints, forces, relations
        self.forces: list[Any] = []
        self.rest = Statements(book)
        book.make_body = self.make_body

    def mechanism(self) -> Mechanism:
        """Everything, in an order in which each thing finds what it needs."""
        self.collect()
        self.rest.read_early()
        for name, nodes in self.book.shapes.items():
            if name not in self.book.bodies:
                raise no_such("body", name, self.book.bodies, self.book.source.at(nodes[0]))
        for name in self.book.bodies:
            self.make_body(name)
        joined = [self.made(joint_of, thing) for thing in self.of_kind("join")]
        for joint in joined:
            law = effort_of(joint, self.book)
            self.forces += [law] if law is not None else []
        for thing in self.of_kind("apply"):
            force, inputs = self.made(force_of, thing)
            self.forces.append(force)
            self.rest.inputs += inputs
        for thing in (*self.of_kind("impose"), *self.of_kind("require")):
            self.rest.relation(*thing)
        self.rest.read_late()
        self.evaluate_lets()
        self.check_all_used()
        if not self.bodies:
            raise TextError(
                f"{self.book.source.file}: the text describes no body.",
                hint="Begin with 'let NAME = body mass = 1 kg, inertia = 0 end ;'.",
            )
        return self.finished([joint.joint for joint in joined])

    def made(self, make: Any, thing: tuple[str | None, Node, Place]) -> Any:
        """What a statement makes."""
        with computable(thing[2]):
            return make(*thing, self.book)

    def of_kind(self, kind: str) -> list[tuple[str | None, Node, Place]]:
        return [thing for thing in self.things if thing[1].kind == kind]

    def collect(self) -> None:
        """First pass: who is named what."""
        book = self.book
        for statement in self.statements:
            place = book.source.at(statement)
            if statement.kind == "let":
                self.collect_let(statement)
            elif statement.kind == "unnamed":
                self.things.append((None, statement.parts[0], place))
            elif statement.kind == "setting":
                self.setting(statement)
            else:
                self.rest.declare(statement)

    def collect_let(self, statement: Node) -> None:
        token, thing = statement.parts[1], statement.parts[2]
        place = self.book.source.place(token.line, token.column, len(token))
        name = self.book.declare(str(token), place)
        if thing.kind == "body":
            self.book.bodies[name] = thing
        elif thing.kind in ("join", "apply", "impose", "require"):
            self.things.append((name, thing, place))
            if thing.kind == "join":
                self.book.joint_names.add(name)
        else:
            self.book.lets[name] = thing

    def setting(self, statement: Node) -> None:
        """name = "…", gravity = […], note = "…", and BODY.shape = …."""
        path, node = statement.parts
        name = ".".join(map(str, path.parts))
        place = self.book.source.at(path)
        if name.endswith(".shape"):
            self.book.shapes.setdefault(name.removesuffix(".shape"), []).append(node)
        elif name not in SETTINGS:
            error = no_such("setting", name, SETTINGS, place, listed=[*SETTINGS, "BODY.shape"])
            error.hint += " A new name is made with 'let'."
            raise error
        elif name == "gravity":
            self.rest.later.append(lambda: self.gravity(node, place))
        else:
            value = value_of(node, self.book, Where(name))
            if not isinstance(value, Word):
                raise TextError(f"{name!r} is a text in quotes.", place=self.book.source.at(node))
            self.name = value.text if name == "name" else self.name

    def gravity(self, node: Node, place: Place) -> None:
        vector = vector_of(node, self.book, Where("gravity", "m/s^2"), "gravity")
        self.forces.insert(0, Gravity(tuple(vector), place=place))

    def make_body(self, name: str) -> None:
        """The body of that name, once."""
        if name not in self.bodies:
            book = self.book
            with computable(book.places[name]):
                self.bodies[name] = body_of(name, book.bodies[name], book.places[name], book)

    def evaluate_lets(self) -> None:
        """Finds the mistakes in definitions that nobody used."""
        for name in self.book.lets:
            if name not in self.book.values:
                self.book.value_of_let(name)

    def check_all_used(self) -> None:
        """Refuses values and laws for unknowns that are not there."""
        book = self.book
        for name, place in self.rest.given_places.items():
            if name not in book.used:
                known = [p.name for p in book.parameters.values() if "." in p.name]
                raise no_such("unknown", name, [*known, *book.laws], place)

    def finished(self, joints: list[Any]) -> Mechanism:
        """The mechanism; its own checks speak with the places of the records."""
        rest = self.rest
        return Mechanism(
            name=self.name,
            bodies=tuple(self.bodies.values()),
            joints=tuple(joints),
            constraints=tuple(rest.constraints),
            forces=tuple(self.forces),
            parameters=tuple(self.book.parameters.values()),
            inputs=tuple(rest.inputs),
            starts=tuple(rest.starts),
            events=tuple(rest.events),
            outputs=tuple(rest.outputs),
            place=Place(self.book.source.file, 1),
        )
