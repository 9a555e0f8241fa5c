"""Whether accelerations are determined at a start, before anything is compiled.

    M w = 0,  G w = 0  =>  nothing opposes an acceleration along w                      (massless-1)

Bodies without mass, or point masses that stay where they are while others turn about them, leave
such motions; forces along them would accelerate without bound.

Where y with yᵀ G = 0 and a velocity v with G v = ν give yᵀ γ(v) ≠ 0 (analysis-7), G v̇ = γ has no
solution: the mechanism is obstructed, and its closures leave relations out. `deflate` adds them.

Public names: MasslessMotion, massless_motions, check_inertia, may_be_singular, is_obstructed,
is_obstructed_by, closure_matrix, is_completed, moving, ADDED.

Source: docs/theory/satellite.md (massless-1); docs/theory/mobility.md (mobility-7).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.arguments import checked
from liaison.equations.formalisms.newton_euler import newton_euler
from liaison.errors import DerivationError, ModelError
from liaison.expr import Expr, as_expr, evaluate, symbols_of
from liaison.lazy import Shown
from liaison.model import Mechanism
from liaison.numeric import State
from liaison.tree import Tree, as_float, assemble, span
from liaison.units import Label

from .equations import Equations

Floats = NDArray[np.float64]

RANK = 1e-9
"""Singular values below this part of the largest are zero."""

MANY = 64
"""Velocities up to which a start is examined before a run."""

SMALL = 1e-7
"""Components of a motion below this part of the largest are none."""

LOOSE = 1e-6
"""Singular values of G, rows scaled to length 1, below this count as zero: where closures are of
second order, assembly to rounding leaves the square root of it."""

OBSTRUCTED = 1e-5
"""Part of γ, relative to all of it, that is more than the square root of rounding."""

TRIES = 3

ADDED = "second order"
"""What the relations that are added are called, each with a number."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class MasslessMotion(Shown):
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


@checked
def massless_motions(
    mechanism: Mechanism, at: Mapping[str, Any] | None = None
) -> tuple[MasslessMotion, ...]:
    """Every independent motion without inertia, where a mechanism is assembled.

    Args:
        mechanism: any.
        at: positions by label instead of its own starts [m, rad].

    Returns:
        The motions; none where accelerations are determined.

    Example:
        >>> import liaison
        >>> liaison.massless_motions(liaison.read("examples/pendulum.lsd"))
        ()
    """
    tree = span(mechanism)
    state = assemble(
        tree, None, guess=None, **{name: float(as_float(x)) for name, x in (at or {}).items()}
    )
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
    if tree.nv > MANY or not may_be_singular(tree):
        return
    for lost in _motions(tree, equations, state):
        most = max(lost.velocities, key=lambda name: abs(lost.velocities[name]))
        raise DerivationError(
            f"nothing gives {most!r} inertia where '{tree.mechanism.name}' starts, so its "
            f"acceleration is not determined. {lost}",
            hint="Give a body that this motion moves, or one it carries, a mass or an inertia about"
            " it, or impose the motion; `liaison.massless_motions` lists all such motions.",
        )


def may_be_singular(tree: Tree) -> bool:
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
    if not tree.nv:
        return ()
    values = _values(equations, state)
    null = _null_space(_matrix(equations, values))
    return tuple(_massless_motion(tree, equations, values, w) for w in null)


def is_obstructed(equations: Equations, state: State) -> bool:
    """True if some velocity that the closures allow at a state leads nowhere, by (analysis-7)."""
    if not equations.closures.gamma:
        return False

    def gamma(v: Floats) -> Floats:
        faster = State(state.t, state.q, v, state.labels)
        return _numbers(equations, faster, equations.closures.gamma)

    return is_obstructed_by(closure_matrix(equations, state), np.asarray(state.v), gamma)


def is_obstructed_by(G: Floats, v: Floats, gamma: Callable[[Floats], Floats]) -> bool:
    """The same of numbers.

    Args:
        G: rows of the closures at a position.
        v: velocities there.
        gamma: velocities -> γ there.
    """
    nc, nv = G.shape
    length = np.linalg.norm(G, axis=1)
    rows = np.where(length > LOOSE * np.max(length), length, max(1.0, float(np.max(length))))
    U, s, Vt = np.linalg.svd(G / rows[:, None])
    rank = int(np.count_nonzero(s > LOOSE * np.max(s, initial=0.0)))
    if rank in (nc, nv):
        return False
    loose, allowed = U[:, rank:] / rows[:, None], Vt[rank:]
    draws = np.random.default_rng(0).normal(size=(TRIES, nv - rank))
    speed = max(1.0, float(np.linalg.norm(v)))
    return any(_misses(gamma(v + speed * (draw @ allowed)), loose, speed) for draw in draws)


def _misses(gamma: Floats, loose: Floats, speed: float) -> bool:
    """Whether γ along a velocity has a part that no acceleration meets."""
    size = np.abs(loose).T @ np.abs(gamma)
    return bool(np.any(np.abs(loose.T @ gamma) > OBSTRUCTED * (size + speed**2 * LOOSE)))


def is_completed(multipliers: Sequence[Label]) -> bool:
    """Whether relations were added that closures had left out, by the labels of λ."""
    return any(x.name.startswith(ADDED) for x in multipliers)


def moving(state: State, firm: Collection[str], G: Floats, nu: Floats) -> State:
    """The state with velocities that keep added relations, too, as near as the firm ones let them.

    Args:
        state: of the mechanism before it was completed.
        firm: labels of velocities that are given.
        G: of the completed mechanism at that state.
        nu: ν of G v = ν there.
    """
    length = np.linalg.norm(G, axis=1)
    rows = np.where(length > 1e-12 * np.max(length, initial=0.0), length, 1.0)
    G, nu = G / rows[:, None], nu / rows
    free = np.array([x.name not in firm for x in state.labels["v"]], dtype=bool)
    v = np.array(state.v, dtype=float)
    v[free] += np.linalg.lstsq(G[:, free], nu - G @ v, rcond=LOOSE)[0]
    left = np.max(np.abs(nu - G @ v))
    good = left <= LOOSE * (1 + np.max(np.abs(v)))
    return State(state.t, state.q, v, state.labels) if good else state


def closure_matrix(equations: Equations, state: State) -> Floats:
    """G at a state, dense."""
    G = equations.closures.G
    matrix = np.zeros((len(equations.closures.gamma), len(equations.symbols.v)))
    for (k, j), x in zip(G, _numbers(equations, state, list(G.values())), strict=True):
        matrix[k, j] = x
    return matrix


def _numbers(equations: Equations, state: State, formulas: Sequence[Expr]) -> Floats:
    """Formulas of t, q, v, u and p at a state, interpreted."""
    numbers = evaluate([as_expr(x) for x in formulas], _values(equations, state))
    return np.array([float(x) for x in numbers], dtype=float)


def _values(equations: Equations, state: State) -> dict[Expr, float]:
    symbols = equations.symbols
    values = {symbols.t: state.t} | dict(zip(symbols.q, state.q.tolist(), strict=True))
    values |= dict(zip(symbols.v, state.v.tolist(), strict=True))
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
    if not np.all(np.isfinite(matrix)):
        raise ModelError(
            f"the numbers of {equations.name!r} are too large to compute with: its mass matrix or "
            "its constraints are not finite where it starts.",
            hint="Look for masses, lengths and inertias beyond 1e150, and for missing values.",
        )
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
    large = np.abs(w) > SMALL * np.max(np.abs(w))
    labels: tuple[Label, ...] = equations.labels["v"]
    parts = {label.name: float(x) for label, x, k in zip(labels, w, large, strict=True) if k}
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
