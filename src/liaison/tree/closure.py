"""Φ, G, ν and γ of cut joints and of relations between coordinates.

A joint that is cut says what must vanish of the relative pose (R, p) of its two markers, as
formulas. One derivation serves them all: the gradient of a row gives the moment n and the force
g it transmits, so that

    Φ̇ = n · ω + g · ṗ,      Φ̈ = n · ω̇ + g · p̈ + Q(R, p, ω, ṗ),                (closure-1)

with the motion of M seen from F in F's axes. Rows that pin the origin of M to that of F are
written in the axes of the common ancestor of the two, where they cost least. A cut joint that keeps
its coordinates q has, besides, a row that *ties* each of its velocities to what is seen of M:

    Φ = c(R, p) − q,      Φ̇ = n · ω + g · ṗ − v.                                (closure-2)

Formulas of a relative pose (R, p), their gradient and their second-order part, once for all.

A row of a closure is a formula over these symbols; where it is needed, they are replaced by the
motion of one marker seen from the other.

Dimensions of formulas, as far as their names have units: of a relation, and of its multiplier.

Numbers of a formula have lost their units: a product with one has no known dimension, a sum that
of those of its terms that have one. The multiplier of Φ(q, t) times Φ̇ is a power, and so is that
of Φ(q, q̇, t) times Φ.

Public names: Row, Push, closure_rows, relation_rows, joint_rows, tie_rows, relative_rows,
distance_row, stretch_row, relation_row, rate_offset, is_curved, with_rates,
dependent_rates, power_row, marker_motion, template, R, P, OMEGA, V, FLOW, ORIGIN, WELDED,
residual_template, derived, second_order, rate_along, at, dimension_of, multiplier_unit.

Source: RBDA §8.2, §8.7; docs/theory/closures.md (closure-1).
Differs: RBDA writes K for G and k for γ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias, final

from liaison.errors import DerivationError, NamingError, Place, TextError
from liaison.expr import (
    ZERO,
    Expr,
    as_expr,
    directional,
    gradient,
    jacobian,
    substitute,
    symbol,
    symbols_of,
    time_derivative,
    topological,
)
from liaison.model import BetweenFrames, Constraint, Joint, JointType, Mechanism, OfCoordinates
from liaison.spatial.arrays import (
    Array,
    array,
    cross,
    dot,
    minus,
    norm,
    plus,
    product,
    times,
    zeros,
)
from liaison.spatial.arrays import identity as identity_matrix
from liaison.units import (
    FORCE,
    MOMENT,
    PURE,
    TIME,
    Dimension,
    Label,
    effort_along,
    si_unit,
    unit_of,
)

from .kinematics import Kinematics, Motion
from .tree import GROUND, Closure, Transform, Tree

ENERGY: Final[Dimension] = (2, 1, -2, 0, 0)
POWER: Final[Dimension] = (2, 1, -3, 0, 0)

Known: TypeAlias = Dimension | None
"""None: not known."""

ALIKE = ("add", "sub", "min", "max", "neg", "abs", "select")
"""Operations on things of one dimension, which the result has; the first of `select` decides."""

ANGLES = ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "sign")
"""Functions whose values are pure numbers, or angles."""


def dimension_of(formula: Expr, known: Mapping[str, Dimension]) -> Known:
    """The dimension of a formula whose names have these; None where it does not follow."""
    dimensions: dict[Expr, Known] = {}
    for node in topological([formula]):
        dimensions[node] = _dimension(node, [dimensions[x] for x in node.args], known)
    return dimensions[formula]


def _dimension(node: Expr, parts: list[Known], known: Mapping[str, Dimension]) -> Known:
    if node.op == "symbol":
        return known.get(str(node.a))
    if node.op in ANGLES:
        return PURE
    if node.op in ALIKE:
        listed = {_plain(x) for x in (parts[1:] if node.op == "select" else parts) if x is not None}
        return listed.pop() if len(listed) == 1 else None
    if node.op in ("mul", "div") and parts[0] is not None and parts[1] is not None:
        return _times(parts[0], parts[1], 1 if node.op == "mul" else -1)
    if node.op == "pow" and parts[0] is not None and type(node.args[1].a) is int:
        return _times(PURE, parts[0], node.args[1].a)
    if node.op == "sqrt" and parts[0] is not None and not any(n % 2 for n in parts[0]):
        a, b, c, d, e = (n // 2 for n in parts[0])
        return a, b, c, d, e
    return None


def _plain(x: Dimension) -> Dimension:
    """The same with angles as pure numbers."""
    return (x[0], x[1], x[2], 0, x[4])


def _times(x: Dimension, y: Dimension, power: int) -> Dimension:
    a, b, c, d, e = (m + power * n for m, n in zip(x, y, strict=True))
    return a, b, c, d, e


def multiplier_unit(tree: Tree, relation: OfCoordinates) -> str:
    """The SI unit of a relation's multiplier; "" where it does not follow from its names."""
    labels = [*tree.position_labels(), *tree.velocity_labels()]
    named = [(x.name, x.unit) for x in labels]
    mechanism = tree.mechanism
    named += [(x.name, x.unit) for x in (*mechanism.parameters, *mechanism.inputs)]
    known = {"t": TIME}
    for name, unit in named:
        try:
            known[name] = unit_of(unit).dimension
        except (NamingError, TextError):
            continue
    dimension = dimension_of(relation.vanishing(), known)
    if dimension is None:
        return ""
    work = POWER if relation.OF_SPEEDS else ENERGY
    return si_unit(_times(work, _plain(dimension), -1))


R = array([[symbol(f"closure.R{i}{j}") for j in range(3)] for i in range(3)])
P = array([symbol(f"closure.p{i}") for i in range(3)])
OMEGA = array([symbol(f"closure.omega{i}") for i in range(3)])
V = array([symbol(f"closure.v{i}") for i in range(3)])
ORIGIN = tuple(P)
FLOW: dict[Expr, Expr] = {
    **{R[i, j]: as_expr(cross(OMEGA, R[:, j])[i]) for i in range(3) for j in range(3)},
    **dict(zip(P, V, strict=True)),
}
"""How R and p change: Ṙ = ω × R, ṗ."""
WELDED: dict[str, Expr] = {
    "wx": -R[1, 2],
    "wy": R[0, 2],
    "wz": R[1, 0],
    "vx": P[0],
    "vy": P[1],
    "vz": P[2],
}
"""What vanishes of the successor seen from the ghost, by the ghost's velocity that it ties."""


def template() -> tuple[Array, Array]:
    """The symbols (R, p) over which `relative_rows` takes its formulas."""
    return R, P


def residual_template(kind: JointType) -> tuple[Expr, ...]:
    """What must vanish of the relative pose, as formulas of the template's symbols."""
    return _residual(kind, tuple(map(type, kind.parameters())))


@lru_cache(maxsize=256)
def _residual(kind: JointType, numbers: tuple[type, ...]) -> tuple[Expr, ...]:
    # a pitch of 1/2 and one of 0.5 are equal, but only the former gives exact formulas
    return tuple(as_expr(x) for x in kind.residual(R, P) or ())


@lru_cache(maxsize=1024)
def derived(formula: Expr) -> tuple[tuple[Expr, ...], tuple[Expr, ...], Expr]:
    """Moment n, force g and second-order part Q of a formula of (R, p), in F's axes."""
    partial = gradient(formula, [*R.flat, *P])
    by_R, by_p = array(partial[:9]).reshape(3, 3), partial[9:]
    turn = zeros(3)
    for j in range(3):
        turn = turn + cross(R[:, j], by_R[:, j])
    moment = tuple(as_expr(x) for x in turn)
    return moment, tuple(by_p), second_order(moment, tuple(by_p))


@lru_cache(maxsize=1024)
def second_order(turn: tuple[Expr, ...], slide: tuple[Expr, ...]) -> Expr:
    """How n · ω + g · ṗ changes where ω and ṗ do not."""
    return directional([rate_along(turn, slide)], FLOW)[0]


def rate_along(turn: Sequence[Expr], slide: Sequence[Expr]) -> Expr:
    """n · ω + g · ṗ."""
    return as_expr(dot(list(turn), list(OMEGA)) + dot(list(slide), list(V)))


def at(
    seen: Any,
    formula: Expr | None,
    turn: Sequence[Expr],
    slide: Sequence[Expr],
    quadratic: Expr,
) -> tuple[Any, Array, Array, Any]:
    """Value, moment, force and second-order part of a template at a relative motion."""
    values = dict(zip(R.flat, seen.R.flat, strict=True))
    for symbols, numbers in ((P, seen.p), (OMEGA, seen.omega), (V, seen.velocity)):
        values |= dict(zip(symbols, numbers, strict=True))
    values = {key: as_expr(value) for key, value in values.items()}
    values_there = substitute(
        [ZERO if formula is None else formula, *turn, *slide, quadratic], values
    )
    value = None if formula is None else values_there[0]
    return value, array(values_there[1:4]), array(values_there[4:7]), values_there[7]


Located: TypeAlias = tuple[int, Transform]
"""A node and the pose of a marker in it."""


@final
@dataclass(frozen=True, slots=True)
class Push:
    """A wrench on a node, per unit of a multiplier: moment and force at a point, root's axes."""

    node: int
    root: int
    point: Array
    moment: Array
    force: Array


@final
@dataclass(frozen=True, slots=True)
class Row:
    """One scalar relation: value, row of G, G v, and −Φ̈ where v̇ = 0."""

    value: Any  # Φ; None where the relation holds speeds only
    G: dict[int, Any]
    rate: Any  # G v − ν
    nu: Any
    gamma: Any
    pushes: tuple[Push, ...] = ()
    defines: int | None = None  # the velocity that this row ties to the others, if it does


class Relative(NamedTuple):
    """M seen from F, in F's axes: pose, rates, and second rates where v̇ = 0."""

    R: Array
    p: Array
    omega: Array
    velocity: Array
    alpha: Array
    acceleration: Array


def closure_rows(kinematics: Kinematics, qdot: Sequence[Any]) -> list[tuple[Label, Row]]:
    """Every row of the mechanism: cut joints, then relations, each with its multiplier's label."""
    tree = kinematics.tree
    labelled: list[tuple[Label, Row]] = []
    for closure in tree.closures:
        rows = joint_rows(kinematics, closure)
        labelled += zip(joint_labels(tree, closure), rows, strict=True)
        if closure.ghost is not None:
            ties = tie_rows(kinematics, closure, closure.ghost)
            labelled += zip(tie_labels(closure.joint), ties, strict=True)
    return labelled + relation_rows(kinematics, qdot)


def relation_rows(kinematics: Kinematics, qdot: Sequence[Any]) -> list[tuple[Label, Row]]:
    """The rows of relations, of motions imposed and of wheels that roll, in the author's order."""
    tree = kinematics.tree
    labelled: list[tuple[Label, Row]] = []
    for constraint in tree.mechanism.constraints:
        if isinstance(constraint, BetweenFrames):
            labelled += frame_rows(kinematics, constraint)
            continue
        relation = of_coordinates(constraint)
        q, v = kinematics.q, kinematics.v
        formula = with_rates(relation.vanishing(), q, v, qdot)
        row = relation_row(formula, q, v, qdot, of_speeds=relation.OF_SPEEDS)
        labelled.append((Label(relation.name, relation_unit(tree, relation)), row))
    return labelled


def joint_labels(tree: Tree, closure: Closure, root: int | None = None) -> list[Label]:
    """What the multiplier of each row of a cut joint is, and in whose axes.

    Moments, and forces that do not pin the origin, are in the axes of the predecessor's marker.

    Args:
        tree: of the mechanism.
        closure: of the cut joint.
        root: the node in whose axes the origin is pinned; the common ancestor if None.
    """
    joint = closure.joint
    if root is None:
        root = tree.common_ancestor(closure.predecessor[0], closure.successor[0])
    axes = "ground" if root == GROUND else tree.nodes[root].body
    pins = pinned(joint.type)
    return [
        Label(
            f"{joint.name}: {name}" + (f" of {axes}" if k < pins else ""),
            MOMENT if "moment" in name else FORCE,
        )
        for k, name in enumerate(joint.type.residual_names)
    ]


def tie_labels(joint: Joint) -> list[Label]:
    """The effort along each velocity that a cut joint keeps."""
    return [
        Label(f"{joint.name}: effort along {speed}", effort_along(unit))
        for speed, unit in zip(joint.speeds, joint.type.speed_units, strict=True)
    ]


def relation_unit(tree: Tree, constraint: OfCoordinates) -> str:
    """The unit of a relation's multiplier: an effort along what it holds; "" where none follows."""
    units = {label.name: label.unit for label in tree.position_labels()}
    unit = units.get(constraint.holds(), "")
    return effort_along(unit) or multiplier_unit(tree, constraint)


def of_coordinates(constraint: Constraint) -> OfCoordinates:
    """A relation that is a formula of coordinates; an error for any other."""
    if isinstance(constraint, OfCoordinates):
        return constraint
    raise DerivationError(
        f"no rows are known for {constraint.name!r}: {type(constraint).__name__} is neither "
        "OfCoordinates nor BetweenFrames.",
        place=constraint.place,
    )


def with_rates(formula: Expr, q: Array, v: Array, qdot: Sequence[Any]) -> Expr:
    """The formula with rates of coordinates that are no velocity (a quaternion's) as N v."""
    named = dependent_rates(q, v, qdot)
    return substitute([formula], named)[0] if named else formula


def dependent_rates(q: Array, v: Array, qdot: Sequence[Any]) -> dict[Expr, Expr]:
    """The rate of each coordinate that is no velocity -> N v."""
    named = {symbol(f"{x.name}'"): as_expr(rate) for x, rate in zip(q, qdot, strict=True)}
    for speed in v:
        named.pop(speed, None)
    return named


def row_place(mechanism: Mechanism, name: str) -> Place | None:
    """Where the author wrote the joint or the relation that a row of this name belongs to."""
    owner = name.rpartition(": ")[0] or name
    places = {joint.name: joint.place for joint in mechanism.joints}
    places |= {constraint.name: constraint.place for constraint in mechanism.constraints}
    return places.get(owner)


def joint_rows(kinematics: Kinematics, closure: Closure) -> list[Row]:
    """The rows of a cut joint, in the order of its residual."""
    template, pins = residual_template(closure.joint.type), pinned(closure.joint.type)
    rows = origin_rows(kinematics, closure.predecessor, closure.successor) if pins else []
    rest = relative_rows(kinematics, closure.predecessor, closure.successor, list(template[pins:]))
    return rows + rest


def pinned(kind: JointType) -> int:
    """How many rows, the first ones, hold the origin of M to that of F."""
    return 3 if residual_template(kind)[:3] == ORIGIN else 0


def origin_rows(kinematics: Kinematics, first: Located, second: Located) -> list[Row]:
    """p_M − p_F = 0 in the axes of the common ancestor."""
    root = kinematics.tree.common_ancestor(first[0], second[0])
    F, M = marker_motion(kinematics, root, first), marker_motion(kinematics, root, second)
    rows = []
    for k in range(3):
        e = identity_matrix()[k]
        pushes = (Push(second[0], root, M.p, zeros(3), e), Push(first[0], root, F.p, zeros(3), -e))
        rows.append(
            Row(
                value=minus(M.p[k], F.p[k]),
                G=power_row(kinematics, pushes),
                rate=minus(M.velocity[k], F.velocity[k]),
                nu=0,
                gamma=minus(F.acceleration[k], M.acceleration[k]),
                pushes=pushes,
            )
        )
    return rows


def tie_rows(kinematics: Kinematics, closure: Closure, ghost: int) -> list[Row]:
    """Rows by which the velocities kept for a cut joint follow its bodies, by (closure-2).

    A velocity that is no rate (of an attitude) is tied by holding the ghost's axes to the
    successor's. The multiplier is the effort along that velocity, on the successor.
    """
    node = kinematics.tree.nodes[ghost]
    kind, q = node.joint.type, kinematics.q[node.q]
    seen = kind.coordinates_of(R, P, q)
    assert seen is not None, f"a {kind.name} joint with closed form returns its coordinates"
    rows = []
    for k, name in enumerate(kind.speed_names):
        j = node.v.start + k
        if name in kind.coordinate_names:
            i = kind.coordinate_names.index(name)
            first, formula = closure.predecessor, as_expr(seen[i])
            row = relative_rows(kinematics, first, closure.successor, [formula])[0]
            row = _less(row, q[i], kinematics.v[j], j)
        else:
            first = (ghost, (identity_matrix(), zeros(3)))
            row = relative_rows(kinematics, first, closure.successor, [WELDED[name]])[0]
        rows.append(replace(row, defines=j))
    return rows


def _less(row: Row, q: Any, v: Any, j: int) -> Row:
    """The row less the coordinate q of rate v, the j-th velocity."""
    return replace(row, value=minus(row.value, q), G=row.G | {j: -1}, rate=minus(row.rate, v))


def relative_rows(
    kinematics: Kinematics, first: Located, second: Located, formulas: Sequence[Expr]
) -> list[Row]:
    """Rows of formulas of the relative pose, by (closure-1)."""
    if not formulas:
        return []
    return template_rows(kinematics, first, second, [(f, *derived(f)) for f in formulas])


def frame_rows(kinematics: Kinematics, relation: BetweenFrames) -> list[tuple[Label, Row]]:
    """The rows of a relation between two frames, such as a wheel that rolls on a plane."""
    tree = kinematics.tree
    first, second = (tree.located(x) for x in relation.frames())
    listed = relation.rows(R, P, tree.numbers)
    templates: list[Any] = [
        (None, x.turn, x.slide, second_order(x.turn, x.slide))
        if x.value is None
        else (x.value, *derived(x.value))
        for x in listed
    ]
    rows = template_rows(kinematics, first, second, templates)
    labels = [Label(f"{relation.name}: {x.name}", x.unit) for x in listed]
    return list(zip(labels, rows, strict=True))


def template_rows(
    kinematics: Kinematics, first: Located, second: Located, templates: Sequence[Any]
) -> list[Row]:
    """Rows of (Φ or None, n, g, Q) over the symbols of a relative motion."""
    root = kinematics.tree.common_ancestor(first[0], second[0])
    F, M = marker_motion(kinematics, root, first), marker_motion(kinematics, root, second)
    seen = relative(F, M)
    return [_relative_row(kinematics, (root, first[0], second[0]), (F, M), seen, x)
            for x in templates]  # fmt: skip


def _relative_row(
    kinematics: Kinematics,
    nodes: tuple[int, int, int],
    frames: tuple[Motion, Motion],
    seen: Relative,
    template: tuple[Expr | None, Sequence[Expr], Sequence[Expr], Expr],
) -> Row:
    root, first, second = nodes
    F, M = frames
    value, turn, slide, quadratic = at(seen, *template)
    n, g = product(F.R, turn), product(F.R, slide)
    pushes = (Push(second, root, M.p, n, g), Push(first, root, M.p, -n, -g))
    second_rate = plus(plus(dot(turn, seen.alpha), dot(slide, seen.acceleration)), quadratic)
    return Row(
        value=value,
        G=power_row(kinematics, pushes),
        rate=plus(dot(turn, seen.omega), dot(slide, seen.velocity)),
        nu=0,
        gamma=minus(0, second_rate),
        pushes=pushes,
    )


def distance_row(kinematics: Kinematics, first: Located, second: Located) -> Row:
    """The distance of two markers' origins; its push is along the line that joins them."""
    root = kinematics.tree.common_ancestor(first[0], second[0])
    F, M = marker_motion(kinematics, root, first), marker_motion(kinematics, root, second)
    d, slip = M.p - F.p, M.velocity - F.velocity
    length = norm(d)
    u = array([x / length for x in d])
    rate = dot(u, slip)
    pushes = (Push(second[0], root, M.p, zeros(3), u), Push(first[0], root, F.p, zeros(3), -u))
    across = minus(dot(slip, slip), times(rate, rate))
    second_rate = plus(dot(u, M.acceleration - F.acceleration), across / length)
    return Row(length, power_row(kinematics, pushes), rate, 0, minus(0, second_rate), pushes)


def stretch_row(kinematics: Kinematics, first: Located, second: Located) -> Row:
    """½ d² of the distance d of two markers' origins; its push is the vector that joins them."""
    root = kinematics.tree.common_ancestor(first[0], second[0])
    F, M = marker_motion(kinematics, root, first), marker_motion(kinematics, root, second)
    d, slip = M.p - F.p, M.velocity - F.velocity
    pushes = (Push(second[0], root, M.p, zeros(3), d), Push(first[0], root, F.p, zeros(3), -d))
    second_rate = plus(dot(d, M.acceleration - F.acceleration), dot(slip, slip))
    half = times(dot(d, d), Fraction(1, 2))
    return Row(half, power_row(kinematics, pushes), dot(d, slip), 0, minus(0, second_rate), pushes)


def power_row(kinematics: Kinematics, pushes: Sequence[Push]) -> dict[int, Any]:
    """The power of unit pushes for a unit of each velocity: a row on v."""
    row: dict[int, Any] = {}
    for push in pushes:
        columns = kinematics.jacobian(push.root, push.node, push.point)
        for j, (turn, slide) in columns.items():
            power = plus(dot(push.moment, turn), dot(push.force, slide))
            row[j] = plus(row.get(j, 0), power)
    return row


def relation_row(
    formula: Expr, q: Array, v: Array, qdot: Sequence[Any], *, of_speeds: bool = False
) -> Row:
    """A relation between coordinates (or between speeds) and time, by differentiation.

    G = ∂Φ̇/∂v,  ν = −Φ_t,  γ = −Φ̈ at v̇ = 0. For Φ(q, v, t) that is not linear in the speeds
    G = ∂Φ/∂v, by Chetaev's rule, and ν = G v − Φ.
    """
    flow = dict(zip(q, qdot, strict=True))
    rate = formula if of_speeds else time_derivative([formula], flow)[0]
    G = {j: entry for (_, j), entry in jacobian([rate], list(v)).items()}
    second_rate = time_derivative([rate], flow)[0]
    nu = rate_offset(rate, G, list(v))
    return Row(None if of_speeds else formula, G, rate, nu, -second_rate)


def rate_offset(rate: Expr, G: Mapping[int, Any], v: Sequence[Expr]) -> Expr:
    """ν with rate = G v − ν; where G depends on v, rate is not linear."""
    if is_curved(G, v):
        return as_expr(sum((entry * v[j] for j, entry in G.items()), ZERO) - rate)
    return -substitute([rate], {x: as_expr(0) for x in v})[0]


def is_curved(G: Mapping[int, Any], v: Sequence[Expr]) -> bool:
    """Whether a row of G depends on velocities: of a relation that is not linear in them."""
    return not set(v).isdisjoint(symbols_of([as_expr(x) for x in G.values()]))


def marker_motion(kinematics: Kinematics, root: int, place: Located) -> Motion:
    """The motion of a marker's frame, fixed on a node, seen from the root."""
    node, (R_NM, p_NM) = place
    m = kinematics.motion(root, node)
    r = product(m.R, p_NM)
    whirl = cross(m.omega, r)
    return Motion(
        product(m.R, R_NM),
        m.p + r,
        m.omega,
        m.velocity + whirl,
        m.alpha,
        m.acceleration + cross(m.alpha, r) + cross(m.omega, whirl),
    )


def relative(F: Motion, M: Motion) -> Relative:
    """The motion of M as an observer on F sees it, in F's axes."""
    back = F.R.T
    d, turn = M.p - F.p, M.omega - F.omega
    slip = M.velocity - F.velocity - cross(F.omega, d)
    felt = (
        M.acceleration
        - F.acceleration
        - cross(F.alpha, d)
        - cross(F.omega, cross(F.omega, d))
        - cross(F.omega, slip)
        - cross(F.omega, slip)
    )
    return Relative(
        product(back, M.R),
        product(back, d),
        product(back, turn),
        product(back, slip),
        product(back, M.alpha - F.alpha - cross(F.omega, turn)),
        product(back, felt),
    )
