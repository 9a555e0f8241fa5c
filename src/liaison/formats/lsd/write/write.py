"""A mechanism as LSD text: the canonical form, which reads back as the same mechanism.

`read_lsd(write_lsd(m)) == m` for every mechanism made of the house's own records.

Loads, relations and the small statements as LSD text.

Public names: write_lsd, Acts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import liaison.model as model
from liaison.errors import LiaisonError
from liaison.expr import Expr, as_expr, collector_paused, substitute, symbol, symbols_of
from liaison.formats.guard import MAX_BODIES
from liaison.formats.lsd.formulas.formulas import ANY
from liaison.formats.lsd.formulas.values import known_dimension, si_unit, unit_of
from liaison.formats.lsd.meaning.contacts import FRICTION
from liaison.formats.lsd.meaning.statements import DIRECTIONS
from liaison.formats.lsd.syntax.parse import MAX_LINE, MAX_TEXT
from liaison.formats.lsd.syntax.tokens import TEXT
from liaison.model import Gravity, Mechanism
from liaison.model.checks import MEANINGS
from liaison.model.kinds import Property

from .formulas import label_of, name_of, quoted, unwritable
from .parts import Parts
from .values import Writer

_DIRECTION_WORDS = {sign: word for word, sign in DIRECTIONS.items()}


class Acts:
    """Writes what acts, what is required, and what is given, looked for and shown."""

    def __init__(self, parts: Parts, units: dict[str, str]) -> None:
        self.parts, self.writer = parts, parts.writer
        self.units = units  # of coordinates and speeds, by label

    # ---- loads

    def force(self, force: Any, handle: str) -> str:
        """let NAME = apply KIND … end on … ;"""
        if type(force) not in model.LOAD_KINDS:
            raise unwritable(f"the load {force.name!r} ({type(force).__name__})")
        kind, pairs, target = _FORCES.get(type(force), Acts.load)(self, force)
        listed = f" {', '.join(pairs)}" if pairs else ""
        return f"let {name_of(handle)} = apply {kind}{listed} end{target and f' on {target}'} ;"

    def measure(self, measure: Any) -> tuple[str, bool]:
        """What an effort works on, and whether it is an angle."""
        if isinstance(measure, model.Cable):
            return self.cable(measure), False
        label = measure if isinstance(measure, str) else "".join(measure.labels())
        if label:
            return label_of(label), self.units[label] == "rad"
        a, b = self.parts.frame(measure.a), self.parts.frame(measure.b)
        if isinstance(measure, model.Distance):
            return f"{a} and {b}", False
        if isinstance(measure, model.Angle):
            return f"angle({a}, {b})", True
        raise unwritable(f"the measure {type(measure).__name__}")

    def cable(self, x: model.Cable) -> str:
        """cable(factor, part, factor, part, …, offset)."""
        words = []
        for factor, part in x.terms:
            if isinstance(part, model.Distance):
                on = f"distance({self.parts.frame(part.a)}, {self.parts.frame(part.b)})"
            else:
                on = label_of(part.label)
            words += [self.writer.formula(factor), on]
        return f"cable({', '.join([*words, self.writer.scalar(x.offset, 'm')])})"

    def load(self, x: Any) -> Any:
        """A load as its class says: its word, its properties, what it acts along."""
        on, is_angle = "", False
        if x.ON:
            on, is_angle = self.measure(getattr(x, x.ON))
        elif isinstance(x, model.AtMarker):
            on = self.parts.frame(x.at())
        known = [one for one in x.PROPERTIES if getattr(x, one.name) is not None]
        pairs = [self.property(x, one, one.unit_along(is_angle)) for one in known]
        return x.LSD, pairs, on

    def property(self, x: Any, one: Property, unit: str) -> str:
        """key = value, of a property that a kind has."""
        value = getattr(x, one.name)
        if one.vector:
            return f"{one.key} = {self.writer.vector(value, unit)}"
        if unit == ANY or unit.startswith("@"):
            return f"{one.key} = {self.writer.formula(value)}"
        return self.pair(one.key, value, unit)

    def memory(self, x: model.Memory) -> Any:
        """A state: its rate and its unit."""
        unit = [f"unit = {quoted(x.unit)}"] if x.unit else []
        is_known = known_dimension(x.unit)
        rate = (
            self.writer.scalar(x.rate, f"{x.unit}/s") if is_known else self.writer.formula(x.rate)
        )
        return "state", [f"rate = {rate}", *unit], ""

    def actuator(self, x: model.Actuator) -> Any:
        """torque or force."""
        on, is_angle = self.measure(x.measure)
        word, unit = ("torque", "N*m") if is_angle else ("force", "N")
        return "motor", [f"{word} = {self.writer.scalar(x.effort, unit)}"], on

    def wrench(self, x: model.PointWrench) -> Any:
        """force, torque, and in whose axes."""
        force, moment = self.writer.vector(x.force, "N"), self.writer.vector(x.moment, "N*m")
        pairs = [f"force = {force}", f"torque = {moment}"]
        if x.axes is not None:
            pairs.append(f"body = {self.parts.frame(x.axes)}")
        return "wrench", pairs, self.parts.frame(x.marker)

    # ---- relations

    def constraint(self, x: Any, handle: str) -> str:
        """let NAME = impose …, require …, couple …, contact … ;"""
        writer = _RELATIONS.get(type(x))
        if writer is None and type(x) in model.RELATION_KINDS and x.SIDES:
            writer = Acts.coupled
        if writer is None:
            raise unwritable(f"the relation {x.name!r} ({type(x).__name__})")
        return f"let {name_of(handle)} = {writer(self, x)} ;"

    def imposed(self, x: model.PrescribedMotion) -> str:
        """A law of time."""
        law = self.writer.scalar(x.law, self.units[x.coordinate])
        return f"impose {label_of(x.coordinate)} = {law}"

    def required(self, x: model.Holonomic | model.Nonholonomic) -> str:
        """A formula that stays zero."""
        return f"require {self.writer.formula(x.formula)} = 0"

    def limited(self, x: model.Unilateral) -> str:
        """A formula that never becomes positive."""
        e = "" if is_none(x.restitution) else f" with {self.pair('restitution', x.restitution)} end"
        return f"require {self.writer.formula(x.formula)} <= 0{e}"

    def coupled(self, x: model.Constraint) -> str:
        """A relation between two coordinates or two frames, as its class says."""
        sides = [getattr(x, part) for part in x.SIDES]
        written = [
            self.parts.frame(y) if isinstance(y, model.Marker) else label_of(y) for y in sides
        ]
        pairs = [self.property(x, one, one.unit) for one in x.PROPERTIES]
        listed = f" {', '.join(pairs)}" if pairs else ""
        return f"couple {' and '.join(written)} with {x.LSD}{listed} end"

    def rolling(self, x: model.Rolling) -> str:
        """A wheel or a ball on a plane."""
        sides = f"{self.parts.frame(x.wheel)} and {self.parts.frame(x.plane)}"
        radius = self.writer.scalar(x.radius, "m")
        return f"couple {sides} with rolling_{x.kind} radius = {radius} end"

    def contact(self, x: model.Contact) -> str:
        """A point, a ball or a disc above a plane."""
        sides = f"{self.parts.frame(x.first)} and {self.parts.frame(x.second)}"
        pairs = [self.size(x, one) for one in x.shape.SIZES]
        pairs += [self.size(x, one) for one in x.target.KEYS if one.key in dict(x.more)]
        lengths = {k: getattr(x, k) for k in ("outside", "inside", "along", "edge")}
        pairs += [self.pair(k, r, "m") for k, r in lengths.items() if r is not None]
        if x.block is not None:
            pairs.append(f"block = {self.writer.vector(x.block, 'm')}")
        local: dict[str, dict[Any, str]] = {
            "surface": dict(zip(model.SURFACE, "xy", strict=True)),
            "profile": {model.PROFILE: "angle"},
            "curve": {model.CURVE: "s"},
        }
        present = [(k, names) for k, names in local.items() if getattr(x, k) is not None]
        pairs += [f"{k} = {self.own_names(x, k, names)}" for k, names in present]
        if x.span is not None:
            pairs.append(f"span = {_listed([self.writer.scalar(end, 'rad') for end in x.span])}")
        listed = ", ".join([*pairs, *self.friction(x.friction), *self.restitution(x)])
        return f"contact {sides} with {x.kind} {listed} end"

    def size(self, x: model.Contact, one: Property) -> str:
        """key = value, of a size of what touches or of what is touched."""
        value = x.value_of(one.key)
        if one.shape:
            return f"{one.key} = {self.parts.shape(value)}"
        if one.vector:
            return f"{one.key} = {self.writer.vector(value, one.unit)}"
        return self.pair(one.key, value, one.unit)

    def own_names(self, x: model.Contact, key: str, names: dict[Any, str]) -> str:
        """A formula of a surface or profile, or two of a curve, by names of their own."""
        value = getattr(x, key)
        formulas = [as_expr(f) for f in (value if key == "curve" else (value,))]
        in_use = {s.name for s in symbols_of(formulas)} & set(names.values())
        if in_use:
            what = f"the {key} of contact {x.name!r}, which has a parameter {min(in_use)!r},"
            raise unwritable(what)
        writer = Writer(self.writer.units)
        meanings = {s: symbol(word) for s, word in names.items()}
        texts = [writer.scalar(f, "m") for f in substitute(formulas, meanings)]
        if writer.lets:
            raise unwritable(f"the long {key} of contact {x.name!r}")
        return _listed(texts) if key == "curve" else texts[0]

    def touch(self, x: model.GapContact) -> str:
        """A contact defined by formulas."""
        slips = [self.writer.formula(slip) for slip in x.slips]
        slip = [f"slip = {slips[0] if len(slips) == 1 else _listed(slips)}"] if slips else []
        pairs = [f"gap = {self.writer.formula(x.gap)}", *slip, *self.friction(x.friction)]
        return f"contact {', '.join([*pairs, *self.restitution(x)])} end"

    def collision(self, x: model.Collision) -> str:
        """Contact among many."""
        groups = [", ".join(map(self.parts.frame, group)) for group in (x.parts, x.others)]
        field = [] if x.terrain is None else [f"terrain = {self.parts.shape(x.terrain)}"]
        pairs = ", ".join([*field, *self.friction(x.friction), *self.restitution(x)])
        properties = f" with {pairs} end" if pairs else ""
        return f"collide {' and '.join(filter(None, groups))}{properties}"

    def pair(self, key: str, value: Any, unit: str = "") -> str:
        """key = value."""
        return f"{key} = {self.writer.scalar(value, unit)}"

    def restitution(self, x: Any) -> list[str]:
        """The restitution, where there is one."""
        return [] if is_none(x.restitution) else [self.pair("restitution", x.restitution)]

    def friction(self, x: model.Friction) -> list[str]:
        """What differs from no friction."""
        values = {key: (getattr(x, field), unit) for key, (field, unit) in FRICTION.items()}
        pairs = [self.pair(key, *value) for key, value in values.items() if not is_none(value[0])]
        return pairs + self.law(x, "m/s")

    def law(self, x: Any, unit: str) -> list[str]:
        """A law other than Coulomb's, with its speed."""
        return [] if x.law == "coulomb" else [self.pair(x.law, x.speed, unit)]

    def dry(self, x: model.DryFriction) -> str:
        """Friction that holds a coordinate at rest."""
        on, is_angle = self.measure(x.coordinate)
        effort, rate = ("N*m", "rad/s") if is_angle else ("N", "m/s")
        units = {"dry": effort, "static": effort, "viscous": f"{effort}*s/{rate[:-2]}"}
        values = {key: (getattr(x, key), unit) for key, unit in units.items()}
        pairs = [self.pair(key, *value) for key, value in values.items() if not is_none(value[0])]
        exact = ["smoothing = 0"] if x.static is None and x.law == "coulomb" else []
        listed = ", ".join([*pairs, *self.law(x, rate), *exact])
        return f"apply friction {listed} end on {on}"

    def bearing(self, x: model.BearingFriction) -> str:
        """Friction that grows with the load of a joint."""
        values = {"static": (x.static, ""), "radius": (x.radius, "m")}
        pairs = [self.pair(key, *value) for key, value in values.items() if value[0] is not None]
        law = self.law(x, "m/s" if x.radius is None else "rad/s")
        listed = ", ".join([self.pair("coefficient", x.coefficient), *pairs, *law])
        return f"apply friction {listed} end on {label_of(x.joint)}"

    # ---- what is given

    def parameter(self, x: model.Parameter) -> str:
        """parameter NAME = value in UNIT between low and high ;"""
        value = "" if x.value is None else f" = {self.writer.formula(x.value)}"
        return f"parameter {name_of(x.name)}{value}{unit_text(x.unit)}{self.bounds(x)} ;"

    def bounds(self, x: model.Parameter) -> str:
        """between low and high."""
        if x.low is None and x.high is None:
            return ""
        if x.low is None or x.high is None:
            word, end = ("above", x.low) if x.high is None else ("below", x.high)
            return f" {word} {self.writer.formula(end)}"
        return f" between {self.writer.formula(x.low)} and {self.writer.formula(x.high)}"

    def input(self, x: model.Input) -> str:
        """input NAME = default in UNIT ;"""
        return f"input {name_of(x.name)} = {self.writer.formula(x.default)}{unit_text(x.unit)} ;"

    def start(self, x: model.Start) -> str:
        """start LABEL = value ; or guess LABEL = value ;"""
        unit = self.units[x.label]
        word = "guess" if x.is_guess else "start"
        return f"{word} {label_of(x.label)} = {self.writer.scalar(x.value, unit)} ;"

    def event(self, x: model.Event, handle: str) -> str:
        """event NAME when formula rising stop ;"""
        word, formula = _DIRECTION_WORDS[x.direction], self.writer.formula(x.formula)
        return f"event {name_of(handle)} when {formula} {word} {x.action} ;"

    def output(self, x: model.Output) -> str:
        """output NAME = formula in UNIT ;"""
        unit = f" in {quoted(x.unit)}" if x.unit else ""
        if x.unit and _is_unit(x.unit):
            unit = f" in {x.unit}"
        text = self.writer.formula(x.formula)
        if isinstance(x.formula, Expr) and not text.startswith("si("):
            text = f"si({text})"  # an angle written as a constant would bring its unit
        return f"output {name_of(x.name)} = {text}{unit} ;"


def is_none(x: Any) -> bool:
    """Whether a coefficient is not there: None, or an exact 0."""
    return x is None or (isinstance(x, int) and x == 0)


def _listed(texts: list[str]) -> str:
    return f"[{', '.join(texts)}]"


def unit_text(unit: str) -> str:
    """in UNIT; in quotes where the word is not the SI unit as the house writes it."""
    if not unit:
        return ""
    if _is_unit(unit):
        factor, dimension = unit_of(unit)
        if factor == Fraction(1) and si_unit(dimension) == unit:
            return f" in {unit}"
    return f" in {quoted(unit)}"


def _is_unit(unit: str) -> bool:
    try:
        unit_of(unit)
    except LiaisonError:
        return False
    return " " not in unit and not unit.startswith("1")


_FORCES: dict[type, Any] = {
    model.Actuator: Acts.actuator,
    model.PointWrench: Acts.wrench,
    model.Memory: Acts.memory,
}
_RELATIONS: dict[type, Any] = {
    model.PrescribedMotion: Acts.imposed,
    model.Holonomic: Acts.required,
    model.Nonholonomic: Acts.required,
    model.Rolling: Acts.rolling,
    model.Unilateral: Acts.limited,
    model.Contact: Acts.contact,
    model.GapContact: Acts.touch,
    model.Collision: Acts.collision,
    model.DryFriction: Acts.dry,
    model.BearingFriction: Acts.bearing,
}


def write_lsd(mechanism: Mechanism) -> str:
    """The text of a mechanism, one statement for each of its records.

    Raises:
        TextError: something of it is of a kind that is not the house's own (a joint type, a load,
            a shape), or it is larger than what may be read.

    Example:
        >>> import liaison
        >>> text = liaison.write_lsd(liaison.read("examples/pendulum.lsd"))
        >>> liaison.read(text).name
        'pendulum'
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
            raise unwritable(f"{mechanism.name[:40]!r}: {size} {what} are more than {limit} and")
    return text


class _Text:
    """The sections of a text, and the words that the parts go by."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = m = mechanism
        labels: tuple[Any, ...] = (*m.joints, *m.parameters, *m.inputs, *m.outputs)
        self.taken = {*MEANINGS, *(x.name for x in labels)}
        self.renames: list[str] = []
        self.taken |= {x.name for x in m.forces if x.states()}  # formulas name their states
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
        handles = {}
        for record in records:
            handle, count = record.name, 1
            is_label = isinstance(record, model.Force) and record.states()
            while handle in self.taken and not is_label:
                count += 1
                handle = f"{record.name}_{count}"
            if handle != record.name:
                self.renames.append(f"{name_of(handle)}.name = {quoted(record.name)} ;")
            self.taken.add(handle)
            handles[record.name] = handle
        return handles

    def text(self) -> str:
        """All sections, with a line between them."""
        m, acts, parts = self.mechanism, self.acts, self.parts
        bodies, relations, forces, events = self.handles
        loads, head = self.loads(), self.head()
        declared = [acts.parameter(x) for x in m.parameters] + [acts.input(x) for x in m.inputs]
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
        filled = [section for section in [head, declared, self.writer.lets, *sections] if section]
        return "\n\n".join("\n".join(map(folded, section)) for section in filled) + "\n"

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
        values = (getattr(record, f.name) for f in fields(record) if f.compare)
        return [x for part in values for x in _formulas(part)]
    return []


def _is_plain(force: Any) -> bool:
    return isinstance(force, Gravity) and force.name == "gravity"


def _units(mechanism: Mechanism) -> dict[str, str]:
    """The unit of every coordinate and speed."""
    units: dict[str, str] = {}
    for joint in mechanism.joints:
        units |= zip(joint.coordinates, joint.type.coordinate_units, strict=True)
        units |= zip(joint.speeds, joint.type.speed_units, strict=True)
    known = {x.name: x.unit if known_dimension(x.unit) else "" for x in mechanism.states}
    return units | known


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
    pieces: list[str] = []
    depth = 0
    for word in words:
        is_open = brackets and depth > 0
        if pieces and (is_open or not (pieces[-1].endswith(",") or word in _BEFORE)):
            pieces[-1] += f" {word}"
        else:
            pieces.append(word)
        bare = re.sub(rf"`[^`]*`|{TEXT}", "", word)
        depth += sum(bare.count(x) for x in "([") - sum(bare.count(x) for x in ")]")
    return pieces
