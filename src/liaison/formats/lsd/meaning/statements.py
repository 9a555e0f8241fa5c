"""The small statements: parameter, input, start, output, event, law, impose, require.

They are declared first, in the order of the text, and read when all coordinates are known.

`start A = 30 deg`: where the motion begins, for one coordinate or a whole ball or free joint;
`guess A = 30 deg`: the same for what may move as the closures need.

`couple … and … with TYPE … end`, `contact … and … with TYPE … end`: relations that are no joint.

Gears, belts, racks and cams tie coordinates; wheels and balls roll on planes; contacts are
unilateral.

Public names: Statements, related, COUPLES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from sys import intern
from typing import Any

import liaison.model as model
from liaison.errors import LiaisonError, NamingError, Place, TextError
from liaison.expr import as_expr, symbol, symbols_of
from liaison.formats.lsd.formulas.formulas import Where, in_unit, scalar_of, value_of
from liaison.formats.lsd.formulas.names import Book, Spoiled, no_such
from liaison.formats.lsd.formulas.values import (
    Dimension,
    Quantity,
    Value,
    kind_of,
    known_dimension,
    plain,
    same,
    si_unit,
    spelled,
    unit_of,
    units_in,
)
from liaison.formats.lsd.syntax.grammar import MAX_MISTAKES
from liaison.formats.lsd.syntax.nodes import Node, path_text
from liaison.formats.lsd.syntax.tokens import text_in
from liaison.model import (
    RELATION_KINDS,
    BetweenFrames,
    Constraint,
    Coupling,
    Holonomic,
    Rolling,
)
from liaison.model.kinds import Derived
from liaison.units import ANGLE, LENGTH

from .properties import PropertyReader, Related, coordinate_of
from .starts import needs_attitude, starts_of


def related(name: str | None, node: Node, place: Place, book: Book) -> Any:
    """The relation of a `couple` statement, or the contact of a `contact` statement."""
    kinds: Mapping[str, Any] = COUPLES
    if node.kind != "couple":
        from .contacts import CONTACTS as kinds
    word = node.parts[3]
    if str(word) not in kinds:
        what = "kind of coupling" if node.kind == "couple" else "kind of contact"
        raise no_such(what, str(word), kinds, book.source.of(word), listed=[*kinds])
    relation = Related(name, node, place, book)
    make, takes = kinds[str(word)]
    relation.keys.check(takes)
    return make(relation)


def _gear(x: Related) -> Coupling:
    """r1 A + r2 B = 0: wheels that mesh turn against each other; a ring has a negative radius."""
    (a, b), (r1, r2) = x.checked_labels(ANGLE, ANGLE), x.sizes("teeth", "radii")
    offset = x.scalar("offset", x.unit(b), 0)
    return Coupling(x.name, b, plain(_exact(-r1) / r2), a, offset, place=x.place)


def _belt(x: Related) -> Coupling:
    """r1 A = r2 B: pulleys of one belt turn alike; a crossed belt has a negative radius."""
    (a, b), (r1, r2) = x.checked_labels(ANGLE, ANGLE), x.sizes("radii", "teeth")
    offset = x.scalar("offset", x.unit(b), 0)
    return Coupling(x.name, b, plain(_exact(r1) / r2), a, offset, place=x.place)


def _rack(x: Related) -> Coupling:
    """B = r A + offset: a pinion drives a rack."""
    a, b = x.checked_labels(ANGLE, LENGTH)
    return Coupling(
        x.name, b, x.scalar("radius", "m"), a, x.scalar("offset", "m", 0), place=x.place
    )


def _coupled(x: Related) -> Constraint:
    """A relation as its class says: two coordinates or two frames, and its properties."""
    kind: Any = next(kind for kind in RELATION_KINDS if kind.SIDES and x.kind == kind.LSD)
    of_frames = issubclass(kind, BetweenFrames)
    sides: tuple[Any, Any] = x.frames(turned=False) if of_frames else x.labels()
    arguments: dict[str, Any] = dict(zip(kind.SIDES, sides, strict=True))
    for one in kind.PROPERTIES:
        if not one.optional or x.keys.get(one.key) is not None:
            arguments[one.name] = x.property(one, _unit(one.unit, arguments, x))
    relation: Constraint = kind(name=x.name, **arguments, place=x.place)
    return relation


def _unit(unit: str, sides: Mapping[str, Any], x: Related) -> str:
    """The unit of a property; "@a" is that of the coordinate a, "@a/@b" that of a by b."""
    if not unit.startswith("@"):
        return unit
    labels = [sides[word] for word in unit[1:].split("/@")]
    return x.unit(labels[0]) if len(labels) == 1 else x.unit_of_ratio(*labels)


def _cam(x: Related) -> Holonomic:
    """B = lift(A)."""
    a, b = x.labels()
    node = x.keys.need("lift", x.place)
    local = {"angle": Quantity(symbol(a), x.book.symbols[a].dimension)}
    where = Where(f"{x.name}.lift", x.unit(b), local=local)
    lift = scalar_of(node, x.book, where, x.what("lift"))
    return Holonomic(x.name, symbol(b) - as_expr(lift), place=x.place)


def _rolling(kind: str) -> Callable[[Related], Rolling]:
    def read_rolling(x: Related) -> Rolling:
        wheel, plane = x.frames(turned=kind == "disc")
        return Rolling(x.name, wheel, x.scalar("radius", "m"), plane, kind, place=x.place)

    return read_rolling


def _exact(x: Any) -> Any:
    """A whole number as one that divides exactly."""
    return Fraction(x) if isinstance(x, int) else x


def _couples() -> dict[str, tuple[Callable[[Related], Constraint], tuple[str, ...]]]:
    kinds = [kind for kind in RELATION_KINDS if kind.SIDES]
    couples = {x.LSD: (_coupled, tuple(one.key for one in x.PROPERTIES)) for x in kinds}
    own = couples.pop("proportion")
    return {
        "gear": (_gear, ("teeth", "radii", "offset")),
        "belt": (_belt, ("radii", "teeth", "offset")),
        "rack": (_rack, ("radius", "offset")),
        "proportion": own,
        "cam": (_cam, ("lift",)),
        "rolling_disc": (_rolling("disc"), ("radius", "axis")),
        "rolling_ball": (_rolling("ball"), ("radius",)),
        **couples,
    }


COUPLES: Mapping[str, tuple[Callable[[Related], Constraint], tuple[str, ...]]] = Derived(
    _couples, RELATION_KINDS
)
"""Word behind `couple … and … with` -> how it is read, and its properties."""


def _not_si(units: list[str]) -> str:
    """The first unit that is not SI; "" where there is none."""
    return next((x for x in units if x[0] != '"' and unit_of(x)[0] != 1), "")


class Enough(Exception):
    """So many errors that more would help nobody."""


DIRECTIONS = {"rising": 1, "falling": -1, "crossing": 0}


class Statements:
    """What the small statements of a text make."""

    def __init__(self, book: Book) -> None:
        self.book = book
        self.inputs: list[model.Input] = []
        self.starts: list[model.Start] = []
        self.events: list[model.Event] = []
        self.outputs: list[model.Output] = []
        self.constraints: list[model.Constraint] = []
        self.contacts: list[model.OneSided] = []
        self.early: list[Callable[[], Any]] = []
        self.later: list[Callable[[], Any]] = []
        self.last: list[Callable[[], Any]] = []  # what needs the starts of positions
        self.places_of_values: dict[str, Place] = {}
        self.errors: list[LiaisonError] = []
        self.some_are_missing = False  # names, because what would declare them was rejected

    def declare(self, statement: Node) -> None:
        """First pass: names; what needs coordinates is put off."""
        name_node = statement.parts[1]
        place = (
            self.book.source.at(name_node)
            if isinstance(name_node, Node)
            else self.word_place(name_node)
        )
        getattr(self, intern(f"_{statement.kind}"))(statement, place)

    def read_early(self) -> None:
        """Second pass, when all names are known: parameters and inputs."""
        for read in self.early:
            self.tried(read)

    def read_late(self) -> None:
        """Last pass, when all coordinates are known."""
        for read in self.later:
            self.tried(read)
        for read in self.last:
            self.tried(read)

    def tried(self, read: Callable[[], Any], name: str | None = None) -> Any:
        """What a reading gives; None where it is rejected, which is noted and spoils the name."""
        try:
            return read()
        except LiaisonError as error:
            self.note_error(error)
            if name is not None:
                self.book.spoiled.add(name)
            return None

    def note_error(self, error: LiaisonError) -> None:
        """Notes an error, unless it only follows from another or was noted before."""
        known = {(x.message, x.place) for x in self.errors}
        follows = isinstance(error, NamingError) and self.some_are_missing
        if isinstance(error, Spoiled) or follows or (error.message, error.place) in known:
            return
        self.errors.append(error)
        if len(self.errors) >= MAX_MISTAKES:
            raise Enough

    def word_place(self, token: Any) -> Place:
        """The place of a word."""
        return self.book.source.place(token.line, token.column, len(token))

    # ---- parameter, input

    def _parameter(self, statement: Node, place: Place) -> None:
        name = path_text(statement.parts[1])
        if isinstance(statement.parts[1], Node):
            # the value of something that was named by its place
            self.places_of_values[name] = place
            self.book.declared_parameters[name] = lambda unit: self.parameter(
                statement, name, unit, place
            )
            return
        self.book.declare(name, place)
        self.book.symbols[name] = Quantity(symbol(name), None)
        self.early.append(
            lambda: self.book.add_parameter(self.parameter(statement, name, "", place))
        )

    def parameter(self, statement: Node, name: str, unit: str, place: Place) -> model.Parameter:
        """The record: value, unit and bounds; all constants."""
        parts = {part.kind: part for part in statement.parts[2:]}
        unit_node, bounds = parts.pop("unit", None), parts.pop("bounds", None)
        ends = [parts.pop(word, None) for word in ("above", "below")]
        low, high = bounds.parts if bounds else (end and end.parts[0] for end in ends)
        value = next(iter(parts.values()), None)
        factor: Any = Fraction(1)
        written = [] if value is None else units_in(value)
        if unit_node is not None:
            factor, dimension, word = self.unit_in(unit_node)
            written = [str(unit_node.parts[0])]
            unit = unit or (word if word else si_unit(dimension))
        what = f"parameter {name!r}"
        quantities = [
            None if node is None else self.constant(node, name, what) for node in (value, low, high)
        ]
        unit = unit or next((si_unit(q.dimension) for q in quantities if q and not q.bare), "")
        self.check_units(quantities, unit, what, place)
        scaled = [q and (q.value * factor if q.bare else q.value) for q in quantities]
        return model.Parameter(
            name, *(scaled[0], unit, scaled[1], scaled[2]), place, written_in=_not_si(written)
        )

    def unit_in(self, node: Node) -> tuple[Any, Dimension | None, str]:
        """Factor and dimension of `in UNIT`; one in quotes is SI and kept as it is written."""
        token = node.parts[0]
        if token.startswith('"'):
            return Fraction(1), known_dimension(text_in(token)), text_in(token)
        return *unit_of(str(token), self.word_place(token)), ""

    def constant(self, node: Node, name: str, what: str) -> Quantity:
        """A number that depends on nothing."""
        value = self.quantity(node, name, what)
        if symbols_of([as_expr(value.value)]):
            raise self.book.source.error(
                f"the value of {what} depends on other quantities.",
                node,
                hint="A parameter is a number; write 'let NAME = …' for what follows from others.",
            )
        return value

    def check_units(
        self, quantities: list[Quantity | None], unit: str, what: str, place: Place
    ) -> None:
        """One dimension for value and bounds."""
        dimension = known_dimension(unit)
        for q in quantities:
            if q is not None and not q.bare and not same(q.dimension, dimension):
                raise TextError(
                    f"{what} is {spelled(dimension)}, not {spelled(q.dimension)}.", place=place
                )

    def _input(self, statement: Node, place: Place) -> None:
        name = self.book.declare(str(statement.parts[1]), place)
        self.book.symbols[name] = Quantity(symbol(name), None)
        self.early.append(lambda: self.input(statement, name, place))

    def input(self, statement: Node, name: str, place: Place) -> None:
        """A quantity given at run time; zero unless the text says otherwise."""
        record = self.parameter(statement, name, "", place)
        default = 0 if record.value is None else record.value
        written = record.written_in
        self.inputs.append(model.Input(name, record.unit, default, place, written_in=written))
        self.book.symbols[name] = Quantity(symbol(name), known_dimension(record.unit))

    # ---- laws, outputs, events, starts

    def _law(self, statement: Node, place: Place) -> None:
        name = path_text(statement.parts[1])
        self.book.bindings[name] = statement
        self.places_of_values[name] = place

    def _output(self, statement: Node, place: Place) -> None:
        name = self.book.declare(str(statement.parts[1]), place)
        self.book.lets[name] = statement.parts[2]  # for events and other outputs, in SI
        self.book.outputs.add(name)
        self.later.append(lambda: self.outputs.append(self.output(statement, name, place)))

    def output(self, statement: Node, name: str, place: Place) -> model.Output:
        """A formula to be recorded, in SI or in the unit behind 'in'."""
        value_of_name = self.book.values.get(name) or self.book.value_of_let(name)
        value = self.scalar(value_of_name, statement.parts[2], f"output {name!r}")
        if len(statement.parts) < 4:
            return model.Output(name, value.value, si_unit(value.dimension), place=place)
        token = statement.parts[3].parts[0]
        factor, dimension, word = self.unit_in(statement.parts[3])
        if value.bare:  # a number alone is in that unit already
            return model.Output(name, value.value, word or str(token), place=place)
        if not same(value.dimension, dimension):
            raise TextError(
                f"output {name!r} is {spelled(value.dimension)}, not {spelled(dimension)}.",
                place=self.word_place(token),
            )
        return model.Output(name, as_expr(value.value) / factor, word or str(token), place=place)

    def _event(self, statement: Node, place: Place) -> None:
        name = self.book.declare(str(statement.parts[1]), place)
        words = [str(part) for part in statement.parts[3:]]
        direction = next((DIRECTIONS[w] for w in words if w in DIRECTIONS), 0)
        action = "stop" if "stop" in words else "record"

        def read() -> None:
            formula = self.quantity(statement.parts[2], name, f"event {name!r}").value
            self.events.append(model.Event(name, formula, direction, action, place=place))

        self.later.append(read)

    def _initial(self, statement: Node, place: Place) -> None:
        word, left, right = statement.parts
        is_guess = word == "guess"

        def read() -> None:
            begun = starts_of(left, right, place, self.book, self.starts)
            self.starts += [replace(x, is_guess=is_guess) for x in begun]

        def read_in_turn() -> None:
            if needs_attitude(left, self.book):
                self.last.append(read)
            else:
                read()

        self.later.append(read_in_turn)

    # ---- relations

    def relation(self, name: str | None, node: Node, place: Place) -> None:
        """impose A = law(t), require formula = formula, couple, contact."""
        if node.kind == "impose":
            self.constraints.append(self.imposed(name, node, place))
        elif node.kind == "couple":
            self.constraints.append(related(name, node, place, self.book))
        elif node.kind == "contact":
            self.contacts.append(related(name, node, place, self.book))
        elif node.kind == "touch":
            from .contacts import gap_contact

            self.contacts.append(gap_contact(name, node, place, self.book))
        elif node.kind == "collide":
            from .contacts import collision_of

            self.contacts.append(collision_of(name, node, place, self.book))
        else:
            self.required(name, node, place)

    def required(self, name: str | None, node: Node, place: Place) -> None:
        """require formula = formula, or formula <= formula, or formula >= formula."""
        left, right = node.parts[1:3]
        name = name or self.book.free_name("relation")
        self.book.places.setdefault(name, place)
        what = f"relation {name!r}"
        a, b = self.quantity(left, name, what), self.quantity(right, name, what)
        if not (a.bare or b.bare or same(a.dimension, b.dimension)):
            verb = "equates" if node.kind == "require" else "compares"
            raise self.book.source.error(
                f"{what} {verb} {spelled(a.dimension)} with {spelled(b.dimension)}.", left
            )
        formula = as_expr(a.value) - as_expr(b.value)
        if node.kind != "require":
            allowed = formula if node.kind == "limit" else -formula
            restitution = self.restitution(name, node, place)
            self.contacts.append(model.Unilateral(name, allowed, restitution, place=place))
            return
        speeds = {x for joint in self.book.joints.values() for x in joint.speeds}
        speeds |= {x for x in self.book.labels if x.endswith("'")}
        has_rates = any(x.name in speeds or x.name.endswith("'") for x in symbols_of([formula]))
        record = model.Nonholonomic if has_rates else model.Holonomic
        self.constraints.append(record(name, formula, place=place))

    def restitution(self, name: str, node: Node, place: Place) -> Any:
        """Of a limit, behind its 'with'."""
        if len(node.parts) < 4:
            return 0
        relation = PropertyReader(name, "relation", node.parts[3], place, self.book)
        relation.keys.check(("restitution",))
        return relation.scalar("restitution", "")

    def imposed(self, name: str | None, node: Node, place: Place) -> model.PrescribedMotion:
        """A coordinate that follows a law of time."""
        label = coordinate_of(node.parts[1], self.book)
        name = name or self.book.free_name(f"imposed_{label}")
        self.book.places.setdefault(name, place)
        unit = si_unit(self.book.symbols[label].dimension)
        what = f"the motion of {label!r}"
        law = in_unit(
            value_of(node.parts[2], self.book, Where(name)),
            node.parts[2],
            self.book,
            Where(name, unit),
            what,
        )
        return model.PrescribedMotion(name, label, law.value, place=place)

    def quantity(self, node: Node, path: str, what: str) -> Quantity:
        """The scalar of a formula."""
        return self.scalar(value_of(node, self.book, Where(path)), node, what)

    def scalar(self, value: Value, node: Node, what: str) -> Quantity:
        """The value of a formula, which must be a scalar."""
        if isinstance(value, Quantity):
            return value
        raise self.book.source.error(f"{what} is a number, not {kind_of(value)}.", node)
