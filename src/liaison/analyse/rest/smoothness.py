"""Derivatives of the equations at a state: that there are some, the same on every side of it.

Public names: check_differentiable, check_no_corner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from liaison.errors import SimulationError
from liaison.expr import evaluate, switches, symbols_of
from liaison.numeric import Array

from .local import Local

ZERO = 1e-12
"""A condition of a choice counts as met by both sides up to this, relative to 1."""

BESIDE = 1e-8
"""How far beside the state slopes are compared [m, rad, m/s, rad/s]."""

NEARER, SAME = 100.0, 0.9
"""A difference of two sides that is kept to this part so much nearer is that of a corner."""

ROUNDING = 1e-12
"""Slopes and forces below this part of the largest are rounding."""


def check_differentiable(here: Local, by: Sequence[str]) -> None:
    """Raises an error where the equations have no value or no derivative at a state.

    Args:
        here: the mechanism at the state.
        by: names of arrays, among q, v, u and p.
    """
    if not np.isfinite(here.forces).all():
        k = int(np.argmax(~np.isfinite(here.forces)))
        raise SimulationError(
            f"the force on {_row(here, k)!r} is {here.forces[k]} at this state.",
            hint="Look at where the formulas are defined (a root or a logarithm of a number that "
            "is not positive, 0/0), or take a state beside it.",
            status="not finite",
        )
    for name in by:
        bad = ~np.isfinite(here.residual_slopes[name])
        if bad.any():
            i, j = (int(x) for x in np.argwhere(bad)[0])
            raise SimulationError(
                f"the equation of {_row(here, i)!r} has no derivative by "
                f"{_column(here, name, j)!r} at this state: it is "
                f"{here.residual_slopes[name][i, j]}.",
                hint="A formula ends there or is steep without bound (a root, a power or a "
                "logarithm at 0, atan2(0, 0), asin at ±1, 0/0): take a state beside it.",
                status="not finite",
            )


def check_no_corner(here: Local) -> None:
    """Raises an error at a state where abs, min, max, sign or if have one slope on each side."""
    if not _is_on_a_border(here):
        return
    x = np.concatenate(here.solution)
    steep = ROUNDING * np.max(np.abs(_slopes(here, x)))
    weight = ROUNDING * np.max(np.abs(here.weights), initial=0.0)
    for k in range(2 * here.nv):
        column = _column(here, "q" if k < here.nv else "v", k % here.nv)
        far, near = _sides(here, k, BESIDE), _sides(here, k, BESIDE / NEARER)
        slopes = [_slopes(side, x)[:, k] for side in (*far, *near)]
        i = _kept(slopes, steep)
        if i >= 0:
            raise SimulationError(
                f"the equation of {_row(here, i)!r} has a corner at this state: its derivative by "
                f"{column!r} is {slopes[2][i]:.6g} on one side and {slopes[3][i]:.6g} on the "
                "other.",
                hint="Small motions about it are not linear. Take a state beside it, or a formula "
                "without the corner.",
                status="inconsistent",
            )
        forces = [side.forces for side in (*far, *near)]
        i = _kept(forces, weight)
        if i >= 0:
            raise SimulationError(
                f"the force on {_row(here, i)!r} jumps at this state, from {forces[2][i]:.6g} to "
                f"{forces[3][i]:.6g} along {column!r}.",
                hint="Small motions about it are not linear. Take a state beside it, or a formula "
                "without the jump.",
                status="inconsistent",
            )


def _kept(sides: Sequence[Array], least: float) -> int:
    """The entry whose sides differ near the state as they do further away; −1 if none does."""
    far, near = np.abs(sides[1] - sides[0]), np.abs(sides[3] - sides[2])
    kept = np.where((near > least) & (near > SAME * far), near, 0.0)
    return int(np.argmax(kept)) if kept.any() else -1


def _is_on_a_border(here: Local) -> bool:
    """Whether some condition of a choice vanishes at the state."""
    program, state = here.kernel.program, here.state
    if "terms" not in program.entries:
        return False
    conditions = switches(program.entries["terms"].outputs)
    arrays = {"t": np.array([state.t]), "q": state.q, "v": state.v, "u": here.u, "p": here.p}
    values = {}
    for x in symbols_of(conditions):
        name, k = program.inputs[x]
        values[x] = float(arrays[name][k])
    return any(abs(float(c)) <= ZERO for c in evaluate(conditions, values))


def _sides(here: Local, k: int, by: float) -> tuple[Local, Local]:
    """The mechanism on both sides of the state, along a coordinate or, from nv on, a velocity."""
    state, unit = here.state, np.eye(here.nv)[k % here.nv]
    if k >= here.nv:
        return _at(here, state.q, state.v - by * unit), _at(here, state.q, state.v + by * unit)
    pair = [next(iter(here.call("retract", x).values())) for x in (-by * unit, by * unit)]
    return _at(here, pair[0], state.v), _at(here, pair[1], state.v)


def _at(here: Local, q: Array, v: Array) -> Local:
    return replace(here, state=replace(here.state, q=q, v=v))


def _slopes(here: Local, x: Array) -> Array:
    """Derivatives of the equations by q and v, at v̇ and λ of another state."""
    blocks = here.call("d_residual", x)
    rows = here.nv + here.nc
    return np.hstack([blocks[name].reshape(rows, -1) for name in ("r_q", "r_v")])


def _column(here: Local, array: str, k: int) -> str:
    """The coordinate, velocity, input or parameter of a column."""
    name = here.kernel.program.labels["v" if array == "q" else array][k].name
    return name.removesuffix("'") if array == "q" else name


def _row(here: Local, k: int) -> str:
    """The velocity or the multiplier of an equation."""
    labels = here.kernel.program.labels
    return (*labels["v"], *labels["lam"])[k].name
