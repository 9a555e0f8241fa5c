"""equilibrium: positions at which a mechanism can stay at rest, with the reactions of its joints.

    τ(q) − h(q) + Gᵀ λ = 0,   Φ(q) = 0   with v = 0                             (analysis-4)

Where something holds on one side only, forces of closed gaps push besides (`rest_on_sides.py`).

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
from liaison.simulation import Trajectory, simulate

from .linearize import Linearization, linearize
from .local import Local, local
from .rest_on_sides import ADVICE, HOLDS, at_the_instant, has_sides, is_held, pushed, rest_on_sides
from .rest_steps import MOST_PUSHES, MOST_STEPS, downhill, moved, stepped, unbalanced

SERIES = ("energy", "outputs", "poses", "reactions", "lam")


@final
@dataclass(frozen=True)
class Equilibrium:
    """A state at rest.

    Args:
        state: positions, and velocities zero.
        run: that one instant, with poses, reactions, multipliers (λ), energy, outputs, and forces
            of contacts.
        residual: largest generalised force that is left, over the largest that is balanced.
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
        f"no equilibrium is found after {MOST_STEPS} steps; {best:.1e} of the largest force is not "
        "balanced.",
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
            f"no equilibrium: {left:.1e} of the largest force is not balanced where gaps alone "
            "would hold it.",
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
    values = [float(x) if np.isfinite(x) else None for x in shown]
    return dict(zip(names, values, strict=True))


def at_rest(state: State) -> State:
    """The same positions without velocities."""
    return replace(state, v=np.zeros_like(state.v))
