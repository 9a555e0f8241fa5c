"""Reactions along a run: multipliers as the time loop takes them, and which are not determined.

Where rows of G depend on each other, multipliers λ with Gᵀλ = 0 move nothing: they may be added at
will. A component of a reaction that changes with one of them is not determined by the motion. Of
all λ the shortest is taken, in rows scaled to length 1.

Public names: RANK, CHANGE, Redundancy, redundancy, accelerations, pivoted, reactions, multipliers,
joint_accelerations, motions.

Source: GVL13 §2.4 (rank and null space by singular values).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.numeric import Array
from liaison.simulation.plan.plan import Plan
from liaison.simulation.record.series import Series
from liaison.simulation.steps.explicit import CONSISTENCY
from liaison.solvers.linear.dense import NOISE, saddle_area

from .hull_places import with_places
from .machine import compiled_loops, map_entry, over_saddles

if TYPE_CHECKING:
    from liaison.contacts.events.series import Contacts

RANK = 1e-9
"""Singular values of G, its rows scaled to length 1, below this part of the largest are zero."""

CHANGE = 1e-6
"""A component that changes by more than this part of the largest change is not determined."""

COMPONENTS = ("Mx", "My", "Mz", "Fx", "Fy", "Fz")
UNITS = ("Nm",) * 3 + ("N",) * 3

MOTIONS = tuple(f"{x}{end}" for end in ("", "'") for x in ("wx", "wy", "wz", "vx", "vy", "vz"))
MOTION_UNITS = ("rad/s",) * 3 + ("m/s",) * 3 + ("rad/s2",) * 3 + ("m/s2",) * 3


@final
@dataclass(frozen=True, slots=True)
class Redundancy:
    """Directions of λ that move nothing.

    Args:
        directions: shape (instants, nc, most of them at once), zero where there are fewer.
        vanished: how many rows hold whatever the mechanism does, and have no λ.
    """

    directions: Array
    vanished: int

    @property
    def instants(self) -> NDArray[np.bool_]:
        """Where G has dependent rows."""
        return np.asarray(np.any(self.directions != 0, axis=(1, 2)))


def redundancy(plan: Plan, rows: Array, begins: NDArray[np.intp] | None = None) -> Redundancy:
    """Null space of Gᵀ at every recorded row (t, q, v, u); not looked for where G is sparse.

    Args:
        plan: its parameters are of all rows, or one row each.
        rows: of one run, or of several.
        begins: the first row of each run, where there are several.
    """
    nv, nc = plan.size("nv"), plan.size("nc")
    vanished = len(plan.program.facts.get("vanished", ()))
    if not (nc and nv) or "terms" not in plan.program.entries:
        return Redundancy(np.zeros((len(rows), nc, 0)), vanished)
    terms = map_entry(plan.kernel, "terms", rows, plan.parameters)
    G = terms[:, nv * nv : nv * nv + nc * nv].reshape(-1, nc, nv)
    length = np.linalg.norm(G, axis=2, keepdims=True)
    is_noise = length <= NOISE * _largest(length, begins)
    scale = np.where(is_noise, 1.0, length)
    U, s, _ = np.linalg.svd(np.where(is_noise, 0.0, G / scale), full_matrices=True)
    rank = np.count_nonzero(s > RANK * s[:, :1], axis=1)
    most = nc - int(np.min(rank, initial=nc))
    loose = np.arange(nc - most, nc) >= rank[:, None]
    return Redundancy(U[:, :, nc - most :] / scale * loose[:, None, :], vanished)


def _largest(length: Array, begins: NDArray[np.intp] | None) -> Any:
    """The largest of each run, so that none depends on the others."""
    if begins is None or len(begins) < 2:
        return np.max(length, initial=0.0)
    most = np.maximum.reduceat(np.max(length, axis=(1, 2)), begins)
    return np.repeat(most, np.diff(np.append(begins, len(length))))[:, None, None]


def accelerations(
    plan: Plan, rows: Array, loose: Redundancy, contacts: Contacts | None = None
) -> Array:
    """v̇ and λ at every row: generated, and pivoted where that misses or λ has a choice.

    With contacts v̇ is theirs, λ follows from their effort, and their forces stand behind both.
    """
    nv, nc = plan.size("nv"), plan.size("nc")
    if contacts is not None:
        lam = pivoted(plan, rows, contacts.effort)[0][:, nv:] if nc else np.zeros((len(rows), 0))
        return np.hstack([contacts.vdot, lam, contacts.force])
    out = map_entry(plan.kernel, "forward", rows, plan.parameters)
    values, size = out[:, : nv + nc].copy(), 1 + np.max(np.abs(out[:, :nv]), axis=1, initial=0.0)
    if not (nc and nv) or "terms" not in plan.program.entries:
        return values
    before = out[:, nv + nc] / size
    chosen = ~(before <= plan.settings.residual) | loose.instants
    if np.any(chosen):
        p = plan.parameters
        own = plan if p.ndim == 1 else replace(plan, parameters=p[chosen])
        again, miss = pivoted(own, rows[chosen])
        after = miss / (1 + np.max(np.abs(again[:, :nv]), axis=1))
        good = (miss >= 0) & ((after <= CONSISTENCY) | ~(after >= before[chosen]))
        values[np.flatnonzero(chosen)[good]] = again[good]
    return values


def pivoted(plan: Plan, rows: Array, effort: Array | None = None) -> tuple[Array, Array]:
    """v̇ and λ by the solver the time loop falls back on, and what the rows miss."""
    nv, nc = plan.size("nv"), plan.size("nc")
    terms = map_entry(plan.kernel, "terms", rows, plan.parameters)
    if effort is not None:
        terms[:, nv * nv + nc * nv : nv * nv + nc * nv + nv] += effort
    solutions, miss = np.zeros((len(rows), nv + nc)), np.zeros(len(rows))
    row, area = np.zeros(1, dtype=np.int64), np.zeros(saddle_area(nv, nc))
    sizes = len(rows), nv, nc, terms.shape[1]
    compiled_loops()[over_saddles](*sizes, terms, solutions, miss, row, area)
    return solutions, miss


def reactions(
    plan: Plan,
    rows: Array,
    contacts: Contacts | None = None,
    begins: NDArray[np.intp] | None = None,
) -> dict[str, Series]:
    """The wrench in every joint, a mask over what is not determined, and the self-stress there.

    The series `self_stress` is Σ d dᵀ over the wrenches d that may be added to a joint's at will
    while nothing else changes, none larger than 1: in other axes T it is T (Σ d dᵀ) Tᵀ.

    Args:
        plan: its parameters are of all rows, or one row each.
        rows: states (t, q, v, u) of one run, or of several.
        contacts: of one run.
        begins: the first row of each run, where there are several.
    """
    loose = redundancy(plan, rows, begins)
    x = accelerations(plan, rows, loose, contacts)
    if contacts is not None:
        x = with_places(plan.kernel, rows, plan.parameters, x)
    values = map_entry(plan.kernel, "reactions", rows, plan.parameters, x)
    joints = tuple(name for name, _ in plan.program.entry("reactions").layout)
    shape, axes = (len(rows), len(joints), 6), {"joint": joints, "component": COMPONENTS}
    stress = _self_stress(plan, rows, loose)
    if stress is None:
        return {"reactions": Series(values.reshape(shape), UNITS, axes)}
    mask = np.any(np.abs(stress) > CHANGE, axis=1).reshape(shape)
    wrenches = stress.reshape(len(rows), -1, len(joints), 6)
    gram = np.einsum("nkji,nkjl->njil", wrenches, wrenches)
    return {
        "reactions": Series(values.reshape(shape), UNITS, axes, mask),
        "self_stress": Series(gram, "", {**axes, "against": COMPONENTS}),
    }


def multipliers(
    plan: Plan,
    rows: Array,
    contacts: Contacts | None = None,
    begins: NDArray[np.intp] | None = None,
) -> dict[str, Series]:
    """λ, row by row: what each closure puts on the mechanism; of an imposed motion, its drive."""
    loose, labels = redundancy(plan, rows, begins), plan.program.labels.get("lam", ())
    nv, nc = plan.size("nv"), plan.size("nc")
    lam = accelerations(plan, rows, loose, contacts)[:, nv : nv + nc]
    units, names = tuple(x.unit for x in labels), tuple(x.name for x in labels)
    mask = np.any(_changes(loose.directions), axis=2) if loose.directions.shape[2] else None
    return {"lam": Series(lam, units, {"row": names}, mask)}


def joint_accelerations(
    plan: Plan,
    rows: Array,
    contacts: Contacts | None = None,
    begins: NDArray[np.intp] | None = None,
) -> dict[str, Series]:
    """v̇ by label: the rate of every velocity."""
    vdot = accelerations(plan, rows, redundancy(plan, rows, begins), contacts)[:, : plan.size("nv")]
    labels = plan.program.labels["v"]
    units, names = tuple(f"{x.unit}2" for x in labels), tuple(f"{x.name}'" for x in labels)
    return {"accelerations": Series(vdot, units, {"acceleration": names})}


def motions(
    plan: Plan,
    rows: Array,
    contacts: Contacts | None = None,
    begins: NDArray[np.intp] | None = None,
) -> dict[str, Series]:
    """ω, v, ω̇, v̇ of every body's frame, in the ground's axes."""
    x = accelerations(plan, rows, redundancy(plan, rows, begins), contacts)
    values = map_entry(plan.kernel, "motions", rows, plan.parameters, x)
    bodies = tuple(name for name, _ in plan.program.entry("motions").layout)
    table, axes = values.reshape(len(rows), len(bodies), 12), {"body": bodies, "motion": MOTIONS}
    return {"motions": Series(table, MOTION_UNITS, axes)}


def _self_stress(plan: Plan, rows: Array, loose: Redundancy) -> Array | None:
    """What each multiplier that moves nothing puts into the joints, largest entry 1; or None.

    Shape (instants, multipliers, 6 joints).
    """
    nc, count = plan.size("nc"), loose.directions.shape[2]
    if not (count or loose.vanished) or "self_stress" not in plan.program.entries:
        return None
    columns = []
    for k in range(count + loose.vanished):
        x = np.zeros((len(rows), nc + loose.vanished))
        if k < count:
            x[:, :nc] = loose.directions[:, :, k]
        else:
            x[:, nc + k - count] = 1.0
        change = map_entry(plan.kernel, "self_stress", rows, plan.parameters, x)
        most = np.max(np.abs(change), axis=1, keepdims=True, initial=0.0)
        columns.append(change / np.where(most > 0, most, 1.0))
    return np.stack(columns, axis=1)


def _changes(change: Array) -> NDArray[np.bool_]:
    """Entries above CHANGE times the largest of their instant and direction."""
    size = np.abs(change)
    return np.asarray(size > CHANGE * np.max(size, axis=1, keepdims=True, initial=0.0))
