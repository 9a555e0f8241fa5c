"""equilibrium: positions at which a mechanism can stay at rest, with the reactions of its joints.

    τ(q) − h(q) + Gᵀ λ = 0,   Φ(q) = 0   with v = 0                             (analysis-4)

Where there is a unilateral constraint, forces of closed gaps push besides (`rest_on_sides.py`).

Steps go along what the closures allow. The stiffness Zᵀ ∂r/∂q Z there, with λ held, is bent so
that it is positive: such steps go down from maxima and saddles of the energy, so that what is
found is stable. The nearest equilibrium, stable or not, is found with the stiffness as it is.

Rest on contacts: gaps are open, or closed by forces that push.

    τ − h + Gᵀλ + Dᵀn = 0,   gap ≥ 0 ⟂ n ≥ 0   with v = 0                       (analysis-9)

Friction is not asked to hold anything: a position that rests without it rests with it. Only where
the mechanism begins may friction hold it; that is seen from the motion in its mode, which is none.
Each step is the least change, in the metric of the bent stiffness, that keeps every gap open.

Public names: Equilibrium, equilibrium, rest_on_sides, has_sides, is_held, pushed, at_the_instant,
ADVICE, HOLDS.

Source: DPG14 (Newton steps with the absolute values of the curvatures); LH74 ch. 23 (least distance
programming by nonnegative least squares).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ModelError, NamingError, SimulationError
from liaison.lazy import Shown
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.simulation import Trajectory, simulate

from .linearize import Linearization, linearize, state_places
from .local import RANK, Local, local
from .open_sides import TOUCHING
from .rest_steps import (
    LONGEST,
    MOST_PUSHES,
    MOST_STEPS,
    Ways,
    downhill,
    left_along,
    moved,
    pushed_down,
    retracted,
    stepped,
    unbalanced,
    ways_of,
)

CLOSED = 1e-10
"""A gap that something pushes is closed up to this [m, rad]."""

SOFT = 1e-2
"""Part of a pull that bends a way as much as a curvature, where a gap may take the rest."""

SHORTER = 30
"""How often a step is halved until rows of gaps, taken as straight, can all stay open."""

NUDGE = 1e-6
"""Half the distance over which rows of gaps are differentiated [m, rad]."""

HOLDS = 1e-9
"""Part of the largest force up to which what is left moves nothing."""

ADVICE = (
    "Start nearer to it, or where friction holds it; or simulate with damping until it rests, and "
    "start there."
)


def has_sides(here: Local) -> bool:
    """Whether there are unilateral constraints."""
    return bool(here.kernel.program.facts.get("sides"))


@final
@dataclass(frozen=True)
class Pushed:
    """A mechanism at rest with the forces of its closed gaps, without friction."""

    here: Local

    @property
    def Z(self) -> Array:
        """Changes of position that the closures allow."""
        return self.here.positions.basis

    @cached_property
    def sides(self) -> tuple[Array, Array]:
        """Gaps, and their rows."""
        here, nv = self.here, self.here.nv
        values, blocks = here.call("one_sided"), here.kernel.program.facts["sides"]
        gaps = [(b, x[3]) for b, x in enumerate(blocks) if x[2] == "gap"]
        D = values["D"].reshape(-1, nv)
        return values["gap"][[b for b, _ in gaps]], D[[k for _, k in gaps]]

    @cached_property
    def n(self) -> Array:
        """Forces of gaps: those that leave least unbalanced, and only of closed ones."""
        from scipy.optimize import nnls

        gap, D = self.sides
        closed = np.flatnonzero(gap <= TOUCHING)
        n = np.zeros(len(gap))
        if closed.size and self.Z.shape[1]:
            n[closed] = nnls(self.Z.T @ D[closed].T, -self.Z.T @ self.here.forces)[0]
        return n

    @cached_property
    def push(self) -> Array:
        """Dᵀ n."""
        return np.asarray(self.sides[1].T @ self.n)

    @property
    def rest(self) -> Array:
        """Forces along what the closures allow that nothing balances."""
        return np.asarray(self.Z.T @ (self.here.forces + self.push))

    @cached_property
    def acting(self) -> Array:
        """Parts that act along what the closures allow: τ, h, and the forces of gaps."""
        return np.vstack([self.here.weights.reshape(2, -1), self.push]) @ self.Z

    @cached_property
    def holds(self) -> NDArray[np.bool_]:
        """Gaps whose forces are more than rounding beside what acts on what they push."""
        _, D = self.sides
        beside = np.abs(D) @ np.max(np.abs(self.here.weights.reshape(2, -1)), axis=0)
        return np.asarray(self.n * np.sum(D * D, axis=1) > HOLDS * beside)

    @cached_property
    def left(self) -> float:
        """Largest force that is left, each way by its size; what gaps and closures are off by."""
        gap, _ = self.sides
        off = np.where(self.holds, np.abs(gap), np.maximum(-gap, 0.0))
        phi = float(np.max(np.abs(self.here.phi), initial=0.0))
        return max(
            left_along(self.ways, self.rest, self.acting, free=SOFT),
            phi,
            float(np.max(off, initial=0.0)),
        )

    @cached_property
    def stiffness(self) -> Array:
        """∂(h − τ − Gᵀλ − Dᵀn)/∂q with λ and n as the forces of this state need them."""
        here, force = self.here, self.here.forces + self.push
        lam = np.linalg.lstsq(here.G.T, -force, rcond=RANK)[0] if here.nc else np.zeros(0)
        x = np.concatenate([np.zeros(here.nv), lam])
        own = here.call("d_residual", x)["r_q"].reshape(here.nv + here.nc, here.nv)[: here.nv]
        return own - self._turned if np.any(self.n) else own

    @cached_property
    def _turned(self) -> Array:
        """∂(Dᵀn)/∂q, by differences."""
        ways = NUDGE * np.eye(self.here.nv)
        ends = [(retracted(self.here, way), retracted(self.here, -way)) for way in ways]
        columns = [
            (Pushed(a).sides[1] - Pushed(b).sides[1]).T @ self.n / (2 * NUDGE) for a, b in ends
        ]
        return np.stack(columns, axis=1)

    @cached_property
    def ways(self) -> Ways:
        """Curvatures along what the closures allow, in the metric of the mass, and their ways."""
        return ways_of(self.Z.T @ self.stiffness @ self.Z, self.here.reduced_mass)

    def step(self) -> Array:
        """The least change towards rest that keeps gaps open."""
        ways = self.ways
        pull, rest = ways.columns.T @ (self.Z.T @ self.here.forces), ways.columns.T @ self.rest
        # a gap may take all of a pull: SOFT of it bends as much as a curvature does
        longest = max(SOFT * float(np.max(np.abs(pull))), float(np.max(np.abs(rest))) / LONGEST)
        floor = np.maximum(np.maximum(longest, ways.noise), 1e-300)
        scale = ways.columns / np.sqrt(np.maximum(np.abs(ways.values), floor))
        force = scale.T @ (self.Z.T @ self.here.forces)
        gap, D = self.sides
        A = D @ self.Z @ scale
        change = self.Z @ (scale @ _open(A, gap, force))
        longest = float(np.max(np.abs(change), initial=0.0))
        return np.asarray(change * min(1.0, LONGEST / longest) if longest else change)

    def downhill(self) -> Array | None:
        """A push along the most negative curvature that pushed gaps allow; None without one."""
        _, D = self.sides
        rows = (D @ self.Z)[self.holds]
        _, s, Vt = np.linalg.svd(rows) if len(rows) else (0, np.zeros(0), np.eye(self.Z.shape[1]))
        T = Vt[int(np.count_nonzero(s > RANK * np.max(s, initial=1.0))) :].T
        if not T.shape[1]:
            return None
        K = self.Z.T @ self.stiffness @ self.Z
        return pushed_down(ways_of(T.T @ K @ T, T.T @ self.here.reduced_mass @ T), self.Z @ T)


def _open(A: Array, gap: Array, force: Array) -> Array:
    """The step nearest to a force that keeps all gaps open; of a shorter force where none does.

    Raises:
        SimulationError: even none does not.
    """
    for _ in range(SHORTER):
        change = least(A, -gap - A @ force)
        if change is not None:
            return np.asarray(force + change)
        force = force / 2
    raise SimulationError(
        "no position near here keeps all gaps open.", status="no equilibrium", hint=ADVICE
    )


def least(A: Array, h: Array) -> Array | None:
    """The shortest x with A x ≥ h; None if there is none."""
    from scipy.optimize import nnls

    if not len(h) or np.all(h <= 0.0):
        return np.zeros(A.shape[1])
    length = np.maximum(np.linalg.norm(A, axis=1), 1e-30)
    scaled, most = A / length[:, None], float(np.max(np.abs(h / length)))
    E = np.vstack([scaled.T, h / length / most])
    right_side = np.zeros(len(E))
    right_side[-1] = 1.0
    u, missed = nnls(E, right_side)
    if missed <= 1e-12:
        return None
    r = E @ u - right_side
    return np.asarray(-r[:-1] / r[-1] * most)


def rest_on_sides(here: Local, kind: str, tolerance: float) -> tuple[Local, float, int]:
    """A position of rest near a state, how much is left unbalanced, and how many steps it took.

    Raises:
        SimulationError: none is found.
    """
    if here.positions.basis.shape != here.velocities.basis.shape:
        raise SimulationError(
            "equilibria on contacts are not computed where closures of rates hold as well.",
            status="one-sided",
            hint=ADVICE,
        )
    now, best, patience, pushes = Pushed(here), np.inf, 0, 0
    for count in range(MOST_STEPS):
        left = now.left
        if left <= tolerance or (left <= HOLDS and patience > 3):
            way = now.downhill() if kind == "stable" and pushes < MOST_PUSHES else None
            if way is None:
                return now.here, left, count
            now, pushes, patience, best = Pushed(stepped(now.here, way)), pushes + 1, 0, np.inf
            continue
        patience = patience + 1 if left >= 0.5 * best else 0
        best = min(best, left)
        now = Pushed(stepped(now.here, now.step()))
    raise SimulationError(
        f"no equilibrium with the contacts of {here.kernel.program.name!r} is found after "
        f"{MOST_STEPS} steps; along some way {best:.1e} of the force is not balanced.",
        status="no equilibrium",
        hint=ADVICE,
    )


def pushed(here: Local) -> bool:
    """Whether gaps are closed here, or friction with a bound of its own may hold."""
    blocks = here.kernel.program.facts["sides"]
    has_friction = any(x[2] == "rate" or (x[2] == "friction" and x[5] < 0) for x in blocks)
    return has_friction or bool(np.any(Pushed(here).sides[0] <= TOUCHING))


def is_held(here: Local, tolerance: float, inputs: Mapping[str, float] | None) -> bool:
    """Whether it rests where it is though gaps alone would not hold it: friction does."""
    now = Pushed(here)
    if not pushed(here) or np.any(now.sides[0] < -TOUCHING) or now.left <= tolerance:
        return False
    return at_the_instant(here, inputs)[1] <= HOLDS


def at_the_instant(
    here: Local, inputs: Mapping[str, float] | None, series: tuple[str, ...] = ()
) -> tuple[Trajectory, float]:
    """The instant as a run in its mode, and the largest M v̇, each way by its own size."""
    known = [label.name for label in here.kernel.program.labels["p"]]
    values = dict(zip(known, here.p.tolist(), strict=True))
    more: dict[str, Any] = {"inputs": inputs, "parameters": values}
    names = (*series, "contacts", "accelerations")
    run = simulate(here.kernel, here.state, here.state.t, series=names, **more)
    moves = here.M @ np.asarray(run.series["accelerations"].values)[-1]
    now = Pushed(here)
    return run, left_along(now.ways, now.Z.T @ moves, now.acting, free=1.0)


SERIES = ("energy", "outputs", "poses", "reactions", "lam")


@final
@dataclass(frozen=True, repr=False)
class Equilibrium(Shown):
    """A state at rest.

    Args:
        state: positions, and velocities zero.
        run: that one instant, with poses, reactions, multipliers (λ), energy, outputs, and forces
            of contacts.
        residual: largest force that is left along a way in which it can move, over what acts along
            that way or what a unit of displacement along it wakes.
        steps: taken to find it.
        linear: small motions about it; None where a contact or dry friction holds it.
    """

    state: State
    run: Trajectory
    residual: float
    steps: int
    linear: Linearization | None

    @property
    def is_stable(self) -> bool | None:
        """No small motion about it grows; None where a contact or dry friction holds it."""
        return None if self.linear is None else self.linear.is_stable

    @property
    def contacts(self) -> dict[str, tuple[float, str]]:
        """Row of a contact or of friction -> its force or moment, and the unit."""
        if "contacts" not in self.run.series:
            return {}
        series = self.run.series["contacts"]
        pairs = zip(series.values[-1].tolist(), series.unit, strict=True)
        return dict(zip(series.axes["contact"], pairs, strict=True))

    def __getitem__(self, label: str) -> float:
        """A coordinate by its label."""
        return float(self.state[label])

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        names = [x.name for x in self.state.labels["q"]]
        return {
            "positions": dict(zip(names, self.state.q.tolist(), strict=True)),
            "reactions": _reactions(self.run),
            "multipliers": _multipliers(self.run),
            "contacts": {name: force for name, (force, _) in self.contacts.items()},
            "residual": self.residual,
            "steps": self.steps,
            "is_stable": self.is_stable,
            "frequencies_Hz": [] if self.linear is None else self.linear.frequencies.tolist(),
        }


def _check_no_states(kernel: Kernel) -> None:
    """Raises an error for states of loads, whose values at rest are not looked for."""
    names = [kernel.program.labels["v"][k].name for k in sorted(state_places(kernel.program))]
    if names:
        raise SimulationError(
            f"{names[0]!r} is a state of a load: an equilibrium is looked for among positions "
            "alone.",
            status="no equilibrium",
            hint="Simulate until it comes to rest, and take `run.state(-1)`; `linearize` "
            "takes states.",
        )


def equilibrium(
    kernel: Kernel,
    state: State,
    *,
    kind: str = "stable",
    inputs: Mapping[str, float] | None = None,
    parameters: Array | None = None,
    independent: Sequence[str] = (),
    tolerance: float = 1e-12,
) -> Equilibrium:
    """A position of rest near a state.

    Args:
        kernel: of the mechanism.
        state: where to begin, on the closures; its velocities are not used.
        kind: "stable": go down; "nearest": by Newton's steps, to a stable one or not.
        inputs: values by name instead of the defaults.
        parameters: values in order instead of the defaults.
        independent: coordinates in which small motions are expressed.
        tolerance: of the residual.

    Raises:
        SimulationError: none is found.
    """
    if kind not in ("stable", "nearest"):
        raise NamingError.unknown("kind of equilibrium", kind, ("stable", "nearest"))
    _check_no_states(kernel)
    here = local(kernel, at_rest(state), inputs=inputs, parameters=parameters)
    _check_still(here)
    if has_sides(here):
        return _resting(here, kind, tolerance, inputs, independent)
    best, patience, pushes = np.inf, 0, 0
    for count in range(MOST_STEPS):
        left = unbalanced(here)
        if left <= tolerance or (left <= 1e-9 and patience > 3):
            way = downhill(here) if kind == "stable" and pushes < MOST_PUSHES else None
            if way is None:
                return _equilibrium(here, left, count, inputs, independent)
            here, pushes, patience = stepped(here, way), pushes + 1, 0
            continue
        patience = patience + 1 if left >= 0.5 * best else 0
        best = min(best, left)
        here = moved(here, kind)
    raise SimulationError(
        f"no equilibrium is found after {MOST_STEPS} steps; along some way {best:.1e} of the force "
        "is not balanced.",
        status="no equilibrium",
        hint="Start nearer to it, or give forces that hold it: a mechanism that nothing pulls back "
        "has none.",
    )


def _resting(
    here: Local,
    kind: str,
    tolerance: float,
    inputs: Mapping[str, float] | None,
    independent: Sequence[str],
) -> Equilibrium:
    """Where friction holds it, there; else where gaps alone do."""
    count = 0
    if not is_held(here, tolerance, inputs):
        here, _, count = rest_on_sides(here, kind, tolerance)
    if not pushed(here):
        return _equilibrium(here, unbalanced(here), count, inputs, independent)
    run, left = at_the_instant(here, inputs, SERIES)
    if left > HOLDS:
        raise SimulationError(
            f"no equilibrium: along some way {left:.1e} of the force is not balanced where gaps "
            "alone would hold it.",
            status="no equilibrium",
            hint=ADVICE,
        )
    return Equilibrium(here.state, run, left, count, None)


def _equilibrium(
    here: Local,
    left: float,
    count: int,
    inputs: Mapping[str, float] | None,
    independent: Sequence[str],
) -> Equilibrium:
    linear = linearize(
        here.kernel, here.state, inputs=inputs, parameters=here.p, independent=independent
    )
    known = [label.name for label in here.kernel.program.labels["p"]]
    values = dict(zip(known, here.p.tolist(), strict=True))
    run = simulate(
        here.kernel, here.state, here.state.t, series=SERIES, inputs=inputs, parameters=values
    )
    return Equilibrium(here.state, run, left, count, linear)


def _check_still(here: Local) -> None:
    """A closure that moves with time leaves nothing at rest."""
    speed = np.abs(here.nu)
    if speed.size and np.max(speed) > 1e-9:
        name = here.kernel.program.labels["lam"][int(np.argmax(speed))].name
        raise ModelError(
            f"the closure {name!r} moves at t = {here.state.t:g} s, {np.max(speed):.3g} in its "
            "row: nothing it drives is at rest.",
            hint="Look at an instant where it stands still, or move it with kinematic_run.",
        )


def _reactions(run: Trajectory) -> dict[str, list[float | None]]:
    """Joint -> moment and force in its marker's axes; None where undetermined."""
    if "reactions" not in run.series:
        return {}
    reactions = run.series["reactions"].shown[0]
    joints = run.series["reactions"].axes["joint"]
    return {
        joint: [float(x) if np.isfinite(x) else None for x in reactions[k]]
        for k, joint in enumerate(joints)
    }


def _multipliers(run: Trajectory) -> dict[str, float | None]:
    """Row of a closure -> what it puts on the mechanism; None where undetermined."""
    if "lam" not in run.series:
        return {}
    multipliers, names = run.series["lam"].shown[0], run.series["lam"].axes["row"]
    values = [float(x) if np.isfinite(x) else None for x in multipliers]
    return dict(zip(names, values, strict=True))


def at_rest(state: State) -> State:
    """The same positions without velocities."""
    return replace(state, v=np.zeros_like(state.v))
