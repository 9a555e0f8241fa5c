"""Table: the linear system of small changes at every instant of a run.

Public names: Table, table_along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np

from liaison.numeric import Array
from liaison.simulation.machine import map_entry
from liaison.simulation.plan.plan import Plan
from liaison.simulation.reactions import accelerations, redundancy


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
    out, found, start = map_entry(plan.kernel, entry, rows, plan.parameters, x), {}, 0
    for name, size in plan.program.entry(entry).layout:
        found[name] = out[:, start : start + size]
        start += size
    return found


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
