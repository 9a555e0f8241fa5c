"""verify: check a run with the general theorems, which are independent of its equations.

    Ṗ = R,   σ̇_A + v_A × P = M_A,   Ṫ = Π,   d/dt ½ m v_G² = R · v_G,
    Ṫ* = Π − R · v_G                                                            (analysis-5)

P and σ_A momentum and moment of momentum about any moving point A, R and M_A the wrench from
outside, T and T* kinetic energy and its part about the mass center G, Π the power of all that
acts. At every instant both sides are evaluated from their own formulas; over time the left sides
are integrated.

Public names: Theorem, Verification, verify.

Source: LL 1.2, 1.3 (the general theorems).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from liaison.analyse.rest.open_sides import check_inactive_along
from liaison.errors import NamingError, SimulationError
from liaison.lazy import Shown
from liaison.numeric import Array
from liaison.program import Kernel
from liaison.simulation import Series, Trajectory
from liaison.simulation.machine import map_entry
from liaison.simulation.outcome import OUTSIDE, missed
from liaison.simulation.plan.plan import Plan
from liaison.simulation.reactions import accelerations, pivoted, redundancy

from .along import plan_along

INSTANT = 1e-8
"""Largest relative difference of the two sides at an instant: what λ is worth near rank loss."""

OVER_TIME = 1e-6
"""The same over time, beside what the quadrature misses (found by leaving out every second one)."""


FEWEST = 9
"""Instants that are integrated over."""

ROUNDING = 1e-6
"""Speed [m/s] below which a mechanism is at rest: powers are scaled by forces at this speed."""


@final
@dataclass(frozen=True)
class Theorem:
    """One theorem along a run: the largest difference of its sides, relative to what they are of.

    Args:
        name: in words.
        error: largest |left − right|/size, where size is the largest of the terms over the run.
        at: when [s].
        size: of the terms.
        allowed: error up to which it holds.
    """

    name: str
    error: float
    at: float
    size: float
    allowed: float

    @property
    def holds(self) -> bool:
        """True if both sides agree."""
        return bool(self.error <= self.allowed)


@final
@dataclass(frozen=True, repr=False)
class Verification(Shown):
    """All theorems, and the power of every load over time."""

    theorems: tuple[Theorem, ...]
    powers: Series
    t: Array = field(repr=False)

    @property
    def holds(self) -> bool:
        """True if every theorem does."""
        return all(x.holds for x in self.theorems)

    @property
    def worst(self) -> Theorem:
        """The one nearest to its limit, or farthest beyond."""
        return max(self.theorems, key=lambda x: x.error / x.allowed)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        rows = [
            {"name": x.name, "error": x.error, "at": x.at, "size": x.size, "holds": x.holds}
            for x in self.theorems
        ]
        names = self.powers.axes["load"]
        power = self.powers.values
        work = {x: float(np.trapezoid(power[:, k], self.t)) for k, x in enumerate(names)}
        return {"holds": self.holds, "theorems": rows, "work_J": work}


def verify(
    kernel: Kernel, run: Trajectory, *, about: str | tuple[float, float, float] = "ground"
) -> Verification:
    """Holds a run against the general theorems; over time, between impacts.

    Args:
        kernel: of the mechanism that moved.
        run: at enough instants, if it is to be integrated over time.
        about: the point A of the moment: a body, whose origin moves, or a place in the ground [m].
    """
    if len(run.t) < 1:
        raise SimulationError("a run without instants cannot be verified.", status="inconsistent")
    plan, rows = plan_along(kernel, run)
    x = _accelerated(plan, run, rows)
    sides = _blocks(kernel, "balance", map_entry(kernel, "balance", rows, plan.parameters, x))
    place, speed = _point(kernel, rows, plan.parameters, x, about)
    forces = map_entry(kernel, "reactions", rows, plan.parameters, x).reshape(len(rows), -1, 6)
    sizes = [forces[:, :, 3:].reshape(len(rows), -1), forces[:, :, :3].reshape(len(rows), -1)]
    sizes = _with_contacts(sizes, sides, x[:, plan.size("nv") + plan.size("nc") :])
    instants = _at_instants(run.t, sides, (place, speed), sizes)
    instants.insert(0, _motion(plan, rows, x, run.t))
    names = tuple(name[9:] for name in sides if name.startswith("power of "))
    power = [sides[f"power of {name}"][:, 0] for name in names]
    table = np.column_stack(power) if power else np.zeros((len(run.t), 0))
    over = [*_over_pieces(run, sides, (place, speed), sizes), *_kept(plan, run)]
    return Verification((*instants, *over), Series(table, "W", {"load": names}), run.t)


def _kept(plan: Plan, run: Trajectory) -> list[Theorem]:
    """Bounds of friction, normal forces, gaps and rates of one sign, where they were recorded."""
    worst = missed(plan.program.facts.get("sides", ()), run.t, run.q, run.v, run.series)
    if worst is None or run.meta.get("method") == "moreau":
        return []
    name = "unilateral constraints" + (f": {worst.name}" if worst.error > OUTSIDE else "")
    return [Theorem(name, worst.error, worst.t, 1.0, OUTSIDE)]


def _blocks(kernel: Kernel, entry: str, out: Array) -> dict[str, Array]:
    blocks, start = {}, 0
    for name, size in kernel.program.entry(entry).layout:
        blocks[name] = out[:, start : start + size]
        start += size
    return blocks


def _accelerated(plan: Plan, run: Trajectory, rows: Array) -> Array:
    """v̇, λ and the forces of contacts, as recorded."""
    if not plan.program.facts.get("sides"):
        return accelerations(plan, rows, redundancy(plan, rows))
    if "contacts" not in run.series:
        check_inactive_along(plan, run, rows, "verify without the series 'contacts'")
        return accelerations(plan, rows, redundancy(plan, rows))
    force = _forces(plan, run)
    effort = np.einsum("nkj,nk->nj", _one_sided(plan, rows), force)
    return np.hstack([pivoted(plan, rows, effort)[0], force])


def _with_contacts(sizes: list[Array], sides: dict[str, Array], force: Array) -> list[Array]:
    """Sizes of forces and moments, with those of contacts as far off as the mass center is."""
    if not force.shape[1]:
        return sizes
    far = np.linalg.norm(sides["center"], axis=1) / sides["mass"][:, 0]
    moment = far * np.linalg.norm(force, axis=1)
    return [np.hstack([sizes[0], force]), np.hstack([sizes[1], moment[:, None]])]


def _forces(plan: Plan, run: Trajectory) -> Array:
    """f of every one-sided row, as it acts: −μ of relations of rates."""
    sign = [-1 if x[2] == "rate" else 1 for x in plan.program.facts["sides"] for _ in range(x[4])]
    return np.asarray(run.series["contacts"].values * np.array(sign))


def _one_sided(plan: Plan, rows: Array) -> Array:
    """D at every row, shape (n, one-sided rows, nv)."""
    out = map_entry(plan.kernel, "one_sided", rows, plan.parameters)
    sides, nv = plan.program.facts["sides"], plan.size("nv")
    count = sum(x[4] for x in sides)
    first = len(sides) + 2 * count
    return out[:, first : first + count * nv].reshape(len(rows), count, nv)


def _over_pieces(
    run: Trajectory, sides: dict[str, Array], point: tuple[Array, Array], sizes: list[Array]
) -> list[Theorem]:
    """The theorems over time between events of contacts: each where it is nearest its limit."""
    worst: dict[str, Theorem] = {}
    for piece in _pieces(run):
        parts = {name: x[piece] for name, x in sides.items()}
        of = (point[0][piece], point[1][piece])
        for theorem in _over_time(run.t[piece], parts, of, [x[piece] for x in sizes]):
            had = worst.get(theorem.name)
            if had is None or theorem.error / theorem.allowed > had.error / had.allowed:
                worst[theorem.name] = theorem
    return list(worst.values())


def _pieces(run: Trajectory) -> list[slice]:
    """Instants between events of contacts; one recorded once belongs to neither side."""
    t, begin, pieces = run.t, 0, []
    for event in sorted({e.t for e in run.events if e.what}):
        low, high = np.searchsorted(t, event, "left"), np.searchsorted(t, event, "right")
        pieces.append(slice(begin, int(low + 1 if high - low > 1 else low)))
        begin = int(high - 1 if high - low > 1 else high)
    pieces.append(slice(begin, len(t)))
    return [x for x in pieces if x.stop - x.start >= FEWEST]


def _motion(plan: Any, rows: Array, x: Array, t: Array) -> Theorem:
    """M v̇ + h = τ + Gᵀ λ + Dᵀ f, with inverse dynamics for the left side."""
    nv, nc = plan.size("nv"), plan.size("nc")
    left = map_entry(plan.kernel, "inverse", rows, plan.parameters, x)
    terms = map_entry(plan.kernel, "terms", rows, plan.parameters)
    G = terms[:, nv * nv : nv * nv + nc * nv].reshape(len(rows), nc, nv)
    right = np.einsum("nij,ni->nj", G, x[:, nv : nv + nc])
    if x.shape[1] > nv + nc:
        right = right + np.einsum("nkj,nk->nj", _one_sided(plan, rows), x[:, nv + nc :])
    return _theorem("equations of motion", t, left, right, [terms[:, nv * nv + nc * nv :][:, :nv]])


def _at_instants(
    t: Array, sides: dict[str, Array], point: tuple[Array, Array], sizes: list[Array]
) -> list[Theorem]:
    """Every theorem of (analysis-5), instant by instant; forces and moments of joints for size."""
    place, speed = point
    span = float(t[-1] - t[0]) or 1.0
    forces, moments = sizes
    slow = sides["kinetic"] / span  # what is steady changes by nothing: of the whole, then
    L, P = np.split(sides["momentum"], 2, axis=1)
    dL, dP = np.split(sides["momentum_rate"], 2, axis=1)
    M, R = np.split(sides["outside"], 2, axis=1)
    mass = sides["mass"][:, :1]
    G, v_G = sides["center"] / mass, P / mass
    parts = [x for name, x in sides.items() if name.startswith("power of ")]
    power = sum(parts, np.zeros_like(mass))
    dT = sides["kinetic_rate"]
    mean, drive = np.sum(v_G * dP, axis=1)[:, None], np.sum(v_G * R, axis=1)[:, None]
    own = dL - np.cross(G, dP), M - np.cross(G, R)
    rate = dL - np.cross(speed, P) - np.cross(place, dP)  # of the moment about A
    moved = rate + np.cross(speed, P)
    still = ROUNDING * forces  # at rest only rounding is left, of forces that balance
    turning, energies = [M, moments, L / span], [dT, power, slow, still]
    at_point = M - np.cross(place, R)
    return [
        _theorem("resultant", t, dP, R, [forces, P / span]),
        _theorem("moment about the ground's origin", t, dL, M, [L / span, moments]),
        _theorem("moment about the mass center", t, *own, turning),
        _theorem("moment about the moving point", t, moved, at_point, turning),
        _theorem("kinetic energy", t, dT, power, [*parts, slow, still]),
        _theorem("kinetic energy of the mass center", t, mean, drive, energies),
        _theorem("kinetic energy about the mass center", t, dT - mean, power - drive, energies),
    ]


def _over_time(
    t: Array, sides: dict[str, Array], point: tuple[Array, Array], sizes: list[Array]
) -> list[Theorem]:
    """Changes of momentum and energy against the integrals of what causes them."""
    place, speed = point
    forces, moments = (1e-3 * float(t[-1] - t[0]) * x for x in sizes)  # joints alone, for size
    keep = np.concatenate([[True], np.diff(t) > 0])
    if np.count_nonzero(keep) < FEWEST:
        return []
    power = [x for name, x in sides.items() if name.startswith("power of ")]
    total = sum(power, np.zeros_like(sides["kinetic"]))
    L, P = np.split(sides["momentum"], 2, axis=1)
    M, R = np.split(sides["outside"], 2, axis=1)
    own = L - np.cross(place, P), M - np.cross(place, R) - np.cross(speed, P)
    pairs = [
        ("momentum over time", P, R, forces),
        ("moment of momentum over time", L, M, moments),
        ("moment of momentum about the moving point over time", *own, moments),
        ("kinetic energy over time", sides["kinetic"], total, ROUNDING * sizes[0]),
    ]
    return [
        _integrated(name, t[keep], value[keep], cause[keep], _size(scale))
        for name, value, cause, scale in pairs
    ]


def _integrated(name: str, t: Array, value: Array, cause: Array, scale: float) -> Theorem:
    from scipy.interpolate import CubicSpline

    whole = CubicSpline(t, cause).antiderivative()(t)
    half = CubicSpline(t[::2], cause[::2]).antiderivative()(t[::2])
    size = max(_size(value), _size(whole), scale)
    missed = _size(whole[::2] - half) / size
    return _theorem(
        name, t, value - value[0], whole, [value, np.array([[scale]])], OVER_TIME + missed
    )


def _theorem(
    name: str, t: Array, left: Array, right: Array, terms: list[Array], allowed: float = INSTANT
) -> Theorem:
    size = max(_size(x) for x in (left, right, *terms))
    error = np.max(np.abs(left - right), axis=1, initial=0.0)
    k = int(np.argmax(error))
    return Theorem(name, float(error[k]) / size, float(t[k]), size, allowed)


def _size(x: Array) -> float:
    return float(max(np.max(np.abs(x), initial=0.0), 1e-12))


def _point(
    kernel: Kernel, rows: Array, p: Array, x: Array, about: str | tuple[float, float, float]
) -> tuple[Array, Array]:
    """Where a point is and how it moves, in the ground's axes."""
    if about == "ground":
        about = (0.0, 0.0, 0.0)
    if not isinstance(about, str):
        place = np.broadcast_to(np.asarray(about, dtype=float), (len(rows), 3))
        return place, np.zeros_like(place)
    known = [name for name, _ in kernel.program.entry("motions").layout]
    if about not in known:
        raise NamingError.unknown("body", about, known)
    poses = _blocks(kernel, "poses", map_entry(kernel, "poses", rows, p))
    motions = _blocks(kernel, "motions", map_entry(kernel, "motions", rows, p, x))
    return poses[about][:, 9:], motions[about][:, 3:6]
