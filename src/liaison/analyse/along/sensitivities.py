"""sensitivities: how a motion changes with parameters, by the generated derivatives.

Along a motion ξ of q ⊞ ξ and δv obey

    ξ̇ = C ξ + δv,   K (δv̇, −δλ) = −(∂r/∂q ξ + ∂r/∂v δv + ∂r/∂p)                 (analysis-6)

with r and C of `program/derivatives/derivatives.py`. At the start positions and velocities change
no more than the closures, which may depend on the parameters themselves, ask for. The derivatives
are evaluated at all instants at once; the linear system is then followed by a Runge–Kutta method of
order 4, in compiled steps (`linear_steps.py`); its error is estimated by repetition with steps
twice as long.

Table: the linear system of small changes at every instant of a run.

A linear system with coefficients at the instants of a run, followed by compiled steps.

    ẏ = A(t) y + b(t),   k₁ … k₄ at the beginning, twice in the middle and at the end   (linear-1)

Runge and Kutta's steps of order 4 over an even number of intervals each, on a matrix y: one column
for each parameter.

Public names: Sensitivities, sensitivities, Table, table_along, follow_linear, linear_steps.

Source: HNW1 §I.14 (derivatives with respect to parameters); HNW1 §II.1 (table 1.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np

from liaison.analyse.rest.linearize import coordinate_label
from liaison.analyse.rest.local import Local, local
from liaison.analyse.rest.open_sides import check_inactive_along
from liaison.errors import NamingError, SimulationError
from liaison.numeric import Array
from liaison.program import Kernel
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import at, i64, loop, ptr
from liaison.simulation import Trajectory
from liaison.simulation.machine import map_entry
from liaison.simulation.plan.plan import Plan
from liaison.simulation.reactions import accelerations, redundancy
from liaison.units import Label

from .along import plan_along


@loop
def rate(m: i64, p: i64, A: ptr, b: ptr, y: ptr, out: ptr) -> None:
    """out = A y + b, matrices row by row."""
    for i in range(m):
        for c in range(p):
            out[i * p + c] = b[i * p + c]
        for j in range(m):
            a = A[i * m + j]
            if a != 0.0:
                for c in range(p):
                    out[i * p + c] += a * y[j * p + c]


@loop
def linear_steps(
    instants: i64, stride: i64, m: i64, p: i64, t: ptr, A: ptr, b: ptr, out: ptr, area: ptr
) -> None:
    """All steps, from the first block of `out` on.

    A step is twice `stride` intervals; `area` has room for three blocks of m p.
    """
    size = m * p
    slope = area
    y = at(area, size)
    total = at(area, 2 * size)
    for step in range((instants - 1) // (2 * stride)):
        k = 2 * stride * step
        h = t[k + 2 * stride] - t[k]
        here = at(out, step * size)
        for i in range(size):
            total[i] = 0.0
            y[i] = here[i]
        for stage in range(4):
            where = k + stride * ((stage + 1) // 2)
            rate(m, p, at(A, where * m * m), at(b, where * size), y, slope)
            weight = 1.0 if stage == 0 or stage == 3 else 2.0
            reach = h if stage == 2 else 0.5 * h
            for i in range(size):
                total[i] += weight * slope[i]
                y[i] = here[i] + reach * slope[i]
        for i in range(size):
            here[size + i] = here[i] + h / 6.0 * total[i]


@cache
def _compiled() -> CompiledLoops:
    return compile_loops([linear_steps])


def follow_linear(A: Array, b: Array, first: Array, t: Array, stride: int = 1) -> Array:
    """y at every second one of `stride` intervals, shape (steps + 1, m, p).

    Args:
        A: shape (instants, m, m).
        b: shape (instants, m, p).
        first: y at the start, shape (m, p).
        t: the instants; an even number of `stride` intervals.
        stride: intervals that are half a step.
    """
    m, p = first.shape
    solution = np.zeros(((len(t) - 1) // (2 * stride) + 1, m, p))
    solution[0] = first
    inputs = [np.ascontiguousarray(x, dtype=float) for x in (t, A, b)]
    area = np.zeros(max(1, 3 * m * p))
    _compiled()[linear_steps](len(t), stride, m, p, *inputs, solution, area)
    return solution


@final
@dataclass(frozen=True)
class Table:
    """ẏ = A y + b at every instant, y = (ξ, δv); outputs C y + D, by parameter."""

    A: Array  # (instants, 2 nv, 2 nv)
    b: Array  # (instants, 2 nv, parameters)
    out_x: Array  # (instants, outputs, 2 nv)
    out_p: Array  # (instants, outputs, parameters)


def table_along(plan: Plan, rows: Array, chosen: Sequence[int]) -> Table:
    """The system (analysis-6) at every row (t, q, v, u) of a run."""
    nv, nc, n = plan.size("nv"), plan.size("nc"), len(rows)
    x = accelerations(plan, rows, redundancy(plan, rows))
    slopes = _blocks(plan, "d_residual", rows, x)
    tangent = _blocks(plan, "tangent", rows, x)
    r = {name: block.reshape(n, nv + nc, -1) for name, block in slopes.items()}
    by = np.concatenate([r["r_q"], r["r_v"], r["r_p"][:, :, list(chosen)]], axis=2)
    vdot = _solved(plan, rows, -by)
    nq, no = plan.size("nq"), len(plan.program.labels["outputs"])
    N, drift = (tangent[name].reshape(n, nq, nv) for name in ("N", "drift"))
    upper = np.concatenate([np.linalg.pinv(N) @ drift, np.broadcast_to(np.eye(nv), (n, nv, nv))], 2)
    none = np.zeros((n, nv, len(chosen)))
    out = {k: tangent[f"out_{k}"].reshape(n, no, -1 if no else 0) for k in "qvp"}
    return Table(
        A=np.concatenate([upper, vdot[:, :, : 2 * nv]], axis=1),
        b=np.concatenate([none, vdot[:, :, 2 * nv :]], axis=1),
        out_x=np.concatenate([out["q"], out["v"]], 2) if no else np.zeros((n, 0, 2 * nv)),
        out_p=out["p"][:, :, list(chosen)] if no else np.zeros((n, 0, len(chosen))),
    )


def _blocks(plan: Plan, entry: str, rows: Array, x: Array) -> dict[str, Array]:
    out, blocks, start = map_entry(plan.kernel, entry, rows, plan.parameters, x), {}, 0
    for name, size in plan.program.entry(entry).layout:
        blocks[name] = out[:, start : start + size]
        start += size
    return blocks


def _solved(plan: Plan, rows: Array, right: Array) -> Array:
    """v̇ of K (v̇, −λ) = right at every instant; rows that depend on each other are left out."""
    nv, nc, n = plan.size("nv"), plan.size("nc"), len(rows)
    terms = map_entry(plan.kernel, "terms", rows, plan.parameters)
    M = terms[:, : nv * nv].reshape(n, nv, nv)
    if not nc:
        return np.asarray(np.linalg.solve(M, right), dtype=float)
    G = terms[:, nv * nv : nv * nv + nc * nv].reshape(n, nc, nv)
    length = np.linalg.norm(G, axis=2, keepdims=True)
    scale = np.where(length > 1e-12 * np.max(length), length, 1.0)
    back = np.linalg.pinv(G / scale, rcond=1e-9)
    x = back @ (right[:, nv:] / scale)
    free = np.eye(nv) - back @ (G / scale)
    # on the free directions M x = f; across them nothing moves
    size = np.trace(M, axis1=1, axis2=2)[:, None, None] / nv
    inner = free @ M @ free + size * (np.eye(nv) - free)
    return np.asarray(x + free @ np.linalg.solve(inner, free @ (right[:, :nv] - M @ x)))


DIFFERENCES = (
    "Take differences of runs: simulate_batch(…, parameters={NAME: [p - δ, p + δ]}); or ask about "
    "one mode, its limit required with '=' where it is closed."
)
"""What would do where contacts close and open: an instant of an impact moves with a parameter."""


@final
@dataclass(frozen=True)
class Sensitivities:
    """Derivatives of a motion by parameters.

    Args:
        t: instants [s], every second one of the run.
        values: coordinates, then velocities, by parameter, shape (instants, 2 nv, parameters).
        outputs: of the outputs, shape (instants, outputs, parameters).
        labels: of coordinates and velocities.
        output_names: of the outputs.
        parameters: by which is differentiated.
        error: largest difference from the result with steps twice as long, over 15: relative.
    """

    t: Array
    values: Array
    outputs: Array
    labels: tuple[Label, ...]
    output_names: tuple[str, ...]
    parameters: tuple[str, ...]
    error: float

    def __getitem__(self, pair: tuple[str, str]) -> Array:
        """d label/d parameter over time: `sensitivities["A", "m"]`."""
        label, parameter = pair
        names = [x.name for x in self.labels]
        if parameter not in self.parameters:
            raise NamingError.unknown("parameter", parameter, self.parameters)
        k = self.parameters.index(parameter)
        if label in names:
            return self.values[:, names.index(label), k]
        if label in self.output_names:
            return self.outputs[:, self.output_names.index(label), k]
        raise NamingError.unknown("label", label, [*names, *self.output_names])

    def integral(self, output: str, parameter: str) -> float:
        """d/dp of the integral of an output over the run, by Simpson's rule."""
        from scipy.integrate import simpson

        return float(simpson(self[output, parameter], x=self.t))


def sensitivities(kernel: Kernel, run: Trajectory, parameters: Sequence[str] = ()) -> Sensitivities:
    """How a run changes with parameters of the mechanism.

    Args:
        kernel: of the mechanism that moved.
        run: recorded at even, small intervals (`every=…`), an even number of them; its start values
            are taken as given, not as formulas of the parameters.
        parameters: by name; all, if none is given.
    """
    names = [label.name for label in kernel.program.labels["p"]]
    for name in parameters:
        if name not in names:
            raise NamingError.unknown("parameter", name, names)
    chosen = [names.index(name) for name in parameters or names]
    _check_even(run)
    plan, rows = plan_along(kernel, run)
    check_inactive_along(plan, run, rows, "sensitivities", DIFFERENCES)
    table = table_along(plan, rows, chosen)
    state = plan.state
    first = start_change(local(kernel, state, parameters=plan.parameters), chosen)
    changes = follow_linear(table.A, table.b, first, run.t)
    even = len(run.t) % 4 == 1
    coarse = follow_linear(table.A, table.b, first, run.t, 2) if even else changes[::2]
    size = np.max(np.abs(changes), initial=1e-30)
    outputs = table.out_x[::2] @ changes + table.out_p[::2]
    speeds = kernel.program.labels["v"]
    return Sensitivities(
        t=run.t[::2],
        values=changes,
        outputs=outputs,
        labels=(*map(coordinate_label, speeds), *speeds),
        output_names=tuple(x.name for x in kernel.program.labels["outputs"]),
        parameters=tuple(names[k] for k in chosen),
        error=float(np.max(np.abs(changes[::2] - coarse), initial=0.0)) / 15 / size,
    )


def _check_even(run: Trajectory) -> None:
    steps = np.diff(run.t)
    if len(steps) < 4 or len(steps) % 2 or np.ptp(steps) > 1e-6 * np.max(steps):
        raise SimulationError(
            f"sensitivities follow a run of an even number of equal intervals; this one has "
            f"{len(steps)} from {np.min(steps, initial=np.inf):.3g} to "
            f"{np.max(steps, initial=0.0):.3g} s.",
            status="inconsistent",
            hint="Record with every=(until/2000), say.",
        )


def start_change(here: Local, chosen: Sequence[int]) -> Array:
    """(ξ, δv) at the start for a unit of each parameter, of least norm on the closures."""
    nv = here.nv
    tangent = here.tangent
    change = np.zeros((2 * nv, len(chosen)))
    if len(here.holonomic):
        pull = -tangent["phi_p"][:, chosen]
        change[:nv] = np.linalg.lstsq(here.holonomic, pull, rcond=1e-9)[0]
    if here.nc:
        pull = -tangent["rate_p"][:, chosen] - tangent["rate_q"] @ change[:nv]
        change[nv:] = np.linalg.lstsq(here.G, pull, rcond=1e-9)[0]
    return change
