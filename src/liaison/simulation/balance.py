"""Balance of energy of a run: whether steps and tolerances explain what it misses.

The exact motion keeps T + U − work, so that only the errors of steps change it, and nothing later
makes a change larger. An adaptive step errs by tol_i = atol + rtol size_i in each coordinate, at
most, and so by

    2 Σ √(T · T(tol_i e_i)) + Σ |E(q ⊞ tol_i e_i) − E(q)|                         (balance-4)

where T(tol_i e_i) is the kinetic energy of that velocity alone (Cauchy and Schwarz in the metric
of M, which projection onto closures does not lengthen). Steps of a fixed size are explained where
half the step misses clearly less, and it is not much. Loaded where a coarser bound is exceeded.

Public names: suspicion. Source: docs/theory/energy.md.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from liaison.numeric import Array
from liaison.simulation.plan.plan import Plan, may_lose, scales
from liaison.simulation.record.trajectory import SUSPECT

from .machine import map_entry
from .outcome import GROWTH, Balance, Outcome, runs_away, safety

LOOKS = 64
"""Recorded states at which the bound of a step is evaluated."""

FIXED = (1e-14, 1e-12)
"""What rounding, projection and gaps leave of a coordinate in a step of a fixed size: relatively,
and in m or rad."""

MUCH = 0.2
"""Part of the energy turned over that no step explains."""

CLEARLY = 0.6
"""Part of what a run misses that half the step may miss, where its error converges."""

AGAIN = 100_000
"""Steps up to which a run is made again with half the step."""

AT_ONCE = 0.5
"""Part of what is missed that comes in one step, if it comes at once."""


def suspicion(
    plan: Plan, balance: Balance, rows: Array, halved: Callable[[], float] | None
) -> Outcome | None:
    """The end of a run whose balance is off unexplained; None where its steps explain it.

    Args:
        plan: of the run.
        balance: of the run.
        rows: recorded states (t, q, v, u).
        halved: what the run misses with half the step; None if it cannot be made again.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what runs away is beyond any bound
        outcome = _unexplained(plan, balance, rows, halved)
    if outcome is None and not plan.settings.is_adaptive and runs_away(balance):
        return Outcome(
            SUSPECT,
            f"energy grows from step to step to {balance.size:.3g} J at t = "
            f"{balance.t_jump:.6g} s, {_growth(balance)}by work that cannot be followed: the step "
            f"of {plan.settings.step:g} s is too long for the fastest motion. Take a shorter step, "
            "softer springs and motors, or an adaptive method.",
        )
    return outcome


def _unexplained(
    plan: Plan, balance: Balance, rows: Array, halved: Callable[[], float] | None
) -> Outcome | None:
    """The end of a run that misses more than its steps explain; None where they do."""
    worst, scale = balance.worst, balance.turned_over
    allowed = balance.rounding + explained(plan, balance.steps, rows)
    if worst <= allowed < np.inf:
        return None
    if (
        not plan.settings.is_adaptive
        and worst <= MUCH * scale
        and (halved is None or balance.steps > AGAIN or halved() <= CLEARLY * worst)
    ):
        return None
    part = f"{100 * worst / scale:.3g} % of what is turned over" if scale > 0 else "none is stored"
    where, cause, hint = _cause(plan, balance, allowed)
    return Outcome(
        SUSPECT,
        f"the balance of energy is off by {worst:.3g} J ({part}), {where}: {cause}. {hint}",
    )


def explained(plan: Plan, steps: int, rows: Array) -> float:
    """What tolerances of steps, and of a start that is brought onto what holds, explain [J]."""
    settings = plan.settings
    has_rows = bool(plan.size("nc")) or may_lose(plan)
    start = step_error(plan, rows[:1], 0.0, settings.projection.start) if has_rows else 0.0
    if not settings.is_adaptive:
        return start + steps * step_error(plan, rows, *FIXED)
    # accelerations meet closures up to `residual`
    rtol = max(settings.rtol, settings.residual) if plan.size("nc") else settings.rtol
    return start + safety(settings) * steps * step_error(plan, rows, rtol, settings.atol)


def step_error(plan: Plan, rows: Array, rtol: float, atol: float) -> float:
    """How much energy a step within its tolerances may miss [J]: the mean over recorded states."""
    picked = rows[np.unique(np.linspace(0, len(rows) - 1, LOOKS).astype(int))]
    nq, nv = plan.size("nq"), plan.size("nv")
    q, v = picked[:, 1 : 1 + nq], picked[:, 1 + nq : 1 + nq + nv]
    T, U = _energy(plan, picked)
    places = scales(plan)
    total = np.zeros(len(picked))
    for i in range(nv):
        alone = picked.copy()
        alone[:, 1 + nq : 1 + nq + nv] = 0.0
        alone[:, 1 + nq + i] = atol + rtol * np.abs(v[:, i])
        total += 2 * np.sqrt(np.abs(T * _energy(plan, alone)[0]))
        size = np.abs(q[:, places[i]]) if i in places else 1.0
        move = np.zeros((len(picked), nv))
        move[:, i] = atol + rtol * size
        moved = picked.copy()
        moved[:, 1 : 1 + nq] = map_entry(plan.kernel, "retract", picked, plan.parameters, move)
        total += np.abs(np.subtract(sum(_energy(plan, moved)), T + U))
    return float(np.mean(total))


def _energy(plan: Plan, rows: Array) -> tuple[Array, Array]:
    """T and U at rows."""
    out = map_entry(plan.kernel, plan.watch[0], rows, plan.parameters)
    return out[:, 0], out[:, 1]


def _cause(plan: Plan, balance: Balance, allowed: float) -> tuple[str, str, str]:
    """Where a balance is lost, by what it may be, and what to do."""
    step = plan.settings.step
    if balance.jump >= AT_ONCE * balance.worst:
        long = "" if step is None else f"the step of {step:g} s is too long there, or "
        return (
            f"at once at t = {balance.t_jump:.6g} s",
            f"{long}velocities or positions were changed within one step, as where closures lose "
            "rank or an impact gives energy",
            "`liaison check` names singular positions; start away from them, or take shorter "
            "steps there.",
        )
    begins = f"from t = {_begin(balance, allowed):.6g} s on"
    if step is not None:
        return (
            begins,
            f"the step of {step:g} s is too long for the fastest motion",
            "Take a shorter step, or an adaptive method.",
        )
    work = "" if plan.watch[0] == "energy" else ", or loads and the work that is counted"
    return (
        begins,
        f"accelerations do not agree with what T and U say{work}",
        "Compare with another formalism and smaller rtol and atol; `liaison verify` names the "
        "theorem that fails.",
    )


def _growth(balance: Balance) -> str:
    """From when on it grows, by the trace."""
    trace = balance.trace
    if trace is None or len(trace) < GROWTH:
        return ""
    sizes = np.abs(trace[:, 1])
    grows = sizes[1:] >= 2 * sizes[:-1]
    k = len(grows) - int(np.argmin(grows[::-1])) if not grows.all() else 0
    return f"from t = {trace[k, 0]:.6g} s on, "


def _begin(balance: Balance, allowed: float) -> float:
    """The first instant of the trace that is not explained; that of the worst without a trace."""
    if balance.trace is None:
        return balance.t_worst
    late = balance.trace[balance.trace[:, 1] > allowed, 0]
    return float(late[0]) if late.size else balance.t_worst
