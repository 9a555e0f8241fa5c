"""First integrals: formulas that stay constant along every motion, each proved exactly.

    p_j = ∂L/∂v_j,   ṗ_j = X_j T + commutators − X_j U + τ_j + (Gᵀ λ)_j
    p_j is constant where the right side vanishes and no row holds v_j; p_j − g where it is ġ(q, t)
    Ė = vᵀ(τ of no potential) + ∂U/∂t + λᵀ ν;  E − f where the right side is ḟ(q, t)   (integral-1)
    T₂ − T₀ + U with imposed motions put in, where L does not depend on time           (integral-2)
    P · u, H · u along fixed directions, about fixed points and about the center of mass

With potentials V(q, v, t) of velocities, L = T − U − V and the energy is v · ∂L/∂v − L.

Each is proved at random states modulo a prime of 61 bits, parameters being random residues as
well: it holds for all of their values. Where forces have choices (max, min, abs, sign, if), there
are so many states that every side of every choice occurs; with more than four choices only what has
none in its rate is stated.

Public names: FirstIntegral, first_integrals, EnergyDegrees, energy_degrees, rate_potential.

Source: LL 1.3.4, 2.2.7–2.2.9; docs/theory/first_integrals.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, final

from liaison.equations import Equations
from liaison.equations.equations import has_rates
from liaison.equations.reports import TreeReports
from liaison.equations.theorems import whole_mass
from liaison.exact.choices import JUMPS
from liaison.exact.linear import kernel, rank
from liaison.expr import (
    ONE,
    ZERO,
    Expr,
    as_expr,
    directional,
    gradient,
    substitute,
    topological,
    vanishes,
)
from liaison.lazy import Shown
from liaison.spatial.arrays import Array, array, cross, minus

from .exact_motion import ExactMotion

if TYPE_CHECKING:
    from liaison.exact.evidence import Evidence

LARGEST = 40_000
"""Nodes of the energies beyond which only energy and coordinates are looked at."""

SMOOTH = {"linear": 0, "monotone": 1, "cubic": 2}
"""How many continuous derivatives a table has, by its kind."""

SIMPLE = 50
"""Largest numerator and denominator of a direction that is recognized."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class FirstIntegral(Shown):
    """What stays constant.

    Attributes:
        name: for reading, and of its column in a trajectory.
        formula: of t, q, v and parameters.
        kind: "energy", "painleve", "cyclic", "momentum" or "angular momentum".
        reason: why it is constant.
        unit: of its value.
        evidence: that it is constant; None before it is complete.
    """

    name: str
    formula: Expr
    kind: str
    reason: str
    unit: str = ""
    evidence: Evidence | None = None


def first_integrals(equations: Equations, *, seed: int = 0) -> tuple[FirstIntegral, ...]:
    """Every first integral that the document's rules give, each proved; energy first.

    Args:
        equations: with exact numbers: `derive(…, exact=True)`.
        seed: of the states and primes.

    A cyclic coordinate, a momentum or an angular momentum is left out where it is a function of
    those before it.
    """
    motion = ExactMotion(equations, seed=seed)
    integrals = constants_of(motion)
    proof = motion.evidence() if integrals else None
    return tuple(_with_evidence(x, proof) for x in integrals if proof)


def constants_of(motion: ExactMotion) -> tuple[FirstIntegral, ...]:
    """The first integrals of a motion, each proved, without their evidence."""
    equations = motion.equations
    if _has_impulses(equations):
        return ()
    integrals = [x for x in _energies(equations, motion) if _is_continuous(x.formula)]
    others: list[FirstIntegral] = []
    for candidate in (*_cyclic(equations, motion), *_momenta(equations, motion)):
        if _is_continuous(candidate.formula) and _is_new(candidate, others, equations, motion):
            others.append(candidate)
    return (*integrals, *others)


def _with_evidence(integral: FirstIntegral, proof: Evidence) -> FirstIntegral:
    evidence = replace(
        proof, statement=f"{integral.name} is constant along every motion: {integral.reason}",
        computed="its time derivative along the motion" + proof.computed,
        repeat=f"liaison.first_integrals(FILE, seed={proof.seed})",
    )  # fmt: skip
    return replace(integral, evidence=evidence)


def _is_continuous(*formulas: Expr) -> bool:
    """No sign and no `if` in it: what is constant on both sides of one may jump between them."""
    return not any(_jumps(node) for node in topological(formulas))


def _jumps(node: Expr) -> bool:
    """Whether an operation need not be continuous: a choice, or a derivative of a table."""
    if node.op != "table":
        return node.op in JUMPS
    table, order = node.a
    return bool(order > (0 if table.outside == "hold" else SMOOTH[table.kind]))


def _has_impulses(equations: Equations) -> bool:
    """Whether rates of closures may jump: at a corner of an imposed motion, velocities do."""
    return not _is_continuous(*equations.closures.rate)


# Energy -----------------------------------------------------------------------------------------


def _along(equations: Equations, motion: ExactMotion, f: Expr) -> Any:
    """How f(t, q, ·) changes with positions and time."""
    symbols = equations.symbols
    ways: dict[Expr, Any] = dict(zip(symbols.q, motion.qdot, strict=True))
    return directional([f], ways | {symbols.t: ONE})[0]


def _energies(equations: Equations, motion: ExactMotion) -> list[FirstIntegral]:
    if motion.imposed:
        return _painleve(equations, motion)
    T, U = equations.reports.energy
    E = as_expr(T + U)
    closures = equations.closures
    rows = zip(closures.nu, closures.rate, strict=True)
    if not all(motion.is_zero(as_expr(nu)) or _is_homogeneous(motion, nu, x) for nu, x in rows):
        return []
    rate = _along(equations, motion, E)
    for v, f in zip(equations.symbols.v, equations.dynamics.f, strict=True):
        rate = rate + v * f
    rate = as_expr(rate)
    if motion.is_zero(rate):
        why = "only potentials do work, and none depends on time"
        return [FirstIntegral("energy", E, "energy", why, "J")]
    done = _integrated(equations, motion, rate)
    if done is None:
        return []
    why = "the power of what has no potential is a rate: L₂ − L₀ + F"
    return [FirstIntegral("energy with work", as_expr(E - done), "energy", why, "J")]


class EnergyDegrees(NamedTuple):
    """T by degrees in the velocities that are left when imposed motions are put in, and U [J]."""

    T: Expr
    T2: Expr
    T1: Expr
    T0: Expr
    U: Expr
    velocities: tuple[Expr, ...]
    imposed: tuple[Expr, ...]  # coordinates that are functions of time


def energy_degrees(equations: Equations, motion: ExactMotion) -> EnergyDegrees:
    """T₂ = ½ vᵀ M v, T₁ = bᵀ v, T₀ = T(v = 0), of the velocities that are not imposed.

    Source: LL 2.2.7.
    """
    T, U = motion.substituted([as_expr(x) for x in equations.reports.energy])
    free = [equations.symbols.v[j] for j in motion.free]
    at_rest = dict.fromkeys(free, ZERO)
    T0 = substitute([T], at_rest)[0]
    T1: Any = ZERO
    for v, slope in zip(free, substitute(gradient(T, free), at_rest), strict=True):
        T1 = T1 + v * slope
    imposed = tuple(equations.symbols.q[i] for i, _ in motion.imposed.values())
    T2 = as_expr(T - T1 - T0)
    return EnergyDegrees(T, T2, as_expr(T1), T0, U, tuple(free), imposed)


def _painleve(equations: Equations, motion: ExactMotion) -> list[FirstIntegral]:
    """T₂ − T₀ + U of the velocities left, imposed motions put in."""
    if rate_potential(equations) is ZERO:
        parts = energy_degrees(equations, motion)
        integral = as_expr(parts.T - parts.T1 - 2 * parts.T0 + parts.U)
    else:
        T, U = motion.substituted(_lagrangian(equations))
        free = [equations.symbols.v[j] for j in motion.free]
        momenta = gradient(T, free)
        integral = as_expr(sum((v * p for v, p in zip(free, momenta, strict=True)), ZERO) - T + U)
    rates = motion.rates([integral])
    if rates is None or any(row[0] for row in rates) or not _keeps(equations, motion):
        return []
    if not motion.is_confirmed(integral):
        return []
    why = "imposed motions put in, L does not depend on time: T₂ − T₀ + U"
    return [FirstIntegral("Painlevé's integral", integral, "painleve", why, "J")]


def _is_homogeneous(motion: ExactMotion, nu: Expr, rate: Expr) -> bool:
    """Whether Φ(q, v, t) is homogeneous in v: G v = n Φ, so that its reaction does no work."""
    return any(motion.is_zero(as_expr(nu - (n - 1) * rate)) for n in DEGREES)


DEGREES = range(2, 7)
"""Degrees in which relations that are not linear in the rates are tried as homogeneous."""


def rate_potential(equations: Equations) -> Expr:
    """The sum of the potentials that depend on velocities."""
    reports = equations.reports
    return reports.setting.rate_potential if isinstance(reports, TreeReports) else ZERO


def _lagrangian(equations: Equations) -> list[Expr]:
    """T − V with V of velocities, and U of positions: L is their difference."""
    T, U = (as_expr(x) for x in equations.reports.energy)
    V = rate_potential(equations)
    if V is ZERO:
        return [T, U]
    v = equations.symbols.v
    stored = V - sum((x * p for x, p in zip(v, gradient(V, list(v)), strict=True)), ZERO)
    return [as_expr(T - V), as_expr(U - stored)]


def _keeps(equations: Equations, motion: ExactMotion) -> bool:
    """The rows that are kept do no work: they are scleronomic."""
    closures, symbols = equations.closures, equations.symbols
    changes = []
    for k in motion.rows:
        value: Any = closures.nu[k]
        for j in range(len(symbols.v)):
            if j not in motion.free:
                value = value - closures.G.get((k, j), ZERO) * symbols.v[j]
        changes.append(as_expr(value))
    return all(motion.is_zero(x) for x in changes)


# Cyclic coordinates -----------------------------------------------------------------------------


def _cyclic(equations: Equations, motion: ExactMotion) -> Iterable[FirstIntegral]:
    """p_j, or p_j − g, of every velocity that no row holds."""
    symbols, dynamics = equations.symbols, equations.dynamics
    T = equations.reports.energy[0]
    momenta = gradient(as_expr(T - rate_potential(equations)), list(symbols.v))
    held = {j for (k, j), x in equations.closures.G.items() if not motion.is_zero(as_expr(x))}
    labels = equations.labels["v"]
    for j in motion.free:
        if j in held or motion.imposed:
            continue
        rate = as_expr(_along(equations, motion, momenta[j]) + dynamics.f[j])
        name = labels[j].name.removesuffix("'")
        unit = "kg m/s" if labels[j].unit == "m/s" else "kg m2/s"
        what = _what_it_is(equations, motion, momenta[j])
        if motion.is_zero(rate):
            why = f"{name} is cyclic and no force acts along it{what}"
            yield FirstIntegral(f"momentum of {name}", momenta[j], "cyclic", why, unit)
            continue
        done = _integrated(equations, motion, rate)
        if done is not None:
            why = f"the force along {name} is the rate of a function of positions and time{what}"
            name = f"momentum of {name} with impulse"
            yield FirstIntegral(name, as_expr(momenta[j] - done), "cyclic", why, unit)


COMPONENTS = (
    "the angular momentum about x through the origin of ground",
    "the angular momentum about y through the origin of ground",
    "the angular momentum about z through the origin of ground",
    "the momentum along x of ground",
    "the momentum along y of ground",
    "the momentum along z of ground",
)


def _what_it_is(equations: Equations, motion: ExactMotion, p: Expr) -> str:
    """Which component of the whole momentum a conjugate momentum is, if it is one."""
    if _size(equations) > LARGEST:
        return ""
    for word, x in zip(COMPONENTS, equations.reports.momentum, strict=True):
        if x.op != "const":
            for sign, sign_word in ((1, ""), (-1, "minus ")):
                if motion.is_zero(as_expr(p - sign * x)):
                    return f"; it is {sign_word}{word}"
    return ""


def _integrated(equations: Equations, motion: ExactMotion, rate: Expr) -> Expr | None:
    """f(q, t) with ḟ the given formula of t, q and v, if there is one of the usual kind."""
    if not has_rates(equations) or not motion.is_affine(rate):
        return None
    if not _is_closed(equations, motion, rate):
        return None
    from liaison.expr.reading.arrange import arranged
    from liaison.expr.reading.integrate import potential
    from liaison.expr.reading.reading import to_expr
    from liaison.expr.reading.ring import TooLarge
    from liaison.expr.reading.simplify import Reader

    symbols = equations.symbols
    try:
        reader = Reader([rate], limit=500)
        groups = reader.collected(rate, symbols.v)
    except TooLarge:
        return None
    if any(sum(e for _, e in m) > 1 for m in groups):
        return None
    slopes = dict.fromkeys((*symbols.q, symbols.t), ZERO)
    place = {v.name: q for v, q in zip(symbols.v, symbols.q, strict=True)}
    for m, form in groups.items():
        value = to_expr(arranged(form, reader.order))
        key = place[m[0][0].text] if m else symbols.t  # type: ignore[union-attr]
        slopes[key] = value
    if any(not _is_position(x, equations) for x in slopes.values()):
        return None
    integral = potential(slopes)
    if integral is None or not motion.is_zero(as_expr(rate - _along(equations, motion, integral))):
        return None
    return integral


def _is_closed(equations: Equations, motion: ExactMotion, rate: Expr) -> bool:
    """Whether Σ aᵢ q̇ᵢ + b can be a rate: ∂aᵢ/∂qⱼ = ∂aⱼ/∂qᵢ and ∂aᵢ/∂t = ∂b/∂qᵢ."""
    symbols = equations.symbols
    still = substitute([rate], dict.fromkeys(symbols.v, ZERO))[0]
    parts = [*gradient(rate, list(symbols.v)), still]
    xs = [*symbols.q, symbols.t]
    slopes = [gradient(as_expr(a), xs) for a in parts]
    return all(
        motion.is_zero(as_expr(slopes[i][j] - slopes[j][i]))
        for i in range(len(xs))
        for j in range(i)
    )


def _is_position(f: Expr, equations: Equations) -> bool:
    """Whether a formula holds no velocity and no input."""
    banned = {*equations.symbols.v, *equations.symbols.u}
    return not any(node in banned for node in topological([f]))


# Momentum and angular momentum ------------------------------------------------------------------


def _size(equations: Equations) -> int:
    return len(topological([as_expr(x) for x in equations.reports.energy]))


def _momenta(equations: Equations, motion: ExactMotion) -> list[FirstIntegral]:
    """Combinations of P and H about the origin with fixed directions, then H about the center."""
    if _size(equations) > LARGEST:
        return []
    six = [as_expr(x) for x in equations.reports.momentum]
    more = ExactMotion(equations, points=len(six) + 2, seed=motion.seed)
    momenta = _combinations(more, six, _momentum_name, "momentum")
    if not isinstance(equations.reports, TreeReports):
        return momenta
    setting = equations.reports.setting
    mass, center = whole_mass(setting)
    for k, g in enumerate(setting.gravity):
        if not vanishes(as_expr(g)):
            falling = as_expr(six[3 + k] - mass * g * equations.symbols.t)
            momenta += _combinations(more, [falling], _falling_name(k), "momentum")
    central = _about_center(mass, center, six)
    if central:
        momenta += _combinations(more, central, _central_name, "angular momentum")
    return momenta


def _combinations(
    motion: ExactMotion, parts: Sequence[Expr], naming: Any, kind: str
) -> list[FirstIntegral]:
    """Constant combinations of some formulas with fixed rational weights.

    There are more points than formulas: what is constant at all of them is so everywhere.
    """
    rates = motion.rates(parts)
    if rates is None:
        return []
    integrals = []
    for weights in kernel(rates, motion.prime, len(parts)):
        simple = [_rational(x, motion.prime) for x in _scaled(weights, motion.prime)]
        exact = [x for x in simple if x is not None]
        if len(exact) < len(parts):
            continue
        total: Any = ZERO
        for w, part in zip(exact, parts, strict=True):
            total = total + w * part
        if not motion.is_confirmed(as_expr(total)):
            continue
        name, unit = naming(exact)
        why = "nothing from outside acts along that direction"
        integrals.append(FirstIntegral(name, as_expr(total), kind, why, unit))
    return integrals


def _scaled(weights: Sequence[int], p: int) -> list[int]:
    """The first weight that is not zero made 1."""
    lead = next(x for x in weights if x)
    scale = pow(lead, -1, p)
    return [x * scale % p for x in weights]


def _rational(x: int, p: int) -> Fraction | None:
    """The simple fraction with this residue."""
    for below in range(1, SIMPLE + 1):
        top = x * below % p
        top = top - p if top > p // 2 else top
        if abs(top) <= SIMPLE:
            return Fraction(top, below)
    return None


def _direction(weights: Sequence[Fraction]) -> str:
    axes = [k for k in range(3) if weights[k]]
    if len(axes) == 1:
        return "xyz"[axes[0]]
    return "(" + ", ".join(str(x) for x in weights) + ")"


def _momentum_name(weights: Sequence[Fraction]) -> tuple[str, str]:
    turn, push = weights[:3], weights[3:]
    if not any(turn):
        return f"momentum along {_direction(push)}", "kg m/s"
    name = f"angular momentum about {_direction(turn)}"
    if any(push):
        name += f" with momentum along {_direction(push)}"
    return name, "kg m2/s"


def _central_name(weights: Sequence[Fraction]) -> tuple[str, str]:
    return f"angular momentum about {_direction(weights)} at the center of mass", "kg m2/s"


def _falling_name(k: int) -> Callable[[Sequence[Fraction]], tuple[str, str]]:
    return lambda weights: (f"momentum along {'xyz'[k]} with the impulse of weight", "kg m/s")


def _about_center(mass: Any, center: Array, six: Sequence[Expr]) -> list[Expr]:
    """H about the center of mass: H_O − c × P; nothing where there is no mass."""
    if vanishes(as_expr(mass)):
        return []
    turned = cross(array([as_expr(x) / mass for x in center]), array(list(six[3:])))
    return [as_expr(minus(a, b)) for a, b in zip(six[:3], turned, strict=True)]


def _is_new(
    candidate: FirstIntegral,
    others: Sequence[FirstIntegral],
    equations: Equations,
    motion: ExactMotion,
) -> bool:
    """Whether it varies at all, and is no function of the others."""
    if len({row[0] for row in motion.values([candidate.formula])}) == 1:
        return False
    symbols = equations.symbols
    xs = [*symbols.q, *symbols.v, symbols.t]
    formulas = [x.formula for x in (*others, candidate)]
    slopes = [as_expr(s) for f in formulas for s in gradient(f, xs)]
    numbers = motion.values(slopes)[0]
    rows = [numbers[k * len(xs) : (k + 1) * len(xs)] for k in range(len(formulas))]
    return rank(rows, motion.prime) == len(rows)
