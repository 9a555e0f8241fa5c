"""equilibrium: positions at which a mechanism can stay at rest, with what its joints then bear.

    τ(q) − h(q) + Gᵀ λ = 0,   Φ(q) = 0   with v = 0                             (analysis-4)

Steps go along what the closures allow. The stiffness Zᵀ ∂r/∂q Z there, with λ held, is bent so
that it is positive: such steps go down from maxima and saddles of the energy, so that what is
found is stable. The nearest equilibrium, stable or not, is found with the stiffness as it is.

Public names: Equilibrium, equilibrium.

Source: DPG14 (Newton steps with the absolute values of the curvatures).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from liaison.errors import ModelError, NamingError, SimulationError
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.simulate import Trajectory, simulate

from .linearize import Linearization, linearize
from .local import Local, local
from .open_sides import refuse_blocks, refuse_here

MOST_STEPS = 200

CLOSED = 1e-10
"""Largest |Φ| after a step [m, rad]; a step that leaves more is halved."""

MOST_PUSHES = 3
"""How often it is pushed off an equilibrium that is not stable."""

PUSH = 0.1
"""How far then [rad, m]."""

SERIES = ("energy", "outputs", "poses", "reactions", "lam")

LONGEST = 0.5
"""The longest step [rad, or m for slides: a mechanism's size is not known here]."""


@final
@dataclass(frozen=True)
class Equilibrium:
    """A state at rest.

    Args:
        state: positions, and velocities zero.
        run: that one instant, with poses, reactions, multipliers (λ), energy and outputs.
        residual: largest generalised force that is left, over the largest that is balanced.
        steps: taken to find it.
        linear: small motions about it.
    """

    state: State
    run: Trajectory
    residual: float
    steps: int
    linear: Linearization

    @property
    def is_stable(self) -> bool:
        """No small motion about it grows."""
        return self.linear.is_stable

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
            "residual": self.residual,
            "steps": self.steps,
            "is_stable": self.is_stable,
            "frequencies_Hz": self.linear.frequencies.tolist(),
        }


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
        independent: coordinates to tell small motions by.
        tolerance: of generalised forces, relative to the largest that is balanced.

    Raises:
        SimulationError: none is found.
    """
    if kind not in ("stable", "nearest"):
        raise NamingError.unknown("kind of equilibrium", kind, ("stable", "nearest"))
    here = local(kernel, at_rest(state), inputs=inputs, parameters=parameters)
    _check_still(here)
    best, patience, pushes = np.inf, 0, 0
    for count in range(MOST_STEPS):
        left = unbalanced(here)
        if left <= tolerance or (left <= 1e-9 and patience > 3):
            way = downhill(here) if kind == "stable" and pushes < MOST_PUSHES else None
            if way is None:
                refuse_here(here, "equilibrium")
                return _found(here, left, count, inputs, parameters, independent)
            here, pushes, patience = stepped(here, way), pushes + 1, 0
            continue
        patience = patience + 1 if left >= 0.5 * best else 0
        best = min(best, left)
        here = moved(here, kind)
    refuse_blocks(kernel.program, "equilibrium")
    raise SimulationError(
        f"no equilibrium is found after {MOST_STEPS} steps; {best:.1e} of the largest force is not "
        "balanced.",
        status="no equilibrium",
        hint="Start nearer to it, or give forces that hold it: a mechanism that nothing pulls back "
        "has none.",
    )


def _found(
    here: Local,
    left: float,
    count: int,
    inputs: Mapping[str, float] | None,
    parameters: Array | None,
    independent: Sequence[str],
) -> Equilibrium:
    linear = linearize(
        here.kernel, here.state, inputs=inputs, parameters=parameters, independent=independent
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
    shown = run.series["reactions"].shown[0]
    joints = run.series["reactions"].axes["joint"]
    return {
        joint: [float(x) if np.isfinite(x) else None for x in shown[k]]
        for k, joint in enumerate(joints)
    }


def _multipliers(run: Trajectory) -> dict[str, float | None]:
    """Row of a closure -> what it puts on the mechanism; None where undetermined."""
    if "lam" not in run.series:
        return {}
    shown, names = run.series["lam"].shown[0], run.series["lam"].axes["row"]
    told = [float(x) if np.isfinite(x) else None for x in shown]
    return dict(zip(names, told, strict=True))


def at_rest(state: State) -> State:
    """The same positions without velocities."""
    return replace(state, v=np.zeros_like(state.v))


def unbalanced(here: Local) -> float:
    """The largest force along what the closures allow, over the largest that acts; and |Φ|.

    What acts may be balanced everywhere: the force that a unit of displacement wakes counts too.
    """
    Z = here.velocities.basis
    woken = Z.T @ here.stiffness @ here.positions.basis
    sizes = [float(np.max(np.abs(x), initial=0.0)) for x in (here.weights, woken)]
    return max(left_over(here) / max(*sizes, 1e-30), _gap(here))


def left_over(here: Local) -> float:
    """The largest generalised force along what the closures allow."""
    return float(np.max(np.abs(here.velocities.basis.T @ here.forces), initial=0.0))


def descent(here: Local, kind: str) -> Array:
    """A change of position towards equilibrium, within what the closures allow."""
    Z = here.positions.basis
    force = here.velocities.basis.T @ here.forces
    stiffness = here.velocities.basis.T @ here.stiffness @ Z
    if kind == "stable" and stiffness.shape == here.reduced_mass.shape:
        ways = _bent(stiffness, here.reduced_mass, force)
    else:
        ways = np.asarray(np.linalg.lstsq(stiffness, force, rcond=1e-12)[0], dtype=float)
    step = Z @ ways
    longest = float(np.max(np.abs(step), initial=0.0))
    return np.asarray(step * min(1.0, LONGEST / longest) if longest else step)


def _bent(stiffness: Array, mass: Array, force: Array) -> Array:
    """Newton's step with negative curvatures turned round, in the metric of the mass."""
    if not mass.size:
        return np.zeros(0)
    values, ways = curvatures(stiffness, mass)
    pull = ways.T @ force
    floor = max(1e-6 * np.max(np.abs(values)), 1e-9 * np.max(np.abs(pull)), 1e-300)
    if np.all(values > floor):
        return np.asarray(np.linalg.solve(stiffness, force), dtype=float)
    return np.asarray(ways @ (pull / np.maximum(np.abs(values), floor)), dtype=float)


def curvatures(stiffness: Array, mass: Array) -> tuple[Array, Array]:
    """Eigenvalues of the symmetric part, in the metric of the mass, and their directions."""
    root = np.linalg.cholesky(mass + 1e-14 * np.trace(mass) * np.eye(len(mass)))
    half = np.linalg.solve(root, np.linalg.solve(root, (stiffness + stiffness.T) / 2).T)
    values, ways = np.linalg.eigh((half + half.T) / 2)
    return values, np.asarray(np.linalg.solve(root.T, ways))


def downhill(here: Local) -> Array | None:
    """A small step off an equilibrium along its most negative curvature; None if there is none."""
    Z = here.positions.basis
    stiffness = here.velocities.basis.T @ here.stiffness @ Z
    if stiffness.shape != here.reduced_mass.shape or not stiffness.size:
        return None
    values, ways = curvatures(stiffness, here.reduced_mass)
    if values[0] >= -1e-9 * np.max(np.abs(values)):
        return None
    step = Z @ ways[:, 0]
    return np.asarray(PUSH * step / np.max(np.abs(step)))


def moved(here: Local, kind: str) -> Local:
    """One step on; by Newton's method, cut while it leaves more unbalanced than before."""
    step = descent(here, kind)
    ahead = stepped(here, step)
    if kind == "stable":
        return ahead
    for _ in range(8):
        if left_over(ahead) < left_over(here):
            return ahead
        step = step / 2
        ahead = stepped(here, step)
    return ahead


def stepped(here: Local, step: Array) -> Local:
    """The mechanism moved by a change of position and put back on its closures."""
    for _ in range(12):
        ahead = closed(retracted(here, step))
        if _gap(ahead) <= CLOSED:
            return ahead
        step = step / 2
    return here


def closed(here: Local) -> Local:
    """Put back on its closures by Newton's method, as far as it gets."""
    for _ in range(20):
        gap = _gap(here)
        if gap <= 1e-14:
            break
        again = retracted(here, here.back)
        if not _gap(again) < gap:
            break
        here = again
    return here


def _gap(here: Local) -> float:
    return float(np.max(np.abs(here.phi), initial=0.0))


def retracted(here: Local, step: Array) -> Local:
    """q ⊞ ξ."""
    q = here.kernel("retract", here.state.t, q=here.state.q, u=here.u, p=here.p, x=step)
    return replace(here, state=replace(here.state, q=q))
