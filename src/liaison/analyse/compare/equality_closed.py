"""Equations in other coordinates or fewer velocities, compared where the closures hold.

At a position, with v, v̇ and a virtual velocity w at random among those that the closures allow,

    w · (M v̇ + h − τ) of the tree = W · (M v̇ + h − τ) of the others,                (equality-2)

W what the others move by when the tree moves by w; multipliers do no work on it, so that what they
are (and whether closures leave them open) does not matter. Equations in maximal coordinates must
besides allow W, and allow no more: the rank of their closures says so.

Public names: SceneFormulas, Scene, Rival.

Source: docs/theory/formalisms.md (equality-2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from liaison.equations import Equations
from liaison.exact.arithmetic import Arithmetic, Rows
from liaison.exact.residues import Ordered
from liaison.expr import Expr, as_expr, directional


class SceneFormulas:
    """Formulas of a tree's equations that scenes of it evaluate."""

    def __init__(self, equations: Equations) -> None:
        closures = equations.closures
        self.equations = equations
        self.rows = Ordered([*closures.G.values(), *closures.nu])
        self.rest = Ordered([*closures.gamma, *inertial(equations)])


class Scene:
    """A tree's equations at one position, moving at random as the closures allow."""

    def __init__(
        self,
        formulas: SceneFormulas,
        arithmetic: Arithmetic,
        at: Mapping[Expr, Any],
        *,
        at_rest: bool = False,
    ) -> None:
        self.equations, self.arithmetic = formulas.equations, arithmetic
        symbols, closures = self.equations.symbols, self.equations.closures
        self.width = len(symbols.v)
        G = arithmetic.numbers(formulas.rows, at)
        self.rows = matrix(closures.G, G, len(closures.gamma), self.width)
        v = arithmetic.solved(self.rows, G[len(closures.G) :], self.width)
        v = [0] * self.width if at_rest else v
        self.is_movable = v is not None
        self.at = dict(at) | dict(zip(symbols.v, v or [0] * self.width, strict=True))
        values = arithmetic.numbers(formulas.rest, self.at)
        gamma, rest = values[: len(closures.gamma)], values[len(closures.gamma) :]
        vdot = arithmetic.solved(self.rows, gamma, self.width)
        self.is_movable = self.is_movable and vdot is not None
        self.at |= dict(zip(symbols.vdot, vdot or [0] * self.width, strict=True))
        self.w = arithmetic.element(self.rows, self.width)
        self.freedom = self.width - arithmetic.rank(self.rows)
        self.power, self.scale = power(self.equations, rest, self.at, self.w)


def matrix(entries: Mapping[tuple[int, int], Any], numbers: Sequence[Any], rows: int,
           width: int) -> Rows:  # fmt: skip
    """A dense matrix from its nonzeros."""
    dense: Rows = [[0] * width for _ in range(rows)]
    for (k, j), x in zip(entries, numbers, strict=False):
        dense[k][j] = x
    return dense


def inertial(equations: Equations) -> list[Expr]:
    """M by its lower triangle, then τ − h."""
    M = equations.dynamics.M
    return [*(M[key] for key in M), *equations.dynamics.f]


def power(
    equations: Equations, numbers: Sequence[Any], at: Mapping[Expr, Any], w: Sequence[Any]
) -> tuple[Any, list[Any]]:
    """w · (M v̇ + h − τ), and its terms, from the numbers of `inertial`."""
    M = equations.dynamics.M
    vdot = [at[x] for x in equations.symbols.vdot]
    terms = [-(a * b) for a, b in zip(w, numbers[len(M) :], strict=True)]
    for (i, j), m in zip(M, numbers, strict=False):
        terms.append(w[i] * m * vdot[j])
        if i != j:
            terms.append(w[j] * m * vdot[i])
    return (sum_of(terms) if terms else 0), terms


class Rival:
    """Equations that are compared with those of a tree, wherever a scene of the tree is.

    Their formulas of the motion of bodies are derived once.
    """

    def __init__(self, reference: Equations, other: Equations) -> None:
        self.other = other
        self.is_along = other.symbols.v == reference.symbols.v
        symbols = reference.symbols
        bodies = {} if self.is_along else reference.reports.poses
        flow = dict(zip(symbols.q, qdot(reference), strict=True))
        turning = flow | dict(zip(symbols.v, symbols.vdot, strict=True))
        self.names = list(bodies)
        poses = [x for pose in bodies.values() for x in pose]
        rates = directional(poses, flow)
        self.count = len(poses)
        self.moving = Ordered([*poses, *rates, *directional(rates, turning)])
        self.turning = Ordered([*poses, *rates])
        closures = other.closures
        formulas = [] if self.is_along else [*closures.G.values(), *closures.nu, *closures.gamma]
        self.formulas = Ordered([*formulas, *inertial(other)])

    def difference(self, scene: Scene) -> str | None:
        """Where they differ at a scene, in words; None if they do not."""
        if not self.is_along:
            return _Star(scene, self).difference()
        numbers = scene.arithmetic.numbers(self.formulas, scene.at)
        rival_power, terms = power(self.other, numbers, scene.at, scene.w)
        same = scene.arithmetic.vanish([rival_power - scene.power], [*terms, *scene.scale])
        return None if same else "the power of a motion that the closures allow"


class _Star:
    """Equations with free bodies at the position, and in the motion, of a scene."""

    def __init__(self, scene: Scene, rival: Rival) -> None:
        self.scene, self.rival, self.other = scene, rival, rival.other
        self.numbers = scene.arithmetic.numbers
        self.at = self._moved()

    def _moved(self) -> dict[Expr, Any]:
        """Values of the others' symbols: by label, or from the motion of bodies."""
        scene, symbols = self.scene, self.other.symbols
        known = {x.name: value for x, value in scene.at.items()}
        rival = self.rival
        values = self.numbers(rival.moving, scene.at)
        count = rival.count
        for k, body in enumerate(rival.names):
            parts = [values[i * count + 12 * k : i * count + 12 * k + 12] for i in range(3)]
            known |= {f"free {body}.{key}": x for key, x in _free(*parts).items()}
        every = (symbols.t, *symbols.q, *symbols.v, *symbols.vdot, *symbols.u, *symbols.p)
        return {x: known[x.name] for x in every}

    def _virtual(self) -> list[Any]:
        """How the others move where the tree moves by w."""
        symbols = self.scene.equations.symbols
        at = self.scene.at | dict(zip(symbols.v, self.scene.w, strict=True))
        rival = self.rival
        values = self.numbers(rival.turning, at)
        known = {x.name: value for x, value in zip(symbols.v, self.scene.w, strict=True)}
        for k, body in enumerate(rival.names):
            pose, rate = values[12 * k : 12 * k + 12], values[rival.count + 12 * k :][:12]
            twist = _twist(pose, rate)
            known |= {f"free {body}.{key}": x for key, x in zip(TWIST, twist, strict=True)}
        return [known[x.name] for x in self.other.symbols.v]

    def difference(self) -> str | None:
        """The first difference, in words."""
        scene, other, closures = self.scene, self.other, self.other.closures
        vanish = scene.arithmetic.vanish
        W, n = self._virtual(), len(other.symbols.v)
        numbers = self.numbers(self.rival.formulas, self.at)
        first = len(closures.G) + 2 * len(closures.gamma)
        numbers, rest = numbers[:first], numbers[first:]
        rows = matrix(closures.G, numbers, len(closures.gamma), n)
        right = numbers[len(closures.G) :]
        nu, gamma = right[: len(rows)], right[len(rows) :]
        v, vdot = ([self.at[x] for x in group] for group in (other.symbols.v, other.symbols.vdot))
        if not vanish(_left(rows, v, nu)) or not vanish(_left(rows, W, [0] * len(rows))):
            return "velocities that the closures allow"
        if not vanish(_left(rows, vdot, gamma), gamma):
            return "accelerations that the closures allow"
        if n - scene.arithmetic.rank(rows) != scene.freedom:
            return "the number of degrees of freedom"
        rival_power, terms = power(other, rest, self.at, W)
        if not vanish([rival_power - scene.power], [*terms, *scene.scale]):
            return "the power of a motion that the closures allow"
        return None


TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")
POSE = ("x", "y", "z", "rxx", "rxy", "rxz", "ryx", "ryy", "ryz", "rzx", "rzy", "rzz")


def qdot(equations: Equations) -> list[Expr]:
    """q̇ = N v."""
    rates = [as_expr(0)] * len(equations.symbols.q)
    for (i, j), entry in equations.kinematics.N.items():
        rates[i] = rates[i] + entry * equations.symbols.v[j]
    return rates


def _left(rows: Rows, x: Sequence[Any], right: Sequence[Any]) -> list[Any]:
    residuals = []
    for row, b in zip(rows, right, strict=True):
        total: Any = -b
        for a, y in zip(row, x, strict=True):
            if not (isinstance(a, int) and a == 0):
                total = total + a * y
        residuals.append(total)
    return residuals


def _free(pose: Sequence[Any], rate: Sequence[Any], second: Sequence[Any]) -> dict[str, Any]:
    """Coordinates, velocities and accelerations of a free body, in its own axes."""
    R, p = pose[:9], pose[9:]
    values = dict(zip(POSE, [*p, *R], strict=True))
    twist = _twist(pose, rate)
    values |= dict(zip(TWIST, twist, strict=True))
    (x, y, z), v = twist[:3], twist[3:]
    whirl = _turned(R, second[:9])  # Rᵀ R̈ = α̃ + ω̃ ω̃
    alpha = [whirl[7] - y * z, whirl[2] - x * z, whirl[3] - x * y]
    straight = _back(R, second[9:])
    spin = [y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0]]
    slide = [a - b for a, b in zip(straight, spin, strict=True)]
    return values | {f"{key}'": x for key, x in zip(TWIST, [*alpha, *slide], strict=True)}


def _twist(pose: Sequence[Any], rate: Sequence[Any]) -> list[Any]:
    """ω and the origin's velocity in the body's axes: Rᵀ Ṙ = ω̃."""
    spin = _turned(pose[:9], rate[:9])
    return [spin[7], spin[2], spin[3], *_back(pose[:9], rate[9:])]


def _turned(R: Sequence[Any], X: Sequence[Any]) -> list[Any]:
    """Rᵀ X, row by row."""
    return [sum_of([R[3 * k + i] * X[3 * k + j] for k in range(3)]) for i in range(3)
            for j in range(3)]  # fmt: skip


def _back(R: Sequence[Any], x: Sequence[Any]) -> list[Any]:
    """Rᵀ x."""
    return [sum_of([R[3 * k + i] * x[k] for k in range(3)]) for i in range(3)]


def sum_of(terms: Sequence[Any]) -> Any:
    """Their sum."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
