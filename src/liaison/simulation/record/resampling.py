"""Values between recorded instants: cubic on plain coordinates, on the group for attitudes.

Works on arrays and knows no trajectory. An interval of zero length (a jump recorded twice at
one instant) is allowed: the later values hold from that instant on.

Public names: Spot, Chart, charts_of, Knots, spots, pieces, with_events, check_fine, state,
hermite, slopes, linear, attitude, matrix, free, free_matrix, pose_path, rotation_of, quaternion_of,
turned, check_within.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import SimulationError
from liaison.units import Label

Array = NDArray[np.float64]

SAME = 1e-13
"""Instants closer than this, relatively, are one."""

ROUGH = 1e-2
"""Part of the range of a coordinate by which interpolation may be off."""


@final
@dataclass(frozen=True, slots=True)
class Spot:
    """Where each instant lies: interval `i` of length `h` [s], at the fraction `s` of it."""

    i: NDArray[np.intp]
    h: Array
    s: Array

    def spread(self, values: Array) -> tuple[Array, Array, Array, Array]:
        """Both ends of the interval, and h and s shaped to multiply them."""
        shape = (-1,) + (1,) * (values.ndim - 1)
        later = np.minimum(self.i + 1, len(values) - 1)
        return values[self.i], values[later], self.h.reshape(shape), self.s.reshape(shape)


def spots(t: Array, times: Array, before: NDArray[np.bool_] | None = None) -> Spot:
    """The intervals of `t` that hold `times`, which must lie within it.

    Args:
        t: recorded instants.
        times: instants.
        before: which of them are meant before a jump at that instant.
    """
    i = np.searchsorted(t, times, side="right") - 1
    if before is not None and np.any(before):
        i = np.where(before, np.searchsorted(t, times, side="left") - 1, i)
    i = np.clip(i, 0, max(len(t) - 2, 0))
    h = t[np.minimum(i + 1, len(t) - 1)] - t[i]
    # an interval without length is the last one: of a jump at the end the later value holds
    s = np.divide(times - t[i], h, out=np.ones_like(times), where=h > 0)
    return Spot(i, h, s)


@final
@dataclass(frozen=True, slots=True)
class Knots:
    """Instants with states, those of events among them; jumps stand there twice."""

    t: Array
    q: Array
    v: Array


def with_events(t: Array, q: Array, v: Array, events: Sequence[Any]) -> Knots:
    """The recorded states with those of events of contacts, so that no interval holds a jump.

    Args:
        t, q, v: as recorded.
        events: with `t`, `q`, `v`, `what` and, for an impact, the velocities `before`.
    """
    twice = set(t[1:][np.diff(t) == 0].tolist())
    known, rows = set(t.tolist()), []
    v = np.array(v)
    for e in events:
        if not e.what or not e.q.size or e.t in twice or not t[0] <= e.t <= t[-1]:
            continue
        if e.before is not None:
            # a record at a rounding from an impact may be of its other side
            beside = np.abs(t - e.t) <= SAME * max(1.0, abs(e.t))
            v[beside] = np.where((t > e.t)[beside, None], e.v, e.before)
            rows.append((e.t, 0, e.q, e.before))
        if e.before is not None or e.t not in known:
            rows.append((e.t, 1, e.q, e.v))
    if not rows:
        return Knots(t, q, v)
    # of several events at one instant the first has the velocities before, the last those after
    firsts = {row[0]: row for row in reversed(rows) if row[1] == 0}
    lasts = {row[0]: row for row in rows if row[1] == 1}
    added = [*firsts.values(), *lasts.values()]
    keep = ~np.isin(t, [*firsts])
    instants = np.concatenate([t[keep], [row[0] for row in added]])
    sides = np.concatenate([np.zeros(np.count_nonzero(keep)), [row[1] for row in added]])
    order = np.lexsort((sides, instants))
    positions = np.concatenate([q[keep], [row[2] for row in added]])
    velocities = np.concatenate([v[keep], [row[3] for row in added]])
    return Knots(instants[order], positions[order], velocities[order])


def pieces(t: Array, events: Sequence[float], times: Array, before: NDArray[np.bool_]) -> Spot:
    """As `spots`; where an event lies between two instants, the one on its own side holds.

    Between two such events the earlier instant does.
    """
    spot = spots(t, times, before)
    if not len(events) or len(t) < 2:
        return spot
    breaks = np.unique(np.asarray(events, dtype=float))
    ends = t[np.minimum(spot.i + 1, len(t) - 1)]
    first = np.searchsorted(breaks, t[spot.i], side="right")
    behind = np.searchsorted(breaks, ends, side="left")
    last = breaks[np.maximum(behind - 1, 0)]
    is_late = np.where(before, times > last, times >= last)
    held = np.where(is_late, 1.0, 0.0)
    return Spot(spot.i, spot.h, np.where(first < behind, held, spot.s))


def check_fine(
    knots: Knots, spot: Spot, charts: list[Chart], labels: Mapping[str, Sequence[Label]]
) -> None:
    """Raises an error where instants are too far apart to interpolate between them.

    The cubic over two intervals at a time is compared with the state in their middle; it is off by
    16 times what the cubics over one interval each are off by.
    """
    t = knots.t
    if not np.any((spot.s > 0) & (spot.s < 1)):
        return
    if len(t) < 3:
        raise SimulationError(
            f"the run is recorded too seldom to be interpolated: at {len(t)} instants.",
            status="inconsistent",
            hint="Record it more often: every=….",
        )
    middle = np.arange(1, len(t) - 1)
    smooth = (np.diff(t)[:-1] > 0) & (np.diff(t)[1:] > 0)
    middle = middle[smooth]
    if not middle.size:
        return
    before, after = middle - 1, middle + 1
    h = t[after] - t[before]
    pairs = np.empty(2 * middle.size, dtype=int)
    pairs[0::2], pairs[1::2] = before, after
    wide = Spot(2 * np.arange(middle.size), h, (t[middle] - t[before]) / h)
    q, _ = state(wide, np.arange(2.0 * middle.size), knots.q[pairs], knots.v[pairs], charts)
    size = 1e-9 + np.ptp(knots.q, axis=0)
    off = np.abs(q - knots.q[middle]) / 16 / size
    used = np.isin(middle, [*spot.i, *(spot.i + 1)])
    if not np.any(off[used] > ROUGH):
        return
    worst = int(np.argmax(np.where(used[:, None], off, 0.0)))
    k, j = divmod(worst, off.shape[1])
    raise SimulationError(
        f"the run is recorded too seldom to be interpolated: near t = {t[middle[k]]:.6g} s "
        f"{labels['q'][int(j)].name!r} would be off by about {off[k, j]:.1%} of its range.",
        status="inconsistent",
        hint="Record it more often (every=…); a run in memory without contacts and controllers is "
        "computed between its instants instead.",
    )


@final
@dataclass(frozen=True, slots=True)
class Chart:
    """How a slice of q moves with a slice of v.

    plain: q̇ = v. quaternion: q is a unit quaternion w x y z, v the angular velocity in body axes.
    matrix: q is a rotation matrix, row by row, v the same. free, free matrix: q is a position and
    such an attitude, v the body twist, angular first. Of another kind nothing is supposed, and
    rates are estimated from neighbours.
    """

    kind: str
    q: slice
    v: slice


def charts_of(meta: Mapping[str, Any], nq: int, nv: int) -> list[Chart]:
    """How q follows from v, by slices; one plain chart if none is given and sizes agree."""
    charts = meta.get("charts", ())
    if not charts and nq == nv:
        charts = ({"kind": "plain", "q": (0, nq), "v": (0, nv)},)
    return [Chart(x["kind"], slice(*x["q"]), slice(*x["v"])) for x in charts]


def state(spot: Spot, t: Array, q: Array, v: Array, charts: list[Chart]) -> tuple[Array, Array]:
    """Positions and velocities at these instants; slices without a chart by neighbours."""
    q_new, _ = hermite(spot, q, slopes(t, q))
    v_new, _ = hermite(spot, v, slopes(t, v))
    for chart in charts:
        if chart.kind in CHARTS:
            q_new[:, chart.q], v_new[:, chart.v] = CHARTS[chart.kind](
                spot, q[:, chart.q], v[:, chart.v]
            )
    return q_new, v_new


def check_within(covered: Array, t: Array) -> None:
    """Rejects instants outside a run; one past an end by rounding is that end."""
    first, last = covered[0], covered[-1]
    slack = 1e-9 * max(1.0, abs(first), abs(last))
    outside = t[~((t >= first - slack) & (t <= last + slack))]
    if len(outside):
        raise SimulationError(
            f"{outside[0]:g} s lies outside the run, which covers {first:g} to {last:g} s.",
            status="inconsistent",
        )


def slopes(t: Array, x: Array) -> Array:
    """Rates estimated from neighbours: the parabola through three points, secants at the ends."""
    if len(t) < 2:
        return np.zeros_like(x)
    h = np.diff(t).reshape((-1,) + (1,) * (x.ndim - 1))
    secant = np.divide(np.diff(x, axis=0), h, out=np.zeros_like(x[1:]), where=h > 0)
    before, after = np.concatenate([h[:1] * 0, h]), np.concatenate([h, h[:1] * 0])
    left, right = np.concatenate([secant[:1], secant]), np.concatenate([secant, secant[-1:]])
    total = np.where(before + after > 0, before + after, 1.0)
    # the nearer neighbour counts more; next to a jump only the smooth side counts
    w_left = np.where(before == 0, 0.0, np.where(after == 0, 1.0, after / total))
    return np.asarray(w_left * left + (1 - w_left) * right)


def hermite(spot: Spot, x: Array, rate: Array) -> tuple[Array, Array]:
    """The cubic that has the recorded values and rates at both ends, and its rate.

    Source: HNW1 §II.6 (cubic Hermite interpolation); its error is of fourth order in the step.
    """
    x0, x1, h, s = spot.spread(x)
    d0, d1, _, _ = spot.spread(rate)
    value = (
        (1 + 2 * s) * (1 - s) ** 2 * x0
        + s * s * (3 - 2 * s) * x1
        + h * s * (1 - s) * ((1 - s) * d0 - s * d1)
    )
    secant = np.divide(x1 - x0, h, out=np.zeros_like(x0), where=h > 0)
    slope = 6 * s * (1 - s) * secant + (1 - s) * (1 - 3 * s) * d0 + s * (3 * s - 2) * d1
    return value, slope


def linear(spot: Spot, x: Array) -> Array:
    """Straight lines between the recorded values."""
    x0, x1, _, s = spot.spread(x)
    return np.where(s == 0, x0, x0 + s * (x1 - x0))


def attitude(spot: Spot, quat_wxyz: Array, omega: Array) -> tuple[Array, Array]:
    """Unit quaternions and body rates between recorded ones, of fourth order as `hermite`.

    On each interval quat = quat₀ ⊗ exp(ξ/2) with ξ a cubic: ξ = 0 and ξ̇ = ω₀ at its start,
    ξ = log(quat₀* ⊗ quat₁) and ξ̇ = J⁻¹(ξ) ω₁ at its end, J the right Jacobian of the rotations.

    Args:
        spot: the instants.
        quat_wxyz: recorded unit quaternions, shape (n, 4).
        omega: recorded angular velocity in body axes [rad/s], shape (n, 3).
    """
    quat0, quat1, _, _ = spot.spread(quat_wxyz)
    omega0, omega1, h, s = spot.spread(omega)
    xi1 = _log(_product(_conjugate(quat0), quat1))
    rate1 = _inverse_jacobian(xi1, omega1)
    value = s * s * (3 - 2 * s) * xi1 + h * s * (1 - s) * ((1 - s) * omega0 - s * rate1)
    secant = np.divide(xi1, h, out=np.zeros_like(xi1), where=h > 0)
    xi_rate = 6 * s * (1 - s) * secant + (1 - s) * (1 - 3 * s) * omega0 + s * (3 * s - 2) * rate1
    return _product(quat0, _exp(value)), _jacobian(value, xi_rate)


def free(spot: Spot, q: Array, v: Array) -> tuple[Array, Array]:
    """Position with quaternion, and body twist, of a body that moves freely."""
    quat, omega = attitude(spot, q[:, 3:], v[:, :3])
    p, p_rate = hermite(spot, q[:, :3], turned(q[:, 3:], v[:, 3:]))
    twist = np.concatenate([omega, turned(quat, p_rate, back=True)], axis=1)
    return np.concatenate([p, quat], axis=1), twist


def matrix(spot: Spot, q: Array, omega: Array) -> tuple[Array, Array]:
    """Rotation matrices, row by row, and body rates."""
    quat, rates = attitude(spot, quaternion_of(q.reshape(-1, 3, 3)), omega)
    return rotation_of(quat).reshape(-1, 9), rates


def free_matrix(spot: Spot, q: Array, v: Array) -> tuple[Array, Array]:
    """Position with rotation matrix, and body twist, of a body that moves freely."""
    quat = quaternion_of(q[:, 3:].reshape(-1, 3, 3))
    placed, twist = free(spot, np.concatenate([q[:, :3], quat], axis=1), v)
    R = rotation_of(placed[:, 3:]).reshape(-1, 9)
    return np.concatenate([placed[:, :3], R], axis=1), twist


CHARTS = {
    "plain": hermite, "quaternion": attitude, "matrix": matrix, "free": free,
    "free matrix": free_matrix,
}  # fmt: skip


def pose_path(spot: Spot, t: Array, poses: Array) -> Array:
    """Poses [R | p] between recorded ones: rotations on the shortest arc, positions cubic.

    Args:
        spot: the instants.
        t: the recorded instants, shape (n,).
        poses: shape (n, bodies, 3, 4).
    """
    R0, R1, _, s = spot.spread(np.ascontiguousarray(poses[..., :3]))
    between = np.swapaxes(R0, -1, -2) @ R1
    xi = _log(quaternion_of(between)) * s[..., 0]
    p, _ = hermite(spot, poses[..., 3], slopes(t, poses[..., 3]))
    R = np.where(s == 0, R0, R0 @ rotation_of(_exp(xi)))
    return np.concatenate([R, p[..., None]], axis=-1)


def rotation_of(quat_wxyz: Array) -> Array:
    """Rotation matrices of unit quaternions w x y z; any leading shape."""
    w, x, y, z = np.moveaxis(quat_wxyz, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def turned(quat_wxyz: Array, x: Array, *, back: bool = False) -> Array:
    """R x (or Rᵀ x) for each quaternion and vector."""
    R = rotation_of(quat_wxyz)
    return np.asarray(np.einsum("...ji,...j->...i" if back else "...ij,...j->...i", R, x))


def quaternion_of(R: Array) -> Array:
    """Unit quaternions w x y z, w ≥ 0, of rotation matrices; any leading shape."""
    trace = np.trace(R, axis1=-2, axis2=-1)
    diagonal = np.diagonal(R, axis1=-2, axis2=-1)
    # K = 4 quat quatᵀ: its row of largest diagonal, normalized, is the quaternion
    K = np.empty((*R.shape[:-2], 4, 4))
    K[..., 0, 0] = 1 + trace
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        K[..., 0, i + 1] = K[..., i + 1, 0] = R[..., k, j] - R[..., j, k]
        K[..., i + 1, i + 1] = 1 + 2 * diagonal[..., i] - trace
        K[..., j + 1, k + 1] = K[..., k + 1, j + 1] = R[..., j, k] + R[..., k, j]
    largest = np.argmax(np.diagonal(K, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(K, largest[..., None, None], axis=-2)[..., 0, :]
    row = row * np.where(row[..., :1] < 0, -1.0, 1.0)
    return np.asarray(row / np.linalg.norm(row, axis=-1, keepdims=True))


def _conjugate(quat: Array) -> Array:
    return np.asarray(quat * np.array([1.0, -1.0, -1.0, -1.0]))


def _product(a: Array, b: Array) -> Array:
    w = a[..., :1] * b[..., :1] - np.sum(a[..., 1:] * b[..., 1:], axis=-1, keepdims=True)
    vector = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + np.cross(a[..., 1:], b[..., 1:])
    return np.concatenate([w, vector], axis=-1)


def _exp(xi: Array) -> Array:
    half = np.linalg.norm(xi, axis=-1, keepdims=True) / 2
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * xi], axis=-1)


def _log(quat: Array) -> Array:
    quat = np.where(quat[..., :1] < 0, -quat, quat)
    length = np.linalg.norm(quat[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(length, quat[..., :1])
    factor = np.divide(angle, length, out=np.full_like(length, 2.0), where=length > 1e-12)
    return np.asarray(factor * quat[..., 1:])


def _jacobian(xi: Array, rate: Array) -> Array:
    theta = np.linalg.norm(xi, axis=-1, keepdims=True)
    small = theta < 1e-4
    safe = np.where(small, 1.0, theta)
    a = np.where(small, 0.5, (1 - np.cos(safe)) / safe**2)
    b = np.where(small, 1 / 6, (safe - np.sin(safe)) / safe**3)
    once = np.cross(xi, rate)
    return rate - a * once + b * np.cross(xi, once)


def _inverse_jacobian(xi: Array, omega: Array) -> Array:
    theta = np.linalg.norm(xi, axis=-1, keepdims=True)
    small = theta < 1e-3
    half = np.where(small, 0.5, theta / 2)
    c = np.where(small, 1 / 12, (1 - half / np.tan(half)) / (4 * half**2))
    once = np.cross(xi, omega)
    return omega + 0.5 * once + c * np.cross(xi, once)
