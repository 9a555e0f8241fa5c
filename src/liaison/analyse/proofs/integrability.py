"""Integrability of velocity constraints: Frobenius' condition, and the integrated form.

A row G_k v = ν_k is the form ω_k = Σ G_kj θ_j − ν_k dt, where θ_j is dual to the field e_j along
which only v_j is 1. On the fields e_0 = ∂/∂t, e_1, … with [e_i, e_j] = Σ_s c^s_ij e_s

    dω_k(e_i, e_j) = e_i(G_kj) − e_j(G_ki) − Σ_s G_ks c^s_ij                         (frobenius-1)

Some rows are integrable together where every dω_k vanishes on all pairs of motions they allow. That
is tested at random positions modulo a prime, on the closures of positions where these can be solved
for coordinates, else at any: what vanishes everywhere vanishes on them, but not the other way.

Public names: RowVerdict, Integrability, integrability.

Source: LL 1.5.2 (holonomic and nonholonomic conditions); docs/theory/first_integrals.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, final

from liaison.equations import Equations
from liaison.equations.equations import check_linear_rates
from liaison.errors import DerivationError
from liaison.exact.arithmetic import Modular
from liaison.exact.evidence import SCHWARTZ, Evidence
from liaison.exact.linear import kernel
from liaison.expr import ONE, ZERO, Expr, as_expr, gradient, vanishes
from liaison.expr.reading.integrate import potential
from liaison.lazy import Shown

from .exact_motion import ExactMotion, attitude_of


@final
@dataclass(frozen=True, slots=True, repr=False)
class RowVerdict(Shown):
    """What one row of velocities is.

    Attributes:
        name: of the row.
        is_integrable: it restricts positions, together with the holonomic rows.
        integral: what then stays constant, where it was found; None otherwise.
        factor: by which the row was multiplied before it was integrated.
        is_proved: otherwise it is likely: where the closures of positions hold it may integrate, or
            functions have laws that residues do not keep.
    """

    name: str
    is_integrable: bool
    integral: Expr | None = None
    factor: Expr = ONE
    is_proved: bool = True


@final
@dataclass(frozen=True, slots=True, repr=False)
class Integrability(Shown):
    """Of the rows that a mechanism states for velocities only.

    Attributes:
        rows: each with the holonomic rows.
        is_holonomic: all of them together restrict positions only.
        integrable_combinations: how many combinations of them, at a position, can be integrable.
        evidence: of each row.
    """

    rows: tuple[RowVerdict, ...]
    is_holonomic: bool
    integrable_combinations: int
    evidence: tuple[Evidence, ...] = ()


def integrability(equations: Equations, *, seed: int = 0) -> Integrability:
    """Which rows of velocities are integrable: alone, together, and what they integrate to.

    Args:
        equations: with exact numbers: `derive(…, exact=True)`.
        seed: of the positions and primes.
    """
    holonomic = len(equations.closures.phi)
    rows = range(holonomic, len(equations.closures.gamma))
    forms = _Forms(equations, seed)
    verdicts = []
    for k in rows:
        fits = forms.are_integrable([*range(holonomic), k], [k])
        integral = _integrated(equations, k, forms.motion) if fits else None
        name = equations.labels["lam"][k].name
        formula, factor = integral or (None, ONE)
        is_proved = fits or (forms.is_closed and forms.is_sharp)
        verdicts.append(RowVerdict(name, fits, formula, factor, is_proved))
    everything = range(len(equations.closures.gamma))
    return Integrability(
        tuple(verdicts),
        forms.are_integrable(everything, rows),
        forms.combinations(everything, rows),
        tuple(_evidence(x, forms) for x in verdicts),
    )


def _evidence(row: RowVerdict, forms: _Forms) -> Evidence:
    """A row that integrates does so by chance; one that does not has a residue that shows it."""
    proof = forms.motion.evidence()
    again = f"liaison.integrability(FILE, seed={proof.seed})"
    computed = "dω on all pairs of motions that the rows allow" + proof.computed
    if row.is_integrable:
        theorem = f"forms with dω = 0 on what they allow integrate (Frobenius); {SCHWARTZ}"
        return replace(proof, statement=f"{row.name} is integrable", computed=computed,
                       theorem=theorem, repeat=again)  # fmt: skip
    is_free = row.is_proved
    theorem = "Frobenius' condition is necessary, and a residue that is not zero is no zero"
    missing = "the closures of positions need not hold at the positions drawn: dω may vanish there"
    if not forms.is_sharp:
        missing = (
            "the rows have functions whose residues may differ where they are equal themselves"
        )
    return replace(
        proof, statement=f"{row.name} is not integrable", is_proved=is_free,
        computed=computed.replace("zero at all of them", "other than zero at one of them"),
        theorem=theorem if is_free else missing, chance=0.0 if is_free else None, bound="",
        repeat=again,
    )  # fmt: skip


@final
class _Forms:
    """The forms of all rows and their exterior derivatives, at random positions."""

    def __init__(self, equations: Equations, seed: int) -> None:
        check_linear_rates(equations, "Frobenius' condition is of linear forms of the rates.")
        self.motion = motion = ExactMotion(equations, seed=seed)
        if not motion.is_decidable:
            raise DerivationError(
                "the rows have more choices (max, min, abs, sign, if) than can be tried side by "
                "side: whether they are integrable is not decided.",
                hint="Write the rows with at most four of them, none of numbers alone.",
            )
        closures, symbols = equations.closures, equations.symbols
        self.n = len(symbols.v) + 1
        self.count = len(closures.gamma)
        self._N = equations.kinematics.N
        self._xs = [*symbols.q, symbols.t]
        G: list[list[Expr]] = [[ZERO] * self.n for _ in range(self.count)]
        for k, nu in enumerate(closures.nu):
            G[k][0] = as_expr(-nu)
        for (k, j), entry in closures.G.items():
            G[k][j + 1] = as_expr(entry)
        formulas = [motion.substituted(row) for row in G]
        self.is_sharp = motion.is_sharp([x for row in G for x in row])
        states = motion.states()
        closed = [_closed(motion, field, values) for field, values in states]
        self.is_closed = all(values is not None for values in closed)
        if self.is_closed:
            states = [
                (field, values or {}) for (field, _), values in zip(states, closed, strict=True)
            ]
        self._points = [self._at(field, values, formulas) for field, values in states]

    def _at(self, field: Modular, values: dict[Expr, Any], G: list[list[Expr]]) -> Any:
        """p, the rows, and dω of every row as a matrix, at a point."""
        p, n, m = field.p, self.n, len(self._xs)
        slopes = [as_expr(s) for row in G for x in row for s in gradient(x, self._xs)]
        flat = field.numbers([x for row in G for x in row], values)
        numbers = field.numbers(slopes, values)
        rows = [flat[k * n : (k + 1) * n] for k in range(self.count)]
        fields, brackets = self._fields(field, values)
        d = []
        for k in range(self.count):
            part = [numbers[(k * n + j) * m : (k * n + j + 1) * m] for j in range(n)]
            along = [[_dot(fields[i], part[j], p) for j in range(n)] for i in range(n)]
            curl = [
                [
                    (along[i][j] - along[j][i] - _dot(rows[k], brackets.get((i, j), ()), p)) % p
                    for j in range(n)
                ]
                for i in range(n)
            ]
            d.append(curl)
        return p, rows, d

    def _fields(self, field: Modular, values: dict[Expr, Any]) -> Any:
        """Components of the fields e_i in q and t, and c^s_ij of their brackets."""
        nq, n, p = len(self._xs) - 1, self.n, field.p
        columns: list[list[Expr]] = [[ZERO] * nq for _ in range(n - 1)]
        for (i, j), entry in self._N.items():
            columns[j][i] = as_expr(entry)
        numbers = [field.numbers(column, values) for column in columns]
        fields = [[0] * nq + [1], *([*column, 0] for column in numbers)]
        varying = [j for j, c in enumerate(columns) if not all(x.op == "const" for x in c)]
        slopes = {
            j: [field.numbers(gradient(x, self._xs[:-1]), values) for x in columns[j]]
            for j in varying
        }
        brackets = {}
        for i in varying:
            for j in varying:
                bracket = [
                    (_dot(slopes[j][a], numbers[i], p) - _dot(slopes[i][a], numbers[j], p)) % p
                    for a in range(nq)
                ]
                if any(bracket):
                    rows = [[numbers[s][a] for s in range(n - 1)] for a in range(nq)]
                    c = field.solved(rows, bracket, n - 1)
                    brackets[i + 1, j + 1] = [0, *(c or [0] * (n - 1))]
        return fields, brackets

    def are_integrable(self, rows: Sequence[int], chosen: Sequence[int]) -> bool:
        """Whether dω of the wanted rows vanishes on the motions that all of some rows allow."""
        return all(not any(any(x) for x in curls) for curls in self._curls(rows, chosen))

    def combinations(self, rows: Sequence[int], chosen: Sequence[int]) -> int:
        """How many combinations of the wanted rows have a dω that vanishes there."""
        least = len(chosen)
        for (p, *_), curls in zip(self._points, self._curls(rows, chosen), strict=True):
            columns = [list(x) for x in zip(*curls, strict=True)]
            least = min(least, len(kernel(columns, p, len(chosen))) if columns else least)
        return least

    def _curls(self, rows: Sequence[int], chosen: Sequence[int]) -> Iterator[list[list[int]]]:
        """At each point, for each wanted row, dω on all pairs of allowed motions."""
        for p, G, d in self._points:
            basis = kernel([G[k] for k in rows], p, self.n)
            pairs = [(a, b) for i, a in enumerate(basis) for b in basis[i + 1 :]]
            yield [[_pair(a, d[k], b, p) for a, b in pairs] for k in chosen]


def _closed(motion: ExactMotion, field: Modular, values: dict[Expr, Any]) -> dict[Expr, Any] | None:
    """The position moved to where the closures of positions hold; None where that is not known.

    Each closure is solved for a coordinate that it holds with a constant factor: then the positions
    are a graph over the others, and no part of them is left out.
    """
    equations = motion.equations
    rows = [k for k in range(len(equations.closures.phi)) if k not in motion.imposed]
    phi = motion.substituted([as_expr(equations.closures.phi[k]) for k in rows])
    turned = {q for chart in equations.kinematics.charts for q in attitude_of(equations, chart)}
    plain = [q for q in equations.symbols.q if q in values and q not in turned]
    for f in phi:
        for q, slope in zip(plain, gradient(f, plain), strict=True):
            if slope.op == "const" and slope is not ZERO:
                a, b = (field.numbers([f], values | {q: n})[0] for n in range(2))
                values = values | {q: -a * pow(b - a, -1, field.p) % field.p}
                plain.remove(q)
                break
    return None if any(field.numbers(phi, values)) else values


def _dot(a: Sequence[int], b: Sequence[int], p: int) -> int:
    return sum(x * y for x, y in zip(a, b, strict=False)) % p


def _pair(a: Sequence[int], D: Sequence[Sequence[int]], b: Sequence[int], p: int) -> int:
    return _dot(a, [_dot(row, b, p) for row in D], p)


def _integrated(equations: Equations, k: int, motion: ExactMotion) -> tuple[Expr, Expr] | None:
    """F and μ with dF = μ ω_k, where the row is of rates; μ is 1 or one over coefficients."""
    symbols, closures = equations.symbols, equations.closures
    slopes = dict.fromkeys(symbols.q, ZERO) | {symbols.t: as_expr(-closures.nu[k])}
    for (row, j), entry in closures.G.items():
        if row == k:
            i = _position(equations, j)
            if i is None:
                return None
            slopes[symbols.q[i]] = as_expr(entry)
    varying = [x for x in slopes.values() if not vanishes(x) and x.op != "const"]
    products = [as_expr(a * b) for a, b in combinations(varying, 2)]
    for factor in (ONE, *varying, *products):
        wanted = {x: as_expr(s / factor) for x, s in slopes.items()}
        integral = potential(wanted)
        if integral is not None and _is_potential(integral, wanted, motion):
            return integral, as_expr(ONE / factor)
    return None


def _is_potential(f: Expr, slopes: Mapping[Expr, Expr], motion: ExactMotion) -> bool:
    """Whether the slopes of f are these, in every coordinate and in time."""
    own = gradient(f, list(slopes))
    return all(motion.is_zero(as_expr(a - b)) for a, b in zip(own, slopes.values(), strict=True))


def _position(equations: Equations, j: int) -> int | None:
    """The coordinate whose rate velocity j is."""
    N = equations.kinematics.N
    column = [(i, x) for (i, c), x in N.items() if c == j]
    if len(column) != 1 or as_expr(column[0][1]) is not ONE:
        return None
    (i, _) = column[0]
    return i if sum(r == i for r, _ in N) == 1 else None
