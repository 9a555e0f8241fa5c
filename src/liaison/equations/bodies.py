"""How bodies move, in their own axes: velocities outwards, energies, accelerations by d/dt.

What the analytical formalisms start from. Nothing here is a sweep of wrenches: accelerations are
velocities differentiated, forces of weight come from a potential.

    ω = Rᵀ ω_P + ω_J,  v = Rᵀ (v_P + ω_P × p) + v_J                              (bodies-1)

How bodies move and where joints are, as formulas: velocities, accelerations, marker poses.

Public names: BodyMotion, velocities, accelerations, momenta, kinetic_energy, weight_potential,
slopes, body_motions, node_accelerations, joint_markers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from liaison.expr import Expr, as_expr, directional, gradient
from liaison.model import BetweenFrames, Marker
from liaison.spatial.arrays import Array, array, cross, dot, plus, product, times, zeros
from liaison.spatial.plucker import apply_inertia, compose
from liaison.tree import GROUND, Kinematics, Motion

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


class BodyMotion(NamedTuple):
    """Two vectors of a node in its own axes: of velocity at its origin, or of acceleration."""

    turn: Array  # ω [rad/s], or α [rad/s²]
    slide: Array  # of the origin [m/s], or [m/s²]

    @property
    def six(self) -> Array:
        """Angular, then linear."""
        return array([*self.turn, *self.slide])


def velocities(
    kinematics: Kinematics, v: Array | None = None, twists: Mapping[int, Array] | None = None
) -> list[BodyMotion]:
    """ω and the origin's velocity of every node, by (bodies-1).

    Args:
        kinematics: of the tree, on formulas.
        v: what stands for the velocities of the tree, where they are formulas of other speeds.
        twists: S v of nodes where it is known without v.
    """
    still = BodyMotion(zeros(3), zeros(3))
    motions: list[BodyMotion] = []
    for i, node in enumerate(kinematics.tree.nodes):
        R, p = kinematics.pose(i)
        own = kinematics.v[node.v] if v is None else v[node.v]
        known = (twists or {}).get(i)
        twist = product(kinematics.subspace(i), own) if known is None else known
        parent = still if node.parent == GROUND else motions[node.parent]
        back = R.T
        omega = product(back, parent.turn) + twist[:3]
        slide = product(back, parent.slide + cross(parent.turn, p)) + twist[3:]
        motions.append(BodyMotion(omega, slide))
    return motions


def accelerations(moving: Sequence[BodyMotion], flow: Mapping[Expr, Any]) -> list[BodyMotion]:
    """α and the origin's acceleration: velocities differentiated along a flow.

    α = ω̇, a = v̇ + ω × v, where a dot is the rate of components in the body's axes.
    """
    entries = [as_expr(x) for motion in moving for x in motion.six]
    rates = directional(entries, flow)
    motions = []
    for k, motion in enumerate(moving):
        rate = array([0 if x.op == "const" and x.a == 0 else x for x in rates[6 * k : 6 * k + 6]])
        motions.append(BodyMotion(rate[:3], rate[3:] + cross(motion.turn, motion.slide)))
    return motions


def momenta(kinematics: Kinematics, moving: Sequence[BodyMotion]) -> list[Array]:
    """Moment of momentum about the origin, and momentum, of every node's own body."""
    nodes = kinematics.tree.nodes
    return [apply_inertia(*n.inertia, m.six) for n, m in zip(nodes, moving, strict=True)]


def kinetic_energy(kinematics: Kinematics, moving: Sequence[BodyMotion]) -> Expr:
    """T = ½ Σ V · I V [J]."""
    total: Any = 0
    for motion, carried in zip(moving, momenta(kinematics, moving), strict=True):
        total = plus(total, dot(motion.six, carried))
    return as_expr(total) / 2


def weight_potential(setting: Setting) -> Expr:
    """U of gravity: −g · Σ m c, the first moments of mass summed inwards [J]."""
    kinematics = setting.kinematics
    nodes = kinematics.tree.nodes
    total = [(node.inertia[0], node.inertia[1]) for node in nodes]
    whole = zeros(3)
    for i in range(len(nodes) - 1, -1, -1):
        R, p = kinematics.pose(i)
        m, h = total[i]
        moment = array([times(m, x) for x in p]) + product(R, h)
        if nodes[i].parent == GROUND:
            whole = whole + moment
        else:
            mass, carried = total[nodes[i].parent]
            total[nodes[i].parent] = plus(mass, m), carried + moment
    return -as_expr(dot(setting.gravity, whole))


def slopes(setting: Setting, f: Expr) -> list[Expr]:
    """Nᵀ ∂f/∂q: how f changes for a unit of each velocity, from one sweep backwards."""
    partial = array(gradient(f, list(setting.symbols.q)))
    slopes_of: list[Expr] = []
    for node in setting.tree.nodes:
        N = node.joint.type.kinematic_map(setting.q[node.q])
        slopes_of += [as_expr(x) for x in product(N.T, partial[node.q])]
    return slopes_of
