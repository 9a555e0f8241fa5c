"""Singular positions of mechanisms of mobility one: where branches meet, and dead points.

The motion is followed in floats from an assembled position, in steps of arc length, forth until it
closes or ends, and then back. Where the rank of the closure drops, branches may meet; where the
rate of a coordinate changes sign, the mechanism cannot be driven by that coordinate.

Public names: Singularities, singular_positions, driven_by_time.

Source: JB94 §3.5 (singular positions); docs/theory/mobility.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import DerivationError
from liaison.expr import as_expr, evaluate, symbols_of
from liaison.freedoms.local.float_loops import twists_of
from liaison.lazy import Shown
from liaison.model import Mechanism, PrescribedMotion

from .home import Home

Floats = NDArray[np.float64]

STEP = 0.02
STEPS = 4000
"""Arc length of a step [rad, m]."""

DROP = 1e-4
"""Singular values below this, relative to the largest, leave directions to move in."""

NEAR = 1e-5
"""Largest gap, relative, of a position at which the rank counts as lost."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Singularities(Shown):
    """Singular positions along a motion, by the labels of coordinates [rad, m].

    Example:
        >>> import liaison
        >>> found = liaison.singularities("examples/four_bar.lsd")
        >>> found.is_closed, len(found.bifurcations)
        (True, 0)
    """

    is_closed: bool  # the motion came back to where it began
    length: float  # of the way followed [rad, m]
    bifurcations: tuple[Mapping[str, float], ...]  # where the rank drops
    dead_points: Mapping[str, tuple[Mapping[str, float], ...]]  # by the coordinate that stops
    left_out: tuple[str, ...] = ()  # imposed motions that drive it

    def __str__(self) -> str:
        ends = "closes" if self.is_closed else "was followed forth and back and does not close"
        lines = [f"The motion {ends}; {self.length:.4g} rad and m long."]
        if self.left_out:
            lines.append(f"  It is followed without what drives it: {', '.join(self.left_out)}.")
        lines += [
            f"  rank drops, branches may meet: {_position_text(place)}"
            for place in self.bifurcations
        ]
        for name, places in self.dead_points.items():
            lines += [f"  dead point of {name}: {_position_text(place)}" for place in places]
        if not self.bifurcations:
            lines.append("  The rank drops nowhere.")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "is_closed": self.is_closed,
            "length": self.length,
            "bifurcations": [dict(place) for place in self.bifurcations],
            "dead_points": {k: [dict(x) for x in places] for k, places in self.dead_points.items()},
            "left_out": list(self.left_out),
        }


def _position_text(place: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {round(x, 9) + 0.0:.7g}" for name, x in place.items())


@final
class _Mover:
    """Displaced loops: residual and Jacobian as functions of the changes of joint coordinates."""

    def __init__(self, home: Home, begin: Mapping[str, float] | None = None) -> None:
        self.home, self.begin = home, begin
        self.twists = twists_of(home)
        self.starts = np.cumsum([0, *map(len, self.twists)])
        self.n = int(self.starts[-1])
        self.names = [m.coordinate or f"{m.joint}: {m.word}" for m in home.columns]
        self.is_angle = np.array([m.is_angle for m in home.columns])
        self.rows = np.zeros((len(home.relations.linear), self.n))
        for i, relation in enumerate(home.relations.linear):
            for column, ratio, _ in relation:
                self.rows[i, column] += float(evaluate(ratio))

    def at(self, x: Floats) -> tuple[Floats, Floats]:
        """Closure residual (six a loop, then linear relations) and its Jacobian."""
        residual, J = [], np.zeros((6 * len(self.home.loops), self.n))
        for i, loop in enumerate(self.home.loops):
            pose = np.eye(4)
            for joint, sign in loop:
                group = list(range(self.starts[joint], self.starts[joint + 1]))
                for k in group if sign > 0 else reversed(group):
                    s = sign * self.twists[joint][k - self.starts[joint]]
                    J[6 * i : 6 * i + 6, k] += _carried(pose, s)
                    pose = pose @ exponential(s, x[k])
            residual += [*_axial(pose), *pose[:3, 3]]
        return np.append(residual, self.rows @ x), np.vstack([J, self.rows])

    def corrected(self, x: Floats, along: Floats) -> Floats | None:
        """The nearest closed position across the direction `along`; None if there is none."""
        for _ in range(12):
            f, J = self.at(x)
            if np.max(np.abs(f), initial=0.0) < 1e-12:
                return x
            x = x - np.linalg.lstsq(np.vstack([J, along]), np.append(f, 0.0), rcond=1e-10)[0]
        f, _ = self.at(x)
        return x if np.max(np.abs(f), initial=0.0) < 1e-9 else None

    def tangent(self, x: Floats, before: Floats) -> tuple[Floats, float]:
        """The direction of motion nearest the last one, and how far the rank is from dropping."""
        _, J = self.at(x)
        _, sizes, right = np.linalg.svd(J)
        sizes = np.append(sizes, np.zeros(self.n - len(sizes)))[: self.n]
        low = right[sizes <= DROP * sizes[0]]
        along = low.T @ (low @ before)
        size = float(np.linalg.norm(along))
        gap = float(sizes[self.n - 2] / sizes[0]) if self.n > 1 else 1.0
        return (along / size if size > 0 else before), gap


def _axial(pose: Floats) -> Floats:
    R = pose[:3, :3]
    return np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2


def _carried(pose: Floats, s: Floats) -> Floats:
    """A twist moved by a pose."""
    turn = pose[:3, :3] @ s[:3]
    return np.concatenate([turn, pose[:3, :3] @ s[3:] + np.cross(pose[:3, 3], turn)])


def exponential(s: Floats, x: float) -> Floats:
    """The displacement by x along a twist whose angular part is a unit vector or zero."""
    displacement = np.eye(4)
    w, v = s[:3], s[3:]
    if not np.any(w):
        displacement[:3, 3] = x * v
        return displacement
    W = np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])
    displacement[:3, :3] = np.eye(3) + np.sin(x) * W + (1 - np.cos(x)) * W @ W
    V = x * np.eye(3) + (1 - np.cos(x)) * W + (x - np.sin(x)) * W @ W
    displacement[:3, 3] = V @ v
    return displacement


def singular_positions(
    home: Home,
    *,
    begin: Mapping[str, float] | None = None,
    step: float = STEP,
    steps: int = STEPS,
) -> Singularities:
    """Bifurcations and dead points along the motion through a position.

    Args:
        home: a position of mobility one.
        begin: coordinates there by label; positions are then given in these, otherwise as changes.
        step: arc length of a step [rad, m].
        steps: how many at most, each way.

    Raises:
        DerivationError: the mechanism has another first-order mobility here.
    """
    mover = _Mover(home, begin)
    if home.relations.tangent or home.relations.uncounted:
        raise DerivationError(
            "singular positions are looked for where all relations are linear in the coordinates."
        )
    _, J = mover.at(np.zeros(mover.n))
    rank = int(np.linalg.matrix_rank(J, tol=1e-8)) if J.size else 0
    if mover.n - rank != 1:
        raise DerivationError(
            f"the first-order mobility here is {mover.n - rank}, not 1.",
            hint="Hold all coordinates but one by imposed motions that are constant."
            if mover.n - rank > 1
            else "Give a position of a mechanism with mobility 1 there.",
        )
    along = np.linalg.svd(J)[2][-1] if J.size else np.ones(1)
    way = _followed(mover, along, step, steps)
    if not _is_closed(mover, way, step):
        back = [(x, -t, gap) for x, t, gap in _followed(mover, -along, step, steps)]
        way = back[:0:-1] + way
    return _examined(mover, way, step)


def driven_by_time(mechanism: Mechanism) -> list[str]:
    """Names of imposed motions that depend on time."""
    return [
        x.name
        for x in mechanism.constraints
        if isinstance(x, PrescribedMotion)
        and any(s.name == "t" for s in symbols_of([as_expr(x.law)]))
    ]


def _is_closed(mover: _Mover, way: list[Any], step: float) -> bool:
    return len(way) > 4 and _distance(mover, way[-1][0]) < 0.75 * step


def _followed(mover: _Mover, along: Floats, step: float, steps: int) -> list[Any]:
    """(position, tangent, gap) at each step, until the motion closes or ends."""
    x = np.zeros(mover.n)
    along, gap = mover.tangent(x, along)
    way = [(x, along, gap)]
    for k in range(steps):
        moved = mover.corrected(x + step * along, along)
        if moved is None:
            break
        x = moved
        along, gap = mover.tangent(x, along)
        way.append((x, along, gap))
        if k > 3 and _distance(mover, x) < 0.75 * step:
            break
    return way


def _distance(mover: _Mover, x: Floats) -> float:
    """From the start, whole turns not counted."""
    turned = np.where(mover.is_angle, np.remainder(x + np.pi, 2 * np.pi) - np.pi, x)
    return float(np.linalg.norm(turned))


def _pairs(mover: _Mover, way: list[Any], step: float) -> list[tuple[Any, Any, float]]:
    """Neighbours on the way and how far apart at most; across the start where the way closes."""
    if not _is_closed(mover, way, step):
        return [(a, b, step) for a, b in pairwise(way)]
    return [*((a, b, step) for a, b in pairwise(way[1:])), (way[-1], way[1], 2 * step)]


def _examined(mover: _Mover, way: list[Any], step: float) -> Singularities:
    dead: dict[str, list[Mapping[str, float]]] = {}
    for (x, along, _), (_, after, _), apart in _pairs(mover, way, step):
        for k, name in enumerate(mover.names):
            if along[k] * after[k] < 0 and min(abs(along[k]), abs(after[k])) > 1e-9:
                stopped = _stop(mover, x, along, apart, k)
                dead.setdefault(name, []).append(_named(mover, stopped))
    meeting = []
    for before, here, after in zip(way, way[1:], way[2:], strict=False):
        if here[2] <= before[2] and here[2] < after[2]:
            x, gap = _least(mover, before[0], before[1], 2 * step)
            if gap < NEAR:
                meeting.append(_named(mover, x))
    closed = _is_closed(mover, way, step)
    dead_points = {name: tuple(places) for name, places in dead.items()}
    return Singularities(closed, step * (len(way) - 1), tuple(meeting), dead_points)


def _moved(mover: _Mover, x: Floats, along: Floats, h: float) -> tuple[Floats, Floats, float]:
    """Position, tangent and gap a little farther."""
    corrected = mover.corrected(x + h * along, along)
    place = x + h * along if corrected is None else corrected
    return (place, *mover.tangent(place, along))


def _stop(mover: _Mover, x: Floats, along: Floats, step: float, k: int) -> Floats:
    """Where the rate of coordinate k vanishes within a step, by bisection."""
    low, high = 0.0, step
    for _ in range(40):
        middle = (low + high) / 2
        if _moved(mover, x, along, middle)[1][k] * along[k] > 0:
            low = middle
        else:
            high = middle
    return _moved(mover, x, along, high)[0]


def _least(mover: _Mover, x: Floats, along: Floats, width: float) -> tuple[Floats, float]:
    """Where the rank is nearest to dropping within a stretch, by the golden section."""
    ratio = (5**0.5 - 1) / 2
    low, high = 0.0, width
    for _ in range(60):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        if _moved(mover, x, along, a)[2] < _moved(mover, x, along, b)[2]:
            high = b
        else:
            low = a
    place, _, gap = _moved(mover, x, along, (low + high) / 2)
    return place, gap


def _named(mover: _Mover, x: Floats) -> dict[str, float]:
    """Coordinates by label: those whose start is known, or all as changes."""
    changes = dict(zip(mover.names, x.tolist(), strict=True))
    if mover.begin is None:
        return changes
    return {name: mover.begin[name] + dx for name, dx in changes.items() if name in mover.begin}
