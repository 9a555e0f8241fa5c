"""The vectors of a mechanism by name: definition one level down, and components.

Bodies are numbered 1, 2, … along the tree, 0 is the ground. For body i, carried by joint A:

    m1, J1, G1          mass, inertia tensor at the center of mass, center of mass
    O1                  the origin of A's marker on the body; O0 is the ground's
    omega1, omega1'     angular velocity and its derivative, in the ground
    gamma(G1)           acceleration of a point, in the ground
    O1G1                from one point to another
    F(A), C(A)          force, and couple at O1, that A and all that acts in it exert on the body
    Omega(A), alpha(A)  angular velocity and acceleration across A
    V(A), Gamma(A)      velocity and acceleration of O1 across A, where A slides
    e(A), u(A)          how the body turns and slides for a unit of A's velocity
    F(S,1), M(S,1)      force of a load or a closure S on body 1, and its moment at G1

A definition goes one level down: gamma(G1) is gamma(O1) + omega1' × O1G1 + omega1 × (omega1 ×
O1G1), gamma(O1) is expressed by what carries the body, and so on down to what is given.

Public names: Intrinsic.

Source: PA, architecture (levels of detail); docs/theory/algebra.md (levels-1 to levels-4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from liaison.algebra import Formal, cross, derivative, matrix, vector, zero
from liaison.algebra import scalar as scalar_symbol
from liaison.algebra.node import as_formal, total
from liaison.equations.bodies import node_accelerations
from liaison.equations.setting import Setting
from liaison.expr import Expr, as_expr, symbol
from liaison.spatial.arrays import Array, array, is_zero, product, times, zeros
from liaison.spatial.arrays import cross as cross_entries
from liaison.tree import GROUND, Node, Push, Tree

_POINT = re.compile(r"([OG])(\d+)")
_ARM = re.compile(r"([OG]\d+)([OG]\d+)")


class Intrinsic:
    """The named vectors of a tree, with definitions one level down and values in ground's axes."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.setting = Setting(tree)
        self.kinematics = self.setting.kinematics
        kept, _ = self.setting.rows
        self.lam = tuple(symbol(f"lambda {label.name}") for label, _ in kept)

    def __repr__(self) -> str:
        return f"<Intrinsic: vectors of {len(self.tree.nodes)} bodies>"

    # Names ------------------------------------------------------------------------------------

    def node(self, i: int) -> Node:
        """The node of body i."""
        return self.tree.nodes[i - 1]

    def parent(self, i: int) -> int:
        """The number of the body that carries body i; 0 for the ground."""
        return self.node(i).parent + 1

    @property
    def numbers(self) -> range:
        """Of the bodies that move."""
        return range(1, len(self.tree.nodes) + 1)

    def children(self, i: int) -> list[int]:
        """Bodies that hang on body i."""
        return [k for k in self.numbers if self.parent(k) == i]

    def carried(self, i: int) -> list[int]:
        """Body i and all that it carries."""
        nodes = [i]
        for k in self.numbers:
            if self.parent(k) in nodes and k not in nodes:
                nodes.append(k)
        return nodes

    def mass(self, i: int) -> Formal:
        """m of body i; zero where it has none."""
        m = self.node(i).inertia[0]
        return as_formal(0) if is_zero(m) else scalar_symbol(f"m{i}", constant=True)

    def tensor(self, i: int) -> Formal:
        """The inertia tensor of body i at G; zero where it has none."""
        empty = all(is_zero(x) for x in self.central_inertia(i).flat)
        return zero("matrix") if empty else matrix(f"J{i}", symmetric=True)

    def omega(self, i: int) -> Formal:
        """The angular velocity of body i; zero for the ground and what only slides on it."""
        while i and not self.turns(i):
            i = self.parent(i)
        return vector(f"omega{i}") if i else zero("vector")

    def alpha(self, i: int) -> Formal:
        """Its derivative in the ground."""
        return derivative(self.omega(i))

    def acceleration(self, point: str) -> Formal:
        """The acceleration of O or G of a body; zero where it cannot move."""
        kind, i = self._split(point)
        if kind == "O" and (i == 0 or (self.parent(i) == 0 and not self.slides(i))):
            return zero("vector")
        if kind == "G" and self.arm(f"O{i}", point).op == "zero":
            return self.acceleration(f"O{i}")
        return vector(f"gamma({point})")

    def arm(self, start: str, end: str) -> Formal:
        """The vector from one point to another; zero where they are one."""
        same = all(is_zero(x) for x in self.place(end) - self.place(start))
        return zero("vector") if same else vector(start + end)

    @staticmethod
    def is_arm(name: Formal) -> bool:
        """A vector from one point to another."""
        return name.kind == "vector" and _ARM.fullmatch(name.data.name) is not None

    def joint(self, i: int, letter: str) -> Formal:
        """F(A), C(A), … of the joint A that carries body i."""
        return vector(f"{letter}({self.joint_name(i)})")

    def joint_name(self, i: int) -> str:
        """The joint that carries body i."""
        return self.node(i).joint.name

    def turns(self, i: int) -> bool:
        """Whether the joint of body i lets it turn."""
        return any(not is_zero(x) for x in self.kinematics.subspace(i - 1)[:3].flat)

    def slides(self, i: int) -> bool:
        """Whether the joint of body i lets its origin slide."""
        return any(not is_zero(x) for x in self.kinematics.subspace(i - 1)[3:].flat)

    @staticmethod
    def _split(point: str) -> tuple[str, int]:
        match = _POINT.fullmatch(point)
        assert match is not None, point
        return match[1], int(match[2])

    # Values in the ground's axes ----------------------------------------------------------------

    def place(self, point: str) -> Array:
        """Where a point is [m]."""
        kind, i = self._split(point)
        if i == 0:
            return zeros(3)
        frame = self.kinematics.motion(GROUND, i - 1)
        return frame.p + product(frame.R, self.center(i)) if kind == "G" else frame.p

    def rotation(self, i: int) -> Array:
        """R of body i in the ground."""
        return (
            self.kinematics.motion(GROUND, i - 1).R
            if i
            else array([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
        )

    def center(self, i: int) -> Array:
        """G in the body's node frame; its origin where there is no mass."""
        m, h, _ = self.node(i).inertia
        return zeros(3) if is_zero(m) else array([as_expr(x) / m for x in h])

    def central_inertia(self, i: int) -> Array:
        """The inertia tensor of body i at G, in the axes of its node."""
        m, _, I = self.node(i).inertia
        if is_zero(m):
            return array(I)
        x, y, z = self.center(i)
        arm = array([[0, minus(z), y], [z, 0, minus(x)], [minus(y), x, 0]])
        return array(I + product(product(arm, arm), array(_diagonal(m))))

    @cached_property
    def accelerations(self) -> Mapping[int, tuple[Array, Array]]:
        """Body -> ω̇ and the acceleration of O, of v̇."""
        return {
            i: node_accelerations(self.setting, i - 1, self.kinematics.motion(GROUND, i - 1))
            for i in self.numbers
        }

    @cached_property
    def _values(self) -> Mapping[Formal, Array]:
        values: dict[Formal, Any] = {vector("g"): self.setting.gravity}
        for i in self.numbers:
            values |= dict(self._of_body(i))
            values |= dict(self._of_joint(i))
        for name, push, effort in self.pushes:
            i = push.node + 1
            force, moment = self._at_center(push)
            for letter, entries in (("F", force), ("M", moment)):
                key = vector(f"{letter}({name},{i})")
                vector_value = array([times(effort, x) for x in entries])
                values[key] = values.get(key, zeros(3)) + vector_value
        return values

    def value(self, name: Formal) -> Array:
        """The components of a name in the ground's axes: formulas of t, q, v, v̇ and λ.

        Forces and couples of joints are unknowns: F(A).x, F(A).y, F(A).z.
        """
        points = _ARM.fullmatch(name.data.name)
        if points:
            return self.place(points[2]) - self.place(points[1])
        if name in self._values:
            return self._values[name]
        return array([symbol(f"{name.data.name}.{axis}") for axis in "xyz"])

    def _of_body(self, i: int) -> Iterator[tuple[Formal, Any]]:
        frame = self.kinematics.motion(GROUND, i - 1)
        R, (alpha, a) = frame.R, self.accelerations[i]
        r = product(R, self.center(i))
        whirl = cross_entries(alpha, r) + cross_entries(frame.omega, cross_entries(frame.omega, r))
        yield scalar_symbol(f"m{i}", constant=True), self.node(i).inertia[0]
        yield vector(f"omega{i}"), frame.omega
        yield derivative(vector(f"omega{i}")), alpha
        yield vector(f"gamma(O{i})"), a
        yield vector(f"gamma(G{i})"), a + whirl
        central = self.central_inertia(i)
        yield matrix(f"J{i}", symmetric=True), product(product(R, central), R.T)

    def _of_joint(self, i: int) -> Iterator[tuple[Formal, Any]]:
        node, R = self.node(i), self.rotation(i)
        twist = self.kinematics.joint_twist(i - 1)
        vdot = array(list(self.setting.symbols.vdot))[node.v]
        rate = product(self.kinematics.subspace(i - 1), vdot) + self.kinematics.bias(i - 1)
        turn, slide = product(R, twist[:3]), product(R, twist[3:])
        yield self.joint(i, "Omega"), turn
        yield self.joint(i, "alpha"), product(R, rate[:3])
        yield self.joint(i, "V"), slide
        yield self.joint(i, "Gamma"), product(R, rate[3:]) + cross_entries(turn, slide)
        bias = self.kinematics.bias(i - 1)
        yield self.joint(i, "b"), product(R, bias[:3])
        yield self.joint(i, "c"), product(R, bias[3:])
        S = self.kinematics.subspace(i - 1)
        for k, label in enumerate(self.freedoms(i)):
            yield vector(f"e({label})"), product(R, S[:3, k])
            yield vector(f"u({label})"), product(R, S[3:, k])
            yield scalar_symbol(f"tau({label})"), self.effort(node.v.start + k)

    def freedoms(self, i: int) -> list[str]:
        """The names of the velocities of body i's joint, without their dashes."""
        labels = self.tree.velocity_labels()[self.node(i).v]
        return [label.name.rstrip("'") for label in labels]

    def effort(self, j: int) -> Expr:
        """What acts along velocity j itself: motors, springs and relations of coordinates."""
        total_: Any = as_expr(0)
        for load in self.setting.loads:
            if not load.pushes:
                total_ = total_ + load.tau.get(j, 0)
            for (i, k), entry in load.inertia:
                other = {i: k, k: i}.get(j)
                if other is not None:
                    total_ = total_ - entry * self.setting.symbols.vdot[other]
        for lam, (_, row) in zip(self.lam, self.setting.rows[0], strict=True):
            if not row.pushes:
                total_ = total_ + lam * row.G.get(j, 0)
        return as_expr(total_)

    @cached_property
    def pushes(self) -> list[tuple[str, Push, Any]]:
        """Loads and closures that push bodies: name, push in the ground's axes, effort."""
        pushes = [(load.name, push, x) for load in self.setting.loads for x, push in load.pushes]
        for lam, (label, row) in zip(self.lam, self.setting.rows[0], strict=True):
            name = label.name.rpartition(": ")[0] or label.name
            pushes += [(name, push, lam) for push in row.pushes]
        return [(name, self._grounded(push), x) for name, push, x in pushes if push.node != GROUND]

    def _grounded(self, push: Push) -> Push:
        """A push expressed in the ground's axes."""
        if push.root == GROUND:
            return push
        R, p = self.kinematics.motion(GROUND, push.root)[:2]
        point, moment, force = (product(R, x) for x in (push.point, push.moment, push.force))
        return Push(push.node, GROUND, p + point, moment, force)

    def _at_center(self, push: Push) -> tuple[Array, Array]:
        arm = push.point - self.place(f"G{push.node + 1}")
        return push.force, push.moment + cross_entries(arm, push.force)

    def with_freedom(self, label: str) -> int:
        """The body whose joint has a velocity of that name."""
        return next(i for i in self.numbers if label in self.freedoms(i))

    # One level down -------------------------------------------------------------------------------

    def definition(self, name: Formal) -> Formal | None:
        """The definition of a name, one level down; None for given quantities."""
        text, order = name.data.name, name.data.order
        points = _ARM.fullmatch(text)
        if points:
            return self._path(points[1], points[2])
        if match := re.fullmatch(r"omega(\d+)", text):
            return self._turning(int(match[1]), order)
        if match := re.fullmatch(r"gamma\(([OG])(\d+)\)", text):
            return self._accelerating(match[1], int(match[2]))
        if match := re.fullmatch(r"(Omega|alpha|V|Gamma)\((.*)\)", text):
            return self._across(match[1], match[2])
        return None

    def _turning(self, i: int, order: int) -> Formal:
        """ω = ω_P + Ω(A),  ω̇ = ω̇_P + ω_P × Ω(A) + α(A)                          (levels-1)"""
        p = self.parent(i)
        relative = self.joint(i, "Omega")
        if order == 0:
            return total(self.omega(p), relative)
        drift = cross(self.omega(p), relative)
        return total(self.alpha(p), drift, self.joint(i, "alpha"))

    def _accelerating(self, kind: str, i: int) -> Formal:
        """γ(G) = γ(O) + ω̇ × OG + ω × (ω × OG), and so from one O to the next       (levels-2)"""
        body, start = (i, f"O{i}") if kind == "G" else (self.parent(i), f"O{self.parent(i)}")
        arm = self.arm(start, f"{kind}{i}")
        omega = self.omega(body)
        terms = [self.acceleration(start), cross(self.alpha(body), arm)]
        terms.append(cross(omega, cross(omega, arm)))
        if kind == "O" and self.slides(i):
            terms += [2 * cross(omega, self.joint(i, "V")), self.joint(i, "Gamma")]
        return total(*terms)

    def _across(self, letter: str, joint: str) -> Formal:
        """Ω = Σ v e, V = Σ v u, and their rates in the body that carries            (levels-3)"""
        i = next(k for k in self.numbers if self.joint_name(k) == joint)
        symbols, node = self.setting.symbols, self.node(i)
        rates = symbols.v if letter in ("Omega", "V") else symbols.vdot
        turning = letter in ("Omega", "alpha")
        S = self.kinematics.subspace(i - 1)[:3] if turning else self.kinematics.subspace(i - 1)[3:]
        terms = []
        for k, label in enumerate(self.freedoms(i)):
            if any(not is_zero(x) for x in S[:, k]):
                direction = vector(f"{'e' if turning else 'u'}({label})")
                terms.append(as_formal(rates[node.v.start + k]) * direction)
        bias = self.kinematics.bias(i - 1)
        if letter == "alpha" and any(not is_zero(x) for x in bias[:3]):
            terms.append(self.joint(i, "b"))
        if letter == "Gamma":
            if any(not is_zero(x) for x in bias[3:]):
                terms.append(self.joint(i, "c"))
            if self.turns(i):
                terms.append(cross(self.joint(i, "Omega"), self.joint(i, "V")))
        return total(*terms) if terms else zero("vector")

    def _path(self, start: str, end: str) -> Formal | None:
        """From point to point along the bodies: OG' = OO' + O'G'                    (levels-4)"""
        (kind, i), (other, k) = self._split(start), self._split(end)
        if kind == "G":
            return total(self.arm(f"O{i}", end), -self.arm(f"O{i}", start))
        if k == i or (other == "O" and k > 0 and self.parent(k) == i):
            return None
        if i == 0 or i in self._above(k):
            c = next(c for c in [k, *self._above(k)] if self.parent(c) == i)
            return total(self.arm(start, f"O{c}"), self.arm(f"O{c}", end))
        common = next((c for c in self._above(i) if c in [k, *self._above(k)]), 0)
        return total(self.arm(f"O{common}", end), -self.arm(f"O{common}", start))

    def _above(self, i: int) -> list[int]:
        """The bodies that carry body i."""
        bodies = []
        while i and (i := self.parent(i)):
            bodies.append(i)
        return bodies


def minus(x: Any) -> Any:
    """−x."""
    return times(-1, x)


def _diagonal(m: Any) -> list[list[Any]]:
    return [[m if i == j else 0 for j in range(3)] for i in range(3)]
