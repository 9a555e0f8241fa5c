"""joint_motion: angles with turns counted, slides, their rates and accelerations, along a run.

From the poses and motions of the two bodies, whatever coordinates the run has: with the motion of M
seen from F, a coordinate c(R, p) of a joint has

    ċ = n · ω + g · ṗ,      c̈ = n · ω̇ + g · p̈ + Q(R, p, ω, ṗ),                  (joint-motion-1)

n and g its gradient; for a hinge c̈ = u_i · (Ω̇_j − Ω̇_i) + (Ω_i × u_i) · Ω_j. Of the whole turns
that may be added between two instants, those nearest to the mean of the two rates are taken.

Public names: joint_motion, has_angle_or_slide.

Source: LL 4.5.2; docs/theory/closures.md (closure-1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from liaison.arguments import checked
from liaison.errors import ModelError, NamingError, SimulationError
from liaison.expr import Expr, as_expr, evaluate, symbol
from liaison.model import Attitude, Joint, Marker, Mechanism
from liaison.numeric import Array
from liaison.simulation import Trajectory
from liaison.simulation.record.series import Series
from liaison.spatial.arrays import array, dot
from liaison.tree.closure import OMEGA, P, R, V, derived

from .contact_points import parameters_had

TURN = 2 * np.pi
FINE = 1000
"""Instants between which turns are counted, at least, where the run can be integrated."""
DOUBT = np.pi / 2
"""Rates that miss an angle's change by more than this leave open how often it turned."""

ALPHA = array([symbol(f"closure.alpha{i}") for i in range(3)])
PULL = array([symbol(f"closure.a{i}") for i in range(3)])


@checked
def joint_motion(
    mechanism: Mechanism, run: Trajectory, joint: str, *, start: Mapping[str, float] | None = None
) -> Series:
    """Coordinates of a joint with their rates and accelerations, at every instant of a run.

    Args:
        mechanism: that was run.
        run: with the series "poses" and "motions".
        joint: its name.
        start: about where an angle begins [rad], by label; if not given, where it begins in the
            run, or within half a turn of 0 where the run has no such coordinate.

    Returns:
        Columns A, A', A'' for each coordinate A that is no attitude.

    Example:
        >>> import liaison
        >>> m = liaison.read("examples/pendulum.lsd")
        >>> run = liaison.simulate(m, until=0.1, every=0.05, series=("motions",))
        >>> liaison.joint_motion(m, run, "A").values.shape
        (3, 3)
    """
    joints = {x.name: x for x in mechanism.joints}
    if joint not in joints:
        raise NamingError.unknown("joint", joint, joints)
    values = parameters_had(mechanism, run)
    fine, places = _refined(run)
    seen = _relative(fine, joints[joint], values)
    labels, units = _labels_and_units(joints[joint])
    begun = {x.name: float(y) for x, y in zip(run.labels["q"], fine.q[0], strict=True)}
    begun |= start or {}
    near = [float(begun.get(x, 0.0)) for x in joints[joint].coordinates]
    columns, names, each = [], [], []
    for k, label in enumerate(labels):
        c, rate, second = _coordinate(joints[joint], k, near, {**values, **seen})
        if units[k] == "rad":
            c = _unwrapped(fine.t, c, rate, label)
        columns += [c[places], rate[places], second[places]]
        names += [label, f"{label}'", f"{label}''"]
        each += [units[k], f"{units[k]}/s", f"{units[k]}/s2"]
    return Series(np.stack(columns, axis=1), tuple(each), {"motion": tuple(names)})


def _refined(run: Trajectory) -> tuple[Trajectory, NDArray[np.intp]]:
    """The run at more instants, where it can be integrated, and the places of its own.

    Between far instants rates do not determine how often something turned.
    """
    t = np.unique(run.t)
    if len(t) >= FINE or len(t) < 2 or not run.is_integrable:
        return run, np.arange(len(run.t))
    times = np.union1d(t, np.linspace(t[0], t[-1], FINE))
    return run.resample(times), np.searchsorted(times, run.t)


def has_angle_or_slide(joint: Joint) -> bool:
    """True if the joint has an angle or a displacement as coordinate."""
    kind = joint.type
    attitude = getattr(kind, "attitude", None)
    count = kind.nq - (len(attitude.NAMES) if isinstance(attitude, Attitude) else 0)
    return count > 0 and kind.coordinates_of(R, P, [0] * kind.nq) is not None


def _labels_and_units(joint: Joint) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Coordinates that are angles or slides, and their units."""
    kind = joint.type
    attitude = getattr(kind, "attitude", None)
    count = kind.nq - (len(attitude.NAMES) if isinstance(attitude, Attitude) else 0)
    if not has_angle_or_slide(joint):
        raise ModelError(
            f"the {kind.name} joint {joint.name!r} has no angle and no displacement.",
            hint="Ask for the attitude of its bodies: attitude_along(run, body).",
        )
    return joint.coordinates[:count], kind.coordinate_units[:count]


def _relative(run: Trajectory, joint: Joint, values: Mapping[Expr, Any]) -> dict[Expr, Any]:
    """Pose, rates and second rates of M in F's axes, by the symbols of the template."""
    F, M = (_marker(run, x, values) for x in (joint.predecessor, joint.successor))
    back = np.swapaxes(F.R, 1, 2)
    d, turning = M.p - F.p, M.omega - F.omega
    slip = M.v - F.v - np.cross(F.omega, d)
    alpha = M.alpha - F.alpha - np.cross(F.omega, turning)
    pull = M.a - F.a - np.cross(F.alpha, d) - np.cross(F.omega, np.cross(F.omega, d))
    pull = pull - 2 * np.cross(F.omega, slip)
    by_symbol = dict(zip(R.flat, (back @ M.R).reshape(-1, 9).T, strict=True))
    for symbols, vectors in ((P, d), (OMEGA, turning), (V, slip), (ALPHA, alpha), (PULL, pull)):
        by_symbol |= zip(symbols, np.einsum("nij,nj->in", back, vectors), strict=True)
    return by_symbol


class _Moving(NamedTuple):
    """A marker in the ground's axes, over time."""

    R: Array
    p: Array
    omega: Array
    v: Array
    alpha: Array
    a: Array


def _marker(run: Trajectory, marker: Marker, values: Mapping[Expr, Any]) -> _Moving:
    own = np.array(evaluate([as_expr(x) for row in marker.R for x in row], values), dtype=float)
    place = np.array(evaluate([as_expr(x) for x in marker.p], values), dtype=float)
    pose, motion = _body(run, marker.body)
    turned = pose[:, :, :3]
    r = turned @ place
    omega, v, alpha, a = np.split(motion, 4, axis=1)
    whirl = np.cross(alpha, r) + np.cross(omega, np.cross(omega, r))
    fixed = turned @ own.reshape(3, 3)
    return _Moving(fixed, pose[:, :, 3] + r, omega, v + np.cross(omega, r), alpha, a + whirl)


def _body(run: Trajectory, body: str) -> tuple[Array, Array]:
    """[R | p] and (ω, v, ω̇, v̇) of a body or the ground."""
    for name in ("poses", "motions"):
        if name not in run.series:
            raise SimulationError(
                f"the run has no series {name!r}, which the motion of a joint is computed from.",
                status="inconsistent",
                hint='Run with series=("poses", "motions").',
            )
    if body == "ground":
        n = len(run.t)
        return np.broadcast_to(np.eye(3, 4), (n, 3, 4)), np.zeros((n, 12))
    poses, motions = run.series["poses"], run.series["motions"]
    for series in (poses, motions):
        if body not in series.axes["body"]:
            raise NamingError.unknown("body", body, series.axes["body"])
    at = poses.axes["body"].index(body), motions.axes["body"].index(body)
    return poses.values[:, at[0]], motions.values[:, at[1]]


def _coordinate(
    joint: Joint, k: int, near: list[float], values: Mapping[Expr, Any]
) -> tuple[Array, Array, Array]:
    """A coordinate, its rate and acceleration by (joint-motion-1); angles up to whole turns."""
    seen = joint.type.coordinates_of(R, P, [as_expr(x) for x in near])
    assert seen is not None, "asked before"
    formula = as_expr(seen[k])
    n, g, Q = derived(formula)
    rate = as_expr(dot(n, OMEGA) + dot(g, V))
    second = as_expr(dot(n, ALPHA) + dot(g, PULL) + Q)
    size = len(next(iter(x for x in values.values() if isinstance(x, np.ndarray))))
    with np.errstate(all="ignore"):
        results = evaluate([formula, rate, second], values)
    c, first, last = (np.broadcast_to(np.asarray(x, dtype=float), (size,)) for x in results)
    if not all(np.all(np.isfinite(x)) for x in (c, first, last)):
        raise SimulationError(
            f"{joint.coordinates[k]!r} is not defined all along the run: the {joint.type.name} "
            "joint passes a singular position.",
            status="inconsistent",
        )
    return c, first, last


def _unwrapped(t: Array, c: Array, rate: Array, label: str) -> Array:
    """The angle unwrapped: each step nearest to the integral of its rate."""
    expected = np.diff(t) * (rate[1:] + rate[:-1]) / 2
    turns = np.round((expected - np.diff(c)) / TURN)
    missed = np.abs(expected - np.diff(c) - TURN * turns)
    if missed.size and np.max(missed) > DOUBT:
        k = int(np.argmax(missed))
        raise SimulationError(
            f"between {t[k]:g} s and {t[k + 1]:g} s the rates of {label!r} do not "
            f"determine how many turns it made: they miss its change by {missed[k]:.2f} rad.",
            status="inconsistent",
            hint="Record more often: every=….",
        )
    return np.asarray(c + TURN * np.concatenate([[0.0], np.cumsum(turns)]))
