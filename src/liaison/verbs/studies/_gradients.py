"""Exact gradients of measures by parameters and starts: of driven motions, and of all others.

Where the closures and drives leave no degree of freedom, positions change with parameters as the
closures say, at every instant alone (analysis-6):

    G_h ξ = −∂Φ/∂p,   G δv = −∂(G v − ν)/∂p − ∂(G v − ν)/∂q ξ

Otherwise the change of the motion is integrated beside it (variation-1), all values in one batch of
compiled runs; or, where values are many and measures few, weights of the measures are taken back
along the steps of the run (reverse-1), all values at once: what takes fewer operations.

Public names: Gradients, differences, check_choice, Mode, EXACT.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, final

import numpy as np

from liaison.analyse.along.sensitivities import Jumps, Varied, jumps_of, start_change, varied
from liaison.analyse.rest.local import RANK, local
from liaison.analyse.rest.open_sides import check_inactive_along
from liaison.errors import ArgumentError, NamingError, SimulationError
from liaison.expr import count_operations
from liaison.numeric import Array, State
from liaison.simulation.adjoint import Steps, is_reversible, reverse_sweep, steps_of
from liaison.simulation.batch.run import simulate_batch
from liaison.simulation.plan.timing import knots_of
from liaison.simulation.record.trajectory import DONE, FAILED, Trajectory
from liaison.simulation.steps.rungekutta import TSITOURAS
from liaison.studies.measures import Samples
from liaison.units import unit_of

from ._asked import Asked
from ._family import INPUT, PARAMETER, START, Family

Mode: TypeAlias = Literal["exact", "forward", "adjoint"]
"""How exact gradients are computed: as is quicker, with the motion, or back in time."""

EXACT = ("exact", "forward", "adjoint")
"""All of them."""

DIFFERENCES = 'Use gradient="differences", or take differences of a study of values nearby.'
"""How to fix it where an instant at which the motion changes moves with the values."""

STEP = 6e-6
"""Part of the range of a value by which differences move it: the cube root of rounding."""

FEW = 3
"""Values up to which they are not many: operations are not counted."""


@final
class Gradients:
    """Measures of one run and their derivatives by the values that vary.

    Args:
        asked: measures, and what runs share.
        family: pair ready.
        mode: how.

    Raises:
        ArgumentError: an input varies, an input is a formula, or a start is part of an attitude.
    """

    def __init__(self, asked: Asked, family: Family, mode: Mode = "exact") -> None:
        self.asked, self.family, self.mode = asked, family, mode
        recipe, program = asked.recipe, family.kernel.program
        self._names = [x.name for x in program.labels["p"]]
        pairs = list(enumerate(zip(recipe.varied, recipe.kinds, strict=True)))
        self._chosen = [self._names.index(x) for _, (x, kind) in pairs if kind == PARAMETER]
        self._of_parameters = [k for k, (_, kind) in pairs if kind == PARAMETER]
        self._moved = [x for _, (x, kind) in pairs if kind == START]
        self._of_starts = [k for k, (_, kind) in pairs if kind == START]
        self._check([x for _, (x, kind) in pairs if kind == INPUT])
        self._outputs = [x.name for x in program.labels.get("outputs", ())]

    def _check(self, inputs: list[str]) -> None:
        """Rejects values by which there are no exact gradients."""
        if inputs:
            raise ArgumentError(
                f"{inputs[0]!r} is an input: exact gradients are by parameters and starts.",
                hint=f'Use gradient="differences", or a parameter that {inputs[0]!r} takes.',
            )
        if self.family.plan.inputs.formulas:
            raise ArgumentError(
                "exact gradients are not there where inputs are formulas.",
                hint='Write them into the text, or use gradient="differences".',
            )
        labels, plain = self.family.kernel.program.labels, set()
        for chart in self.family.kernel.program.facts.get("charts", ()):
            q, v = labels["q"][chart.q], labels["v"][chart.v]
            plain |= {x.name for x in q} if len(q) == len(v) else set()
        for name in self._moved:
            if name not in {*plain, *(x.name for x in labels["v"])}:
                raise ArgumentError(
                    f"{name!r} is one of several numbers of an attitude: no exact gradient is by "
                    "one of them alone.",
                    hint='Use gradient="differences".',
                )

    def __call__(self, values: Array) -> tuple[Array, Array]:
        """Measures, shape (m,), and derivatives, shape (m, names); NaN where the run failed."""
        asked, pair = self.asked, self.family.run(values)
        count = len(asked.measures), len(values)
        if pair is None or pair[0].status == FAILED:
            return np.full(count[0], np.nan), np.full(count, np.nan)
        run, p = pair
        if run.status != DONE:
            raise ArgumentError(
                f"there is no exact gradient: an event ends the run at t = {run.t[-1]:.6g} s, an "
                "instant that moves with the values.",
                hint=DIFFERENCES,
            )
        here = _Here(self, run, p, values)
        numbers, rows = here.table()
        scales = np.array([_unit(x.unit) for x in asked.measures])
        table = rows.reshape(count) / scales[:, None]
        measures = numbers / scales
        return measures if np.all(np.isfinite(table)) else np.full(count[0], np.nan), table

    @cached_property
    def is_reverse_shorter(self) -> bool:
        """Whether one march back for each measure takes fewer operations than all changes."""
        values, goals = len(self.asked.recipe.varied), len(self.asked.measures)
        program = self.family.kernel.program
        if values <= max(FEW, goals) or "variation" not in program.entries:
            return False
        forward, change, back = (
            sum(count_operations(program.entry(x).outputs).values())
            for x in ("forward", "variation", "adjoint_motion")
        )
        return forward + goals * back < values * (forward + change)

    @cached_property
    def jumps(self) -> Jumps:
        """Of the accelerations, and where they bend."""
        kernel = self.family.kernel
        return jumps_of(kernel, knots=knots_of(kernel.program, self.family.plan.inputs))

    @cached_property
    def varied(self) -> Varied:
        """The motion with its change."""
        return varied(self.family.kernel, {}, with_outputs=False)

    def by_names(self, of_parameters: Array, of_starts: Array | float = 0.0) -> Array:
        """Columns in the order of the values that vary."""
        shape = (*of_parameters.shape[:-1], len(self.asked.recipe.varied))
        table = np.zeros(shape)
        table[..., self._of_parameters] = of_parameters
        table[..., self._of_starts] = of_starts
        return table

    def place(self, text: str) -> int:
        """The number of the output that a formula is."""
        if text not in self.asked.outputs:
            raise ArgumentError(f"{text!r} has no exact gradient: it is no formula.")
        return self._outputs.index(self.asked.outputs[text])

    def tangents(self, run: Trajectory, p: Array) -> dict[str, Array]:
        """Derivatives of closures and outputs at every instant, as matrices."""
        kernel, n = self.family.kernel, len(run.t)
        sizes = kernel.program.sizes
        q, v = np.ascontiguousarray(run.q.T), np.ascontiguousarray(run.v.T)
        blocks: dict[str, Array] = {}
        for entry in ("tangent", "terms") if sizes["nc"] else ("tangent",):
            out = kernel.batch(entry, run.t, q=q, v=v, u=self.family.held, p=p).T
            start = 0
            for name, size in kernel.program.entry(entry).layout:
                blocks[name] = out[:, start : start + size]
                start += size
        nv, nc, np_ = sizes["nv"], sizes["nc"], len(self._names)
        count = len(self._outputs)
        shapes = {
            "N": (-1, nv), "rate_q": (nc, nv), "rate_p": (nc, np_), "phi_p": (sizes["nphi"], np_),
            "out_q": (count, nv), "out_v": (count, nv), "out_p": (count, np_), "G": (nc, nv),
        }  # fmt: skip
        rows = {name: blocks[name].reshape(n, *x) for name, x in shapes.items() if name in blocks}
        own = {x: self.by_names(rows[x][..., self._chosen]) for x in ("rate_p", "phi_p", "out_p")}
        return {**rows, **own}

    def first_change(self, state: State, p: Array) -> Array:
        """(ξ, δv) at the start by each of the values, shape (2 nv, names)."""
        kernel, recipe = self.family.kernel, self.asked.recipe
        starts = {**kernel.program.facts.get("starts", {})}
        starts |= {x: {} for x in (*recipe.start, *self._moved)}
        kept = {x: y for x, y in starts.items() if x not in recipe.guess or x in self._moved}
        first = start_change(local(kernel, state, parameters=p), self._chosen, kept, self._moved)
        count = len(self._chosen)
        return self.by_names(first[:, :count], first[:, count:])


@final
class _Here:
    """One run and what is differentiated there."""

    def __init__(self, of: Gradients, run: Trajectory, p: Array, values: Array) -> None:
        self.of, self.run, self.p, self.values = of, run, p, values
        self.u = of.family.held
        self.rows = of.tangents(run, p)
        labels = {x: run.labels[x] for x in "qv"}
        self.start = State(float(run.t[0]), run.q[0], run.v[0], labels)

    def table(self) -> tuple[Array, Array]:
        """Measures, and their derivatives by the values, shape (measures, names)."""
        of = self.of
        closed = None if of.mode == "adjoint" else self._closed()
        if closed is None:
            states = np.column_stack(
                [self.run.t, self.run.q, self.run.v, np.tile(self.u, (len(self.run.t), 1))]
            )
            how = of.family.plan, self.run, states, "an exact gradient", DIFFERENCES, self.p
            check_inactive_along(*how)
            self._check_corners()
            if of.mode == "adjoint" or (of.mode == "exact" and of.is_reverse_shorter):
                reverse = self._reversed()
                if reverse is not None:
                    return reverse
        xi, dv = closed or self._integrated()
        rows, names = self.rows, np.eye(len(self.values))
        slopes = np.asarray(rows["out_q"] @ xi + rows["out_v"] @ dv + rows["out_p"])
        return self._measured(lambda text, w: _weighted(w, slopes[:, of.place(text)]), names)

    def _check_corners(self) -> None:
        """Rejects a motion that a drive pushes at an instant: velocities jump there."""
        for event in self.run.events:
            if event.what == "impulse":
                raise SimulationError(
                    f"there is no exact gradient: the rate of {event.name!r} jumps at t = "
                    f"{event.t:.6g} s, and velocities with it.",
                    status="inconsistent",
                    t=event.t,
                    hint=f"Let the drive change its rate within a time. {DIFFERENCES}",
                )

    def _measured(self, slope: Callable[[str, Array], Array], names: Array) -> tuple[Array, Array]:
        """Measures and their changes: those of samples by `slope`, of parameters by `names`."""
        of, p, y = self.of, self.p, self.run.series["outputs"].values
        asked = of.asked
        samples = Samples(
            self.run.t[None], lambda text: y[None, :, of.place(text)], _no_events, _no_events,
            lambda name: p[[of._names.index(name)]],
        )  # fmt: skip

        def own(name: str) -> Array:
            varied = asked.recipe.varied
            return names[varied.index(name)] if name in varied else np.zeros(names.shape[1])

        pairs = [x.gradient(samples, slope, own) for x in asked.measures]
        rows = [np.broadcast_to(x, names.shape[1]) for _, x in pairs]
        numbers = np.array([x for x, _ in pairs], dtype=float)
        return numbers, np.array(rows, dtype=float).reshape(len(pairs), names.shape[1])

    def _closed(self) -> tuple[Array, Array] | None:
        """ξ and δv where the closures determine both at every instant; None elsewhere."""
        rows = self.rows
        nphi, nv = rows["phi_p"].shape[1], rows["N"].shape[2]
        if nphi < nv or "G" not in rows:
            return None
        U, s, Vt = np.linalg.svd(rows["G"][:, :nphi], full_matrices=False)
        if not np.all(s[:, -1] > RANK * s[:, 0]):
            return None
        back = (Vt.transpose(0, 2, 1) / s[:, None, :]) @ U.transpose(0, 2, 1)
        xi = -back @ rows["phi_p"]
        pull = rows["rate_p"] + rows["rate_q"] @ xi
        whole = back if nphi == rows["G"].shape[1] else np.linalg.pinv(rows["G"], rcond=RANK)
        return np.asarray(xi), np.asarray(-whole @ pull)

    def _integrated(self) -> tuple[Array, Array]:
        """ξ and δv by one batch: the motion with its change by each value."""
        of, run, state, own = self.of, self.run, self.start, self.of.varied
        recipe = of.asked.recipe
        first = of.first_change(state, self.p)
        nv, scales = own.own, np.where(self.values != 0, np.abs(self.values), 1.0)
        N = self.rows["N"][0]
        moving = [
            State(
                state.t, state.q,
                np.concatenate([state.v, N @ first[:nv, k] * s, first[nv:, k] * s]),
            )
            for k, s in enumerate(scales)
        ]  # fmt: skip
        names = [x.name for x in own.kernel.program.labels["p"]]
        values = dict(zip(names, self.p.tolist(), strict=False))
        directions = {}
        for c, k in zip(of._of_parameters, of._chosen, strict=True):
            column = np.zeros(len(scales))
            column[c] = scales[c]
            directions[names[len(self.p) + k]] = column
        how = {k: x for k, x in recipe.options.items() if k in ("rtol", "atol", "max_step")}
        moved = simulate_batch(
            own.kernel, moving, recipe.until, parameters={**values, **directions}, every=run.t,
            series=(), on_failure="return", max_steps=1000 + 100 * run.counts["steps"], **how,
        )  # fmt: skip
        if not np.all(moved.success):  # the change grows out of bounds
            moved = replace(moved, v=np.full_like(moved.v, np.nan))
        v, dq, dv, _ = own.split(moved.v)
        if np.all(moved.success):
            u = np.tile(self.u, (len(run.t), 1))
            own.jumps.check(np.column_stack([run.t, moved.q[0], v[0], u]), self.p)
        back = np.linalg.pinv(self.rows["N"])
        xi = np.einsum("nij,knj->nik", back, dq) / scales
        return xi, np.einsum("knj->njk", dv) / scales

    def _reversed(self) -> tuple[Array, Array] | None:
        """Measures and derivatives by a march back; None where it is no gradient."""
        of, run, rows, n = self.of, self.run, self.rows, len(self.run.t)
        outputs, names = len(of._outputs), len(self.values)
        own = np.hstack([np.zeros((names, n * outputs)), np.eye(names)])

        def slope(text: str, w: Array) -> Array:
            gathered = np.zeros((n, outputs))
            gathered[:, of.place(text)] = w
            return np.append(gathered, np.zeros(names))

        measures, table = self._measured(slope, own)
        weights = table[:, : n * outputs].reshape(len(table), n, outputs)
        used = np.any(weights != 0, axis=0)  # what has no derivative elsewhere does not matter
        out = {x: np.where(used[:, :, None], rows[x], 0.0) for x in ("out_q", "out_v", "out_p")}
        by_xi, by_v = (np.einsum("mno,nok->nmk", weights, out[x]) for x in ("out_q", "out_v"))
        more = np.concatenate([by_xi @ np.linalg.pinv(rows["N"]), by_v], axis=2)
        steps = self._steps()
        if steps is None:
            return None
        some = np.flatnonzero(np.any(used, axis=1))
        weighted = run.t[some], more[some]
        swept = reverse_sweep(of.family.kernel, self._tableau, steps, weighted, (self.u, self.p))
        first, nv = of.first_change(self.start, self.p), rows["N"].shape[2]
        by_start = swept.q @ rows["N"][0] @ first[:nv] + swept.v @ first[nv:]
        direct = table[:, n * outputs :] + np.einsum("mno,nok->mk", weights, out["out_p"])
        return measures, direct + of.by_names(swept.p[:, of._chosen]) + by_start

    @cached_property
    def _tableau(self) -> Any:
        """Of the run, or the adaptive one where that is not explicit."""
        own = self.of.family.plan.settings.tableau
        return own if is_reversible(own) else TSITOURAS

    def _steps(self) -> Steps | None:
        """The steps of the run; None where a march back along them is no gradient."""
        of, plan = self.of, self.of.family.plan
        more: dict[str, Any] = {"every": None, "series": ()}
        if self._tableau != plan.settings.tableau:
            more |= {"method": None, "step": None}
            plan = replace(plan, settings=replace(plan.settings, method=None, step=None))
        run = of.family.run_from(self.start, self.u, self.p, more)
        why = ""
        if run.status != DONE or run.counts.get("fallbacks", 0):
            why = "its closures come near a singular position, where steps are solved otherwise"
        else:
            u = np.tile(self.u, (len(run.t), 1))
            bend = of.jumps.check(np.column_stack([run.t, run.q, run.v, u]), self.p)
            if bend is not None:
                why = (
                    f"a force may bend after t = {bend:.6g} s, where a condition changes its sign "
                    "or a table passes a point"
                )
        if not why:
            return steps_of(plan, run, self.u, self.p)
        if of.mode == "exact":
            return None
        raise SimulationError(
            f"the run has no gradient by a march back: {why}.",
            status="inconsistent",
            hint='Use gradient="forward", or "exact", which takes it here.',
        )


def check_choice(what: str, name: str, known: Sequence[str]) -> None:
    """Raises an error for a choice that is none, as files may have."""
    if name not in known:
        raise NamingError.unknown(what, name, known)


def _weighted(weights: Array, slopes: Array) -> Array:
    """Σ weights · slopes over instants that have a weight."""
    some = np.flatnonzero(weights != 0)
    return np.asarray(weights[some] @ slopes[some])


def _no_events(*names: str) -> Any:
    raise ArgumentError("instants of events have no exact gradient.")


def _unit(text: str) -> float:
    """What one of a unit is in SI."""
    unit = unit_of(text)
    return float(unit.factor) * float(np.pi) ** unit.pi


def differences(
    measured: Callable[[Array], Array], values: Array, ranges: Array
) -> tuple[Array, Array]:
    """Measures and their derivatives by central differences, all runs in one batch.

    Args:
        measured: rows of values -> rows of measures.
        values: where, shape (names,).
        ranges: of each value, by a part of which it is moved.
    """
    steps = STEP * ranges
    moved = np.vstack([values, values + np.diag(steps), values - np.diag(steps)])
    table = measured(moved)
    k = len(values)
    slopes = (table[1 : k + 1] - table[k + 1 :]).T / (2 * steps)
    return table[0], slopes
