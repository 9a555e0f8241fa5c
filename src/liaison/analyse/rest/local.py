"""Local: a mechanism at one state, in numbers: what holds there and how it changes.

Dense algebra on the generated derivatives (`program/derivatives/derivatives.py`). Perturbations
(ξ, δv) that the closures allow are parametrized by some of them, chosen by pivoting:

    G_h ξ = 0,   ∂(G v − ν)/∂q ξ + G δv = 0                                     (analysis-2)

Public names: Local, local, check_closed, Allowed, chosen_rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from liaison.errors import DerivationError, ModelError, NamingError, SimulationError
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.simulation.plan.plan import check_state
from liaison.simulation.plan.settings import PROJECTION

RANK = 1e-9
"""Singular values of rows scaled to length 1 below this part of the largest count as zero."""

EASY = 0.05
"""A preferred coordinate is independent if it moves by this fraction of the one that moves most."""


@final
@dataclass(frozen=True)
class Allowed:
    """What the closures allow at one level: coordinates chosen, and all of them by these.

    Args:
        chosen: indices of the coordinates that determine the others.
        basis: all of them for a unit of each chosen one, shape (nv, chosen).
    """

    chosen: tuple[int, ...]
    basis: Array


@final
@dataclass(frozen=True)
class Local:
    """Matrices and vectors of a mechanism at one state, each computed at first access."""

    kernel: Kernel
    state: State
    u: Array
    p: Array
    preferred: tuple[str, ...] = ()

    @property
    def nv(self) -> int:
        """How many velocities there are."""
        return int(self.kernel.program.sizes["nv"])

    @property
    def nc(self) -> int:
        """How many rows the closures have."""
        return int(self.kernel.program.sizes["nc"])

    @cached_property
    def M(self) -> Array:
        """Mass matrix."""
        return self._terms["M"].reshape(self.nv, self.nv)

    @cached_property
    def G(self) -> Array:
        """Rows of the closures, holonomic ones first."""
        return self._terms["G"].reshape(self.nc, self.nv)

    @cached_property
    def holonomic(self) -> Array:
        """Rows that follow from positions."""
        return self.G[: int(self.kernel.program.sizes["nphi"])]

    @cached_property
    def scaled_G(self) -> Array:
        """G with rows of length 1."""
        return self.G / self._svd[3][:, None]

    @property
    def nu(self) -> Array:
        """ν of G v = ν: how fast the closures themselves move."""
        return self._terms["nu"]

    @cached_property
    def scaled_nu(self) -> Array:
        """ν, by the same lengths."""
        return np.asarray(self._terms["nu"] / self._svd[3])

    @cached_property
    def phi(self) -> Array:
        """Residuals of positions."""
        return self._terms["phi"]

    @cached_property
    def back(self) -> Array:
        """The least-squares Newton step that closes the holonomic constraints."""
        change = np.linalg.lstsq(self.holonomic, -self.phi, rcond=RANK)[0]
        return np.asarray(change, dtype=float)

    @cached_property
    def _terms(self) -> dict[str, Array]:
        return self.call("terms")

    def call(self, entry: str, x: Array | None = None) -> dict[str, Array]:
        """The blocks of an entry at this state."""
        state = self.state
        more = np.zeros(self.nv + self.nc) if x is None else x
        arguments = {"q": state.q, "v": state.v, "u": self.u, "p": self.p, "x": more}
        return self.kernel.call(entry, state.t, **arguments)

    @cached_property
    def solution(self) -> tuple[Array, Array]:
        """v̇ and λ; λ the shortest where rows depend on each other."""
        return self.solved(self._terms["f"], self._terms["gamma"])

    def solved(self, f: Array, gamma: Array) -> tuple[Array, Array]:
        """x and y of M x = f + Gᵀ y, G x = γ; of matrices column by column.

        Raises:
            ModelError: some motion that the closures allow has no inertia.
        """
        U, s, Vt, rows = self._svd
        rank = len(s)
        scaled = gamma / (rows[:, None] if gamma.ndim > 1 else rows)
        across, Z = Vt[:rank].T, Vt[rank:].T
        by = s[:, None] if gamma.ndim > 1 else s
        x = across @ ((U[:, :rank].T @ scaled) / by)
        inner = Z.T @ self.M @ Z
        if inner.size and np.linalg.cond(inner) > 1e15:
            raise ModelError(self._without_inertia(inner, Z))
        x = x + Z @ np.linalg.solve(inner, Z.T @ (f - self.M @ x))
        push = across.T @ (self.M @ x - f)
        y = U[:, :rank] @ (push / by)
        return x, y / (rows[:, None] if gamma.ndim > 1 else rows)

    def _without_inertia(self, inner: Array, Z: Array) -> str:
        """Which motion has no inertia, in words."""
        motion = Z @ np.linalg.eigh(inner)[1][:, 0]
        names = [label.name for label in self.kernel.program.labels["v"]]
        worst = names[int(np.argmax(np.abs(motion)))]
        return f"a motion that the closures allow has no inertia; most of it is {worst!r}."

    @cached_property
    def _svd(self) -> tuple[Array, Array, Array, Array]:
        """U, s, Vᵀ of G with rows of length 1, and these lengths; only s that count."""
        length = np.linalg.norm(self.G, axis=1) if self.nc else np.zeros(0)
        rows = np.where(length > 1e-12 * np.max(length, initial=0.0), length, 1.0)
        if not self.nc:
            return np.zeros((0, 0)), np.zeros(0), np.eye(self.nv), rows
        U, s, Vt = np.linalg.svd(self.G / rows[:, None])
        return U, s[s > RANK * s[0]], Vt, rows

    @property
    def gamma(self) -> Array:
        """What G v̇ is."""
        return self._terms["gamma"]

    @property
    def forces(self) -> Array:
        """f = τ − h."""
        return self._terms["f"]

    @cached_property
    def weights(self) -> Array:
        """What acts by itself: τ and h of this state, together."""
        return np.concatenate([self.call("applied")["tau"], self.call("bias")["h"]])

    @cached_property
    def stiffness(self) -> Array:
        """∂(h − τ − Gᵀ λ)/∂q at v̇ = 0, λ as the forces of this state need it."""
        push = np.linalg.lstsq(self.G.T, -self.forces, rcond=RANK)[0] if self.nc else np.zeros(0)
        x = np.concatenate([np.zeros(self.nv), push])
        slopes = self.call("d_residual", x)["r_q"].reshape(self.nv + self.nc, self.nv)
        return slopes[: self.nv]

    @cached_property
    def residual_slopes(self) -> dict[str, Array]:
        """∂r by q (along velocities), v, u and p, at v̇ and λ of this state."""
        x = np.concatenate(self.solution)
        slopes = self.call("d_residual", x)
        rows = self.nv + self.nc
        return {name[2:]: block.reshape(rows, -1) for name, block in slopes.items()}

    @cached_property
    def tangent(self) -> dict[str, Array]:
        """Blocks of the entry `tangent`, as matrices."""
        sizes = self.kernel.program.sizes
        rows = {"N": sizes["nq"], "drift": sizes["nq"], "rate": self.nc, "phi": sizes["nphi"]}
        blocks = {}
        for name, block in self.call("tangent").items():
            count = rows.get(name.partition("_")[0], len(self.kernel.program.labels["outputs"]))
            blocks[name] = block.reshape(count, -1) if count else np.zeros((0, self._width(name)))
        return blocks

    def _width(self, name: str) -> int:
        last = name.rpartition("_")[2]
        return self.nv if last in ("q", "v") else int(self.kernel.program.sizes[f"n{last}"])

    @cached_property
    def drift(self) -> Array:
        """C of (tangent-1): how ξ changes along the motion beside δv."""
        return np.linalg.pinv(self.tangent["N"]) @ self.tangent["drift"]

    # what the closures allow

    @cached_property
    def positions(self) -> Allowed:
        """Changes of position that keep the closures."""
        chosen = [*self.velocities.chosen]
        return allowed(self.holonomic, self.nv, chosen)

    @cached_property
    def velocities(self) -> Allowed:
        """Changes of velocity that keep the closures."""
        names = [label.name for label in self.kernel.program.labels["v"]]
        preferred = [
            names.index(x) for name in self.preferred for x in (name, f"{name}'") if x in names
        ]
        return allowed(self.G, self.nv, preferred)

    @cached_property
    def change(self) -> Array:
        """δv that a change of position entails, shape (nv, positions chosen); 0 for chosen ones."""
        right_side = -self.tangent["rate_q"] @ self.positions.basis
        if not self.nc:
            return np.zeros((self.nv, len(self.positions.chosen)))
        rest = [j for j in range(self.nv) if j not in self.velocities.chosen]
        change = np.zeros((self.nv, right_side.shape[1]))
        if rest:
            change[rest] = np.linalg.lstsq(self.G[:, rest], right_side, rcond=RANK)[0]
        return change

    @cached_property
    def reduced_mass(self) -> Array:
        """Inertia of the velocities chosen."""
        Z = self.velocities.basis
        return np.asarray(Z.T @ self.M @ Z)


def local(
    kernel: Kernel,
    state: State,
    *,
    inputs: Mapping[str, float] | None = None,
    parameters: Array | None = None,
    preferred: Sequence[str] = (),
    any_rates: bool = False,
) -> Local:
    """The mechanism of a kernel at a state.

    Args:
        kernel: of a program made by `lower`.
        state: positions and velocities, on the closures.
        inputs: values by name instead of the defaults.
        parameters: values in order instead of the defaults.
        preferred: coordinates or speeds to choose as the independent ones, where possible.
        any_rates: relations may be not linear in the rates.

    Raises:
        DerivationError: a relation is not linear in the rates.
        NamingError: there is no such input.
        SimulationError: an input is not finite, or the state is of another mechanism, not finite,
            or off its closures.
    """
    program = kernel.program
    if not any_rates:
        check_linear_rates(kernel)
    check_state(program, state)
    u = np.array(program.defaults["u"], dtype=float)
    names = [label.name for label in program.labels["u"]]
    for name, value in (inputs or {}).items():
        if name not in names:
            raise NamingError.unknown("input", name, names)
        u[names.index(name)] = _number(name, value)
    p = np.array(program.defaults["p"] if parameters is None else parameters, dtype=float)
    here = Local(kernel, state, u, p, tuple(preferred))
    check_closed(here, "phi")
    return here


def _number(name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not np.isfinite(number):
        raise SimulationError(
            f"input {name!r} is {value!r}; at one state it must be a finite number.",
            status="inconsistent",
        )
    return number


def check_linear_rates(kernel: Kernel) -> None:
    """Raises an error for relations that are not linear in the rates."""
    names = kernel.program.facts.get("nonlinear_rates", ())
    if names:
        raise DerivationError(
            f"the relation {names[0]!r} is not linear in the rates: at rest its reaction has no "
            "direction, and small motions are not those of linear relations.",
            hint="Simulate it instead.",
        )


def check_closed(here: Local, level: str = "rate") -> None:
    """Raises an error for a state off its closures by more than the start of a run may be.

    Args:
        here: the mechanism at that state.
        level: "phi" for positions alone, "rate" for velocities.
    """
    state, labels = here.state, here.kernel.program.labels.get("lam", ())
    off = here.phi if level == "phi" else here.G @ state.v - here.nu
    size = 1.0 + float(np.max(np.abs(state.q if level == "phi" else state.v), initial=0.0))
    if not off.size or np.max(np.abs(off)) <= PROJECTION.start * size:
        return
    k = int(np.argmax(np.where(np.isfinite(off), np.abs(off), np.inf)))
    what = "position" if level == "phi" else "velocity"
    raise SimulationError(
        f"the state at t = {state.t:g} s is off its closures: the {what} leaves {off[k]:.3g} in "
        f"the row {labels[k].name!r}.",
        status="inconsistent closures",
        t=state.t,
        hint="Assemble it: leave the state out and give start={…}, or take a state of a run.",
    )


def allowed(rows: Array, nv: int, preferred: Sequence[int]) -> Allowed:
    """Null-space basis of the rows, parametrized by chosen entries, preferred ones if possible."""
    if not len(rows):
        return Allowed(tuple(range(nv)), np.eye(nv))
    length = np.linalg.norm(rows, axis=1)
    nonzero = length > 1e-12 * np.max(length, initial=0.0)
    scaled = rows[nonzero] / length[nonzero, None]
    _, s, Vt = np.linalg.svd(scaled)
    rank = int(np.count_nonzero(s > RANK * s[0])) if len(s) else 0
    Z = Vt[rank:].T
    chosen = chosen_rows(Z, preferred)
    return Allowed(tuple(chosen), Z @ np.linalg.inv(Z[chosen]) if chosen else Z)


def chosen_rows(Z: Array, preferred: Sequence[int]) -> list[int]:
    """Independent rows of Z: preferred ones while well conditioned, then those of largest norm."""
    rest, chosen = Z.copy(), []
    for _ in range(Z.shape[1]):
        size = np.linalg.norm(rest, axis=1)
        most = float(np.max(size))
        good = [j for j in preferred if j not in chosen and size[j] > EASY * most]
        pick = good[0] if good else int(np.argmax(size))
        chosen.append(pick)
        way = rest[pick] / size[pick]
        rest = rest - np.outer(rest @ way, way)
    return sorted(chosen)
