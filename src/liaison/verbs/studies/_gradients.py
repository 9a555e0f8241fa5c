"""Exact gradients of measures by parameters: of motions that drives determine, and of all others.

Where the closures and drives leave no degree of freedom, positions change with parameters as the
closures say, at every instant alone (analysis-6):

    G_h ξ = −∂Φ/∂p,   G δv = −∂(G v − ν)/∂p − ∂(G v − ν)/∂q ξ

Otherwise the change of the motion is integrated beside it (variation-1), all parameters in one
batch of compiled runs.

Public names: Gradients, differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, final

import numpy as np

from liaison.analyse.along.sensitivities import Varied, start_change, varied
from liaison.analyse.rest.local import RANK, local
from liaison.analyse.rest.open_sides import check_inactive_along
from liaison.errors import ArgumentError
from liaison.numeric import Array, State
from liaison.simulation.batch.run import simulate_batch
from liaison.simulation.record.trajectory import DONE, FAILED, Trajectory
from liaison.studies.measures import Samples
from liaison.units import unit_of

from ._family import PARAMETER, Family, kind_of_value
from ._studying import Asked

DIFFERENCES = 'Use gradient="differences", or take differences of a study of values nearby.'
"""How to fix it where an instant at which the motion changes moves with the values."""

STEP = 6e-6
"""Part of the range of a value by which differences move it: the cube root of rounding."""


@final
class Gradients:
    """Measures of one run and their derivatives by the values that vary.

    Args:
        asked: measures, and what runs share.
        family: pair ready.

    Raises:
        ArgumentError: a start or an input varies, or an input is a formula.
    """

    def __init__(self, asked: Asked, family: Family) -> None:
        self.asked, self.family = asked, family
        mechanism = asked.recipe.mechanism
        for name in asked.recipe.varied:
            if kind_of_value(mechanism, name) != PARAMETER:
                raise ArgumentError(
                    f"{name!r} is no parameter: exact gradients are by parameters.",
                    hint=f'Use gradient="differences", or a parameter that {name!r} starts with.',
                )
        if family.plan.inputs.formulas:
            raise ArgumentError(
                "exact gradients are not there where inputs are formulas.",
                hint='Write them into the text, or use gradient="differences".',
            )
        program = family.kernel.program
        self._names = [x.name for x in program.labels["p"]]
        self._chosen = [self._names.index(x) for x in asked.recipe.varied]
        self._outputs = [x.name for x in program.labels.get("outputs", ())]
        self._varied: Varied | None = None

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
        slopes, y = self.slopes(run, p), run.series["outputs"].values
        places = {text: self._outputs.index(name) for text, name in asked.outputs.items()}

        def place(text: str) -> int:
            if text not in places:
                raise ArgumentError(f"{text!r} has no exact gradient: it is no formula.")
            return places[text]

        samples = Samples(
            run.t[None], lambda text: y[None, :, place(text)], _no_events, _no_events,
            lambda name: p[[self._names.index(name)]],
        )  # fmt: skip

        def own(name: str) -> Array:
            return np.array([float(x == name) for x in asked.recipe.varied])

        pairs = [x.gradient(samples, lambda z: slopes[:, place(z)], own) for x in asked.measures]
        scales = np.array([_unit(x.unit) for x in asked.measures])
        rows = [np.broadcast_to(x, len(values)) for _, x in pairs]
        table = np.array(rows).reshape(count) / scales[:, None]
        measures = np.array([x for x, _ in pairs]) / scales
        return measures if np.all(np.isfinite(table)) else np.full(count[0], np.nan), table

    def slopes(self, run: Trajectory, p: Array) -> Array:
        """Derivatives of all outputs at every instant, shape (instants, outputs, names)."""
        rows = self._tangents(run, p)
        xi, dv = self._closed(rows) or self._integrated(run, p, rows)
        chosen = rows["out_p"][:, :, self._chosen]
        return np.asarray(rows["out_q"] @ xi + rows["out_v"] @ dv + chosen)

    def _tangents(self, run: Trajectory, p: Array) -> dict[str, Array]:
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
        return {name: blocks[name].reshape(n, *x) for name, x in shapes.items() if name in blocks}

    def _closed(self, rows: dict[str, Array]) -> tuple[Array, Array] | None:
        """ξ and δv where the closures determine both at every instant; None elsewhere."""
        nphi, nv = rows["phi_p"].shape[1], rows["N"].shape[2]
        if nphi < nv or "G" not in rows:
            return None
        U, s, Vt = np.linalg.svd(rows["G"][:, :nphi], full_matrices=False)
        if not np.all(s[:, -1] > RANK * s[:, 0]):
            return None
        back = (Vt.transpose(0, 2, 1) / s[:, None, :]) @ U.transpose(0, 2, 1)
        xi = -back @ rows["phi_p"][:, :, self._chosen]
        pull = rows["rate_p"][:, :, self._chosen] + rows["rate_q"] @ xi
        whole = back if nphi == rows["G"].shape[1] else np.linalg.pinv(rows["G"], rcond=RANK)
        return np.asarray(xi), np.asarray(-whole @ pull)

    def _integrated(self, run: Trajectory, p: Array, rows: dict[str, Array]) -> tuple[Array, Array]:
        """ξ and δv by one batch: the motion with its change by each value."""
        kernel, recipe = self.family.kernel, self.asked.recipe
        u = np.tile(self.family.held, (len(run.t), 1))
        states = np.column_stack([run.t, run.q, run.v, u])
        check_inactive_along(self.family.plan, run, states, "an exact gradient", DIFFERENCES, p)
        if self._varied is None:
            self._varied = varied(kernel, {}, with_outputs=False)
        own = self._varied
        labels = {x: run.labels[x] for x in "qv"}
        state = State(float(run.t[0]), run.q[0], run.v[0], labels)
        starts = {**kernel.program.facts.get("starts", {}), **{x: {} for x in recipe.start}}
        kept = {x: y for x, y in starts.items() if x not in recipe.guess}
        first = start_change(local(kernel, state, parameters=p), self._chosen, kept)
        nv, scales = own.own, np.where(p != 0, np.abs(p), 1.0)[self._chosen]
        moving = [
            State(
                state.t, state.q,
                np.concatenate([state.v, rows["N"][0] @ first[:nv, k] * s, first[nv:, k] * s]),
            )
            for k, s in enumerate(scales)
        ]  # fmt: skip
        names = [x.name for x in own.kernel.program.labels["p"]]
        values = dict(zip(names, p.tolist(), strict=False))
        directions = {}
        for c, k in enumerate(self._chosen):
            column = np.zeros(len(scales))
            column[c] = scales[c]
            directions[names[len(p) + k]] = column
        how = {k: x for k, x in recipe.options.items() if k in ("rtol", "atol", "max_step")}
        moved = simulate_batch(
            own.kernel, moving, recipe.until, parameters={**values, **directions}, every=run.t,
            series=(), on_failure="return", max_steps=1000 + 100 * run.counts["steps"], **how,
        )  # fmt: skip
        if not np.all(moved.success):  # the change grows out of bounds
            moved = replace(moved, v=np.full_like(moved.v, np.nan))
        _, dq, dv, _ = own.split(moved.v)
        if own.moving and np.all(moved.success):
            own.check_jumps(np.column_stack([run.t, moved.q[0], moved.v[0], u]), p)
        back = np.linalg.pinv(rows["N"])
        xi = np.einsum("nij,knj->nik", back, dq) / scales
        return xi, np.einsum("knj->njk", dv) / scales


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
