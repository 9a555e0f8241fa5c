"""Motion first, forces after: kinematic runs of driven mechanisms, and the efforts a motion needs.

A mechanism that its drives hold entirely moves without being integrated: at every instant Φ(q, t)
= 0 by Newton's method, G v = ν, G v̇ = γ. Where relations of rates hold it, positions are the
integrals of its velocities, in the steps of a run. The efforts of given drives along any motion
follow from

    M v̇ + h − τ(u) = Gᵀ λ,   u sought (and λ)                                   (analysis-7)

Public names: kinematic_run, Efforts, inverse_dynamics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from liaison.analyse.rest.local import RANK, Local, local
from liaison.analyse.rest.open_sides import check_inactive, check_inactive_along
from liaison.analyse.rest.rest_steps import retracted
from liaison.errors import ModelError, NamingError, SimulationError
from liaison.lazy import Shown
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.simulation import Series, Settings, Trajectory, simulate
from liaison.simulation.machine import map_entry
from liaison.simulation.plan.plan import Plan, parameters_of, plan_of
from liaison.simulation.reactions import accelerations as by_equations
from liaison.simulation.reactions import redundancy
from liaison.simulation.record.trajectory import DONE
from liaison.simulation.report import equations_identity, inputs_series, meta_of, series_of

from .along import plan_along

CLOSED = 1e-12
"""Φ to be reached by Newton's method [m, rad]."""

HALVINGS = 12
"""How often the way to the next instant is halved where Newton's method does not reach it."""

SERIES = ("energy", "outputs", "poses", "closure", "lam", "accelerations")


def kinematic_run(
    kernel: Kernel,
    state: State,
    times: Sequence[float] | Array,
    *,
    inputs: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
    series: Sequence[str] = SERIES,
    stop: Any = None,
    rtol: float = 1e-10,
    atol: float = 1e-12,
) -> Trajectory:
    """The motion of a mechanism whose drives leave it no freedom.

    λ of a drive's row (series "lam") is the effort it takes. Events are recorded, and stop it, as
    in a run by `simulate`.

    Args:
        kernel: of a mechanism with imposed motions.
        state: where it begins.
        times: instants [s], increasing.
        inputs: values by name instead of the defaults.
        parameters: values by name instead of the defaults.
        series: what to evaluate, as for `simulate`.
        stop: what ends it, as for `simulate`.
        rtol: error allowed a step where relations of rates are integrated, or events located.
        atol: the same, absolute.

    Raises:
        ModelError: velocities are left free.
        SimulationError: some instant is not reached.
    """
    values = parameters_of(kernel.program, parameters)
    here = _moving(local(kernel, state, inputs=inputs, parameters=values))
    program = kernel.program
    of_rates = program.sizes["nc"] > program.sizes["nphi"]
    march: Trajectory | None = None
    if of_rates or stop is not None or program.facts.get("events"):
        march = _marched(here, times, of_rates, stop=stop, rtol=rtol, atol=atol)
        times = march.t
    table = _integrated(here, march) if march is not None and of_rates else _closed(here, times)
    check_inactive(kernel, table, values, "kinematic_run")
    plan = plan_of(kernel, state, state.t, Settings(), inputs=inputs, parameters=parameters)
    nq, nv = plan.size("nq"), plan.size("nv")
    return Trajectory(
        name=kernel.program.name,
        t=table[:, 0],
        q=table[:, 1 : 1 + nq],
        v=table[:, 1 + nq : 1 + nq + nv],
        labels=kernel.program.labels,
        series=inputs_series(plan, table) | series_of(plan, table, series),
        message="moved by its drives" + ("" if march is None else f"; {march.message}"),
        events=() if march is None else march.events,
        status=DONE if march is None else march.status,
        meta=meta_of(plan) | {"method": "kinematic", "until": float(table[-1, 0])},
    )


def _marched(
    here: Local, times: Sequence[float] | Array, of_rates: bool, **options: Any
) -> Trajectory:
    """The motion in steps of a run, with its events."""
    names = {x: [label.name for label in here.kernel.program.labels[x]] for x in "up"}
    values = {x: dict(zip(names[x], getattr(here, x).tolist(), strict=True)) for x in "up"}
    try:
        return simulate(
            here.kernel, here.state, float(times[-1]), every=np.asarray(times, dtype=float),
            inputs=values["u"], parameters=values["p"], series=(), **options,
        )  # fmt: skip
    except SimulationError:
        if not of_rates:
            _closed(here, times)  # says it better
        raise


def _closed(here: Local, times: Sequence[float] | Array) -> Array:
    """Rows (t, q, v, u) at instants by Newton's method on the closures."""
    rows = []
    for t in times:
        here = _reached(here, float(t), HALVINGS)
        here = _moving(here)
        rows.append(np.concatenate([[t], here.state.q, here.state.v, here.u]))
    return np.array(rows)


def _integrated(here: Local, march: Trajectory) -> Array:
    """The same where positions are integrals; the drives leave no velocity free anywhere."""
    rows = []
    for t, q, v in zip(march.t, march.q, march.v, strict=True):
        there = _moving(replace(here, state=replace(here.state, t=t, q=q, v=v)))
        rows.append(np.concatenate([[t], q, there.state.v, here.u]))
    return np.array(rows)


def _reached(here: Local, t: float, halvings: int) -> Local:
    """The positions at another instant, from these; half the way first where it is too far."""
    guess = _predicted(here, t)
    for _ in range(12):
        if _gap(guess) <= CLOSED:
            return guess
        step = guess.back
        if not np.all(np.isfinite(step)) or np.max(np.abs(step)) > 1.0:
            break
        guess = retracted(guess, step)
    if _gap(guess) <= 1e3 * CLOSED:
        return guess
    if not halvings:
        raise SimulationError(
            f"the drives cannot lead the mechanism beyond t = {here.state.t:.9g} s: "
            f"{_gap(guess):.2g} is missing at {t:.9g} s.",
            status="not reached",
            t=here.state.t,
            hint="They ask for a position out of reach, or lead through a singular one.",
        )
    middle = (here.state.t + t) / 2
    half = _moving(_reached(here, middle, halvings - 1))
    return _reached(half, t, halvings - 1)


def _gap(here: Local) -> float:
    return float(np.max(np.abs(here.phi), initial=0.0))


def _predicted(here: Local, t: float) -> Local:
    """Carried on at the velocities it has."""
    ahead = retracted(here, (t - here.state.t) * here.state.v)
    return replace(ahead, state=replace(ahead.state, t=t))


def _moving(here: Local) -> Local:
    """The same positions with the velocities of the drives."""
    v, _, rank, _ = np.linalg.lstsq(here.scaled_G, here.scaled_nu, rcond=RANK)
    if rank < here.nv:
        free = here.nv - int(rank)
        names = ", ".join(here.kernel.program.labels["v"][j].name for j in here.velocities.chosen)
        raise ModelError(
            f"{free} velocities are left free at t = {here.state.t:g} s ({names}); a kinematic run "
            "needs drives that leave none.",
            hint="Impose further coordinates, or simulate.",
        )
    return replace(here, state=replace(here.state, v=np.asarray(v, dtype=float)))


@final
@dataclass(frozen=True, repr=False)
class Efforts(Shown):
    """What drives must do for a motion.

    Args:
        values: series (instants, drives); of least norm where `undetermined`.
        missing: largest generalised force that they cannot give, relative to the largest needed,
            at each instant: 0 where the motion can be driven so. Bounds of motors count.
        internal: how many combinations of the efforts move nothing, at each instant.
    """

    t: Array
    values: Series
    missing: Array
    internal: Array

    @property
    def is_solvable(self) -> bool:
        """True if the drives can bring about the motion at every instant."""
        return bool(np.max(self.missing, initial=0.0) <= 1e-6)

    def __getitem__(self, drive: str) -> Array:
        """The effort of one drive over time."""
        names = self.values.axes["drive"]
        if drive not in names:
            raise NamingError.unknown("drive", drive, names)
        return self.values.values[:, names.index(drive)]


def inverse_dynamics(
    kernel: Kernel,
    run: Trajectory,
    drives: Sequence[str],
    *,
    accelerations: Array | None = None,
    linear: Kernel | None = None,
) -> Efforts:
    """The efforts of drives that bring about a motion.

    Args:
        kernel: of the mechanism; its other loads act as they do.
        run: the motion; only its positions, velocities and instants count.
        drives: inputs, or coordinates on which an effort is thought of; what a drive among the
            inputs did in the run is set aside.
        accelerations: v̇ at every instant; by default the series of the run, or those of the
            kernel at the states, if the run was made with these equations.
        linear: of the same mechanism, its motors without bounds, by which efforts are found.

    Raises:
        SimulationError: the run has no accelerations, and was made with other equations.
    """
    plan, rows = plan_along(kernel, run)
    check_inactive_along(plan, run, rows, "inverse_dynamics")
    nv, nc, n = plan.size("nv"), plan.size("nc"), len(rows)
    vdot = _accelerations(plan, run, rows) if accelerations is None else accelerations
    if np.shape(vdot) != (n, nv):
        raise SimulationError(
            f"accelerations have shape {np.shape(vdot)}; the run has {n} instants and {nv} "
            "velocities.",
            status="inconsistent",
        )
    ways = [_way(kernel, name) for name in drives]
    for kind, k in ways:
        if kind == "u":
            rows[:, 1 + plan.size("nq") + nv + k] = 0.0
    x = np.hstack([vdot, np.zeros((n, nc))])
    need = map_entry(linear or kernel, "inverse", rows, plan.parameters, x)
    slopes = map_entry(linear or kernel, "d_residual", rows, plan.parameters, x)
    by_u = slopes[:, 2 * (nv + nc) * nv :][:, : (nv + nc) * plan.size("nu")]
    by_u = by_u.reshape(n, nv + nc, plan.size("nu"))[:, :nv]
    terms = map_entry(kernel, "terms", rows, plan.parameters)
    G = terms[:, nv * nv : nv * nv + nc * nv].reshape(n, nc, nv)
    unit = np.eye(nv)
    columns = [-by_u[:, :, k] if kind == "u" else np.tile(unit[k], (n, 1)) for kind, k in ways]
    B = np.stack(columns, axis=2)
    efforts = _efforts(run.t, need, B, G, tuple(drives))
    # once more with these inputs: a motor may have bounds, or not act in proportion
    values = efforts.values.values
    acting = [k for k, (kind, _) in enumerate(ways) if kind == "u"]
    for k in acting:
        rows[:, 1 + plan.size("nq") + nv + ways[k][1]] = values[:, k]
    received = need - map_entry(kernel, "inverse", rows, plan.parameters, x)
    meant = np.einsum("njk,nk->nj", B[:, :, acting], values[:, acting])
    return replace(
        efforts,
        values=replace(efforts.values, unit=_units(kernel, ways)),
        missing=np.maximum(efforts.missing, _part(meant - received, need, G)),
    )


def _part(force: Array, need: Array, G: Array) -> Array:
    """What of a generalised force acts on the motion, relative to the largest needed."""
    sizes = [np.max(np.abs(_beside(g).T @ x), initial=0.0) for x, g in zip(force, G, strict=True)]
    most = np.maximum(np.max(np.abs(need), axis=1, initial=0.0), 1e-30)
    return np.asarray(np.asarray(sizes) / most)


def _units(kernel: Kernel, ways: Sequence[tuple[str, int]]) -> tuple[str, ...]:
    """Of the efforts of drives: of an input its own, along a coordinate N or N·m."""
    labels = kernel.program.labels
    forces = {"rad/s": "N*m", "m/s": "N"}
    return tuple(
        labels["u"][k].unit if kind == "u" else forces.get(labels["v"][k].unit, "")
        for kind, k in ways
    )


def _efforts(t: Array, need: Array, B: Array, G: Array, drives: tuple[str, ...]) -> Efforts:
    """B u + Gᵀ λ = need, least-norm u and λ; the residual, and the undetermined directions."""
    n, _, count = B.shape
    values, mask = np.zeros((n, count)), np.zeros((n, count), dtype=bool)
    missing, internal = np.zeros(n), np.zeros(n, dtype=int)
    for k in range(n):
        Z = _beside(G[k])
        efforts, _, rank, _ = np.linalg.lstsq(Z.T @ B[k], Z.T @ need[k], rcond=RANK)
        values[k], internal[k] = efforts, count - rank
        left = Z.T @ (need[k] - B[k] @ efforts)
        missing[k] = np.max(np.abs(left), initial=0.0) / max(np.max(np.abs(need[k])), 1e-30)
        if rank < count:
            loose = np.linalg.svd(Z.T @ B[k])[2][rank:]
            mask[k] = np.max(np.abs(loose), axis=0) > 1e-6
    series = Series(values, "", {"drive": drives}, mask if np.any(mask) else None)
    return Efforts(t, series, missing, internal)


def _beside(G: Array) -> Array:
    """Columns that span what the rows of G leave free."""
    if not len(G):
        return np.eye(G.shape[1])
    length = np.linalg.norm(G, axis=1, keepdims=True)
    _, s, Vt = np.linalg.svd(G / np.where(length > 0, length, 1.0))
    return np.asarray(Vt[int(np.count_nonzero(s > RANK * s[0])) :].T)


def _way(kernel: Kernel, name: str) -> tuple[str, int]:
    """A drive as an input or as a velocity that an effort acts along."""
    labels = kernel.program.labels
    inputs, speeds = ([x.name for x in labels[key]] for key in "uv")
    if name in inputs:
        return "u", inputs.index(name)
    if f"{name}'" in speeds or name in speeds:
        return "v", speeds.index(name if name in speeds else f"{name}'")
    raise NamingError.unknown("drive", name, [*inputs, *(x.removesuffix("'") for x in speeds)])


def _accelerations(plan: Plan, run: Trajectory, rows: Array) -> Array:
    """v̇ of a run, as recorded or by its own equations at its states."""
    if "accelerations" in run.series:
        return run.series["accelerations"].values
    own = run.meta.get("equations")
    if not own or own != equations_identity(plan.program):
        raise SimulationError(
            f"the run {run.name!r} has no series 'accelerations', and it was not made with the "
            "equations of this mechanism, which would give them: another load, number or imposed "
            "motion acted in it.",
            status="inconsistent",
            hint='Run with series=("accelerations",), or give accelerations=….',
        )
    return by_equations(plan, rows, redundancy(plan, rows))[:, : plan.size("nv")]
