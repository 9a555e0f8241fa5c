"""Motions that no mass takes part in: where the mass matrix is singular, and which way, in words.

    M w = 0,  G w = 0  =>  nothing opposes an acceleration along w                      (massless-1)

Bodies without mass, or point masses that stay where they are while others turn about them, leave
such motions; forces along them would accelerate without bound.

Public names: MasslessMotion, massless_motions, check_inertia.

Source: docs/theory/satellite.md (massless-1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.equations import Equations, newton_euler
from liaison.errors import DerivationError
from liaison.expr import Expr, as_expr, evaluate, symbols_of
from liaison.model import Mechanism
from liaison.numeric import State
from liaison.tree import Tree, as_float, assemble, span
from liaison.units import Label

Floats = NDArray[np.float64]

RANK = 1e-9
"""Singular values below this part of the largest are zero."""

MANY = 64
"""Velocities up to which a start is examined before a run."""

SMALL = 1e-7
"""Components of a motion below this part of the largest are none."""


@final
@dataclass(frozen=True, slots=True)
class MasslessMotion:
    """A motion without kinetic energy.

    Attributes:
        velocities: label -> its part, the largest 1.
        bodies: what each body that moves does, in words.
    """

    velocities: Mapping[str, float]
    bodies: Mapping[str, str]

    def __str__(self) -> str:
        parts = ", ".join(f"{name} = {x:.6g}" for name, x in self.velocities.items())
        if not self.bodies:
            return f"{parts}: no body moves, the coordinates alone do."
        moves = "; ".join(f"{name} {words}" for name, words in self.bodies.items())
        return f"{parts}: {moves}. No mass moves."


def massless_motions(
    mechanism: Mechanism, at: Mapping[str, Any] | None = None
) -> tuple[MasslessMotion, ...]:
    """Every independent motion without inertia, where a mechanism is assembled.

    Args:
        mechanism: any.
        at: positions by label instead of its own starts [m, rad].

    Returns:
        The motions; none where accelerations are determined.
    """
    tree = span(mechanism)
    state = assemble(tree, None, **{name: float(as_float(x)) for name, x in (at or {}).items()})
    return _motions(tree, newton_euler(tree), state)


def check_inertia(tree: Tree, equations: Equations, state: State) -> None:
    """Raises an error at a start with a massless motion, and names the bodies that it moves.

    Args:
        tree: of a mechanism of no more than MANY velocities; larger ones are not examined.
        equations: its equations.
        state: where it starts.

    Raises:
        DerivationError: the mass matrix is singular on what the closures leave free.
    """
    if tree.nv > MANY or not _may_be_singular(tree):
        return
    for lost in _motions(tree, equations, state):
        most = max(lost.velocities, key=lambda name: abs(lost.velocities[name]))
        raise DerivationError(
            f"nothing gives {most!r} inertia where '{tree.mechanism.name}' starts, so its "
            f"acceleration is not determined. {lost}",
            hint="Give a body that this motion moves, or one it carries, a mass or an inertia about"
            " it, or impose the motion; `liaison.massless_motions` lists all such motions.",
        )


def _may_be_singular(tree: Tree) -> bool:
    """False if every body resists every motion, and no joint turns twice about one axis."""
    mechanism = tree.mechanism
    if not all(joint.type.KEEPS_RANK for joint in mechanism.joints):
        return True
    for body in mechanism.bodies[1:]:
        entries = [as_expr(x) for x in (body.mass, *(x for row in body.inertia for x in row))]
        if symbols_of(entries):
            return True
        mass, *inertia = (float(x) for x in evaluate(entries, {}))
        sizes = np.linalg.eigvalsh(np.array(inertia).reshape(3, 3))
        if not (mass > 0 and sizes[0] > RANK * sizes[-1]):
            return True
    return False


def _motions(tree: Tree, equations: Equations, state: State) -> tuple[MasslessMotion, ...]:
    values = _values(equations, state)
    null = _null_space(_matrix(equations, values))
    return tuple(_massless_motion(tree, equations, values, w) for w in null)


def _values(equations: Equations, state: State) -> dict[Expr, float]:
    symbols = equations.symbols
    values = {symbols.t: state.t} | dict(zip(symbols.q, state.q.tolist(), strict=True))
    values |= dict(zip(symbols.u, equations.defaults["u"], strict=True))
    return values | dict(zip(symbols.p, equations.defaults["p"], strict=True))


def _matrix(equations: Equations, values: Mapping[Expr, float]) -> Floats:
    """M above G, rows scaled to their largest entries."""
    n, rows = len(equations.symbols.v), len(equations.closures.gamma)
    matrix = np.zeros((n + rows, n))
    M, G = dict(equations.dynamics.M), equations.closures.G
    numbers = evaluate([*M.values(), *G.values()], dict(values))
    for (i, j), x in zip(M, numbers, strict=False):
        matrix[i, j] = matrix[j, i] = float(x)
    for (k, j), x in zip(G, numbers[len(M) :], strict=True):
        matrix[n + k, j] = float(x)
    scale = np.sqrt(np.abs(np.diag(matrix[:n])))
    scale[scale <= RANK * np.max(scale, initial=0.0)] = 1.0
    matrix[:n] = matrix[:n] / scale[:, None]
    size = np.max(np.abs(matrix), axis=1, keepdims=True)
    return np.asarray(matrix / np.where(size > 0, size, 1.0))


def _null_space(A: Floats) -> list[Floats]:
    """Directions with A w = 0, each with one velocity that the others have not."""
    _, sizes, rows = np.linalg.svd(A)
    rank = int(np.sum(sizes > RANK * np.max(sizes, initial=1e-300)))
    basis = rows[rank:]
    for k in range(len(basis)):
        column = int(np.argmax(np.abs(basis[k])))
        basis[k] /= basis[k, column]
        for other in range(len(basis)):
            if other != k:
                basis[other] -= basis[other, column] * basis[k]
    return list(basis)


def _massless_motion(
    tree: Tree, equations: Equations, values: Mapping[Expr, float], w: Floats
) -> MasslessMotion:
    """A direction by the names of velocities and of bodies."""
    kept = np.abs(w) > SMALL * np.max(np.abs(w))
    labels: tuple[Label, ...] = equations.labels["v"]
    parts = {label.name: float(x) for label, x, k in zip(labels, w, kept, strict=True) if k}
    point = dict(values) | dict(zip(equations.symbols.v, w.tolist(), strict=True))
    point |= dict.fromkeys(equations.symbols.vdot, 0.0)
    motions, poses = equations.reports.motions, equations.reports.poses
    bodies = {}
    for body in tree.mechanism.bodies[1:]:
        formulas = [*motions[body.name][:6], *poses[body.name][:9], *map(as_float, body.com)]
        flat = np.array([float(x) for x in evaluate([as_expr(x) for x in formulas], point)])
        words = _words(flat[:3], flat[3:6], flat[6:15].reshape(3, 3), flat[15:])
        if words:
            bodies[body.name] = words
    return MasslessMotion(parts, bodies)


def _words(omega: Floats, velocity: Floats, R: Floats, com: Floats) -> str:
    """The motion of a body, in its own axes; empty if it is at rest."""
    turn, slide = R.T @ omega, R.T @ velocity
    center = slide + np.cross(turn, com)
    size = max(float(np.max(np.abs(turn))), float(np.max(np.abs(slide))))
    if size <= SMALL:
        return ""
    parts = []
    if np.max(np.abs(turn)) > SMALL:
        parts.append(f"turns about {_direction(turn)}")
    if np.max(np.abs(center)) > SMALL:
        parts.append(f"moves along {_direction(center)}")
    else:
        parts.append("its mass center stays")
    return ", ".join(parts)


def _direction(x: Floats) -> str:
    """One of the body's axes, or a vector in them."""
    unit = np.where(np.abs(x) > SMALL * np.max(np.abs(x)), x, 0.0) / np.linalg.norm(x)
    for k, name in enumerate("xyz"):
        if abs(abs(unit[k]) - 1) < SMALL:
            return f"its {name}"
    return "({:.4g}, {:.4g}, {:.4g}) of its axes".format(*unit)
