"""LSD: the text language for mechanisms. `read_lsd` makes a `Mechanism` of a text.

The text is parsed (lsd_syntax), its names are collected (lsd_names), then bodies, joints, forces
and the rest are made in this order; a name may be used before the line that declares it. Nothing of
a text is ever executed. docs/lsd.md is the reference of the language.

Public names: read_lsd, read_value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from liaison.errors import LiaisonError, Place, TextError
from liaison.expr import collector_paused, symbol
from liaison.formats.guard import Computable, check_bodies, computable, deep
from liaison.formats.lsd.formulas.formulas import Where, value_of, vector_of
from liaison.formats.lsd.formulas.names import EARTH, Book, no_such
from liaison.formats.lsd.formulas.values import Quantity, Word, kind_of, known_dimension, si_unit
from liaison.formats.lsd.meaning.forces import body_of, effort_of, force_of, shapes_of
from liaison.formats.lsd.meaning.joints import Joined, joint_of
from liaison.formats.lsd.meaning.statements import Enough, Statements
from liaison.formats.lsd.syntax.nodes import Node, path_text
from liaison.formats.lsd.syntax.parse import parse, parse_formula, together
from liaison.model import GROUND, LOAD_KINDS, Body, Constraint, Gravity, Joint, Mechanism, OneSided

from .expand import expanded

SETTINGS = ("name", "gravity", "note")
DEEP = 20  # levels of a formula that is worked out early
RELATIONS = ("impose", "require", "limit", "least", "couple", "contact", "touch", "collide")
Thing: TypeAlias = tuple[str | None, Node, Place]  # its name if it has one, what it is, where


def read_lsd(text: str, file: str = "text", *, folder: Path | None = None) -> Mechanism:
    """The mechanism that an LSD text describes.

    Args:
        text: the description.
        file: its name, for messages; its stem names the mechanism unless the text does.
        folder: below which files may be included; None where there is none.

    Raises:
        TextError: the text is not LSD, with file, line, column and how to fix it.
        NamingError: a name that is not declared, or declared twice.
        ModelError: a description that no mechanism can have.
    """
    with collector_paused(), computable(Place(file, 1)), deep(file):
        return _mechanism(text, file, folder)


def _mechanism(text: str, file: str, folder: Path | None) -> Mechanism:
    """The mechanism; everything else is let go before the collector looks for it."""
    source, statements = parse(text, file, folder)
    reading = _Reading(Book(source), expanded(statements, source))
    try:
        return reading.mechanism()
    except Enough:
        raise together(reading.rest.errors) from None
    finally:
        reading.let_go()


def read_value(
    text: str, file: str = "value", *, units: Mapping[str, str] | None = None
) -> tuple[Any, str]:
    """A number or a formula, with or without a unit, as given on a command line: "30 deg".

    Args:
        text: what was given.
        file: its name, for messages.
        units: names that a formula may use beside t, with their SI units.

    Returns:
        The exact value in SI, and its SI unit ("" for a number alone).
    """
    with deep(file):
        return _value(text, file, units or {})


def _value(text: str, file: str, units: Mapping[str, str]) -> tuple[Any, str]:
    source, node = parse_formula(text, file)
    book = Book(source)
    book.symbols |= {
        name: Quantity(symbol(name), known_dimension(unit)) for name, unit in units.items()
    }
    value = value_of(node, book, Where(file))
    if not isinstance(value, Quantity):
        raise source.error(f"a value is a number, not {kind_of(value)}.", node)
    return value.value, "" if value.bare else si_unit(value.dimension)


class _Reading:
    """The passes over a text, from names to the finished description."""

    def __init__(self, book: Book, statements: tuple[Node, ...]) -> None:
        self.book = book
        self.statements = statements
        self.name = PurePath(book.source.file).stem
        self.bodies: dict[str, Body] = {}
        self.things: list[Thing] = []  # joints, forces, relations
        self.forces: list[Any] = []
        self.more_joints: list[Joint] = []  # of rotors
        self.rest = Statements(book)
        self.order: list[int] = []  # of contacts: which of the things each comes from
        self.renamed: dict[str, str] = {}
        book.make_body = self.make_body
        book.statements = list(statements)

    def mechanism(self) -> Mechanism:
        """Everything, in an order in which each thing finds what it needs."""
        self.collect()
        check_bodies(len(self.book.bodies), Place(self.book.source.file, 1))
        self.rest.some_are_missing = bool(self.rest.errors)
        self.rest.read_early()
        self.read_bodies()
        joined = self.read_joints()
        self.evaluate_deep_lets()
        self.rest.some_are_missing |= bool(self.rest.errors)
        for thing in self.of_kind("apply"):
            self.tried(self.read_force, thing)
            self.note_order(thing)
        for thing in (x for x in self.things if x[1].kind in RELATIONS):
            self.tried(self.rest.relation, *thing, name=thing[0])
            self.note_order(thing)
        self.rest.read_late()
        self.evaluate_lets()
        if not self.rest.errors:
            self.check_all_used()
        if self.rest.errors:
            raise together(self.rest.errors)
        if not self.book.bodies:
            raise TextError(
                f"{self.book.source.file}: the text describes no body.",
                hint="Begin with 'let NAME = body mass = 1 kg, inertia = 0 end ;'.",
            )
        return self.finished([joint.joint for joint in joined])

    def note_order(self, thing: Thing) -> None:
        """Where in the text the contacts come from that were read last."""
        new = len(self.rest.contacts) - len(self.order)
        if new:
            self.order += [next(k for k, x in enumerate(self.things) if x is thing)] * new

    def contacts(self) -> tuple[OneSided, ...]:
        """In the order of the text."""
        pairs = sorted(zip(self.order, self.rest.contacts, strict=True), key=lambda pair: pair[0])
        return tuple(contact for _, contact in pairs)

    def let_go(self) -> None:
        """Cuts what refers to itself, so that nodes and names are gone at once."""
        self.book.make_body = lambda name: None
        self.book.declared_parameters.clear()
        self.rest.early.clear()
        self.rest.later.clear()

    def tried(self, read: Any, *parts: Any, name: str | None = None) -> Any:
        """What a reading gives; None where it is rejected, which is reported at the end."""
        return self.rest.tried(lambda: read(*parts), name)

    def read_bodies(self) -> None:
        """Every body, and the shapes that were given elsewhere."""
        ground = [node for name in EARTH for node in self.book.shapes.get(name, ())]
        if ground:
            self.tried(self.shape_ground, ground)
        for name, nodes in self.book.shapes.items():
            if name not in (*EARTH, *self.book.bodies):
                at = self.book.source.at(nodes[0])
                self.rest.note_error(no_such("body", name, self.book.bodies, at))
        for name in self.book.bodies:
            self.tried(self.make_body, name, name=name)

    def shape_ground(self, nodes: list[Node]) -> None:
        """The ground as it is seen."""
        shapes = shapes_of("ground", nodes, "", self.book)
        self.bodies["ground"] = replace(GROUND, shapes=shapes)

    def read_joints(self) -> list[Joined]:
        """Every joint, then the efforts in them, which may refer to all coordinates."""
        joined = [self.tried(self.record_of, joint_of, x, name=x[0]) for x in self.of_kind("join")]
        joints = [joint for joint in joined if joint is not None]
        if len(joints) < len(joined):
            self.book.spoiled.update(self.book.joint_names - self.book.joints.keys())
        for joint in joints:
            law = self.tried(effort_of, joint, self.book)
            self.forces += [law] if law is not None else []
        return joints

    def read_force(self, thing: Thing) -> None:
        """A force, and the inputs that stand for what it leaves open."""
        force, inputs, parts = self.record_of(force_of, thing)
        self.rest.inputs += inputs
        for part in (force, *parts):
            self.add(part)

    def add(self, part: Any) -> None:
        """Something that comes with a force: a body, a joint, a relation, another force."""
        if isinstance(part, Body):
            self.bodies[part.name] = part
        elif isinstance(part, Joint):
            self.more_joints.append(part)
        elif isinstance(part, Constraint):
            self.rest.constraints.append(part)
        elif isinstance(part, OneSided):
            self.rest.contacts.append(part)
        else:
            self.forces.append(part)

    def record_of(self, make: Any, thing: Thing) -> Any:
        """What a statement makes."""
        with Computable(thing[2]):
            return make(*thing, self.book)

    def of_kind(self, kind: str) -> list[Thing]:
        return [thing for thing in self.things if thing[1].kind == kind]

    def collect(self) -> None:
        """First pass: who is named what."""
        readers = {"let": self.collect_let, "setting": self.setting, "instance": self.instance}
        for statement in self.statements:
            if statement.kind == "unnamed":
                place = self.book.source.at(statement)
                self.things.append((None, statement.parts[0], place))
            else:
                self.tried(readers.get(statement.kind, self.rest.declare), statement)

    def collect_let(self, statement: Node) -> None:
        token, thing = statement.parts[1], statement.parts[2]
        place = self.book.source.place(token.line, token.column, len(token))
        name = self.book.declare(str(token), place)
        if thing.kind == "body":
            self.book.bodies[name] = thing
        elif thing.kind in ("join", "apply", *RELATIONS):
            self.things.append((name, thing, place))
            if thing.kind == "join":
                self.book.joint_names.add(name)
            if thing.kind == "apply":
                self.foresee_states(name, thing)
        else:
            self.book.lets[name] = thing

    def foresee_states(self, name: str, thing: Node) -> None:
        """Names of states that a load may have, with the unit that is written there."""
        kind = LOAD_KINDS.named(str(thing.parts[1]))
        pairs = {str(pair.parts[0]): pair.parts[1] for pair in thing.parts[2].parts}
        written = value_of(pairs["unit"], self.book, Where(name)) if "unit" in pairs else None
        dimension = known_dimension(written.text) if isinstance(written, Word) else None
        for end in () if kind is None else kind.STATES:
            self.book.symbols[name + end] = Quantity(symbol(name + end), dimension)
            self.book.labels.add(name + end)

    def instance(self, statement: Node) -> None:
        """The name of an instance of a sub-mechanism is taken."""
        token = statement.parts[1]
        self.book.declare(str(token), self.book.source.of(token))

    def setting(self, statement: Node) -> None:
        """name = "…", gravity = […], note = "…", and BODY.shape = …."""
        path, node = statement.parts
        name = path_text(path)
        place = self.book.source.at(statement)
        if name.endswith(".shape"):
            self.book.shapes.setdefault(name.removesuffix(".shape"), []).append(node)
        elif name.endswith(".name"):
            self.renamed[name.removesuffix(".name")] = self.text(node, name)
        elif name not in SETTINGS:
            error = no_such("setting", name, SETTINGS, place, listed=[*SETTINGS, "BODY.shape"])
            error.hint += " A new name is made with 'let'."
            raise error
        elif name == "gravity":
            self.rest.later.append(lambda: self.gravity(node, place))
        else:
            text = self.text(node, name)
            self.name = text if name == "name" else self.name

    def text(self, node: Node, name: str) -> str:
        """The text of a setting."""
        value = value_of(node, self.book, Where(name))
        if not isinstance(value, Word):
            raise self.book.source.error(f"{name!r} is a text in quotes.", node)
        return value.text

    def gravity(self, node: Node, place: Place) -> None:
        vector = vector_of(node, self.book, Where("gravity", "m/s^2"), "gravity")
        self.forces.insert(0, Gravity(tuple(vector), place=place))

    def make_body(self, name: str) -> None:
        """The body of that name, once."""
        if name not in self.bodies:
            book = self.book
            with Computable(book.places[name]):
                self.bodies[name] = body_of(name, book.bodies[name], book.places[name], book)

    def evaluate_deep_lets(self) -> None:
        """Long formulas in the order of the text, so that none has to wait for many others."""
        for name, node in self.book.lets.items():
            if name in self.book.values or node.depth < DEEP:
                continue
            try:
                self.book.value_of_let(name)
            except LiaisonError:  # reported when it is used
                self.book.waiting.clear()

    def evaluate_lets(self) -> None:
        """Finds the mistakes in definitions that nobody used."""
        for name in self.book.lets:
            if name not in self.book.values:
                self.tried(self.book.value_of_let, name, name=name)

    def check_all_used(self) -> None:
        """Rejects values and laws for unknowns that are not there."""
        book = self.book
        for name, place in self.rest.places_of_values.items():
            if name not in book.used:
                known = [p.name for p in book.parameters.values() if "." in p.name]
                raise no_such("unknown", name, [*known, *book.laws], place)

    def finished(self, joints: list[Any]) -> Mechanism:
        """The mechanism; its own checks speak with the places of the records."""
        rest = self.rest
        for part in self.book.extras:
            self.add(part)
        mechanism = Mechanism(
            name=self.name,
            bodies=tuple(self.bodies.values()),
            joints=(*joints, *self.more_joints),
            constraints=tuple(rest.constraints),
            forces=tuple(self.forces),
            contacts=self.contacts(),
            parameters=tuple(self.book.parameters.values()),
            inputs=tuple(rest.inputs),
            starts=tuple(rest.starts),
            events=tuple(rest.events),
            outputs=tuple(rest.outputs),
            place=Place(self.book.source.file, 1),
        )
        if not self.renamed:
            return mechanism
        from liaison.formats.merge import renamed

        return renamed(self.renamed, mechanism)
