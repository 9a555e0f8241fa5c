"""Where bodies are when a mechanism is assembled, and whether they all move along one plane.

Public names: Standing, standing, plane_normal, tidy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.expr import Expr, as_expr, evaluate, symbol
from liaison.model import Body, Joint
from liaison.numeric import State
from liaison.spatial.arrays import Array, array, product
from liaison.tree.assemble import assemble
from liaison.tree.kinematics import Kinematics
from liaison.tree.tree import GROUND, Transform, Tree, as_float

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
