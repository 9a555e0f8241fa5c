"""Reactions along a run: multipliers as the time loop takes them, and which are not determined.

Where rows of G depend on each other, multipliers λ with Gᵀλ = 0 move nothing: they may be added at
will. A component of a reaction that changes with one of them is not determined by the motion. Of
all λ the shortest is taken, in rows scaled to length 1.

Public names: RANK, CHANGE, Redundancy, DenseRedundancy, SparseRedundancy, redundancy,
accelerations, pivoted, reactions, multipliers, joint_accelerations, motions.

Source: GVL13 §2.4 (rank and null space by singular values).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
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
from .loose_rows import LooseRows, lengths_of, loose_rows, self_stress_of
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


class Redundancy(ABC):
    """Directions of λ that move nothing, at every recorded row."""

    vanished: int
    """How many rows hold whatever the mechanism does, and have no λ."""

    @property
    @abstractmethod
    def pivoted(self) -> NDArray[np.bool_]:
        """Where the shortest λ is to be found with pivots."""

    @abstractmethod
    def shortest(self, lam: Array) -> Array:
        """The shortest λ, where it is found without pivots."""

    @abstractmethod
    def undetermined(self) -> NDArray[np.bool_] | None:
        """Which λ change with some direction, shape (instants, nc); None if there is none."""

    @abstractmethod
    def self_stress(self) -> tuple[Array, Array] | None:
        """Wrenches d that may be added at will, largest entry 1: max |d|, Σ d dᵀ, by joints."""


@final
@dataclass(frozen=True, slots=True)
class DenseRedundancy(Redundancy):
    """The same from the dense numbers of G.

    Args:
        plan: of the run.
        rows: recorded.
        directions: shape (instants, nc, most of them at once), zero where there are fewer.
        vanished: as above.
    """

    plan: Plan
    rows: Array
    directions: Array
    vanished: int

    @property
    def pivoted(self) -> NDArray[np.bool_]:
        """Where G has dependent rows."""
        return np.asarray(np.any(self.directions != 0, axis=(1, 2)))

    def shortest(self, lam: Array) -> Array:
        """As it is: pivots find it."""
        return lam

    def undetermined(self) -> NDArray[np.bool_] | None:
        """Entries above CHANGE times the largest of their instant and direction."""
        if not self.directions.shape[2]:
            return None
        size = np.abs(self.directions)
        largest = np.max(size, axis=1, keepdims=True, initial=0.0)
        return np.asarray(np.any(size > CHANGE * largest, axis=2))

    def self_stress(self) -> tuple[Array, Array] | None:
        """One direction after another, then rows without λ."""
        plan, rows = self.plan, self.rows
        nc, count = plan.size("nc"), self.directions.shape[2]
        if not (count or self.vanished) or "self_stress" not in plan.program.entries:
            return None
        columns = []
        for k in range(count + self.vanished):
            x = np.zeros((len(rows), nc + self.vanished))
            if k < count:
                x[:, :nc] = self.directions[:, :, k]
            else:
                x[:, nc + k - count] = 1.0
            change = map_entry(plan.kernel, "self_stress", rows, plan.parameters, x)
            most = np.max(np.abs(change), axis=1, keepdims=True, initial=0.0)
            columns.append(change / np.where(most > 0, most, 1.0))
        stress = np.stack(columns, axis=1)
        wrenches = stress.reshape(len(rows), count + self.vanished, -1, 6)
        gram = np.einsum("nkji,nkjl->njil", wrenches, wrenches)
        return np.max(np.abs(wrenches), axis=1), gram


@final
@dataclass(frozen=True, slots=True)
class SparseRedundancy(Redundancy):
    """The same from the numbers of G along paths, of mechanisms of many bodies.

    Args:
        plan: of the run.
        rows: recorded.
        groups: directions.
        vanished: as above.
    """

    plan: Plan
    rows: Array
    groups: tuple[LooseRows, ...]
    vanished: int

    @property
    def pivoted(self) -> NDArray[np.bool_]:
        """Nowhere."""
        return np.zeros(len(self.rows), dtype=bool)

    def shortest(self, lam: Array) -> Array:
        """Less what directions take away, in rows scaled to length 1 in the metric of M."""
        lam, p = lam.copy(), self.plan.parameters
        for one in self.groups:
            own = p[one.instants] if p.ndim > 1 else p
            square = map_entry(self.plan.kernel, "lightness", self.rows[one.instants], own)
            length = np.sqrt(np.where(square > 0.0, square, 1.0))
            lam[one.instants] = one.shortest(lam[one.instants], length)
        return lam

    def undetermined(self) -> NDArray[np.bool_] | None:
        """Rows of directions."""
        if not self.groups:
            return None
        mask = np.zeros((len(self.rows), self.plan.size("nc")), dtype=bool)
        for one in self.groups:
            size = np.abs(one.values)
            most = np.maximum.reduceat(size, one.begins[:-1], axis=1)[:, one.owners]
            changed, at = np.nonzero(size > CHANGE * most)
            mask[one.instants[changed], one.rows[at]] = True
        return mask

    def self_stress(self) -> tuple[Array, Array] | None:
        """Directions together that load no joint in common."""
        if not (self.groups or self.vanished):
            return None
        plan = self.plan
        return self_stress_of(plan.kernel, self.rows, plan.parameters, self.groups, self.vanished)


def redundancy(plan: Plan, rows: Array, begins: NDArray[np.intp] | None = None) -> Redundancy:
    """Null space of Gᵀ at every recorded row (t, q, v, u).

    Args:
        plan: its parameters are of all rows, or one row each.
        rows: of one run, or of several.
        begins: the first row of each run, where there are several.
    """
    nv, nc = plan.size("nv"), plan.size("nc")
    vanished = len(plan.program.facts.get("vanished", ()))
    if nc and nv and "rows" in plan.program.entries:
        return SparseRedundancy(plan, rows, tuple(_loose(plan, rows, begins)), vanished)
    if not (nc and nv) or "terms" not in plan.program.entries:
        return DenseRedundancy(plan, rows, np.zeros((len(rows), nc, 0)), vanished)
    terms = map_entry(plan.kernel, "terms", rows, plan.parameters)
    G = terms[:, nv * nv : nv * nv + nc * nv].reshape(-1, nc, nv)
    length = np.linalg.norm(G, axis=2, keepdims=True)
    is_noise = length <= NOISE * _largest(length, begins)
    scale = np.where(is_noise, 1.0, length)
    U, s, _ = np.linalg.svd(np.where(is_noise, 0.0, G / scale), full_matrices=True)
    rank = np.count_nonzero(s > RANK * s[:, :1], axis=1)
    most = nc - int(np.min(rank, initial=nc))
    loose = np.arange(nc - most, nc) >= rank[:, None]
    directions = U[:, :, nc - most :] / scale * loose[:, None, :]
    return DenseRedundancy(plan, rows, directions, vanished)


def _loose(plan: Plan, rows: Array, begins: NDArray[np.intp] | None) -> list[LooseRows]:
    """Null vectors of Gᵀ of a kernel that writes the numbers of G along paths."""
    sparse, values, length = lengths_of(plan.kernel, rows, plan.parameters)
    most = _largest(length[:, :, None], begins)
    is_noise = length <= NOISE * (most if np.ndim(most) == 0 else most[:, :, 0])
    return loose_rows(sparse, values, np.where(is_noise, np.inf, length), RANK)


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
        lam = _under(plan, rows, loose, contacts.effort) if nc else np.zeros((len(rows), 0))
        return np.hstack([contacts.vdot, lam, contacts.force])
    out = map_entry(plan.kernel, "forward", rows, plan.parameters)
    values, size = out[:, : nv + nc].copy(), 1 + np.max(np.abs(out[:, :nv]), axis=1, initial=0.0)
    if not (nc and nv):
        return values
    values[:, nv:] = loose.shortest(values[:, nv:])
    if "terms" not in plan.program.entries:
        return values
    before = out[:, nv + nc] / size
    chosen = ~(before <= plan.settings.residual) | loose.pivoted
    if np.any(chosen):
        p = plan.parameters
        own = plan if p.ndim == 1 else replace(plan, parameters=p[chosen])
        again, miss = pivoted(own, rows[chosen])
        after = miss / (1 + np.max(np.abs(again[:, :nv]), axis=1))
        good = (miss >= 0) & ((after <= CONSISTENCY) | ~(after >= before[chosen]))
        values[np.flatnonzero(chosen)[good]] = again[good]
    return values


def _under(plan: Plan, rows: Array, loose: Redundancy, effort: Array) -> Array:
    """λ under efforts of contacts; by sweeps over nodes where the kernel has them."""
    nv, nc = plan.size("nv"), plan.size("nc")
    if "forward_under" not in plan.program.entries:
        return pivoted(plan, rows, effort)[0][:, nv:]
    out = map_entry(plan.kernel, "forward_under", rows, plan.parameters, effort)
    return loose.shortest(out[:, nv : nv + nc])


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
    stress = loose.self_stress()
    if stress is None:
        return {"reactions": Series(values.reshape(shape), UNITS, axes)}
    most, gram = stress
    return {
        "reactions": Series(values.reshape(shape), UNITS, axes, most > CHANGE),
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
    return {"lam": Series(lam, units, {"row": names}, loose.undetermined())}


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
