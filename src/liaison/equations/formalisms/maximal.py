"""Maximal coordinates: six velocities a body, every joint a closure — the plain oracle.

Nothing here is recursive. Each body obeys Newton and Euler by itself,

    I ω̇ + m c × v̇ = −ω × I ω − m c × (ω × v) + m c × g,
    m v̇ − m c × ω̇ = −ω × (m v − m c × ω) + m g,                                (maximal-1)

in its own axes at its own origin, and the rows of the joints come from differentiating Φ.

Public names: maximal, star.

Source: HAU89 §11.3.
Differs: velocities are expressed in the body's axes; Φ_q is never formed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from liaison.equations.completion import completed, plain_dynamics
from liaison.equations.equations import Equations
from liaison.equations.setting import Setting
from liaison.expr import Expr, as_expr, jacobian, time_derivative
from liaison.model import Attitude, Free, Joint, Marker, Mechanism, Quaternion, RotationMatrix
from liaison.spatial.arrays import Array, array, cross, product, times
from liaison.tree import Row, Tree, as_float, span
from liaison.tree.closure import rate_offset
from liaison.units import Label

from .formalism import formalism


@formalism(rank=9, proof={"attitude": RotationMatrix()})
def maximal(tree: Tree, *, attitude: Attitude | None = None) -> Equations:
    """The equations of motion with six velocities for every body of the mechanism.

    Args:
        tree: of the mechanism.
        attitude: the parametrization of attitudes: `Quaternion()`, if not given, or
            `RotationMatrix()`; velocities are the same.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/pendulum.lsd"))
        >>> liaison.maximal(tree)
        <Equations pendulum, by maximal: 7 equations>
    """
    setting = DifferentiatedSetting(star(tree, attitude or Quaternion()))
    M, h = _bodies(setting)
    dynamics = plain_dynamics(setting.symbols.vdot, M, h, setting.applied())
    return completed("maximal", setting.tree, setting, dynamics)


def star(tree: Tree, attitude: Attitude) -> Tree:
    """The same mechanism with every body free on the ground and every joint cut."""
    mechanism = tree.mechanism
    free = tuple(
        Joint(f"free {body.name}", Free(attitude), at_origin("ground"), at_origin(body.name))
        for body in mechanism.bodies[1:]
    )
    cuts = [joint.name for joint in mechanism.joints]
    loosened: Mechanism = replace(mechanism, joints=mechanism.joints + free)
    exact = tree.numbers is not as_float
    return replace(span(loosened, cuts=cuts, exact=exact), numbers=tree.numbers)


def at_origin(body: str) -> Marker:
    """The marker at a body's origin, along its axes."""
    return Marker(body, ((1, 0, 0), (0, 1, 0), (0, 0, 1)), (0, 0, 0))


class DifferentiatedSetting(Setting):
    """A setting whose closure rows are Φ differentiated, not the closed forms."""

    @cached_property
    def rows(self) -> Any:
        """As `Setting.rows`, with G, ν and γ by differentiation."""
        kept, vanished = super().rows
        return self._differentiated(kept), vanished

    def _differentiated(self, kept: list[tuple[Label, Row]]) -> list[tuple[Label, Row]]:
        """Φ̇ = G v − ν and Φ̈ of all rows together: what they share is differentiated once."""
        flow = dict(zip(self.q, self.qdot, strict=True))
        values = [as_expr(0 if row.value is None else row.value) for _, row in kept]
        rates = time_derivative(values, flow)
        for k, (_, row) in enumerate(kept):
            rates[k] = as_expr(row.rate) if row.value is None else rates[k]
        G: list[dict[int, Any]] = [{} for _ in kept]
        for (k, j), entry in jacobian(rates, list(self.v), by_rows=False).items():
            G[k][j] = entry
        seconds = time_derivative(rates, flow)
        nu = [rate_offset(rate, row, list(self.v)) for rate, row in zip(rates, G, strict=True)]
        return [
            (label, replace(row, G=G[k], rate=rates[k], nu=nu[k], gamma=-seconds[k]))
            for k, (label, row) in enumerate(kept)
        ]


def _bodies(setting: Setting) -> tuple[dict[tuple[int, int], Expr], list[Expr]]:
    """M and h of bodies that know nothing of each other."""
    M: dict[tuple[int, int], Expr] = {}
    h: list[Expr] = [as_expr(0)] * setting.tree.nv
    for i, node in enumerate(setting.tree.nodes):
        if not isinstance(node.joint.type, Free) or node.parent >= 0:
            continue  # a ghost has no inertia
        R, _ = setting.kinematics.pose(i)
        fall = product(R.T, setting.gravity)
        m, mc, I = node.inertia
        omega, v = setting.v[node.v][:3], setting.v[node.v][3:]
        block, bias = _body(m, mc, I, omega, v, fall)
        for a in range(6):
            h[node.v.start + a] = as_expr(bias[a])
            for b in range(a + 1):
                M[node.v.start + a, node.v.start + b] = as_expr(block[a, b])
    return M, h


def _body(m: Any, mc: Array, I: Array, omega: Array, v: Array, fall: Array) -> tuple[Array, Array]:
    """The 6 × 6 mass matrix and the bias of one body, by (maximal-1)."""
    x, y, z = mc
    arm = array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    block = array([[0] * 6 for _ in range(6)]).astype(object)
    block[:3, :3], block[:3, 3:], block[3:, :3] = I, arm, -arm
    for k in range(3):
        block[3 + k, 3 + k] = m
    drift = cross(omega, v)
    moment = cross(omega, product(I, omega)) + cross(mc, drift) - cross(mc, fall)
    whirl = cross(omega, cross(omega, mc))
    force = array([times(m, a) for a in drift]) + whirl - array([times(m, a) for a in fall])
    return block, array([*moment, *force])
