"""The virtual power of any part of a mechanism in any field of virtual velocities.

    inertia + gravity + loads + relations + joints = 0                                  (power-1)

for every part (set of bodies) and every field that is rigid on each body: a twist (ω*, v*) at the
ground's origin, in its axes. What is called inertia is the power of −d/dt of the momentum of the
real motion; joints give all that passes through them, motors in them included, on the bodies of the
part. A field that the joints allow makes them give the power of their motors only.

Public names: VirtualPower, Field, virtual_power, translation, rotation, compatible,
real_velocities, twists.

Source: LL 2.1 (law of elementary virtual works); PA, formalisms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, TypeAlias, final

from liaison.equations.equations import Equations
from liaison.equations.reports import TreeReports
from liaison.equations.setting import Setting
from liaison.equations.sweeps.recursion import required_wrenches
from liaison.errors import DerivationError, NamingError
from liaison.expr import ZERO, Expr, as_expr
from liaison.lazy import Shown
from liaison.model.contacts import check_bilateral
from liaison.spatial.arrays import Array, array, cross, dot, minus, plus, product, times, zeros
from liaison.spatial.plucker import act_force
from liaison.tree import GROUND, Push

Field: TypeAlias = Callable[[Setting, int], Array]
"""A field of virtual velocities: the twist (ω*, v* at the ground's origin) of each node."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class VirtualPower(Shown):
    """Powers [W] of what acts on a part, by what it is; formulas of q, v, v̇ and λ."""

    inertia: Expr
    gravity: Expr
    loads: Mapping[str, Expr]
    relations: Mapping[str, Expr]
    joints: Mapping[str, Expr]

    @property
    def without_joints(self) -> Expr:
        """Inertia, gravity, loads and relations: minus what joints give."""
        parts = [self.inertia, self.gravity, *self.loads.values(), *self.relations.values()]
        return _sum(parts)

    @property
    def total(self) -> Expr:
        """All of it: zero by (power-1)."""
        return as_expr(self.without_joints + _sum(list(self.joints.values())))


# Fields -----------------------------------------------------------------------------------------


def translation(direction: Sequence[Any]) -> Field:
    """Every body slides along a direction: the part as if it were one solid."""
    u = array(list(direction))
    return lambda setting, i: array([0, 0, 0, *u])


def rotation(axis: Sequence[Any], point: Sequence[Any] = (0, 0, 0)) -> Field:
    """Every body turns about an axis through a point, both in the ground's axes."""
    w, p = array(list(axis)), array(list(point))
    return lambda setting, i: array([*w, *cross(p, w)])


def compatible(weights: Mapping[str, Any]) -> Field:
    """What the joints of the tree allow: velocity by name -> its virtual value; others are 0."""

    def twist(setting: Setting, i: int) -> Array:
        names = [label.name for label in setting.tree.velocity_labels()]
        for name in weights:
            if name not in names:
                raise NamingError.unknown("velocity", name, names)
        return _carried(setting, i, [weights.get(name, 0) for name in names])

    return twist


def real_velocities() -> Field:
    """The velocities of the motion itself."""
    return lambda setting, i: _carried(setting, i, list(setting.symbols.v))


def twists(by_body: Mapping[str, Sequence[Any]]) -> Field:
    """A twist (ω*, v* at the ground's origin) for each body; bodies that are not named stay."""

    def twist(setting: Setting, i: int) -> Array:
        return array(list(by_body.get(setting.tree.nodes[i].body, (0,) * 6)))

    return twist


def _carried(setting: Setting, i: int, v: Sequence[Any]) -> Array:
    """The twist of node i for some velocities of the tree."""
    total = zeros(6)
    for j, (turn, slide) in setting.kinematics.jacobian(GROUND, i, zeros(3)).items():
        total = total + array([times(x, v[j]) for x in (*turn, *slide)])
    return total


# Power ------------------------------------------------------------------------------------------


def virtual_power(equations: Equations, part: Iterable[str], field: Field) -> VirtualPower:
    """What inertia, gravity, loads, relations and joints give a part in a virtual motion.

    Args:
        equations: of a formalism on a tree.
        part: names of bodies.
        field: of virtual velocities: `translation`, `rotation`, `compatible`, `real_velocities`,
            `twists`, or any function of the setting and a node.

    Raises:
        NamingError: no body has that name.
        DerivationError: the equations do not know their tree.

    Example:
        >>> import liaison
        >>> from liaison.equations.formalisms.virtual_power import translation
        >>> equations = liaison.derive("examples/pendulum.lsd", "lagrange")
        >>> power = liaison.virtual_power(equations, ["bar"], translation((0, 0, 1)))
        >>> type(power).__name__
        'VirtualPower'
    """
    reports = equations.reports
    if isinstance(reports, TreeReports):
        check_bilateral(reports.setting.mechanism.contacts, "virtual_power")
    else:
        raise DerivationError(
            f"the equations by {equations.formalism} do not describe bodies of a tree.",
            hint="Use those of newton_euler or lagrange.",
        )
    powers = _Powers(reports, frozenset(_nodes(reports.setting, part)), field)
    return VirtualPower(
        powers.inertia(), powers.gravity(), powers.loads(), powers.relations(), powers.joints()
    )


def _nodes(setting: Setting, part: Iterable[str]) -> Iterable[int]:
    known = {node.body: i for i, node in enumerate(setting.tree.nodes)}
    for name in part:
        if name not in known:
            raise NamingError.unknown("body", name, known)
        yield known[name]


@final
class _Powers:
    """Powers on one part in one field."""

    def __init__(self, reports: TreeReports, part: frozenset[int], field: Field) -> None:
        self.reports, self.setting, self.part = reports, reports.setting, part
        self.twist = {i: field(reports.setting, i) for i in part}

    def inertia(self) -> Expr:
        """Of −d/dt of every momentum."""
        setting = self.setting
        vdot = array(list(setting.symbols.vdot))
        own = required_wrenches(setting.kinematics, vdot, zeros(3))
        return _sum(
            [as_expr(-self._power(i, self._at_ground(i, *own[i]))) for i in sorted(self.part)]
        )

    def gravity(self) -> Expr:
        """Of the weight of every body."""
        total: Any = ZERO
        for i in sorted(self.part):
            m, h, _ = self.setting.tree.nodes[i].inertia
            frame = self.setting.kinematics.motion(GROUND, i)
            place = array([times(m, x) for x in frame.p]) + product(frame.R, h)
            force = [times(m, x) for x in self.setting.gravity]
            wrench = array([*cross(place, self.setting.gravity), *force])
            total = total + self._power(i, wrench)
        return as_expr(total)

    def loads(self) -> dict[str, Expr]:
        """Of loads that push bodies; those along a coordinate pass through its joint."""
        return {x.name: self._pushed(x.pushes) for x in self.setting.loads if x.pushes}

    def relations(self) -> dict[str, Expr]:
        """Of relations that are no joint, by their multipliers."""
        joints = self.reports.reactions
        return {
            label: self._pushed(pushes)
            for label, pushes in self._rows()
            if label.rpartition(": ")[0] not in joints
        }

    def _rows(self) -> list[tuple[str, list[tuple[Any, Push]]]]:
        """Every row of closures that pushes bodies, by its multiplier."""
        rows = zip(self.reports.lam, self.setting.rows[0], strict=True)
        return [
            (label.name, [(lam, push) for push in row.pushes])
            for lam, (label, row) in rows
            if row.pushes
        ]

    def joints(self) -> dict[str, Expr]:
        """Power of joint reactions on the bodies of the part: plus on successors, minus on others.

        A cut joint pushes each of its two bodies at its own marker, by multipliers.
        """
        powers: dict[str, Expr] = {}
        cut = {closure.joint.name for closure in self.setting.tree.closures}
        for joint in self.setting.mechanism.joints:
            ends = [self.setting.tree.located(x)[0] for x in (joint.predecessor, joint.successor)]
            if joint.name not in self.reports.reactions or not self.part & set(ends):
                continue
            if joint.name in cut:
                rows = [p for n, p in self._rows() if n.rpartition(": ")[0] == joint.name]
                powers[joint.name] = self._pushed([pair for pushes in rows for pair in pushes])
                continue
            pose = self.reports.markers[joint.name]
            R, p = array(list(pose[:9])).reshape(3, 3), array(list(pose[9:]))
            wrench = act_force(R, p, array(list(self.reports.reactions[joint.name])))
            gone, come = (self._power(i, wrench) if i in self.part else 0 for i in ends)
            powers[joint.name] = as_expr(minus(come, gone))
        return powers

    def _power(self, i: int, wrench: Array) -> Any:
        return dot(self.twist[i], wrench)

    def _at_ground(self, i: int, moment: Array, force: Array) -> Array:
        """A wrench at a node, in its axes, as moment about the ground's origin and force."""
        frame = self.setting.kinematics.motion(GROUND, i)
        return act_force(frame.R, frame.p, array([*moment, *force]))

    def _pushed(self, pushes: Iterable[tuple[Any, Push]]) -> Expr:
        total: Any = ZERO
        for effort, push in pushes:
            if push.node in self.part:
                root = self.setting.kinematics.motion(GROUND, push.root)
                moment = push.moment + cross(push.point, push.force)
                wrench = act_force(root.R, root.p, array([*moment, *push.force]))
                total = plus(total, times(effort, self._power(push.node, wrench)))
        return as_expr(total)


def _sum(parts: Sequence[Any]) -> Expr:
    return as_expr(reduce(plus, parts, ZERO))
