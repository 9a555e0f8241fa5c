"""How bodies move and where joints are, as formulas: velocities, accelerations, marker poses.

Public names: body_motions, node_accelerations, joint_markers.
"""

from __future__ import annotations

from liaison.expr import Expr, as_expr
from liaison.model import BetweenFrames, Marker
from liaison.spatial.arrays import Array, array, cross, product, times
from liaison.spatial.plucker import compose
from liaison.tree import GROUND, Motion

from .setting import Setting


def body_motions(setting: Setting) -> dict[str, tuple[Expr, ...]]:
    """Body -> ω, v, ω̇, v̇ of its frame in the ground, in the ground's axes (12), of v̇.

    v is the velocity of the body's origin and v̇ its time derivative:

        v = v_N + ω × r,   v̇ = a_N + ω̇ × r + ω × (ω × r)                        (motions-1)

    with r from the origin of the node that carries the body.
    """
    motions = {}
    for body in setting.mechanism.bodies[1:]:
        node, (_, p_NB) = setting.tree.frames[body.name]
        frame = setting.kinematics.motion(GROUND, node)
        r = product(frame.R, p_NB)
        alpha, a = node_accelerations(setting, node, frame)
        velocity = frame.velocity + cross(frame.omega, r)
        rate = a + cross(alpha, r) + cross(frame.omega, cross(frame.omega, r))
        entries = [*frame.omega, *velocity, *alpha, *rate]
        motions[body.name] = tuple(as_expr(x) for x in entries)
    return motions


def node_accelerations(setting: Setting, node: int, frame: Motion) -> tuple[Array, Array]:
    """ω̇ of a node and the acceleration of its origin: J v̇ and what v alone causes."""
    alpha, a = frame.alpha, frame.acceleration
    for j, (turn, slide) in setting.kinematics.jacobian(GROUND, node, frame.p).items():
        vdot = setting.symbols.vdot[j]
        alpha = alpha + array([times(x, vdot) for x in turn])
        a = a + array([times(x, vdot) for x in slide])
    return alpha, a


def joint_markers(setting: Setting, joints: tuple[str, ...]) -> dict[str, tuple[Expr, ...]]:
    """Joint -> pose of its successor's marker M in the ground: R row by row (9), p (3).

    Of what rolls, the axes of the plane, at the point that touches.
    """
    places = {joint.name: joint.successor for joint in setting.mechanism.joints}
    rolls = {x.name: x for x in setting.mechanism.constraints if isinstance(x, BetweenFrames)}
    markers = {}
    for name in joints:
        R, p = _pose(setting, places[name]) if name in places else _touching(setting, rolls[name])
        markers[name] = tuple(as_expr(x) for x in [*R.flat, *p])
    return markers


def _pose(setting: Setting, marker: Marker) -> tuple[Array, Array]:
    node, X_NM = setting.tree.located(marker)
    frame = setting.kinematics.motion(GROUND, node)
    return compose(frame.R, frame.p, *X_NM)


def _touching(setting: Setting, rolling: BetweenFrames) -> tuple[Array, Array]:
    """The axes of the first frame where the force acts: of a wheel, at its lowest point."""
    first, second = rolling.frames()
    axes, _ = _pose(setting, first)
    turned, center = _pose(setting, second)
    arm = rolling.arm(product(axes.T, turned), setting.tree.numbers)
    return axes, center + product(axes, arm)
