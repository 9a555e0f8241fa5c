"""What a parametrization costs and gives when it runs: time, conditioning, drift, accelerations.

Public names: Moved, moved.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.equations import Equations, Reduced
from liaison.equations.transform.treatment import Treated
from liaison.expr import Expr
from liaison.numeric import State
from liaison.program import Entry, Kernel, Program, compile_loops, to_llvm
from liaison.program.lower import lower
from liaison.simulation import Projection
from liaison.simulation import simulate as run
from liaison.tree import Tree, assemble

from .compare import CALLS, repeated

Floats = NDArray[np.float64]

NEVER = 1e30
"""A tolerance of closures under which nothing is ever corrected."""

RANK = 1e-10
"""Singular values below this part of the largest belong to rows that depend on others."""


@final
@dataclass(frozen=True, slots=True)
class Moved:
    """What was measured of one parametrization."""

    bodies: Mapping[str, Floats]  # ω, v, ω̇, v̇ in ground's axes where the mechanism starts
    evaluation: float  # [s]
    condition: float
    drift: float
    rank: int = 0  # of the rows of closures, where the mechanism starts

    def difference(self, other: Moved) -> float:
        """Largest difference of bodies' accelerations, relative to the largest."""
        pairs = [(self.bodies[name][6:], other.bodies[name][6:]) for name in other.bodies]
        size = max([1.0, *(float(np.max(np.abs(b))) for _, b in pairs)])
        return max((float(np.max(np.abs(a - b))) for a, b in pairs), default=0.0) / size


def moved(tree: Tree, made: Equations, until: float, step: float) -> Moved:
    """Compiles the equations, evaluates them where the mechanism starts, and lets them drift."""
    state, kernel = assemble(tree), to_llvm(lower(made))
    vdot = kernel.call("forward", state.t, q=state.q, v=state.v)["vdot"]
    told = kernel.call("motions", state.t, q=state.q, v=state.v, x=vdot)
    bodies = {body.name: told[body.name] for body in tree.mechanism.bodies[1:]}
    own = made.native.get("treatment")
    if isinstance(own, Treated):
        code = to_llvm(_program(made, own.reduced))
        drift = _drift_reduced(code, kernel, own.reduced, state, until, step)
        condition = _condition(_mass(code, own.reduced, state))
        return Moved(bodies, _seconds(code, "motion", state), condition, drift)
    terms = kernel.call("terms", state.t, q=state.q, v=state.v)
    drift = _drift(kernel, state, until, step)
    nv = len(made.symbols.v)
    G, seconds = terms["G"].reshape(-1, nv), _seconds(kernel, "forward", state)
    rank = int(np.linalg.matrix_rank(G, rtol=RANK)) if G.size else 0
    return Moved(bodies, seconds, _condition(_saddle(terms, nv)), drift, rank)


def _saddle(terms: Mapping[str, Floats], nv: int) -> Floats:
    M, G = terms["M"].reshape(nv, nv), terms["G"].reshape(-1, nv)
    return np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]])


def _condition(matrix: Floats) -> float:
    """Largest over least singular value, of those that are not zero."""
    values = np.linalg.svd(matrix, compute_uv=False)
    return float(values[0] / values[values > RANK * values[0]][-1])


def _drift(kernel: Kernel, state: State, until: float, step: float) -> float:
    """Largest |Φ| at the end of a run that is never corrected."""
    if until <= state.t or not kernel.program.sizes["nphi"]:
        return 0.0
    free = Projection(position=NEVER, velocity=NEVER, lost=NEVER, start=NEVER)
    options: dict[str, Any] = {"step": step, "projection": free, "every": until, "residual": NEVER}
    end = run(kernel, state, until=until, series=(), **options)
    phi = kernel.call("closure", end.t[-1], q=end.q[-1], v=end.v[-1])["phi"]
    return float(np.max(np.abs(phi), initial=0.0))


def _program(made: Equations, told: Reduced) -> Program:
    """u̇, q̇ and Ψᵀ M Ψ as entries of q and u, u in the place of v."""
    symbols = made.symbols
    places: dict[Expr, tuple[str, int]] = {told.t: ("t", 0)}
    for array, names in (("q", told.q), ("v", told.u), ("u", symbols.u), ("p", symbols.p)):
        places |= {name: (array, k) for k, name in enumerate(names)}
    motion = Entry("motion", (*told.accelerations(), *told.rates))
    mass = Entry("mass", tuple(told.M.values()))
    speeds = Entry("speeds", told.velocity)
    defaults = {name: np.array(values, float) for name, values in made.defaults.items()}
    entries = {entry.name: entry for entry in (motion, mass, speeds)}
    return Program(told.name, entries, places, defaults=defaults)


def _start(told: Reduced, state: State) -> Floats:
    names = [label.name for label in state.labels["v"]]
    return state.v[[names.index(label.name) for label in told.independent]]


def _mass(code: Kernel, told: Reduced, state: State) -> Floats:
    found = np.zeros((told.mobility, told.mobility))
    entries = code("mass", state.t, q=state.q, v=_start(told, state))
    for (i, j), x in zip(told.M, entries, strict=True):
        found[i, j] = found[j, i] = x
    return found


def _drift_reduced(
    code: Kernel, whole: Kernel, told: Reduced, state: State, until: float, step: float
) -> float:
    """The same for dependent positions that follow q̇ = N (Ψ u + ψ)."""
    if until <= state.t:
        return 0.0
    n, count = told.mobility, max(1, round((until - state.t) / step))
    y, t = np.concatenate([_start(told, state), state.q]), state.t

    def slope(t: float, y: Floats) -> Floats:
        return code("motion", t, q=y[n:], v=y[:n])

    for k in range(count):
        t = state.t + k * step
        a = slope(t, y)
        b = slope(t + step / 2, y + step / 2 * a)
        c = slope(t + step / 2, y + step / 2 * b)
        y = y + step / 6 * (a + 2 * b + 2 * c + slope(t + step, y + step * c))
    v = code("speeds", until, q=y[n:], v=y[:n])
    phi = whole.call("closure", until, q=y[n:], v=v)["phi"]
    return float(np.max(np.abs(phi), initial=0.0))


@lru_cache(maxsize=1)
def _repeated() -> Any:
    return compile_loops([repeated])["repeated"]


def _seconds(code: Kernel, entry: str, state: State) -> float:
    """Seconds of one call of an entry, the quickest of three blocks."""
    program = code.program
    u, p = (np.append(program.defaults.get(key, ()), 0.0) for key in ("u", "p"))
    out, work = np.zeros(code.out_size(entry) + 1), np.zeros(code.work_size(entry) + 1)
    address, call = code.address(entry), _repeated()
    best = math.inf
    for _ in range(3):
        begin = time.process_time()
        call(address, CALLS, state.q, state.v, u, p, out, work)
        best = min(best, time.process_time() - begin)
    return best / CALLS
