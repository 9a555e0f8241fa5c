"""Inverse kinematics to poses in time: damped least squares within limits, on exact Jacobians.

At every instant a step ξ of all coordinates is the least of

    |J ξ + r|² + μ |ξ|²,   least ≤ q + ξ ≤ greatest,                            (reach-1)

with r the closures Φ, the place of the body off its target and the vector of the rotation off it;
μ falls while steps help and grows where they do not. Each instant begins where the one before it
ended, so that the path stays on one branch.

Public names: Target, JointPath, joint_path, limits_of.

Source: BB05 §2 (damped least squares).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from liaison.analyse.rest.local import Local, local
from liaison.analyse.rest.rest_steps import retracted
from liaison.errors import NamingError, SimulationError
from liaison.expr import Expr, Table, as_expr, evaluate, gradient, symbol, symbols_of
from liaison.lazy import Brief
from liaison.model import Mechanism, Unilateral
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.units import Label

STEPS = 200
"""Steps at one instant, at most."""

STALLED = 1e-14
"""Step, relative to 1 + |q|, below which nothing moves any more."""


@final
@dataclass(frozen=True, slots=True)
class Target:
    """Where a body is to be at one instant.

    Attributes:
        position: of the point, in ground's axes [m].
        rotation: its axes as columns, in ground's axes; None where any will do.
    """

    position: Array
    rotation: Array | None = None


@final
@dataclass(frozen=True, slots=True, repr=False)
class JointPath(Brief):
    """Coordinates that put a body at poses, one row for each instant.

    Attributes:
        t: instants [s].
        q: positions, shape (instants, nq).
        labels: of the positions.
        missed: how far the body is off its target at each instant [m, rad].
    """

    t: Array
    q: Array
    labels: tuple[Label, ...]
    missed: Array

    def __getitem__(self, label: str) -> Array:
        """One coordinate over time."""
        names = [x.name for x in self.labels]
        if label not in names:
            raise NamingError.unknown("coordinate", label, names)
        return self.q[:, names.index(label)]

    def __len__(self) -> int:
        return len(self.t)

    def table(self, label: str) -> Table:
        """One coordinate as a function of time, for targets of controllers; it holds its ends."""
        y = self[label]
        if len(self.t) == 1:
            return Table([self.t[0], self.t[0] + 1.0], [y[0], y[0]], "linear", outside="hold")
        return Table(self.t, y, "cubic", outside="hold")


def joint_path(
    kernel: Kernel,
    state: State,
    body: str,
    times: Array,
    targets: Sequence[Target],
    *,
    point: Array,
    limits: Mapping[str, tuple[float, float]],
    tolerance: float = 1e-10,
) -> JointPath:
    """The coordinates of a mechanism that put a point of a body at targets, one after the other.

    Args:
        kernel: of the mechanism.
        state: where to begin, on the closures.
        body: its name.
        times: instants [s], increasing.
        targets: one for each.
        point: fixed on the body, in its axes [m].
        limits: least and greatest value by coordinate.
        tolerance: of places and angles, relative to 1 + |q|.

    Raises:
        SimulationError: a target is out of reach; with how far it is missed and what is at a limit.
    """
    here = local(kernel, replace(state, v=np.zeros_like(state.v)))
    bounds = _bounds(kernel, limits)
    rows, missed = [], []
    for t, target in zip(times, targets, strict=True):
        moved = replace(here, state=replace(here.state, t=float(t)))
        here, off = _reached(moved, _Reach(body, target, point, bounds, tolerance))
        rows.append(here.state.q)
        missed.append(off)
    labels = kernel.program.labels["q"]
    return JointPath(np.asarray(times, dtype=float), np.array(rows), labels, np.array(missed))


@final
@dataclass(frozen=True, slots=True)
class _Bounds:
    """Least and greatest values: places in v, places in q, values."""

    v: Array
    q: Array
    least: Array
    greatest: Array


@final
@dataclass(frozen=True, slots=True)
class _Reach:
    """What is to be reached."""

    body: str
    target: Target
    point: Array
    bounds: _Bounds
    tolerance: float

    def residual(self, here: Local) -> Array:
        """Φ, then the place and the rotation off the target."""
        pose = here.call("poses")[self.body]
        R, p = pose[:9].reshape(3, 3), pose[9:]
        parts = [here.phi, p + R @ self.point - self.target.position]
        if self.target.rotation is not None:
            parts.append(-rotation_vector(self.target.rotation @ R.T))
        return np.concatenate(parts)

    def slopes(self, here: Local) -> Array:
        """Its derivative along velocities, exact where the target is met."""
        pose = here.call("poses")[self.body]
        r = pose[:9].reshape(3, 3) @ self.point
        still = _twist(here, self.body, np.zeros(here.nv))
        columns = np.array([_twist(here, self.body, e) - still for e in np.eye(here.nv)]).T
        turning, sliding = columns[:3], columns[3:]
        moving = sliding + np.cross(turning.T, r).T
        rows = [here.holonomic, moving]
        return np.vstack(rows if self.target.rotation is None else [*rows, turning])

    def room(self, here: Local) -> tuple[Array, Array]:
        """How far each local coordinate may go down and up."""
        low, high = np.full(here.nv, -np.inf), np.full(here.nv, np.inf)
        at = here.state.q[self.bounds.q]
        low[self.bounds.v] = self.bounds.least - at
        high[self.bounds.v] = self.bounds.greatest - at
        return np.minimum(low, 0.0), np.maximum(high, 0.0)


def _twist(here: Local, body: str, v: Array) -> Array:
    """ω and velocity of a body's origin for velocities."""
    there = replace(here, state=replace(here.state, v=v))
    return there.call("motions")[body][:6]


def _reached(here: Local, reach: _Reach) -> tuple[Local, float]:
    """The state nearest before in which the target is met, and how far it is off.

    Raises:
        SimulationError: it is not met anywhere near.
    """
    from scipy.optimize import lsq_linear

    here = _clipped(here, reach.bounds)
    r = reach.residual(here)
    damping = 1e-6
    for _ in range(STEPS):
        allowed = reach.tolerance * (1.0 + float(np.max(np.abs(here.state.q), initial=0.0)))
        if np.max(np.abs(r), initial=0.0) <= allowed:
            return here, float(np.max(np.abs(r[len(here.phi) :]), initial=0.0))
        J = reach.slopes(here)
        low, high = reach.room(here)
        tied = np.maximum(high - low, 0.0) < 1e-15
        system = np.vstack([J, np.sqrt(damping) * np.eye(here.nv)])[:, ~tied]
        right = np.concatenate([-r, np.zeros(here.nv)])
        xi = np.zeros(here.nv)
        if np.any(~tied):
            xi[~tied] = lsq_linear(system, right, (low[~tied], high[~tied]), method="bvls").x
        there = retracted(here, xi)
        r_there = reach.residual(there)
        helps = np.linalg.norm(r_there) < np.linalg.norm(r)
        size = 1.0 + float(np.max(np.abs(here.state.q), initial=0.0))
        if np.max(np.abs(xi), initial=0.0) <= STALLED * size or damping > 1e12:
            break
        if helps:
            here, r = there, r_there
        damping = max(damping * (0.1 if helps else 10.0), 1e-14)
    raise _out_of_reach(here, reach, r)


def _clipped(here: Local, bounds: _Bounds) -> Local:
    q = here.state.q.copy()
    q[bounds.q] = np.clip(q[bounds.q], bounds.least, bounds.greatest)
    return replace(here, state=replace(here.state, q=q))


def _out_of_reach(here: Local, reach: _Reach, r: Array) -> SimulationError:
    """The error for a target that is not met: by how much, and what is at its limit."""
    nphi = len(here.phi)
    place = float(np.linalg.norm(r[nphi : nphi + 3]))
    turn = float(np.linalg.norm(r[nphi + 3 :])) if len(r) > nphi + 3 else 0.0
    q, bounds = here.state.q, reach.bounds
    labels = here.kernel.program.labels["q"]
    near = 1e-7 * (1.0 + np.abs(q[bounds.q]))
    held = (np.abs(q[bounds.q] - bounds.least) < near) | (
        np.abs(q[bounds.q] - bounds.greatest) < near
    )
    names = [labels[int(k)].name for k in bounds.q[held]]
    at_limits = f"; {', '.join(names)} at a limit" if names else ""
    turned = f" and {turn:.3g} rad" if turn else ""
    return SimulationError(
        f"the target of {reach.body!r} at t = {here.state.t:g} s is out of reach from here: the "
        f"nearest place found is {place:.3g} m{turned} off{at_limits}.",
        status="out of reach",
        t=here.state.t,
        hint="Move the target nearer, widen the limits, or start nearer to it (start={…}).",
    )


def rotation_vector(R: Array) -> Array:
    """The rotation vector of a rotation matrix, shorter than π or equal to it."""
    axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    sine, cosine = float(np.linalg.norm(axis)), (float(np.trace(R)) - 1) / 2
    angle = float(np.arctan2(sine, cosine))
    if sine > 1e-9:
        return np.asarray(axis * (angle / sine))
    if cosine > 0:
        return np.asarray(axis)
    # half a turn: the axis from R + 1 = 2 n nᵀ
    outer = (R + np.eye(3)) / 2
    k = int(np.argmax(np.diag(outer)))
    return np.asarray(np.pi * outer[k] / np.sqrt(outer[k, k]))


def _bounds(kernel: Kernel, limits: Mapping[str, tuple[float, float]]) -> _Bounds:
    """Limits by places in v and q.

    Raises:
        NamingError: a coordinate that has no rate of its own.
    """
    places = {name: [x.name for x in kernel.program.labels[name]] for name in "qv"}
    rated = [x for x in places["q"] if f"{x}'" in places["v"]]
    for label, (least, greatest) in limits.items():
        if label not in rated:
            raise NamingError.unknown("coordinate of the tree with a rate", label, rated)
        if not least <= greatest:
            raise SimulationError(
                f"the limits of {label!r} are {least:g} … {greatest:g}; the lower must not exceed "
                "the upper.",
                status="inconsistent",
            )
    return _Bounds(
        np.array([places["v"].index(f"{x}'") for x in limits], dtype=int),
        np.array([places["q"].index(x) for x in limits], dtype=int),
        np.array([x[0] for x in limits.values()], dtype=float),
        np.array([x[1] for x in limits.values()], dtype=float),
    )


def limits_of(mechanism: Mechanism) -> dict[str, tuple[float, float]]:
    """Ranges of coordinates from the stops of a mechanism: relations a q + b ≤ 0 of one alone."""
    known: dict[Expr, float] = {
        symbol(x.name): float(evaluate([as_expr(x.value)], {})[0])
        for x in mechanism.parameters
        if x.value is not None
    }
    coordinates = {symbol(x) for x in mechanism.coordinates}
    ranges: dict[str, tuple[float, float]] = {}
    for one in mechanism.contacts:
        formula = as_expr(one.formula) if isinstance(one, Unilateral) else as_expr(0)
        used = [x for x in symbols_of([formula]) if x not in known]
        if len(used) != 1 or used[0] not in coordinates:
            continue
        (q,) = used
        slope = gradient(formula, [q])[0]
        if q in symbols_of([slope]):
            continue
        a, b = (float(x) for x in evaluate([slope, formula], {**known, q: 0.0}))
        low, high = ranges.get(q.name, (-np.inf, np.inf))
        end = -b / a if a else np.inf
        ranges[q.name] = (low, min(high, end)) if a > 0 else (max(low, end), high)
    return ranges
