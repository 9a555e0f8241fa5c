"""States and accelerations of a mechanism modulo a prime, on which laws are proved exactly.

A coordinate that is imposed as a function of time is replaced by that function. The other
velocities are drawn from those that satisfy the rows of closures and the accelerations solve the
equations of motion there. Positions need not be on a loop's variety: what holds for all positions
and all velocities of the kernel of G holds on the variety.

Public names: ExactMotion, imposed_rows.

Source: SCH80 (a polynomial that is not zero seldom vanishes at random points).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

from liaison.analyse.compare.points import (
    TRIES,
    LooseRoots,
    all_exist,
    formulas_of,
    primes,
    random_point,
)
from liaison.equations import Equations
from liaison.errors import DerivationError
from liaison.exact.residues import DEFAULT_PRIME, ResidueField, Residues
from liaison.expr import (
    ONE,
    ZERO,
    Domain,
    Expr,
    as_expr,
    directional,
    gradient,
    substitute,
    symbols_of,
    topological,
)

POINTS = 3
"""Random points at which a law must hold."""


def imposed_rows(equations: Equations) -> dict[int, tuple[int, Expr]]:
    """Row of a closure -> the coordinate it alone gives as a function of time, and that function.

    Only coordinates whose rate is a velocity count.
    """
    symbols, N = equations.symbols, equations.kinematics.N
    imposed = {}
    for k, phi in enumerate(equations.closures.phi):
        used = [i for i, q in enumerate(symbols.q) if q in symbols_of([phi])]
        if len(used) != 1:
            continue
        (i,) = used
        slope = gradient(phi, [symbols.q[i]])[0]
        rest = substitute([phi], {symbols.q[i]: ZERO})[0]
        is_plain = [(r, c) for r, c in N if r == i] and symbols.t in symbols_of([rest])
        if slope.op == "const" and is_plain and N.get((i, _velocity(equations, i))) is ONE:
            imposed[k] = (i, as_expr(-rest / slope))
    return imposed


def _velocity(equations: Equations, i: int) -> int:
    columns = [c for r, c in equations.kinematics.N if r == i]
    return columns[0] if len(columns) == 1 else -1


def _roots(equations: Equations) -> tuple[list[Expr], int]:
    """Arguments of the square roots, and a prime modulo which those of numbers exist."""
    everything = [*formulas_of(equations), *equations.reports.energy, *equations.closures.phi]
    order = topological([as_expr(x) for x in everything])
    roots = [node.a for node in order if node.op == "sqrt"]
    firm = [x for x in roots if not symbols_of([x])]
    return roots, (next(primes(0, firm)) if roots else DEFAULT_PRIME)


@final
class ExactMotion:
    """The motion of a mechanism at random exact states.

    Raises:
        DerivationError: the rows of closures allow no velocity at such a position.

    Attributes:
        free: velocities that no row imposes.
        prime: modulo which everything is.
        given: imposed coordinates, rates and accelerations as functions of time.
    """

    def __init__(self, equations: Equations, points: int = POINTS) -> None:
        self.equations = equations
        symbols = equations.symbols
        self.imposed = imposed_rows(equations)
        self.imposed_values: dict[Expr, Expr] = {}
        held = []
        for i, f in self.imposed.values():
            j = _velocity(equations, i)
            held.append(j)
            rate = gradient(f, [symbols.t])[0]
            self.imposed_values |= {symbols.q[i]: f, symbols.v[j]: rate}
            self.imposed_values[symbols.vdot[j]] = gradient(rate, [symbols.t])[0]
        self.free = [j for j in range(len(symbols.v)) if j not in held]
        kept = [k for k in range(len(equations.closures.gamma)) if k not in self.imposed]
        self.rows = kept
        roots, self.prime = _roots(equations)
        self._points = [self._point(seed, roots) for seed in range(1, points + 1)]

    def substituted(self, fs: Sequence[Expr]) -> list[Expr]:
        """Formulas with imposed coordinates replaced by their functions of time."""
        return substitute(list(fs), self.imposed_values) if self.imposed_values else list(fs)

    @cached_property
    def _row_formulas(self) -> list[Expr]:
        """G of the kept rows, dense and free velocities only, then what they must give."""
        closures, symbols = self.equations.closures, self.equations.symbols
        rows: list[Any] = []
        right: list[Any] = []
        for k in self.rows:
            value: Any = closures.nu[k]
            for j in range(len(symbols.v)):
                entry = closures.G.get((k, j), ZERO)
                if j in self.free:
                    rows.append(entry)
                else:
                    value = value - entry * symbols.v[j]
            right.append(value)
        return self.substituted([as_expr(x) for x in (*rows, *right)])

    def _point(self, seed: int, roots: list[Expr]) -> tuple[ResidueField, dict[Expr, Any]]:
        """Values of t, q, u, p and of velocities that satisfy the rows."""
        domain, values = self._position(seed, self.substituted(roots))
        field = ResidueField(self.prime, domain, seed)
        if self.rows:
            n = len(self.free)
            numbers = field.numbers(self._row_formulas, values)
            G = [numbers[r * n : (r + 1) * n] for r in range(len(self.rows))]
            v = field.solved(G, numbers[len(self.rows) * n :], n)
            if v is None:
                raise DerivationError("no velocity satisfies the rows at an exact position.")
            values |= {self.equations.symbols.v[j]: x for j, x in zip(self.free, v, strict=True)}
        return field, values

    def _position(self, seed: int, roots: list[Expr]) -> tuple[Domain, dict[Expr, int]]:
        """A random position at which all square roots exist; else such roots are drawn."""
        for attempt in range(TRIES):
            domain = Residues(self.prime, seed * TRIES + attempt)
            values = random_point(self.equations, domain)
            for x in self.imposed_values:
                values.pop(x, None)
            if all_exist(roots, values, domain):
                break
        return LooseRoots(domain), values

    def states(self) -> list[tuple[ResidueField, dict[Expr, Any]]]:
        """The arithmetic and the values of t, q, v, u and p at every point."""
        return [(field, dict(values)) for field, values in self._points]

    def is_zero(self, f: Expr) -> bool:
        """Whether a formula of t, q and v vanishes for all velocities the rows allow."""
        (g,) = self.substituted([f])
        if g.op == "const":
            return bool(g.a == 0)
        return all(field.numbers([g], values)[0] == 0 for field, values in self._points)

    def is_affine(self, f: Expr) -> bool:
        """Whether f(t, q, v) is of the first degree in v, at a random point: f₂ − 2 f₁ + f₀ = 0."""
        field, values = self._points[0]
        residues = []
        for n in range(3):
            scaled = {v: n * values[v] for v in self.equations.symbols.v if v in values}
            residues.append(field.numbers(self.substituted([f]), values | scaled)[0])
        return bool((residues[2] - 2 * residues[1] + residues[0]) % field.p == 0)

    def values(self, fs: Sequence[Expr]) -> list[list[int]]:
        """Formulas of t, q and v at every point."""
        formulas = self.substituted(fs)
        return [field.numbers(formulas, values) for field, values in self._points]

    def rates(self, fs: Sequence[Expr]) -> list[list[int]] | None:
        """Time derivatives along the motion at every point; None where v̇ is not determined."""
        symbols = self.equations.symbols
        ways: dict[Expr, Any] = dict(zip(symbols.q, self.qdot, strict=True))
        ways |= dict(zip(symbols.v, symbols.vdot, strict=True))
        formulas = self.substituted(directional(list(fs), ways | {symbols.t: ONE}))
        rates = []
        for field, values in self._points:
            vdot = self._accelerations(field, values)
            if vdot is None:
                return None
            rates.append(field.numbers(formulas, values | vdot))
        return rates

    @cached_property
    def qdot(self) -> list[Expr]:
        """q̇ = N v."""
        rates: list[Any] = [ZERO] * len(self.equations.symbols.q)
        for (i, j), entry in self.equations.kinematics.N.items():
            rates[i] = rates[i] + entry * self.equations.symbols.v[j]
        return [as_expr(x) for x in rates]

    @cached_property
    def _saddle(self) -> list[Expr]:
        """M of the free velocities, τ − h without what imposed motions take, G, γ."""
        symbols, dynamics = self.equations.symbols, self.equations.dynamics
        closures = self.equations.closures
        M = {(max(i, j), min(i, j)): x for (i, j), x in dynamics.M.items()}
        held = [j for j in range(len(symbols.v)) if j not in self.free]
        square = [M.get((max(i, j), min(i, j)), ZERO) for i in self.free for j in self.free]
        force = []
        for i in self.free:
            total: Any = dynamics.f[i]
            for j in held:
                total = total - M.get((max(i, j), min(i, j)), ZERO) * symbols.vdot[j]
            force.append(total)
        G = [closures.G.get((k, j), ZERO) for k in self.rows for j in self.free]
        gamma = []
        for k in self.rows:
            total = closures.gamma[k]
            for j in held:
                total = total - closures.G.get((k, j), ZERO) * symbols.vdot[j]
            gamma.append(total)
        return self.substituted([as_expr(x) for x in (*square, *force, *G, *gamma)])

    def _accelerations(
        self, field: ResidueField, values: dict[Expr, Any]
    ) -> dict[Expr, int] | None:
        """v̇ from M v̇ − Gᵀ λ = τ − h, G v̇ = γ."""
        n, m = len(self.free), len(self.rows)
        numbers = field.numbers(self._saddle, values)
        M = [numbers[i * n : (i + 1) * n] for i in range(n)]
        force, rest = numbers[n * n : n * n + n], numbers[n * n + n :]
        G = [rest[k * n : (k + 1) * n] for k in range(m)]
        rows = [[*M[i], *(-G[k][i] for k in range(m))] for i in range(n)]
        rows += [[*G[k], *([0] * m)] for k in range(m)]
        solved = field.solved(rows, [*force, *rest[m * n :]], n + m)
        if solved is None or field.rank(rows) < n + field.rank(G):
            return None
        vdot = self.equations.symbols.vdot
        return {vdot[j]: x for j, x in zip(self.free, solved[:n], strict=True)}
