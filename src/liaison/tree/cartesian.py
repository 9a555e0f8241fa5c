"""Cartesian coordinates: every body on the ground by its own joint, every joint a closure.

    q = (x₁, y₁, θ₁, x₂, y₂, θ₂, …) in a plane,  (x, y, z, quaternion) of each body in space

The coordinates of a body are those of its mass center, so that M is constant and diagonal by
bodies. Joint coordinates that loads, relations and outputs name are written as formulas of the new
ones where that can be done (hinges and sliders in a plane); other joints keep theirs, tied by a row
each.

Loads and relations on planar hinges and sliders rewritten in x, y and θ of the bodies.

    angle = s (θ_successor − θ_predecessor) + a,    slide = z_F · (p_M − p_F)         (cartesian-1)

s = ±1 as the hinge's axis is along the plane's normal or against it. Turns are counted: θ is not
taken modulo 2π. An effort along a coordinate becomes a couple, or two forces along one line.

Where bodies are when a mechanism is assembled, and whether they all move along one plane.

Public names: PARAMETRIZATIONS, parametrized, cartesian, CartesianBody, rewritten, Standing,
standing, plane_normal, tidy.

Source: JB94 §2.2 (kinds of coordinates); docs/theory/parametrizations.md (cartesian-1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import DerivationError, NamingError
from liaison.expr import (
    PI,
    Expr,
    as_expr,
    directional,
    evaluate,
    gradient,
    substitute,
    symbol,
    symbols_of,
)
from liaison.model import (
    AlongMeasure,
    Body,
    Constraint,
    Coordinate,
    Dissipation,
    Force,
    Free,
    GravityCompensation,
    Holonomic,
    Joint,
    JointType,
    Marker,
    Mechanism,
    Nonholonomic,
    OfCoordinates,
    OfMechanism,
    Planar,
    PointWrench,
    Potential,
    Start,
)
from liaison.numeric import State
from liaison.spatial import quaternion_of
from liaison.spatial.arrays import Array, array, identity, product, zeros
from liaison.spatial.plucker import compose, inverse

from .assemble import assemble
from .kinematics import Kinematics
from .tree import GROUND, Transform, Tree, as_float, coordinates_in_use, span

Floats = NDArray[np.float64]

ROUNDING = 1e-11
"""What assembly leaves of an exact number [m, 1]."""


@final
@dataclass(frozen=True, slots=True)
class Standing:
    """An assembled mechanism: its state, and of each body R, p, ω and ṗ in the ground's axes."""

    state: State
    values: Mapping[Expr, float]  # of time, parameters, inputs, positions and velocities
    bodies: Mapping[str, tuple[Floats, Floats, Floats, Floats]]

    def axes(self, joint: Joint) -> Floats:
        """The axes of a joint's marker F as columns, in the ground's axes."""
        return np.asarray(self.bodies[joint.predecessor.body][0] @ self.floats(joint.predecessor.R))

    def floats(self, entries: Any) -> Floats:
        """Numbers and formulas as floats, in their shape."""
        formulas = np.asarray(array(entries), dtype=object)
        flat = evaluate([as_expr(as_float(x)) for x in formulas.flat], dict(self.values))
        return np.array([float(x) for x in flat]).reshape(formulas.shape)

    def center(self, body: Body) -> tuple[Floats, Floats]:
        """Place and velocity of a body's mass center, in the ground's axes."""
        R, p, omega, velocity = self.bodies[body.name]
        r = R @ self.floats(body.com)
        return p + r, velocity + np.cross(omega, r)


def standing(tree: Tree) -> Standing:
    """The mechanism assembled from its starts.

    Raises:
        AssemblyError: it cannot be, or something that places a body has no value.
    """
    state = assemble(tree)
    q = [symbol(label.name) for label in tree.position_labels()]
    v = [symbol(label.name) for label in tree.velocity_labels()]
    values = {symbol("t"): state.t} | _values(tree)
    values |= dict(zip(q, state.q.tolist(), strict=True))
    values |= dict(zip(v, state.v.tolist(), strict=True))
    kinematics = Kinematics(tree, array(q), array(v))
    bodies = {"ground": (np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3))}
    for body in tree.mechanism.bodies[1:]:
        node, X_NB = tree.frames[body.name]
        formulas = _frame(kinematics, node, X_NB)
        flat = np.array([float(x) for x in evaluate([as_expr(x) for x in formulas], values)])
        bodies[body.name] = (flat[:9].reshape(3, 3), flat[9:12], flat[12:15], flat[15:])
    return Standing(state, values, bodies)


def _values(tree: Tree) -> dict[Expr, float]:
    """Values of parameters and inputs; of one that has none, any: it places no body."""
    mechanism = tree.mechanism
    values = {x.name: 0 if x.value is None else x.value for x in mechanism.parameters}
    by_symbol = {symbol(name): float(as_float(x)) for name, x in values.items()}
    return by_symbol | {symbol(x.name): float(as_float(x.default)) for x in mechanism.inputs}


def _frame(kinematics: Kinematics, node: int, X_NB: Transform) -> list[Any]:
    """R row by row, p, ω and ṗ of a body's own frame, as formulas."""
    motion = kinematics.motion(GROUND, node)
    r = product(motion.R, X_NB[1])
    whirl = np.cross(motion.omega, r)
    R = product(motion.R, X_NB[0])
    return [*R.flat, *(motion.p + r), *motion.omega, *(motion.velocity + whirl)]


def plane_normal(tree: Tree, stands: Standing) -> Floats | None:
    """The normal of a plane along which every joint moves, in ground's axes; None if none is."""
    moves = [(joint, stands.axes(joint)) for joint in tree.mechanism.joints]
    twists = [twist for joint, R in moves for twist in _twists(joint, R)]
    n = _candidate(twists)
    for turn, slide in twists:
        if np.linalg.norm(np.cross(turn, n)) > ROUNDING * 1e3 or abs(slide @ n) > ROUNDING * 1e3:
            return None
    return n


def _twists(joint: Joint, R: Floats) -> list[tuple[Floats, Floats]]:
    """Turning and sliding for a unit of each velocity, at several positions of the joint."""
    kind, draw = joint.type.mapped(as_float), np.random.default_rng(0)
    twists = []
    for _ in range(3):
        q = list(kind.normalized(draw.uniform(-1, 1, kind.nq).tolist()))
        turned, _ = kind.pose(q)
        S, back = np.array(kind.subspace(q), float), R @ np.array(turned, float)
        twists += [(back @ S[:3, k], back @ S[3:, k]) for k in range(kind.nv)]
    return twists


def _candidate(twists: list[tuple[Floats, Floats]]) -> Floats:
    """The direction of a turn; else across two slides; else across one."""
    turns = [turn for turn, _ in twists if np.linalg.norm(turn) > 1e-6]
    slides = [slide for _, slide in twists if np.linalg.norm(slide) > 1e-6]
    if not turns and slides:
        others = [np.cross(slides[0], x) for x in (*slides[1:], *np.eye(3)[::-1])]
        turns = [x for x in others if np.linalg.norm(x) > 1e-6]
    n = turns[0] if turns else np.array([0.0, 0.0, 1.0])
    return np.asarray(n / np.linalg.norm(n))


def tidy(x: float) -> Any:
    """The simple fraction that a float stands for within rounding; else the float."""
    near = Fraction(x).limit_denominator(1000)
    if abs(float(near) - x) > ROUNDING:
        return x
    return near.numerator if near.denominator == 1 else near


def axes_along(n: Floats) -> Array:
    """Axes with z along n, and x next to the first axis that is not along n."""
    x = next(e for e in np.eye(3) if abs(e @ n) < 0.9)
    x = x - (x @ n) * n
    x /= np.linalg.norm(x)
    columns = np.column_stack([x, np.cross(n, x), n])
    return array([[tidy(float(entry)) for entry in row] for row in columns])


PARTS = {"turn": "moment", "slide": "force"}
"""What an effort along the only coordinate of a joint is, by the joint's bearing."""


def rewritten(
    mechanism: Mechanism,
    planes: Mapping[str, Joint],
    stands: Standing,
    starts: Mapping[str, float],
    n: Floats,
) -> Mechanism:
    """The mechanism on its new joints; loads, relations, outputs and events name x, y, θ.

    Args:
        mechanism: that moves along a plane.
        planes: body -> its own joint to the ground.
        stands: the mechanism, assembled.
        starts: where x, y and θ begin.
        n: the plane's normal.
    """
    uses = _Rewriter(mechanism, planes, stands, starts, n)
    return replace(
        mechanism,
        joints=(*mechanism.joints, *planes.values()),
        starts=(),
        forces=tuple(new for force in mechanism.forces for new in uses.force(force)),
        constraints=tuple(map(uses.constraint, mechanism.constraints)),
        outputs=tuple(replace(x, formula=uses.formula(x.formula)) for x in mechanism.outputs),
        events=tuple(replace(x, formula=uses.formula(x.formula)) for x in mechanism.events),
    )


class _Rewriter:
    """Coordinates of hinges and sliders as formulas."""

    def __init__(
        self,
        mechanism: Mechanism,
        planes: Mapping[str, Joint],
        stands: Standing,
        starts: Mapping[str, float],
        n: Floats,
    ) -> None:
        self.planes, self.stands, self.starts, self.n = planes, stands, starts, n
        state = stands.state
        self.angles = {x.name: q for x, q in zip(state.labels["q"], state.q, strict=True)}
        explicit = [joint for joint in mechanism.joints if self._is_explicit(joint)]
        self.pairs = {x.coordinates[0]: x for x in explicit if _is_pair(x.type)}
        flow = {
            symbol(q): symbol(v)
            for plane in planes.values()
            for q, v in zip(plane.coordinates, plane.speeds, strict=True)
        }
        self.put: dict[Expr, Expr] = {}
        for joint in explicit:
            for label, value in zip(joint.coordinates, self._values(joint), strict=True):
                self.put[symbol(label)] = value
                self.put[symbol(f"{label}'")] = as_expr(directional([value], flow)[0])
        self.known = {x.name for x in self.put}

    def _is_explicit(self, joint: Joint) -> bool:
        """Its coordinates are formulas of x, y, θ of its bodies."""
        kind = joint.type
        turns = [
            (label, name)
            for label, name, unit in zip(
                joint.coordinates, kind.coordinate_names, kind.coordinate_units, strict=True
            )
            if unit == "rad"
        ]
        is_counted = all(name == kind.TURN and label in self.angles for label, name in turns)
        has_coordinates = kind.coordinates_of(identity(), zeros(3), kind.neutral()) is not None
        return kind.nq > 0 and kind.has_rates and is_counted and has_coordinates

    def formula(self, formula: Any) -> Any:
        """The formula in the new coordinates."""
        if not isinstance(formula, Expr) or not {*symbols_of([formula])} & {*self.put}:
            return formula
        return substitute([formula], self.put)[0]

    def _values(self, joint: Joint) -> list[Expr]:
        """The coordinates of a joint, by (cartesian-1)."""
        R, p = compose(*inverse(*self._pose(joint.predecessor)), *self._pose(joint.successor))
        kind = joint.type
        values: Any = kind.coordinates_of(R, p, kind.neutral())
        return [
            self._angle(joint, label) if name == kind.TURN else as_expr(x)
            for label, name, x in zip(joint.coordinates, kind.coordinate_names, values, strict=True)
        ]

    def _angle(self, joint: Joint, label: str) -> Expr:
        """How far the successor is turned, turns counted."""
        sense = 1 if self.stands.axes(joint)[:, 2] @ self.n > 0 else -1
        first, a = self._turn(joint.predecessor.body)
        second, b = self._turn(joint.successor.body)
        offset = self.angles[label] - sense * (b - a)
        return as_expr(sense * (second - first) + _turns(offset))

    def _turn(self, body: str) -> tuple[Any, float]:
        """θ of a body: its symbol, and its start."""
        if body == "ground":
            return 0, 0.0
        label = self.planes[body].coordinates[2]
        return symbol(label), self.starts[label]

    def _pose(self, marker: Marker) -> Transform:
        """A marker in the ground's axes, as formulas."""
        here = (array(marker.R), array(marker.p))
        if marker.body == "ground":
            return compose(identity(), zeros(3), *here)
        plane = self.planes[marker.body]
        pose = plane.type.pose(array([symbol(x) for x in plane.coordinates]))
        F, M = plane.predecessor, plane.successor
        X = compose(*compose(array(F.R), array(F.p), *pose), *inverse(array(M.R), array(M.p)))
        return compose(*X, *here)

    def constraint(self, relation: Constraint) -> Constraint:
        """A relation between the new coordinates."""
        labels = set(relation.labels())
        if isinstance(relation, OfCoordinates) and labels and labels <= self.known:
            record = Nonholonomic if relation.OF_SPEEDS else Holonomic
            return record(relation.name, self.formula(relation.vanishing()), relation.place)
        rewritten_relation: Constraint = self._substituted(relation)
        return rewritten_relation

    def _substituted(self, act: Any) -> Any:
        """The same record with its formulas in the new coordinates."""
        new = {part: self.formula(getattr(act, part)) for part in act.SCALARS}
        new |= {part: tuple(map(self.formula, getattr(act, part))) for part in act.TRIPLES}
        changed = {part: x for part, x in new.items() if x is not getattr(act, part)}
        return replace(act, **changed) if changed else act

    def force(self, force: Force) -> Iterator[Force]:
        """A load in the new coordinates: an effort along a joint acts on its two bodies."""
        measure = force.along()
        is_controller = isinstance(force, GravityCompensation) or (measure and force.states())
        if is_controller and set(force.labels()) & set(self.known):
            raise DerivationError(
                f"{force.WORD} {force.name!r} acts along a coordinate that Cartesian coordinates "
                "do not have.",
                place=force.place,
                hint="Run or derive the mechanism in its own coordinates.",
            )
        if isinstance(force, OfMechanism) and set(force.labels()) & set(self.known):
            yield Potential(force.name, self.formula(force.potential()), force.place)
            return
        if not (isinstance(force, AlongMeasure) and isinstance(measure, Coordinate)):
            yield self._substituted(force)
            return
        label = measure.label
        stored, lost, rest = self._functions(force, label)
        if label not in (self.known if rest is None else self.pairs):
            yield self._substituted(force)
            return
        if rest is not None:
            yield from self._pair(force, self.pairs[label], rest)
        if stored is not None:
            yield Potential(force.name, stored, force.place)
        if lost is not None:
            name = force.name if stored is None else f"{force.name} dissipation"
            yield Dissipation(name, lost, force.place)

    def _seen(self, label: str) -> tuple[Any, Any]:
        """A coordinate and its rate as formulas of the new ones, or as they are."""
        named = symbol(label), symbol(f"{label}'")
        return self.put.get(named[0], named[0]), self.put.get(named[1], named[1])

    def _functions(self, force: AlongMeasure, label: str) -> tuple[Any, Any, Any]:
        """Energy and dissipation of a load along a coordinate, and the effort of neither.

        None of those that it has not.
        """
        q, rate = self._seen(label)
        stored, lost = force.energy_at(q, self.formula), force.dissipation_at(rate, self.formula)
        effort = force.effort_at(q, rate, self.formula)
        if stored is None and lost is None:
            return None, None, effort
        x, speed = symbol("'x"), symbol("'speed")
        whole = as_expr(force.effort_at(x, speed, self.formula))
        functions = force.energy_at(x, self.formula), force.dissipation_at(speed, self.formula)
        parts = [
            gradient(as_expr(f), [by])[0]
            for f, by in zip(functions, (x, speed), strict=True)
            if f is not None
        ]
        if _cancel([whole, *parts]):
            return stored, lost, None
        rest = sum(parts, whole)
        return stored, lost, substitute([rest], {x: as_expr(q), speed: as_expr(rate)})[0]

    def _pair(self, force: Force, joint: Joint, effort: Any) -> Iterator[Force]:
        """The effort on the successor, and its opposite on the predecessor."""
        F, M = joint.predecessor, joint.successor
        part = PARTS[joint.type.BEARING]
        for marker, sign in ((M, 1), (F, -1)):
            if marker.body != "ground":
                name = f"{force.name} on {marker.body}"
                wrench = {part: (0, 0, sign * effort)}
                yield PointWrench(name, marker, axes=F, place=force.place, **wrench)


def _cancel(terms: list[Expr]) -> bool:
    """Whether the terms add up to nothing but rounding, at some values of what they depend on."""
    names, draw = sorted(symbols_of(terms), key=lambda x: x.name), np.random.default_rng(0)
    for sign in (1, -1, 1, -1, 1, -1):  # of what the load itself measures: see `_functions`
        signs = [sign if x.name.startswith("'") else 1 for x in names]
        values = dict(zip(names, signs * draw.uniform(0.3, 1.7, len(names)), strict=True))
        numbers = [float(x) for x in evaluate(terms, values)]
        if not abs(sum(numbers)) <= ROUNDING * sum(map(abs, numbers)):
            return False
    return True


def _is_pair(kind: JointType) -> bool:
    """An effort along its coordinate is a moment about z, or a force along z."""
    return kind.nv == 1 and kind.BEARING in PARTS


def _turns(angle: float) -> Any:
    """An angle as a simple part of π where it is one within rounding."""
    part = Fraction(angle / float(PI)).limit_denominator(24)
    near = PI * part
    return near if abs(float(part) * 3.141592653589793 - angle) < 1e-9 else angle


PARAMETRIZATIONS = ("minimal", "joint", "full_joint", "cartesian")
"""From the fewest coordinates to the most."""

OTHER_NAMES = {"strict": "minimal"}


def known_parametrization(name: str) -> str:
    """The name, or the one it stands for.

    Raises:
        NamingError: there is no such parametrization.
    """
    known = OTHER_NAMES.get(name, name)
    if known not in PARAMETRIZATIONS:
        raise NamingError.unknown("parametrization", name, PARAMETRIZATIONS)
    return known


def parametrized(mechanism: Mechanism, name: str = "joint", *, exact: bool = False) -> Tree:
    """The mechanism on a tree with the coordinates of a parametrization.

    Args:
        mechanism: any.
        name: "joint": of the joints of a spanning tree. "full_joint": of all joints. "cartesian":
            of every body by itself. "minimal" has the tree of "joint"; its equations are reduced.
        exact: keep exact numbers.

    Raises:
        NamingError: there is no such parametrization.
    """
    joints = [joint.name for joint in mechanism.joints]
    match known_parametrization(name):
        case "full_joint":
            return span(mechanism, keep=joints, exact=exact)
        case "cartesian":
            return span(cartesian(mechanism), cuts=joints, exact=exact)
    return span(mechanism, exact=exact)


@final
@dataclass(frozen=True, slots=True)
class CartesianBody:
    """A body's own joint to the ground, and where it is assembled."""

    joint: Joint
    q: tuple[float, ...]
    v: tuple[float, ...]


def cartesian(mechanism: Mechanism) -> Mechanism:
    """The same mechanism with a joint to the ground for every body, beside its own joints.

    All of its own joints must be cut where it is spanned (`parametrized` does that). It starts
    where the mechanism is assembled.

    Raises:
        AssemblyError: the mechanism cannot be assembled.
    """
    tree = span(mechanism)
    stands = standing(tree)
    n = plane_normal(tree, stands)
    bodies = {
        body.name: _in_space(mechanism, body, stands)
        if n is None
        else _in_plane(mechanism, body, stands, n)
        for body in mechanism.bodies[1:]
    }
    own = {name: body_pose.joint for name, body_pose in bodies.items()}
    begin = {start.label: start.value for start in _starts(bodies)}
    if n is None:
        loose = replace(mechanism, joints=(*mechanism.joints, *own.values()), starts=())
    else:
        loose = rewritten(mechanism, own, stands, begin, n)
    kept = coordinates_in_use(loose)
    return replace(loose, starts=(*_kept_starts(mechanism, stands, kept), *_starts(bodies)))


def _in_plane(mechanism: Mechanism, body: Body, stands: Standing, n: Floats) -> CartesianBody:
    """x, y and θ of the mass center, in the plane of motion."""
    R, _, omega, _ = stands.bodies[body.name]
    place, speed = stands.center(body)
    ground, own = axes_along(n), axes_along(R.T @ n)
    F = np.array(ground, float)
    turned = F.T @ R @ np.array(own, float)
    above = tuple(tidy(float(x)) for x in n * (n @ place))
    name = _free_name(mechanism, body)
    joint = Joint(
        name, Planar(), Marker("ground", _rows(ground), above),
        Marker(body.name, _rows(own), body.com), tuple(f"{name}.{x}" for x in ("x", "y", "theta")),
    )  # fmt: skip
    x, y, _ = F.T @ place
    vx, vy, _ = F.T @ speed
    angle = np.arctan2(turned[1, 0], turned[0, 0])
    return CartesianBody(joint, _numbers((x, y, angle)), _numbers((vx, vy, omega @ n)))


def _in_space(mechanism: Mechanism, body: Body, stands: Standing) -> CartesianBody:
    """Place of the mass center, and the quaternion of the body's axes."""
    R, _, omega, _ = stands.bodies[body.name]
    place, speed = stands.center(body)
    joint = Joint(
        _free_name(mechanism, body), Free(), Marker("ground"), Marker(body.name, p=body.com)
    )
    q = (*place, *quaternion_of(R.tolist()))
    return CartesianBody(joint, _numbers(q), _numbers((*R.T @ omega, *R.T @ speed)))


def _numbers(entries: Any) -> tuple[float, ...]:
    return tuple(float(x) for x in entries)


def _rows(R: Any) -> Any:
    return tuple(tuple(row) for row in R)


def _free_name(mechanism: Mechanism, body: Body) -> str:
    """The body's own name, unless a joint has it."""
    in_use = {joint.name for joint in mechanism.joints}
    name = body.name
    while name in in_use:
        name += " on ground"
    return name


def _starts(bodies: dict[str, CartesianBody]) -> Iterator[Start]:
    """Where the bodies are and how they move when the mechanism starts."""
    for body in bodies.values():
        joint = body.joint
        yield from map(Start, joint.coordinates, body.q)
        yield from map(Start, joint.speeds, body.v)


def _kept_starts(mechanism: Mechanism, stands: Standing, kept: frozenset[str]) -> Iterator[Start]:
    """Joints that keep their coordinates start where they were, turns and all."""
    state = stands.state
    labels = (*state.labels["q"], *state.labels["v"])
    known = {label.name: float(x) for label, x in zip(labels, (*state.q, *state.v), strict=True)}
    for joint in mechanism.joints:
        if joint.name in kept:
            for label in (*joint.coordinates, *joint.speeds):
                if label in known:
                    yield Start(label, known[label])
