"""Gradients of a run in reverse: one march back in time, whatever the number of variables.

A step of an explicit method from z = (q, v) over h, and the states inside it that are recorded,

    Z_i = z + h Σ_j a_ij k_j,   k_i = f(t + c_i h, Z_i),   z(θ) = z + h Σ_i b_i(θ) k_i,

takes weights w(θ) of these, those of its end at θ = 1, back to weights w of z, last stage first:

    κ_i = h (Σ_θ b_i(θ) w(θ) + Σ_j a_ji ζ_j),   ζ_i = (∂f/∂z)ᵀ κ_i,
    w = Σ_θ w(θ) + Σ_i ζ_i                                                        (reverse-1)

and gradients by u and p add up along the way, Σ_i (∂f/∂(u, p))ᵀ κ_i, by the entry `adjoint_motion`.
It is the derivative of the step itself, not of its limit. States at the ends of steps are those of
the run; the stages between them are computed again. Where there are closures, the state at the end
of each step is taken for its projection onto them (adjoint-2), as the run does.

Public names: Steps, steps_of, Swept, reverse_sweep, is_reversible, REVERSED.

Source: HAG00 (adjoints of Runge–Kutta methods); GW08 §3.2 (reverse mode).
Differs: states inside a step are weighted, too, by the interpolation of the method.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import SimulationError
from liaison.numeric import Array
from liaison.program import Kernel
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import at, f64, i64, iptr, kernel, loop, ptr
from liaison.program.loops.records import Record, address, size, sized
from liaison.simulation.plan.plan import Plan
from liaison.simulation.plan.timing import instants_of
from liaison.simulation.record.trajectory import Trajectory
from liaison.simulation.steps.rungekutta import Tableau
from liaison.simulation.steps.stepsize import BESIDE, TOGETHER

REVERSED = ("qdot", "forward", "adjoint_motion", "adjoint_closing")
"""Entries of a kernel that the march calls; the last one where there are closures."""


NEAR = 1e-9
"""Part of a step by which an instant may differ from its end and still be it."""


@final
class Sweep(Record):
    """A march back in time: method, parameters, stages, and weights of several goals."""

    nq: i64 = size()
    nv: i64 = size()
    nu: i64 = size()
    np: i64 = size()
    ns: i64 = size()
    nd: i64 = size()  # powers of θ in the interpolation
    goals: i64 = size()
    needed: i64  # stages without which there is no end of a step
    has_closures: i64
    qdot: kernel
    forward: kernel
    adjoint_motion: kernel
    adjoint_closing: kernel
    a: ptr = sized("ns", "ns")
    b: ptr = sized("ns")
    c: ptr = sized("ns")
    dense: ptr = sized("ns", "nd")
    u: ptr = sized("nu")
    p: ptr = sized("np")
    stage: ptr = sized("ns", "nq + nv")
    k: ptr = sized("ns", "nq + nv")
    pull: ptr = sized("ns", "nq + nv")
    x: ptr = sized("nq + nv")
    out: ptr = sized()
    w: ptr = sized("goals", "nq + nv")
    gradient: ptr = sized("goals", "nu + np")


@loop
def stages_again(s: Sweep, count: i64, t: f64, h: f64, z: ptr, scratch: ptr) -> None:
    """The first stages, and their rates, of the step over h from z."""
    n = s.nq + s.nv
    for i in range(count):
        own = s.stage[i]
        for m in range(n):
            own[m] = z[m]
        for j in range(i):
            weight = h * s.a[i, j]
            if weight != 0.0:
                for m in range(n):
                    own[m] += weight * s.k[j, m]
        rate = s.k[i]
        v = at(own, s.nq)
        when = t + s.c[i] * h
        s.qdot(when, own, v, s.u, s.p, s.x, rate, scratch)
        s.forward(when, own, v, s.u, s.p, s.x, s.out, scratch)
        for m in range(s.nv):
            rate[s.nq + m] = s.out[m]


@loop
def take_gradient(s: Sweep, goal: i64) -> None:
    """What an entry gives by u and p is added to the gradient of a goal."""
    n = s.nq + s.nv
    for m in range(s.nu + s.np):
        s.gradient[goal, m] += s.out[n + m]


@loop
def share(s: Sweep, i: i64, theta: f64) -> f64:
    """b_i(θ)."""
    c = 0.0
    for d in range(s.nd):
        c = (c + s.dense[i, s.nd - 1 - d]) * theta
    return c


@loop
def weigh_stage(
    s: Sweep, i: i64, count: i64, goal: i64, h: f64, first: i64, last: i64, theta: ptr, more: ptr
) -> f64:  # fmt: skip
    """κ_i into `s.x`, and Σ |κ_i|."""
    n = s.nq + s.nv
    w = s.w[goal]
    for m in range(n):
        total = s.b[i] * w[m]
        for j in range(i + 1, count):
            total += s.a[j, i] * s.pull[j, m]
        s.x[m] = total
    for k in range(first, last):
        c = share(s, i, theta[k]) if theta[k] < 1.0 else 0.0
        own = at(more, (k * s.goals + goal) * n)
        for m in range(n):
            s.x[m] += c * own[m]
    size = 0.0
    for m in range(n):
        s.x[m] = h * s.x[m]
        size += abs(s.x[m])
    return size


@loop
def step_back(
    s: Sweep, count: i64, goal: i64, t: f64, h: f64, first: i64, last: i64, theta: ptr, more: ptr,
    scratch: ptr,
) -> None:  # fmt: skip
    """Weights of a goal from the end of a step, and from the states inside it, to its beginning."""
    n = s.nq + s.nv
    w = s.w[goal]
    for back in range(count):
        i = count - 1 - back
        size = weigh_stage(s, i, count, goal, h, first, last, theta, more)
        for m in range(n):
            s.pull[i, m] = 0.0
        if size != 0.0:
            own = s.stage[i]
            when = t + s.c[i] * h
            s.adjoint_motion(when, own, at(own, s.nq), s.u, s.p, s.x, s.out, scratch)
            for m in range(n):
                s.pull[i, m] = s.out[m]
            take_gradient(s, goal)
    for i in range(count):
        for m in range(n):
            w[m] += s.pull[i, m]
    for k in range(first, last):
        if theta[k] < 1.0:
            for m in range(n):
                w[m] += more[(k * s.goals + goal) * n + m]


@loop
def end_back(
    s: Sweep, goal: i64, t: f64, z: ptr, first: i64, last: i64, theta: ptr, more: ptr, scratch: ptr
) -> None:  # fmt: skip
    """Weights of a goal at the end of a step, z, from behind its projection to before it."""
    n = s.nq + s.nv
    w = s.w[goal]
    for k in range(first, last):
        if theta[k] >= 1.0:
            for m in range(n):
                w[m] += more[(k * s.goals + goal) * n + m]
    if s.has_closures > 0:
        s.adjoint_closing(t, z, at(z, s.nq), s.u, s.p, w, s.out, scratch)
        for m in range(n):
            w[m] = s.out[m]
        take_gradient(s, goal)


@loop
def march_back(
    s: Sweep, steps: i64, begins: ptr, ends: ptr, states: ptr, firsts: iptr, theta: ptr, more: ptr,
    scratch: ptr,
) -> None:  # fmt: skip
    """Weights of all goals from the last instant to the first.

    Args:
        s: the march; its weights are zero to begin with.
        steps: of the run.
        begins: where they begin [s].
        ends: where they end [s].
        states: (q, v) at the first beginning and at all ends.
        firsts: the number of the first weighted state of each step, and how many there are.
        theta: where in its step each of them lies, 0 to 1.
        more: the weights, of each goal.
        scratch: work of the entries.
    """
    n = s.nq + s.nv
    for back in range(steps):
        i = steps - 1 - back
        t = begins[i]
        h = ends[i] - t
        first = firsts[i]
        last = firsts[i + 1]
        count = s.ns if last > first else s.needed
        end = at(states, (i + 1) * n)
        stages_again(s, count, t, h, at(states, i * n), scratch)
        for goal in range(s.goals):
            end_back(s, goal, ends[i], end, first, last, theta, more, scratch)
            step_back(s, count, goal, t, h, first, last, theta, more, scratch)


@cache
def _compiled() -> CompiledLoops:
    """The loops above as machine code, once a process."""
    return compile_loops([march_back])


@final
@dataclass(frozen=True, slots=True)
class Swept:
    """Gradients of some goals: by the first state, by inputs that are held, and by parameters.

    Attributes:
        q: shape (goals, nq).
        v: shape (goals, nv).
        u: shape (goals, nu).
        p: shape (goals, np).
    """

    q: Array
    v: Array
    u: Array
    p: Array


def is_reversible(tableau: Tableau) -> bool:
    """Whether a method is explicit, and so has a reverse march."""
    return tableau.scheme == "stages" and not tableau.is_implicit


@final
@dataclass(frozen=True, slots=True)
class Steps:
    """Steps of a run.

    Attributes:
        begins: where each begins [s].
        ends: where each ends [s].
        states: (q, v) at the first beginning and at all ends, shape (steps + 1, nq + nv).
    """

    begins: Array
    ends: Array
    states: Array


def steps_of(plan: Plan, run: Trajectory, u: Array, p: Array) -> Steps:
    """The steps of a run that recorded all of them.

    Args:
        plan: how it was run.
        run: recorded at every step.
        u: inputs, held.
        p: parameters.
    """
    t, places = np.unique(run.t, return_index=True)
    begins = t[:-1].copy()
    breaks = instants_of(plan.timed, plan.program, float(t[0]), float(t[-1]), p, u).breaks
    if plan.settings.tableau.is_adaptive and plan.settings.step is None and len(breaks):
        # a step that ended at such an instant goes on just after it: see `pass_breaks`
        near = TOGETHER * (t[-1] - t[0])
        after = np.searchsorted(breaks, begins + near + BESIDE * np.abs(begins), side="right") - 1
        instant = breaks[np.maximum(after, 0)]
        is_there = np.abs(begins - instant) <= near + 2 * BESIDE * np.abs(instant)
        beside = np.maximum(begins, instant + BESIDE * np.abs(instant))
        begins = np.where(is_there, beside, begins)
    return Steps(begins, t[1:], np.column_stack([run.q, run.v])[places])


def reverse_sweep(
    kernel: Kernel,
    tableau: Tableau,
    steps: Steps,
    weighted: tuple[Array, Array],
    held: tuple[Array, Array],
    *,
    is_compiled: bool = True,
) -> Swept:
    """Gradients of Σ weights · states by the first state, by inputs and by parameters.

    Args:
        kernel: machine code of the mechanism.
        tableau: of an explicit method.
        steps: of the run.
        weighted: instants [s] from the first to the last, in order, and weights of the states
            there, shape (instants, goals, nq + nv).
        held: inputs and parameters.
        is_compiled: False runs the loops as plain Python, for tests.

    Raises:
        SimulationError: the method is not explicit.
    """
    if not is_reversible(tableau):
        raise SimulationError(
            f"method {tableau.name!r} is not explicit: its steps have no reverse march.",
            hint="Take one of euler, rk4, dormand-prince and tsitouras.",
        )
    begins, ends, states = (
        np.ascontiguousarray(x, dtype=float) for x in (steps.begins, steps.ends, steps.states)
    )
    instants, weights = (np.ascontiguousarray(x, dtype=float) for x in weighted)
    sizes = kernel.program.sizes
    names = REVERSED if sizes["nc"] else REVERSED[:-1]
    if hasattr(kernel, "compile"):
        kernel.compile(*names)
    sweep = _sweep(kernel, tableau, weights.shape[1], names, held)
    which, theta = _places(steps, instants)
    firsts = np.searchsorted(which, np.arange(len(ends) + 1)).astype(np.int64)
    scratch = np.zeros(max(1, *map(kernel.work_size, names)))
    listed = (begins, ends, states.ravel(), firsts, theta, weights.ravel(), scratch)
    if is_compiled:
        call = _compiled().function(march_back)
        call(address(sweep), len(ends), *map(address, listed))
    else:
        march_back(sweep, len(ends), *listed)
    q, v = np.split(np.array(sweep.w), [sizes["nq"]], axis=1)
    u, p = np.split(np.array(sweep.gradient), [sizes["nu"]], axis=1)
    return Swept(q, v, u, p)


def _places(steps: Steps, instants: Array) -> tuple[NDArray[np.intp], Array]:
    """In which step each instant lies, and where: θ in 0 … 1, and 1 at the end of a step."""
    ends = steps.ends
    which = np.clip(np.searchsorted(ends, instants), 0, len(ends) - 1)
    theta = (instants - steps.begins[which]) / (ends - steps.begins)[which]
    # instants that differ from the beginning of a step by rounding alone are the end before
    early = (theta < NEAR) & (which > 0)
    which, theta = which - early, np.where(early, 1.0, theta)
    return which, np.ascontiguousarray(np.where(theta > 1 - NEAR, 1.0, np.maximum(theta, 0.0)))


def _sweep(
    kernel: Kernel,
    tableau: Tableau,
    goals: int,
    names: tuple[str, ...],
    held: tuple[Array, Array],
) -> Sweep:
    """The record that the march works on."""
    sizes, ns = kernel.program.sizes, tableau.stages
    dense = np.array([[float(x) for x in row] for row in tableau.dense])
    sweep = Sweep.new(
        {"out": max(map(kernel.out_size, names))},
        nq=sizes["nq"], nv=sizes["nv"], nu=sizes["nu"], np=sizes["np"], ns=ns, goals=goals,
        nd=dense.shape[1],
    )  # fmt: skip
    for i, row in enumerate(tableau.a):
        sweep.a[i, : len(row)] = [float(x) for x in row]
    sweep.b[:], sweep.c[:] = ([float(x) for x in y] for y in (tableau.b, tableau.c))
    sweep.dense[:] = dense
    sweep.needed = ns - 1 if ns > 1 and tableau.b[-1] == 0 else ns
    sweep.u[:], sweep.p[:] = held
    sweep.has_closures = int("adjoint_closing" in names)
    for name in names:
        sweep.ints[Sweep.fields[name].slot] = kernel.address(name)
    return sweep
