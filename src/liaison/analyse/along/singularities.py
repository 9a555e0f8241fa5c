"""Loss of rank along a recorded motion: when closures get dependent, and how near they come to it.

The closures' matrix G has a rank r almost everywhere on the motion. Its r-th singular value, with
rows scaled to their largest size, is followed from instant to instant; where it has a minimum the
instant is looked for between the recorded ones, and where it vanishes there the rank is lost: the
mechanism can leave on another branch, and the multipliers are not determined.

Public names: RankLoss, RankAlong, rank_along.

Source: JB94 §3.5 (singular positions); docs/theory/mobility.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.equations import Equations, newton_euler
from liaison.errors import DerivationError, NamingError
from liaison.expr import ZERO
from liaison.lazy import Shown
from liaison.model import Mechanism
from liaison.program import Entry, Kernel, Program, to_numpy
from liaison.simulation import Trajectory
from liaison.tree import Tree, span

Floats = NDArray[np.float64]

NEAR = 1e-5
"""A relative singular value below this is lost: what interpolation between instants leaves."""

FEWEST = 400
"""Instants at which the rank is looked at, at least; between recorded ones the run is resampled."""

GRID, ZOOMS = 33, 9
"""Instants of a grid, and how often one is laid around the least of the last: 16⁹ times finer."""

SMALL = 1e-4
"""Relative singular values that never exceed this do not count for the rank almost everywhere."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class RankLoss(Shown):
    """An instant at which closures depend on each other."""

    t: float  # [s]
    rank: int  # of the closures there
    gap: float  # the relative singular value that vanishes
    position: Mapping[str, float]  # coordinates by label [rad, m]


@final
@dataclass(frozen=True, slots=True, repr=False)
class RankAlong(Shown):
    """The rank of the closures along a motion."""

    rank: int  # almost everywhere
    freedoms: int  # velocities that leaves
    losses: tuple[RankLoss, ...]
    closest: tuple[float, float]  # instant and relative singular value nearest to a loss

    def __str__(self) -> str:
        lines = [f"The closures have rank {self.rank}, {self.freedoms} free velocities."]
        for loss in self.losses:
            position = ", ".join(f"{name} = {x:.7g}" for name, x in loss.position.items())
            lines.append(f"  rank {loss.rank} at t = {loss.t:.7g} s: {position}")
        if not self.losses:
            t, gap = self.closest
            lines.append(f"  It is lost nowhere; nearest at t = {t:.6g} s (gap {gap:.2g}).")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "rank": self.rank,
            "freedoms": self.freedoms,
            "losses": [{"t": x.t, "rank": x.rank, "gap": x.gap, "position": dict(x.position)}
                       for x in self.losses],
            "closest": {"t": self.closest[0], "gap": self.closest[1]},
        }  # fmt: skip


def rank_along(trajectory: Trajectory, model: Mechanism | Tree, *, near: float = NEAR) -> RankAlong:
    """The rank of a mechanism's closures along a recorded motion of it.

    Args:
        trajectory: of that mechanism.
        model: the mechanism, or a tree of it.
        near: relative singular value below which the rank counts as lost.

    Raises:
        DerivationError: the mechanism has no closures.
        NamingError: the motion is one of another mechanism.
    """
    tree = model if isinstance(model, Tree) else span(model)
    equations = newton_euler(tree)
    _check(trajectory, equations)
    return _Search(trajectory, equations, near).rank_along()


def _check(trajectory: Trajectory, equations: Equations) -> None:
    if not equations.closures.gamma:
        raise DerivationError(f"'{equations.name}' has no closures whose rank could drop.")
    known = [label.name for label in equations.labels["q"]]
    for label in trajectory.labels["q"]:
        if label.name not in known:
            raise NamingError.unknown("coordinate of the mechanism", label.name, known)


@final
class _Search:
    """A motion, the matrix of closures along it, and its relevant singular value."""

    def __init__(self, trajectory: Trajectory, equations: Equations, near: float) -> None:
        self.run, self.near = trajectory, near
        self.t, q = _looked_at(trajectory)
        self.shape = (len(equations.closures.gamma), len(equations.symbols.v))
        self.kernel = _kernel(equations)
        parameters = trajectory.meta.get("parameters") or {}
        names = [label.name for label in equations.labels["p"]]
        self.p = np.array([parameters.get(name, default) for name, default in
                           zip(names, equations.defaults["p"], strict=True)], float)  # fmt: skip
        labels = [label.name for label in trajectory.labels["q"]]
        self.places = [labels.index(label.name) for label in equations.labels["q"]]
        self.scale = np.ones(self.shape[0])
        rows = self.matrices(self.t, q)
        largest = np.max(np.linalg.norm(rows, axis=2), axis=0)
        self.scale = np.where(largest > 0, largest, 1.0)
        sizes = self.sizes(self.t, q)
        self.rank = int(np.max(np.sum(sizes > SMALL * sizes[:, :1], axis=1), initial=0))
        self.gaps = self.gap(sizes)

    def matrices(self, t: Floats, q: Floats) -> Floats:
        """G at each instant, rows scaled."""
        flat = self.kernel("G", t, q=q[:, self.places], p=self.p)
        return np.asarray(flat).reshape(len(t), *self.shape) / self.scale[:, None]

    def sizes(self, t: Floats, q: Floats) -> Floats:
        """Singular values at each instant, the largest first."""
        sizes: Floats = np.linalg.svd(self.matrices(t, q), compute_uv=False).astype(float)
        return sizes

    def gap(self, sizes: Floats) -> Floats:
        """The r-th singular value by the first."""
        return sizes[:, self.rank - 1] / sizes[:, 0] if self.rank else np.ones(len(sizes))

    def rank_along(self) -> RankAlong:
        """Minima of the gap, each looked for between the instants around it."""
        t, gaps, last = self.t, self.gaps, len(self.t) - 1
        best = (float(t[int(np.argmin(gaps))]), float(np.min(gaps)))
        losses: list[RankLoss] = []
        for k in range(len(t)):
            before, after = max(k - 1, 0), min(k + 1, last)
            if not self._may_vanish(gaps[before], gaps[k], gaps[after]):
                continue
            instant, gap = self._least(float(t[before]), float(t[after]))
            best = min(best, (instant, gap), key=lambda pair: pair[1])
            if gap < self.near and not (losses and instant - losses[-1].t < 1e-9):
                losses.append(self._loss(instant, gap))
        return RankAlong(self.rank, self.shape[1] - self.rank, tuple(losses), best)

    def _may_vanish(self, before: float, here: float, after: float) -> bool:
        """A least gap that neighbours exceed as much as they would around a zero between them."""
        if here < self.near:
            return here <= before and here <= after
        return here <= before and here <= after and here <= 2 * max(before - here, after - here)

    def _loss(self, t: float, gap: float) -> RankLoss:
        moment = self.run.resample([t])
        sizes = self.sizes(moment.t, moment.q)[0]
        labels = [label.name for label in self.run.labels["q"]]
        position = dict(zip(labels, moment.q[0].tolist(), strict=True))
        return RankLoss(t, int(np.sum(sizes > self.near * sizes[0])), gap, position)

    def _least(self, low: float, high: float) -> tuple[float, float]:
        """Where the gap is least between two instants, by finer and finer grids."""
        for _ in range(ZOOMS):
            grid = np.linspace(low, high, GRID)
            moments = self.run.resample(grid)
            gaps = self.gap(self.sizes(moments.t, moments.q))
            k = int(np.argmin(gaps))
            low, high = grid[max(k - 1, 0)], grid[min(k + 1, GRID - 1)]
            if high - low <= 1e-15 * max(1.0, abs(high)):
                break
        return float(grid[k]), float(gaps[k])


def _looked_at(run: Trajectory) -> tuple[Floats, Floats]:
    """Instants and positions: those of the run, and more between them where they are few."""
    t = np.unique(run.t)
    if len(t) < 2 or len(t) >= FEWEST:
        return run.t, run.q
    times = np.union1d(t, np.linspace(t[0], t[-1], FEWEST))
    return times, run.resample(times).q


def _kernel(equations: Equations) -> Kernel:
    """G row by row, of t, q and parameters."""
    symbols, closures = equations.symbols, equations.closures
    rows, columns = len(closures.gamma), len(symbols.v)
    entries = [closures.G.get((i, j), ZERO) for i in range(rows) for j in range(columns)]
    places = {symbols.t: ("t", 0)}
    for array, names in (("q", symbols.q), ("u", symbols.u), ("p", symbols.p)):
        places |= {name: (array, k) for k, name in enumerate(names)}
    defaults = {name: np.array(values, float) for name, values in equations.defaults.items()}
    entry = Entry("G", tuple(entries))
    return to_numpy(Program(equations.name, {"G": entry}, places, defaults=defaults))
