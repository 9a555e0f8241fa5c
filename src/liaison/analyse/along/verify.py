"""verify: check a run with the general theorems, which are independent of its equations.

    Ṗ = R,   σ̇_A + v_A × P = M_A,   Ṫ = Π,   d/dt ½ m v_G² = R · v_G,
    Ṫ* = Π − R · v_G                                                            (analysis-5)

P and σ_A momentum and moment of momentum about any moving point A, R and M_A the wrench from
outside, T and T* kinetic energy and its part about the mass center G, Π the power of all that
acts. At every instant both sides are evaluated from their own formulas; over time the right sides
are integrated, where the recorded instants are near enough for that. From one recorded instant to
the next the equations of motion are integrated again, which needs no near instants.

Public names: Theorem, Verification, verify, retaken, ends_of, refined_rows.

Source: LL 1.2, 1.3 (the general theorems).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.analyse.rest.open_sides import check_inactive_along
from liaison.errors import NamingError, SimulationError
from liaison.lazy import Shown
from liaison.numeric import Array
from liaison.program import Kernel
from liaison.simulation import Series, Settings, Trajectory, simulate
from liaison.simulation.between import can_go_on, rows_between
from liaison.simulation.hull_places import with_places
from liaison.simulation.machine import map_entry
from liaison.simulation.outcome import OUTSIDE, missed
from liaison.simulation.plan.plan import Plan, plan_of
from liaison.simulation.reactions import accelerations, pivoted, redundancy

from .along import plan_along, run_inputs, run_parameters

EXACT = Settings(rtol=1e-10, atol=1e-12)
"""Tolerances of what is integrated again."""


def retaken(plan: Plan, run: Trajectory, verb: str) -> tuple[Plan | None, str]:
    """The plan by which a run is taken up at its instants; or None, and why it cannot be.

    Args:
        plan: of the mechanism along the run.
        run: of it.
        verb: who asks, for the reason.
    """
    if run.t[-1] == run.t[0]:
        return None, "it has one instant"
    try:
        inputs = run_inputs(plan.program, run, verb)
    except SimulationError as error:
        return None, error.message.rstrip(".")
    values = run_parameters(plan.program, run)
    end = float(run.t[-1])
    again = plan_of(plan.kernel, plan.state, end, EXACT, inputs=inputs, parameters=values)
    if not can_go_on(again):
        return None, "contacts or friction act in it"
    return again, ""


def ends_of(plan: Plan, run: Trajectory, most: int) -> tuple[NDArray[np.intp], Array]:
    """Instants after intervals, `most` of them, and the rows there integrated from those before.

    Raises:
        SimulationError: some interval cannot be integrated.
    """
    gaps = np.flatnonzero(np.diff(run.t) > 0)
    chosen = gaps[np.unique(np.linspace(0, len(gaps) - 1, min(most, len(gaps))).astype(int))]
    rows = []
    for k in chosen.tolist():
        here = slice(k, k + 1)
        after = run.t[k + 1 : k + 2]
        rows.append(rows_between(plan, simulate, run.t[here], run.q[here], run.v[here], after))
    return chosen + 1, np.vstack(rows)


def refined_rows(plan: Plan, run: Trajectory, count: int) -> Array:
    """Rows at the instants of a run and at `count` more, each integrated from the one before.

    Raises:
        SimulationError: some interval cannot be integrated.
    """
    return rows_between(plan, simulate, run.t, run.q, run.v, _refined(run.t, count))


def _refined(t: Array, count: int) -> Array:
    """Instants, intervals between them cut evenly into `count` parts in all, or a few more.

    Of two that rounding parts one is left: a polynomial through both means nothing.
    """
    span = t[-1] - t[0]
    kept = t[np.concatenate([[True], np.diff(t) > NEAREST * span])]
    parts = np.ceil(count * np.diff(kept) / span * (1 - NEAREST)).astype(int)
    cut = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(kept, kept[1:], parts)]
    return np.concatenate([*cut, kept[-1:]])


INSTANT = 1e-8
"""Largest relative difference of the two sides at an instant: what λ is worth near rank loss."""

OVER_TIME = 1e-6
"""The same over time, beside what the quadrature misses (found by leaving out every second one)."""

COARSE = 1e-4
"""What the quadrature may miss; beyond it the instants are too far apart to integrate over."""

TOLERANCES = 100.0
"""Tolerances of a run that its states may be off by from one recorded instant to the next."""

FINE, SOME = 1000, 50
"""Instants that are integrated over where fewer are recorded; intervals checked where more are."""

SLOW = 1e-2
"""Part of the largest speed, and of the time of the run, that changes are measured by at least."""

NEAREST = 1e-9
"""Part of a run; instants nearer than this are one where polynomials go through them."""

FEWEST = 9
"""Instants that are integrated over."""

ROUNDING = 1e-6
"""Speed [m/s] below which a mechanism is at rest: powers are scaled by forces at this speed."""


@final
@dataclass(frozen=True, repr=False)
class Theorem(Shown):
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
    """All theorems, and the power of every load over time.

    Args:
        theorems: at instants, over time, and from instant to instant.
        powers: of every load [W].
        t: instants [s].
        unchecked: what could not be checked, and why: one sentence each.
        work: of every load over the run [J], integrated on as many instants as the theorems.
        notes: on what does not hold, in sentences.
    """

    theorems: tuple[Theorem, ...]
    powers: Series
    t: Array = field(repr=False)
    unchecked: tuple[str, ...] = ()
    work: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

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
        facts = {"holds": self.holds, "theorems": rows, "work_J": dict(self.work)}
        return facts | {"unchecked": list(self.unchecked), "notes": list(self.notes)}


def verify(
    kernel: Kernel, run: Trajectory, *, about: str | tuple[float, float, float] = "ground"
) -> Verification:
    """Holds a run against the general theorems; over time, between impacts.

    Args:
        kernel: of the mechanism that moved.
        run: at any instants; with contacts or Python controllers at near ones.
        about: the point A of the moment: a body, whose origin moves, or a place in the ground [m].

    Raises:
        SimulationError: of another mechanism; or recorded too seldom to check anything over time.
    """
    if len(run.t) < 1:
        raise SimulationError("a run without instants cannot be verified.", status="inconsistent")
    plan, rows = plan_along(kernel, run)
    x = _accelerated(plan, run, rows)
    balance = _balance(plan, rows, x, about)
    instants = [_motion(plan, rows, x, run.t), *_at_instants(run.t, balance)]
    names, table = balance.powers
    powers = Series(table, "W", {"load": names})
    over, why_not, fine = _over_time(plan, run, balance, about)
    near = [x for x in over if x.allowed <= OVER_TIME + COARSE + _tolerated(run)]
    _check_covered(run, near, why_not)
    unchecked = [f"from instant to instant: {why_not}"] if why_not and len(run.t) > 1 else []
    unchecked += [f"{x.name}: instants are too far apart" for x in over if x not in near]
    unchecked += _not_unique(run)
    theorems = (*instants, *near, *_kept(plan, run))
    return Verification(
        theorems, powers, run.t, tuple(unchecked), _work(*fine), _of_steps(run, theorems)
    )


def _of_steps(run: Trajectory, theorems: tuple[Theorem, ...]) -> tuple[str, ...]:
    """That steps of a fixed size have an error of their own, where that may be what fails."""
    step = run.meta.get("step")
    if step is None or all(x.holds for x in theorems if x.allowed != INSTANT):
        return ()
    return (
        f"The run has steps of a fixed size, {step:g} s, with an error of their own: what half the "
        "step leaves less of is that error.",
    )


def _not_unique(run: Trajectory) -> list[str]:
    """That impacts of several contacts at once have no unique answer, which no theorem decides."""
    instants = sorted({x.t for x in run.events if x.together > 1})
    if not instants:
        return []
    law = run.meta.get("impacts", run.meta.get("method", ""))
    first = f", the first of {len(instants)} instants" if len(instants) > 1 else ""
    return [
        f"several impacts at once, at t = {instants[0]:.9g} s{first}: rigid bodies do not "
        f"determine the velocities after them, the law {law!r} does"
    ]


def _work(t: Array, balance: _Balance) -> dict[str, float]:
    """∫ of every power."""
    names, table = balance.powers
    return {name: float(x) for name, x in zip(names, integral(t, table), strict=True)}


def integral(t: Array, table: Array) -> Array:
    """∫ of every column, of fourth order; of second where an instant is there twice, or few are."""
    if len(t) < FEWEST or not np.all(np.diff(t) > 0):
        return np.asarray(np.trapezoid(table, t, axis=0))
    from scipy.interpolate import CubicSpline

    return np.asarray(CubicSpline(t, table).integrate(t[0], t[-1]))


@final
@dataclass(frozen=True)
class _Balance:
    """Both sides of the theorems at every row, the point A, and sizes of forces and moments."""

    sides: dict[str, Array]
    place: Array
    speed: Array
    forces: Array
    moments: Array

    @property
    def powers(self) -> tuple[tuple[str, ...], Array]:
        """Names of loads, and their powers at every row."""
        names = tuple(name[9:] for name in self.sides if name.startswith("power of "))
        columns = [self.sides[f"power of {name}"][:, 0] for name in names]
        return names, np.column_stack(columns) if columns else np.zeros((len(self.place), 0))

    def at(self, piece: slice) -> _Balance:
        """Some of the rows."""
        sides = {name: x[piece] for name, x in self.sides.items()}
        others = (x[piece] for x in (self.place, self.speed, self.forces, self.moments))
        return _Balance(sides, *others)


def _balance(
    plan: Plan, rows: Array, x: Array, about: str | tuple[float, float, float]
) -> _Balance:
    """What the theorems compare, at rows (t, q, v, u) with accelerations and forces x."""
    kernel, p, n = plan.kernel, plan.parameters, len(rows)
    whole = with_places(kernel, rows, p, x)
    sides = _blocks(kernel, "balance", map_entry(kernel, "balance", rows, p, whole))
    place, speed = _point(kernel, rows, p, x, about)
    forces = map_entry(kernel, "reactions", rows, p, whole).reshape(n, -1, 6)
    sizes = [forces[:, :, 3:].reshape(n, -1), forces[:, :, :3].reshape(n, -1)]
    sizes = _with_contacts(sizes, sides, x[:, plan.size("nv") + plan.size("nc") :])
    return _Balance(sides, place, speed, *sizes)


def _over_time(
    plan: Plan, run: Trajectory, balance: _Balance, about: str | tuple[float, float, float]
) -> tuple[list[Theorem], str, tuple[Array, _Balance]]:
    """Theorems over time and the motion from instant to instant; why not the latter; on what."""
    again, why_not = retaken(plan, run, "verify")
    if again is None:
        return _over_pieces(run, run.t, balance), why_not, (run.t, balance)
    t = run.t
    is_near = len(t) >= FINE
    try:
        moved = _from_instant_to_instant(plan, run, *ends_of(again, run, SOME if is_near else FINE))
        if not is_near:
            rows = refined_rows(again, run, FINE)
            x = accelerations(plan, rows, redundancy(plan, rows))
            t, balance = rows[:, 0], _balance(plan, rows, x, about)
    except SimulationError as error:
        return _over_pieces(run, run.t, balance), error.message.rstrip("."), (run.t, balance)
    return [*_over_pieces(run, t, balance), moved], "", (t, balance)


def _check_covered(run: Trajectory, over: list[Theorem], why_not: str) -> None:
    """Raises an error for a run in which nothing over time could be checked."""
    if over or run.t[-1] == run.t[0]:
        return
    raise SimulationError(
        f"the run {run.name!r} is recorded too seldom to be verified over time, at {len(run.t)} "
        f"instants, and it cannot be integrated again from instant to instant: {why_not}.",
        status="inconsistent",
        hint=f"Record it more often: every={(run.t[-1] - run.t[0]) / FINE:.2g}, say.",
    )


def _from_instant_to_instant(
    plan: Plan, run: Trajectory, chosen: NDArray[np.intp], ends: Array
) -> Theorem:
    """Differences of positions and velocities, by how much each changes in the run."""
    nq, nv = plan.size("nq"), plan.size("nv")
    xi = map_entry(plan.kernel, "difference", ends, plan.parameters, run.q[chosen])
    speed = np.max(np.abs(run.v), axis=0, initial=0.0)
    size = np.maximum(speed, SLOW * np.max(speed, initial=0.0)) + 1e-12
    span = float(run.t[-1] - run.t[0])
    reach = size * max(float(np.max(np.diff(run.t))), SLOW * span)
    off = np.hstack([xi / reach, (ends[:, 1 + nq : 1 + nq + nv] - run.v[chosen]) / size])
    error = np.max(np.abs(off), axis=1, initial=0.0)
    allowed = OVER_TIME + _tolerated(run)
    k = int(np.argmax(error))
    name = "motion from instant to instant"
    return Theorem(name, float(error[k]), float(run.t[chosen[k]]), 1.0, allowed)


def _tolerated(run: Trajectory) -> float:
    """What tolerances of a run leave from instant to instant."""
    return TOLERANCES * float(run.meta.get("rtol", 0.0))


def _kept(plan: Plan, run: Trajectory) -> list[Theorem]:
    """Bounds of friction, normal forces, gaps and rates of one sign, where they were recorded."""
    worst = missed(plan, run.t, run.q, run.v, run.series)
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
    far = np.linalg.norm(sides["center"], axis=1) / _divisor(sides["mass"])[:, 0]
    moment = far * np.linalg.norm(force, axis=1)
    return [np.hstack([sizes[0], force]), np.hstack([sizes[1], moment[:, None]])]


def _divisor(mass: Array) -> Array:
    """The mass, or 1 where nothing has any: m G = 0 then, and G is taken at the origin."""
    return np.where(mass > 0, mass, 1.0)


def _forces(plan: Plan, run: Trajectory) -> Array:
    """f of every unilateral row, as it acts: −μ of relations of rates."""
    sign = [-1 if x[2] == "rate" else 1 for x in plan.program.facts["sides"] for _ in range(x[4])]
    return np.asarray(run.series["contacts"].values * np.array(sign))


def _one_sided(plan: Plan, rows: Array) -> Array:
    """D at every row, shape (n, unilateral rows, nv)."""
    out = map_entry(plan.kernel, "one_sided", rows, plan.parameters)
    sides, nv = plan.program.facts["sides"], plan.size("nv")
    count = sum(x[4] for x in sides)
    first = len(sides) + 2 * count
    return out[:, first : first + count * nv].reshape(len(rows), count, nv)


def _over_pieces(run: Trajectory, t: Array, balance: _Balance) -> list[Theorem]:
    """The theorems over time between events of contacts: each where it is nearest its limit."""
    worst: dict[str, Theorem] = {}
    for piece in _pieces(run, t):
        for theorem in _integrals(t[piece], balance.at(piece)):
            had = worst.get(theorem.name)
            if had is None or theorem.error / theorem.allowed > had.error / had.allowed:
                worst[theorem.name] = theorem
    return list(worst.values())


def _pieces(run: Trajectory, t: Array) -> list[slice]:
    """Instants between events of contacts; one recorded once belongs to neither side.

    Moreau's steps take what they meet at once: between their ends velocities are on a line.
    """
    begin, pieces = 0, []
    step = float(run.meta["step"] or 0.0) if run.meta.get("method") == "moreau" else 0.0
    near = step * (1 - NEAREST)
    for event in sorted({e.t for e in run.events if e.what}):
        low = np.searchsorted(t, event - near, "left")
        high = np.searchsorted(t, event + near, "right")
        is_twice = step == 0.0 and high - low > 1
        pieces.append(slice(begin, int(low + 1 if is_twice else low)))
        begin = int(high - 1 if is_twice else high)
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


def _at_instants(t: Array, balance: _Balance) -> list[Theorem]:
    """Every theorem of (analysis-5), instant by instant; forces and moments of joints for size."""
    sides, place, speed = balance.sides, balance.place, balance.speed
    span = float(t[-1] - t[0]) or 1.0
    forces, moments = balance.forces, balance.moments
    slow = sides["kinetic"] / span  # what is steady changes by nothing: of the whole, then
    L, P = np.split(sides["momentum"], 2, axis=1)
    dL, dP = np.split(sides["momentum_rate"], 2, axis=1)
    M, R = np.split(sides["outside"], 2, axis=1)
    mass = _divisor(sides["mass"][:, :1])
    G, v_G = sides["center"] / mass, P / mass
    parts = [x for name, x in sides.items() if name.startswith("power of ")]
    power = sum(parts, np.zeros_like(mass))
    dT = sides["kinetic_rate"]
    mean, drive = np.sum(v_G * dP, axis=1)[:, None], np.sum(v_G * R, axis=1)[:, None]
    own = dL - np.cross(G, dP), M - np.cross(G, R)
    rate = dL - np.cross(speed, P) - np.cross(place, dP)  # of the moment about A
    moved = rate + np.cross(speed, P)
    still = ROUNDING * forces  # at rest only rounding is left, of forces that balance
    arms = np.linalg.norm(G, axis=1)[:, None] * forces  # moments that may balance, by their forces
    turning, energies = [M, moments, arms, L / span], [dT, power, slow, still]
    at_point = M - np.cross(place, R)
    return [
        _theorem("resultant", t, dP, R, [forces, P / span]),
        _theorem("moment about the ground's origin", t, dL, M, [L / span, moments, arms]),
        _theorem("moment about the mass center", t, *own, turning),
        _theorem("moment about the moving point", t, moved, at_point, turning),
        _theorem("kinetic energy", t, dT, power, [*parts, slow, still]),
        _theorem("kinetic energy of the mass center", t, mean, drive, energies),
        _theorem("kinetic energy about the mass center", t, dT - mean, power - drive, energies),
    ]


def _integrals(t: Array, balance: _Balance) -> list[Theorem]:
    """Changes of momentum and energy against the integrals of what causes them."""
    sides, place, speed = balance.sides, balance.place, balance.speed
    # of joints alone, for size
    span = float(t[-1] - t[0])
    forces, moments = 1e-3 * span * balance.forces, 1e-3 * span * balance.moments
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
        ("kinetic energy over time", sides["kinetic"], total, ROUNDING * balance.forces),
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
    missed = float(np.max(np.abs(whole[::2] - half), initial=0.0)) / size
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
