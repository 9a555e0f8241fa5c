"""Starts of closed mechanisms of many bodies, assembled by the loops of their kernel.

The same steps as `simulation/assembly.py`, on the same norm; what is dense there is sparse here.
Where they do not close, or a start lies near a change point, formulas are interpreted instead.

Public names: closed_start, is_obstructed_start.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from liaison.equations.start_checks import is_obstructed_by
from liaison.numeric import Array, State
from liaison.program.kernel import Kernel
from liaison.simulation.assembly import ITERATIONS, LONGEST, SHORTEST, SLOW, TOLERANCE, UNMOVED
from liaison.tree.assemble import assemble, shake
from liaison.tree.starts import Starts, fixed_values, is_weak
from liaison.tree.tree import GROUND, Tree, as_float
from liaison.units import FORCE

WEAK = 1e-5
"""Least part of a pivot beside its row, the square of what counts as a small singular value."""

FULL = 1e-10
"""The same from which on the rows are independent for certain."""

TRIES = 4
"""Places from which loops are closed before formulas are interpreted, which try more of them."""


def closed_start(tree: Tree, kernel: Kernel, start: Mapping[str, float], *, t: float) -> State:
    """The consistent state near starts.

    Args:
        tree: of the mechanism.
        kernel: of its loops.
        start: positions and speeds that are held, by label, instead of the mechanism's own.
        t: the time [s].

    Raises:
        AssemblyError: no configuration satisfies the closures.
        NamingError: a label that there is none of.
    """
    starts = Starts(tree)
    fixed = {} if starts.are_numbers else fixed_values(tree, {}, t)
    begin = starts.begin(start, {}, fixed)
    levels = (begin.held,) if begin.firm == begin.held else (begin.held, begin.firm)
    closing = _Closing(tree, kernel)
    q = _first(closing.positions(*starts.positions(begin, held, fixed)) for held in levels)
    if q is not None:
        v = _first(closing.velocities(q, *starts.speeds(begin, held)) for held in levels)
        if v is not None:
            labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
            return State(t, q, v, labels)
    return assemble(tree, None, t=t, guess=None, **start)


def _first(attempts: Any) -> Array | None:
    """The first attempt that came to something."""
    return next((x for x in attempts if x is not None), None)


class _Closing:
    """Entries of a kernel that close its loops."""

    def __init__(self, tree: Tree, kernel: Kernel) -> None:
        self.tree, self.kernel = tree, kernel
        offsets = [as_float(x) for node in tree.nodes for x in node.X_PJ[1]]
        self.size = max([1.0, *(abs(float(x)) for x in offsets if isinstance(x, int | float))])

    def positions(self, first: Array, held: Any) -> Array | None:
        """q with Φ = 0 near a start, or None."""
        free = (~held).astype(float)
        nv = self.tree.nv
        for attempt in range(TRIES):
            q = first
            if attempt:
                q = self.kernel("retract", q=first, x=np.where(held, 0.0, shake(attempt, nv)))
            q, left = self._newton(q, free)
            if left <= TOLERANCE * self.size and self._is_upright(q):
                return q
        return None

    def _newton(self, q: Array, free: Array) -> tuple[Array, float]:
        """Gauss–Newton with the least step, shortened until |Φ| falls; and the largest |Φ|."""
        still = np.zeros(self.tree.nv)
        phi = self._phi(q)
        for _ in range(ITERATIONS):
            before = float(np.linalg.norm(phi))
            if not before > 0.0 or np.max(np.abs(phi)) <= UNMOVED * self.size or not free.any():
                break
            step = self.kernel.call("close_q", q=q, v=still, x=free)["delta"]
            moved = self._moved(q, step, before)
            if moved is None:
                break
            q, phi = moved
            if np.linalg.norm(phi) >= 0.5 * before and before < TOLERANCE:
                break
        return q, float(np.max(np.abs(phi), initial=0.0))

    def _moved(self, q: Array, step: Array, before: float) -> tuple[Array, Array] | None:
        scale = 1.0 / max(1.0, float(np.max(np.abs(step), initial=0.0)) / LONGEST)
        while np.isfinite(scale) and scale > SHORTEST:
            trial = self.kernel("retract", q=q, x=scale * step)
            phi = self._phi(trial)
            if np.linalg.norm(phi) < before:
                return trial, phi
            scale /= 2.0
        return None

    def _phi(self, q: Array) -> Array:
        return np.asarray(self.kernel.call("closure", q=q, v=np.zeros(self.tree.nv))["phi"])

    def velocities(self, q: Array, v: Array, held: Any) -> Array | None:
        """v with G v = 0 near speeds; None where they clash, or the branch is not certain."""
        step = self.kernel.call("close_v", q=q, v=v, x=(~held).astype(float))
        v = v + step["delta"]
        left = float(np.max(np.abs(self.kernel.call("closure", q=q, v=v)["rate"]), initial=0.0))
        if not left <= SLOW * max(1.0, float(np.max(np.abs(v), initial=0.0))):
            return None
        return v if step["weakest"][0] > WEAK or self._is_certain(q, v) else None

    def _is_certain(self, q: Array, v: Array) -> bool:
        """Whether the closures are no change point, nor near one; not looked at where G is sparse.

        At rest nothing depends on it.
        """
        if not np.any(v) or "terms" not in self.kernel.program.entries:
            return True
        labels = self.kernel.program.labels
        G = self.kernel.call("terms", q=q, v=v)["G"].reshape(-1, len(v))
        lengths = [x.unit == FORCE for x in labels["lam"]]
        return not is_weak(G, lengths, [x.unit == "m/s" for x in labels["v"]])

    def _is_upright(self, q: Array) -> bool:
        """No joint is put together the wrong way round."""
        poses = self.kernel.call("poses", q=q, v=np.zeros(self.tree.nv))
        for closure in self.tree.closures:
            (R_F, p_F), (R_M, p_M) = (
                self._pose(poses, *place) for place in (closure.predecessor, closure.successor)
            )
            positive = closure.joint.type.positive(R_F.T @ R_M, R_F.T @ (p_M - p_F))
            if not all(float(x) > 0.0 for x in positive):
                return False
        return True

    def _pose(self, poses: Mapping[str, Array], node: int, marker: Any) -> tuple[Array, Array]:
        """A marker on a node, in the ground."""
        R, p = (np.array([[float(as_float(x)) for x in part.flat]]) for part in marker)
        R, p = R.reshape(3, 3), p.ravel()
        if node == GROUND:
            return R, p
        body = self.tree.nodes[node].body
        R_NB, p_NB = (
            np.array([float(as_float(x)) for x in part.flat]) for part in self.tree.frames[body][1]
        )
        R_B, p_B = poses[body][:9].reshape(3, 3), poses[body][9:]
        R_N = R_B @ R_NB.reshape(3, 3).T
        return R_N @ R, p_B - R_N @ p_NB + R_N @ p


def is_obstructed_start(kernel: Kernel, state: State) -> bool:
    """True if some velocity that the closures allow at a state leads nowhere, by (analysis-7).

    Looked at where rows depend on each other, and G is not too large to be dense.
    """
    ones = np.ones(len(state.v))
    weakest = kernel.call("close_v", t=state.t, q=state.q, v=state.v, x=ones)["weakest"][0]
    if weakest > FULL or "terms" not in kernel.program.entries:
        return False
    nv = len(state.v)

    def terms(v: Array) -> Mapping[str, Array]:
        return kernel.call("terms", t=state.t, q=state.q, v=v)

    G = terms(state.v)["G"].reshape(-1, nv)
    return is_obstructed_by(G, state.v, lambda v: terms(v)["gamma"])
