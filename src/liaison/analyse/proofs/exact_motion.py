"""States and accelerations of a mechanism modulo a prime, on which laws are proved exactly.

A coordinate that is imposed as a function of time is replaced by that function. The other
velocities are drawn from those that satisfy the rows of closures and the accelerations solve the
equations of motion there. Positions need not be on a loop's variety: what holds for all positions
and all velocities of the kernel of G holds on the variety.

Points modulo a prime: positions with unit quaternions and true rotations, any speeds.

Angles need nothing: their sines and cosines are points of the circle c² + s² = 1 (expr.residues).
Quaternions and rotation matrices are drawn from four residues by the rational map of the sphere,
so that every coordinate is a rational function of what is drawn.

Equations at random points modulo random primes, where every square root in them exists.

Public names: ExactMotion, imposed_rows, random_point, attitude_of, formulas_of,
evaluated_somewhere, all_exist, primes, TRIES.

Source: SCH80 (a polynomial that is not zero seldom vanishes at random points).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING, Any, final

from liaison.equations import Equations
from liaison.equations.equations import curved_rows
from liaison.errors import DerivationError
from liaison.exact.arithmetic import Modular
from liaison.exact.choices import (
    CHOICES,
    POINTS_A_SIDE,
    choices,
    dependent_roots,
    points_for_choices,
    radicands,
    squares_under,
)
from liaison.exact.linear import coprime_base, primes_from
from liaison.exact.residues import (
    DEFAULT_PRIME,
    LooseRoots,
    Ordered,
    Residues,
    UnknownChoices,
    keeps_laws,
)
from liaison.expr import (
    ONE,
    ZERO,
    Domain,
    Expr,
    as_expr,
    directional,
    evaluate,
    gradient,
    substitute,
    symbols_of,
    topological,
)

if TYPE_CHECKING:
    from liaison.exact.evidence import Evidence


def random_point(equations: Equations, domain: Residues) -> dict[Expr, int]:
    """A residue for every position, speed, acceleration, input, parameter and time."""
    symbols = equations.symbols
    named = (symbols.t, *symbols.q, *symbols.v, *symbols.vdot, *symbols.u, *symbols.p)
    values = {x: domain.drawn("point", x.name) for x in named}
    for chart in equations.kinematics.charts:
        attitude = attitude_of(equations, chart)
        if attitude:
            count = len(attitude)
            drawn = [domain.drawn("attitude", x.name) for x in attitude[:4]]
            numbers = _unit(drawn, domain) if count == 4 else _rotation(drawn, domain.p)
            values |= dict(zip(attitude, numbers, strict=True))
    return values


def attitude_of(equations: Equations, chart: Any) -> tuple[Expr, ...]:
    """The coordinates of a part of q that are a quaternion or a rotation matrix, if it has them."""
    if chart.kind == "plain":
        return ()
    q = equations.symbols.q[chart.q]
    return tuple(q[len(q) - (4 if "matrix" not in chart.kind else 9) :])


def _unit(drawn: Sequence[int], domain: Residues) -> list[int]:
    """A unit quaternion: the sphere from its pole, (1 − t², 2 t)/(1 + t²)."""
    t = [x % domain.p for x in drawn[:3]]
    square = sum(x * x for x in t) % domain.p
    scale = domain.inverse(1 + square)
    return [(1 - square) * scale % domain.p, *(2 * x * scale % domain.p for x in t)]


def _rotation(drawn: Sequence[int], p: int) -> list[int]:
    """The nine entries of a rotation, from four residues that need not be of unit length."""
    w, x, y, z = drawn
    scale = pow(w * w + x * x + y * y + z * z, -1, p)
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return [entry * scale % p for row in rows for entry in row]


TRIES = 24
"""Points tried for one prime until every square root in the formulas exists."""


def formulas_of(equations: Equations) -> list[Expr]:
    """M, τ − h, G, γ and ν, in this order."""
    dynamics, closures = equations.dynamics, equations.closures
    return [
        *(dynamics.M[key] for key in dynamics.M),
        *dynamics.f,
        *closures.G.values(),
        *closures.gamma,
        *closures.nu,
    ]


def evaluated_somewhere(
    equations: Equations, formulas: list[Expr], seed: int
) -> Iterator[tuple[list[int], dict[Expr, int], int, bool]]:
    """The formulas at a random point for each of many primes, where all their roots exist.

    Where no such point is found soon, roots that do not exist are drawn, and choices (max, min,
    abs, sign, if) are unknown functions of what they choose by; the last of what is yielded says
    whether neither was so: a difference may not be one then.
    """
    ordered = Ordered(formulas)
    is_plain = not any(node.op in CHOICES for node in ordered.order)
    roots = [node.a for node in ordered.order if node.op == "sqrt"]
    firm = [x for x in roots if not symbols_of([x])]
    for p in primes(seed, firm):
        for attempt in range(TRIES):
            domain = Residues(p, seed * TRIES + attempt)
            at = random_point(equations, domain)
            last = attempt == TRIES - 1
            try:
                if last or all_exist(roots, at, domain):
                    used = UnknownChoices(LooseRoots(domain) if last else domain)
                    yield [int(x) for x in ordered.numbers(at, used)], at, p, is_plain and not last
                    break
            except DerivationError:
                continue


def all_exist(roots: Sequence[Expr], at: Mapping[Expr, int], domain: Residues) -> bool:
    """Whether the arguments of all roots are squares at a point, before all else is evaluated."""
    try:
        radicands = evaluate(list(roots), at, domain) if roots else []
    except DerivationError:
        return False
    return all(x == 0 or domain.is_positive(x) for x in radicands)


def primes(seed: int, firm: Sequence[Expr]) -> Iterator[int]:
    """Primes modulo which these constants are squares; any, where that takes too long."""
    try:
        squares = squares_under(firm)
    except DerivationError:  # a sign is not known: what needs it is not proved
        squares = []
    excluded = tuple(coprime_base(squares))
    excluded = excluded if len(excluded) <= MANY else ()
    for k in range(PRIMES):
        p = _prime(seed, excluded, k)
        if k > PRIMES // 2 or all_exist(firm, {}, Residues(p)):
            yield p


MANY = 14
"""Beyond so many independent roots no prime is waited for."""

PRIMES = 200


@lru_cache(maxsize=512)
def _prime(seed: int, squares: tuple[int, ...], k: int) -> int:
    return next(islice(primes_from(seed + 1009 * k, squares), 1))


POINTS = 3
"""Random points at which a law must hold."""

WITNESSES = 2
"""Points modulo a second prime at which it is confirmed."""


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


def _roots(equations: Equations, seed: int) -> tuple[list[Expr], int]:
    """Arguments of the square roots, and a prime modulo which those of numbers exist."""
    everything = [*formulas_of(equations), *equations.reports.energy, *equations.closures.phi]
    order = topological([as_expr(x) for x in everything])
    roots = [node.a for node in order if node.op == "sqrt"]
    firm = [x for x in roots if not symbols_of([x])]
    return roots, (next(primes(seed, firm)) if roots or seed else DEFAULT_PRIME)


@final
class ExactMotion:
    """The motion of a mechanism at random exact states.

    Raises:
        DerivationError: the rows of closures allow no velocity at such a position.

    Attributes:
        free: velocities that no row imposes.
        prime: modulo which everything is.
        given: imposed coordinates, rates and accelerations as functions of time.
        has_roots: every square root exists at the points used so far; where one does not, it is an
            unknown function there.
        is_decidable: every side of every choice (max, min, abs, sign, if, roots of squares) occurs
            at the points; where it is not, nothing with a choice is called zero or constant.
    """

    def __init__(self, equations: Equations, points: int = POINTS, seed: int = 0) -> None:
        self.equations, self.seed = equations, seed
        symbols = equations.symbols
        self.imposed = imposed_rows(equations)
        self.imposed_values: dict[Expr, Expr] = {}
        imposed_velocities = []
        for i, f in self.imposed.values():
            j = _velocity(equations, i)
            imposed_velocities.append(j)
            rate = gradient(f, [symbols.t])[0]
            self.imposed_values |= {symbols.q[i]: f, symbols.v[j]: rate}
            self.imposed_values[symbols.vdot[j]] = gradient(rate, [symbols.t])[0]
        self.free = [j for j in range(len(symbols.v)) if j not in imposed_velocities]
        free_rows = [k for k in range(len(equations.closures.gamma)) if k not in self.imposed]
        self.rows = free_rows
        curved = curved_rows(equations)  # not imposed: what holds without them holds with them
        self.linear = [k for k in free_rows if k not in curved]
        self.has_roots = True
        self._roots, self.prime = _roots(equations, seed)
        everything = [*formulas_of(equations), *equations.reports.energy, *equations.closures.phi]
        formulas = self.substituted([as_expr(x) for x in everything])
        enough = points_for_choices(formulas, points, self._drawn)
        self.is_decidable = enough is not None
        is_plain = enough is None or enough <= points
        self.sides = 1 if is_plain else max(1, (enough or 0) // POINTS_A_SIDE)
        first = 1000 * seed + 1
        self._points = [self._point(first + k, self.prime) for k in range(enough or points)]

    def substituted(self, fs: Sequence[Expr]) -> list[Expr]:
        """Formulas with imposed coordinates replaced by their functions of time."""
        return substitute(list(fs), self.imposed_values) if self.imposed_values else list(fs)

    @cached_property
    def _row_formulas(self) -> list[Expr]:
        """G of the kept rows, dense and free velocities only, then what they must give."""
        closures, symbols = self.equations.closures, self.equations.symbols
        rows: list[Any] = []
        right: list[Any] = []
        for k in self.linear:
            value: Any = closures.nu[k]
            for j in range(len(symbols.v)):
                entry = closures.G.get((k, j), ZERO)
                if j in self.free:
                    rows.append(entry)
                else:
                    value = value - entry * symbols.v[j]
            right.append(value)
        return self.substituted([as_expr(x) for x in (*rows, *right)])

    def evidence(self) -> Evidence:
        """Of what is called zero, or constant: a statement is still to be put in."""
        from liaison.exact.degrees import degree_bound
        from liaison.exact.evidence import COEFFICIENTS, RESIDUES, SCHWARTZ, Evidence, accident

        equations = self.equations
        energy = [as_expr(x) for x in equations.reports.energy]
        size = len(equations.symbols.v) + len(self.rows) + 1  # Cramer's rule, for v̇
        degree = size * degree_bound(formulas_of(equations), energy)
        chance = accident(degree, self.count)
        sides = f"; {self.sides} sides of choices" if self.sides > 1 else ""
        if self.sides > 1:
            chance += self.sides * math.exp(-POINTS_A_SIDE)
        where = f" at {self.count} random states, parameters drawn as well: zero at all of them"
        bound = f"degree at most {degree}, {self.count} states{sides}, {COEFFICIENTS}"
        both = (self.prime, self.second_prime)
        return Evidence("", True, where, RESIDUES, SCHWARTZ, chance, bound, both, self.seed)

    @property
    def count(self) -> int:
        """Random states at which what is called zero vanishes."""
        return len(self._points) + WITNESSES

    @cached_property
    def second_prime(self) -> int:
        """Another prime, drawn by the numbers in the equations: none of them can hold it."""
        nodes = topological(formulas_of(self.equations))
        text = repr((self.seed, sorted({repr(x.a) for x in nodes if x.op == "const"})))
        drawn = int.from_bytes(blake2b(text.encode(), digest_size=6).digest(), "little")
        firm = [x for x in self._roots if not symbols_of([x])]
        return next(p for p in primes(drawn, firm) if p != self.prime)

    @cached_property
    def _witnesses(self) -> list[tuple[Modular, dict[Expr, Any]]]:
        """States modulo the second prime, at which everything is confirmed."""
        first = 1000 * self.seed + 501
        return [self._point(first + k, self.second_prime) for k in range(WITNESSES)]

    def _point(self, seed: int, p: int) -> tuple[Modular, dict[Expr, Any]]:
        """Values of t, q, u, p and of velocities that satisfy the rows."""
        domain, values = self._position(seed, p)
        field = Modular(p, domain, seed)
        if self.linear:
            n, count = len(self.free), len(self.linear)
            numbers = field.numbers(self._row_formulas, values)
            G = [numbers[r * n : (r + 1) * n] for r in range(count)]
            v = field.solved(G, numbers[count * n :], n)
            if v is None:
                raise DerivationError("no velocity satisfies the rows at an exact position.")
            values |= {self.equations.symbols.v[j]: x for j, x in zip(self.free, v, strict=True)}
        return field, values

    def _position(self, seed: int, p: int) -> tuple[Domain, dict[Expr, int]]:
        """A random position at which all square roots exist; else such roots are drawn."""
        roots = self.substituted(self._roots)
        for attempt in range(TRIES):
            domain, values = self._drawn(seed * TRIES + attempt, p)
            if all_exist(roots, values, domain):
                break
        else:
            self.has_roots = False
        return LooseRoots(domain), values

    def _drawn(self, seed: int, p: int | None = None) -> tuple[Residues, dict[Expr, int]]:
        """A random position, speeds and time, without what is imposed."""
        domain = Residues(p or self.prime, seed)
        values = random_point(self.equations, domain)
        return domain, {x: n for x, n in values.items() if x not in self.imposed_values}

    def is_sharp(self, fs: Sequence[Expr]) -> bool:
        """Whether a residue other than zero proves that formulas do not vanish everywhere: there is
        no choice, roots exist and are independent, and functions keep their laws."""
        formulas = self.substituted(fs)
        _ = self._witnesses
        related = dependent_roots(radicands(formulas), self._drawn)
        return self.has_roots and related == 0 and keeps_laws(formulas)

    def states(self) -> list[tuple[Modular, dict[Expr, Any]]]:
        """The arithmetic and the values of t, q, v, u and p at every point."""
        everywhere = (*self._points, *self._witnesses)
        return [(field, dict(values)) for field, values in everywhere]

    def is_zero(self, f: Expr) -> bool:
        """Whether a formula of t, q and v vanishes for all velocities the rows allow."""
        (g,) = self.substituted([f])
        if g.op == "const":
            return bool(g.a == 0)
        if not self.is_decidable and (choices([g]) != 0 or radicands([g])):
            return False
        if any(field.numbers([g], values)[0] for field, values in self._points):
            return False
        return not any(field.numbers([g], values)[0] for field, values in self._witnesses)

    def is_affine(self, f: Expr) -> bool:
        """Whether f(t, q, v) is of the first degree in v, at each point: f₂ − 2 f₁ + f₀ = 0."""
        for field, values in self._points:
            residues = []
            for n in range(3):
                scaled = {v: n * values[v] for v in self.equations.symbols.v if v in values}
                residues.append(field.numbers(self.substituted([f]), values | scaled)[0])
            if (residues[2] - 2 * residues[1] + residues[0]) % field.p:
                return False
        return True

    def values(self, fs: Sequence[Expr]) -> list[list[int]]:
        """Formulas of t, q and v at every point."""
        formulas = self.substituted(fs)
        return [field.numbers(formulas, values) for field, values in self._points]

    def rates(self, fs: Sequence[Expr]) -> list[list[int]] | None:
        """Time derivatives along the motion at every point; None where v̇ is not determined, or
        choices are too many."""
        return self._rates(fs, self._points) if self.is_decidable else None

    def is_confirmed(self, f: Expr) -> bool:
        """Whether a formula that is constant at every point is so modulo the second prime."""
        rates = self._rates([f], self._witnesses)
        return rates is not None and not any(row[0] for row in rates)

    def _rates(
        self, fs: Sequence[Expr], points: Sequence[tuple[Modular, dict[Expr, Any]]]
    ) -> list[list[int]] | None:
        symbols = self.equations.symbols
        ways: dict[Expr, Any] = dict(zip(symbols.q, self.qdot, strict=True))
        ways |= dict(zip(symbols.v, symbols.vdot, strict=True))
        formulas = self.substituted(directional(list(fs), ways | {symbols.t: ONE}))
        rates = []
        for field, values in points:
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
        imposed_velocities = [j for j in range(len(symbols.v)) if j not in self.free]
        square = [M.get((max(i, j), min(i, j)), ZERO) for i in self.free for j in self.free]
        force = []
        for i in self.free:
            total: Any = dynamics.f[i]
            for j in imposed_velocities:
                total = total - M.get((max(i, j), min(i, j)), ZERO) * symbols.vdot[j]
            force.append(total)
        G = [closures.G.get((k, j), ZERO) for k in self.rows for j in self.free]
        gamma = []
        for k in self.rows:
            total = closures.gamma[k]
            for j in imposed_velocities:
                total = total - closures.G.get((k, j), ZERO) * symbols.vdot[j]
            gamma.append(total)
        return self.substituted([as_expr(x) for x in (*square, *force, *G, *gamma)])

    def _accelerations(self, field: Modular, values: dict[Expr, Any]) -> dict[Expr, int] | None:
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
