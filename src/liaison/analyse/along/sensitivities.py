"""sensitivities: how a motion changes with parameters, by equations integrated with the motion.

Along a motion its change (δq, δv) with a parameter obeys (variation-1) of
`program/derivatives/variation.py`; both are integrated together from the start of the run, by an
adaptive method at the tolerance of the run, whatever instants were recorded. What the start was
given by stays as it is; the other coordinates follow from the closures:

    G_h ξ = −∂Φ/∂p,   G δv = −∂(G v − ν)/∂p − ∂(G v − ν)/∂q ξ,                  (analysis-6)

with the given entries of ξ and δv held. The result is the limit of differences of runs.

A motion and its change with one parameter as one program, integrated together.

The velocities of the program are (v, δq, δv, z): v of the motion, its change (variation-1), and z
the integrals of the changes of the outputs. The direction δp is a parameter of the program, so that
one kernel serves all of them. Inputs given by formulas are differentiated through.

Public names: Sensitivities, sensitivities, start_change, Varied, varied, Jumps, jumps_of.

Source: HNW1 §I.14 (derivatives with respect to parameters, side by side with the motion).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, TypeAlias, final

import numpy as np

from liaison.analyse.rest.linearize import coordinate_label
from liaison.analyse.rest.local import RANK, Local, local
from liaison.analyse.rest.open_sides import check_inactive_along
from liaison.errors import ArgumentError, ModelError, NamingError, SimulationError
from liaison.expr import ONE, ZERO, Expr, directional, substitute, switches, symbol, symbols_of
from liaison.lazy import Shown
from liaison.numeric import Array, State
from liaison.program import Kernel, Program
from liaison.program.derivatives.variation import change_of
from liaison.program.extend import resolve
from liaison.program.lower import LazyEntries
from liaison.simulation import Trajectory, simulate
from liaison.simulation.machine import map_entry
from liaison.simulation.plan.inputs import inputs_of
from liaison.simulation.plan.plan import Plan, kernel_like
from liaison.units import Label

from .along import plan_along, run_inputs

Blocks: TypeAlias = list[tuple[str, Sequence[Expr]]]


@final
@dataclass(frozen=True)
class Varied:
    """The kernel of a motion with its change, and where each part lies among its velocities.

    Args:
        kernel: of (v, δq, δv, z); its parameters are p, then δp.
        own: how many velocities the mechanism has.
        positions: how many entries q has.
        outputs: how many outputs are integrated.
        inputs: of the run, numbers and formulas by name.
        jumps: of its accelerations.
    """

    kernel: Kernel
    own: int
    positions: int
    outputs: int
    inputs: Mapping[str, Any]
    jumps: Jumps

    def split(self, v: Array) -> tuple[Array, Array, Array, Array]:
        """v, δq, δv and z of rows of velocities."""
        ends = np.cumsum([self.own, self.positions, self.own])
        parts = np.split(v, ends, axis=-1)
        return parts[0], parts[1], parts[2], parts[3]


@final
@dataclass(frozen=True)
class Jumps:
    """Jumps of v̇ at instants that move with a parameter or a start.

    Args:
        kernel: of conditions, of v̇ and of formulas with knots.
        conditions: of jumps and bends whose instants depend on the state or a parameter.
        levels: knots of each of these formulas, where tables of the state may bend.
    """

    kernel: Kernel
    conditions: tuple[Expr, ...]
    levels: tuple[Array, ...] = ()

    def check(self, rows: Array, p: Array) -> float | None:
        """Rejects a jump of v̇ at an instant that moves with a parameter.

        Args:
            rows: states (t, q, v, u) along the motion.
            p: parameters of the mechanism.

        Returns:
            The first instant at which v̇ may bend, just before [s]; None where it does not.
        """
        if not self.conditions:
            return self._bend(rows, p, [])
        signs = map_entry(self.kernel, "moving", rows, p) > 0
        places = np.argwhere(signs[1:] != signs[:-1])
        for i, j in places:
            sides = self._sides(rows[i], rows[i + 1], int(j), p)
            vdot = map_entry(self.kernel, "vdot", sides, p)
            if np.max(np.abs(vdot[1] - vdot[0])) > JUMP * (1 + np.max(np.abs(vdot))):
                raise SimulationError(
                    f"the accelerations jump at t = {sides[0, 0]:.6g} s, where a condition on the "
                    "state or on a parameter changes its sign: the instant moves with a parameter, "
                    "which these derivatives do not contain.",
                    status="inconsistent",
                    t=float(sides[0, 0]),
                    hint="Make the force continuous there; or take differences of runs: "
                    "simulate_batch(…, parameters={NAME: [p - δ, p + δ]}).",
                )
        return self._bend(rows, p, places[:1, 0].tolist())

    def _bend(self, rows: Array, p: Array, places: list[int]) -> float | None:
        """The first of some rows, and of those after which a formula passes a knot [s]."""
        values = map_entry(self.kernel, "bending", rows, p) if self.levels else np.zeros((1, 0))
        for levels, column in zip(self.levels, values.T, strict=True):
            side = np.searchsorted(levels, column)
            places += np.flatnonzero(side[1:] != side[:-1])[:1].tolist()
        return float(rows[min(places), 0]) if places else None

    def _sides(self, before: Array, after: Array, j: int, p: Array) -> Array:
        """Two states, a rounding apart, between which a condition changes its sign."""
        low, high = 0.0, 1.0
        begin = map_entry(self.kernel, "moving", before[None], p)[0, j] > 0
        while high - low > 1e-12:
            middle = (low + high) / 2
            row = before + middle * (after - before)
            same = (map_entry(self.kernel, "moving", row[None], p)[0, j] > 0) == begin
            low, high = (middle, high) if same else (low, middle)
        return np.stack([before + x * (after - before) for x in (low, high)])


def jumps_of(
    kernel: Kernel,
    formulas: Mapping[int, Expr] = MappingProxyType({}),
    knots: Sequence[tuple[Expr, Array]] = (),
) -> Jumps:
    """What makes v̇ of a mechanism jump or bend.

    Args:
        kernel: of the mechanism.
        formulas: of inputs, by their number in u.
        knots: formulas of the state with levels at which laws bend.
    """
    program = kernel.program
    own = {x for array in "qvp" for x in _symbols(program, array)}
    u = _symbols(program, "u") if formulas else []
    vdot = substitute(_blocks(program, "forward")["vdot"], {u[k]: f for k, f in formulas.items()})
    conditions = tuple(f for f in switches(vdot) if own & {*symbols_of([f])})
    makers: dict[str, Callable[[], Blocks]] = {
        "moving": lambda: [("moving", conditions)],
        "vdot": lambda: [("vdot", vdot)],
        "bending": lambda: [("bending", [f for f, _ in knots])],
    }
    name = f"{program.name}, jumps"
    return Jumps(
        kernel_like(kernel, replace(program, name=name, entries=LazyEntries(makers))),
        conditions,
        tuple(np.asarray(levels, dtype=float) for _, levels in knots),
    )


def varied(kernel: Kernel, inputs: Mapping[str, Any], *, with_outputs: bool = True) -> Varied:
    """The program of a motion with its change.

    Args:
        kernel: of the mechanism.
        inputs: numbers and formulas by name, as the run had them.
        with_outputs: integrate the changes of the outputs, too.

    Raises:
        ModelError: the kernel is one of many bodies, whose equations are not formulas.
    """
    program = kernel.program
    if "variation" not in program.entries:
        raise ModelError(
            f"the kernel of {program.name!r} has no entry 'variation': its equations are loops "
            "over many bodies, and these are not differentiated.",
            hint="Take differences of runs: simulate_batch(…, parameters={NAME: [p - δ, p + δ]}).",
        )
    varying = _Varying(program, inputs, with_outputs)
    return Varied(
        kernel_like(kernel, varying.program()), len(varying.v), len(varying.q),
        len(varying.outputs), dict(inputs), jumps_of(kernel, varying.formulas),
    )  # fmt: skip


class _Varying:
    """The formulas of such a program."""

    def __init__(self, old: Program, inputs: Mapping[str, Any], with_outputs: bool) -> None:
        self.old = old
        self.q, self.v, self.u, self.p = (_symbols(old, x) for x in "qvup")
        self.formulas = self._own_symbols(inputs)
        blocks = _blocks(old, "variation")
        self.outputs = [symbol(f"integral {k}") for k in range(len(blocks["outputs"]))]
        if not with_outputs:
            self.outputs = []
        rates = [*blocks["qdot"], *blocks["vdot"], *blocks["outputs"][: len(self.outputs)]]
        changes = self._input_changes()
        self.rates = substitute(rates, changes)
        self.output_changes = substitute(blocks["outputs"], changes)
        self.more = [*map(change_of, self.q), *map(change_of, self.v), *self.outputs]

    def _own_symbols(self, inputs: Mapping[str, Any]) -> dict[int, Expr]:
        """Formulas of inputs, by their number in u, over the symbols of the program."""
        formulas = dict(inputs_of(self.old, inputs).formulas)
        places = resolve(self.old, formulas.values())
        own = {place: x for x, place in self.old.inputs.items()}
        named = {x: own[place] for x, place in places.items() if place in own}
        return {k: substitute([f], named)[0] for k, f in formulas.items()}

    def _input_changes(self) -> dict[Expr, Expr]:
        """δu: of formulas by the chain rule; of what is held, none."""
        along = {x: change_of(x) for x in (*self.q, *self.v, *self.p)}
        changes: dict[Expr, Expr] = {change_of(x): ZERO for x in self.u}
        for k, f in self.formulas.items():
            changes[change_of(self.u[k])] = directional([f], along)[0]
        return changes

    def program(self) -> Program:
        """The program, its entries made when they are needed."""
        old, nv, n = self.old, len(self.v), len(self.more)
        places = {x: place for x, place in old.inputs.items() if x not in {*self.more}}
        places |= {x: ("v", nv + k) for k, x in enumerate(self.more)}
        places |= {change_of(x): ("p", len(self.p) + k) for k, x in enumerate(self.p)}
        labels = dict(old.labels)
        labels["v"] = (*labels["v"], *(Label(x.name, "") for x in self.more))
        labels["p"] = (*labels["p"], *(Label(change_of(x).name, "") for x in self.p))
        labels["outputs"] = ()
        makers: dict[str, Callable[[], Blocks]] = {
            "rate": self.rate, "retract": lambda: [("q", old.entry("retract").outputs)],
            "closure": lambda: [*_blocks(old, "closure").items()], "terms": self.terms,
            "correct_q": lambda: self.corrected("correct_q"),
            "correct_v": lambda: self.corrected("correct_v"),
            "changes": lambda: [("outputs", self.output_changes)],
        }  # fmt: skip
        zeros = np.zeros(len(self.p))
        return Program(
            f"{old.name}, varied",
            LazyEntries(makers),
            MappingProxyType(places),
            MappingProxyType({**old.sizes, "nv": nv + n, "np": 2 * len(self.p), "nx": nv + n}),
            MappingProxyType(labels),
            MappingProxyType({**old.defaults, "p": np.concatenate([old.defaults["p"], zeros])}),
            MappingProxyType({k: x for k, x in old.facts.items() if k in ("charts", "breaks")}),
        )

    def rate(self) -> Blocks:
        """ξ̇ and v̇ at q ⊞ ξ, with the change beside both."""
        own = _blocks(self.old, "rate")
        moved = dict(zip(self.q, self.old.entry("retract").outputs, strict=True))
        rates = substitute(self.rates, moved)
        return [
            ("xidot", [*own["xidot"], *self.more]),
            ("vdot", [*own["vdot"], *rates]),
            ("residual", own["residual"]),
        ]

    def terms(self) -> Blocks:
        """The constrained system: the change has a mass of 1 each, and its rates for forces."""
        own, nv, n = _blocks(self.old, "terms"), len(self.v), len(self.more)
        none = [ZERO] * n
        M: list[Expr] = []
        for i in range(nv):
            M += [*own["M"][i * nv : (i + 1) * nv], *none]
        for k in range(n):
            M += [*[ZERO] * (nv + k), ONE, *[ZERO] * (n - 1 - k)]
        G = [x for i in range(len(own["gamma"])) for x in (*own["G"][i * nv :][:nv], *none)]
        known = {"M": M, "G": G, "f": [*own["f"], *self.rates]}
        return [(name, known.get(name, block)) for name, block in own.items()]

    def corrected(self, entry: str) -> Blocks:
        """A correction of the motion, which leaves the change as it is."""
        own = _blocks(self.old, entry)
        return [("delta", [*own["delta"], *[ZERO] * len(self.more)]), ("worst", own["worst"])]


def _symbols(program: Program, array: str) -> list[Expr]:
    """The symbols of an array of a program, in order."""
    symbols = {k: x for x, (name, k) in program.inputs.items() if name == array}
    return [symbols[k] for k in sorted(symbols)]


def _blocks(program: Program, entry: str) -> dict[str, list[Expr]]:
    """The formulas of an entry by the names of its blocks."""
    formulas, blocks, start = program.entry(entry), {}, 0
    for name, size in formulas.layout:
        blocks[name] = list(formulas.outputs[start : start + size])
        start += size
    return blocks


DIFFERENCES = (
    "Take differences of runs: simulate_batch(…, parameters={NAME: [p - δ, p + δ]}); or ask about "
    "one mode, its limit required with '=' where it is closed."
)
"""How to fix it where contacts close and open: an instant of an impact moves with a parameter."""

FINER = 1 / 32
"""Part of the tolerance of the run at which the result is computed; both are compared."""

ASTRAY = 1e-2
"""Distance between the run and its own equations integrated again, relative, that is too far."""

JUMP = 1e-6
"""Change of v̇ across a condition, relative to v̇, that counts as a jump."""

ADAPTIVE = ("tsitouras", "dormand-prince")
"""Methods of a run that are taken for its changes, too; others are replaced by the first."""


@final
@dataclass(frozen=True, repr=False)
class Sensitivities(Shown):
    """Derivatives of a motion by parameters.

    Args:
        t: instants of the run [s].
        values: coordinates, then velocities, by parameter, shape (instants, 2 nv, parameters).
        outputs: of the outputs, shape (instants, outputs, parameters).
        integrals: of the integrals of the outputs over the run, shape (outputs, parameters); NaN of
            an output that has no derivative somewhere.
        labels: of coordinates and velocities.
        output_names: of the outputs.
        parameters: by which is differentiated.
        error: largest difference from the result at the tolerance of the run itself, which is 32
            times as large; relative to the largest value of its parameter.
    """

    t: Array
    values: Array
    outputs: Array
    integrals: Array
    labels: tuple[Label, ...]
    output_names: tuple[str, ...]
    parameters: tuple[str, ...]
    error: float

    def __getitem__(self, pair: tuple[str, str]) -> Array:
        """d label/d parameter over time: `sensitivities["A", "m"]`."""
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ArgumentError(
                f"sensitivities[{pair!r}]: a label and a parameter are needed.",
                hint=f"Write sensitivities[LABEL, {self.parameters[0]!r}].",
            )
        label, parameter = pair
        names = [x.name for x in self.labels]
        k = self._parameter(parameter)
        if label in names:
            return self.values[:, names.index(label), k]
        if label in self.output_names:
            return self.outputs[:, self.output_names.index(label), k]
        raise NamingError.unknown("label", label, [*names, *self.output_names])

    def integral(self, output: str, parameter: str) -> float:
        """d/dp of the integral of an output over the run, integrated with the motion."""
        if output not in self.output_names:
            raise NamingError.unknown("output", output, self.output_names)
        return float(self.integrals[self.output_names.index(output), self._parameter(parameter)])

    def _parameter(self, name: str) -> int:
        if name not in self.parameters:
            raise NamingError.unknown("parameter", name, self.parameters)
        return self.parameters.index(name)


def sensitivities(
    kernel: Kernel,
    run: Trajectory,
    parameters: Sequence[str] = (),
    *,
    held: Collection[str] | None = None,
) -> Sensitivities:
    """How a run changes with parameters of the mechanism.

    Args:
        kernel: of the mechanism that moved.
        run: recorded at any instants; its inputs are numbers, tables or formulas.
        parameters: by name; all, if none is given.
        held: labels of the start that stay as they are; those that the run was given.

    Raises:
        SimulationError: an input came from a Python controller; the start is not determined by what
            is held; a contact or a jump occurs at an instant that moves with a parameter.
    """
    names = [label.name for label in kernel.program.labels["p"]]
    for name in parameters:
        if name not in names:
            raise NamingError.unknown("parameter", name, names)
    chosen = [names.index(name) for name in parameters or names]
    plan, rows = plan_along(kernel, run)
    check_inactive_along(plan, run, rows, "sensitivities", DIFFERENCES)
    inputs = run_inputs(kernel.program, run, "sensitivities")
    here = local(kernel, plan.state, parameters=plan.parameters)
    starts: Mapping[str, Mapping[str, float]] = run.meta.get("starts", {})
    kept = {x: starts.get(x, {}) for x in (starts if held is None else held)}
    first = start_change(replace(here, u=rows[0, len(rows[0]) - here.u.size :]), chosen, kept)
    try:
        return _Moved(plan, run, varied(kernel, inputs)).result(chosen, first)
    except SimulationError as error:
        if error.status != "not finite" or not kernel.program.labels["outputs"]:
            raise
    # an output that has no derivative somewhere has no integral of it, either
    return _Moved(plan, run, varied(kernel, inputs, with_outputs=False)).result(chosen, first)


@final
@dataclass(frozen=True)
class _Moved:
    """A run that is integrated again, with its changes."""

    plan: Plan
    run: Trajectory
    varied: Varied

    def result(self, chosen: Sequence[int], first: Array) -> Sensitivities:
        """The derivatives by the chosen parameters."""
        program, nv = self.plan.program, self.varied.own
        speeds = program.labels["v"]
        columns, errors = [], [0.0]
        if chosen and self.varied.jumps.conditions:
            moved, _ = self._moved(chosen[0], first[:, 0], 1.0, None)
            v = self.varied.split(moved.v)[0]
            rows = np.column_stack([moved.t, moved.q, v, self._inputs(moved)])
            self.varied.jumps.check(rows, self.plan.parameters)
        for c, k in enumerate(chosen):
            fine = self._column(k, first[:, c], FINER)
            coarse = self._column(k, first[:, c], 1.0)
            size = np.max(np.abs(fine[0]), initial=1e-30)
            errors.append(float(np.max(np.abs(fine[0] - coarse[0]), initial=0.0) / size))
            columns.append(fine)
        empty = np.zeros((len(self.run.t), 2 * nv, 0))
        count = len(program.labels["outputs"])
        return Sensitivities(
            t=self.run.t,
            values=np.stack([x for x, _, _ in columns], axis=2) if columns else empty,
            outputs=np.stack([x for _, x, _ in columns], axis=2) if columns else empty[:, :count],
            integrals=np.array([x for _, _, x in columns]).reshape(len(columns), count).T,
            labels=(*map(coordinate_label, speeds), *speeds),
            output_names=tuple(x.name for x in program.labels["outputs"]),
            parameters=tuple(program.labels["p"][k].name for k in chosen),
            error=max(errors),
        )

    def _column(self, k: int, first: Array, part: float) -> tuple[Array, Array, Array]:
        """(ξ, δv) and outputs at every instant, and integrals of outputs, by one parameter."""
        moved, scale = self._moved(k, first, part, self._instants())
        at = np.searchsorted(self._instants(), self.run.t)
        v, dq, dv, z = (x[at] for x in self.varied.split(moved.v))
        self._check_same(moved.q[at], v)
        rows = np.column_stack([self.run.t, moved.q[at], v, self._inputs(moved)[at]])
        tangent = map_entry(self.plan.kernel, "tangent", rows, self.plan.parameters)
        nq, nv = self.varied.positions, self.varied.own
        N = tangent[:, : nq * nv].reshape(-1, nq, nv)
        xi = np.linalg.pinv(N) @ dq[:, :, None]
        outputs = self._outputs(rows, dq, dv, k, scale)
        values = np.hstack([xi[:, :, 0], dv]) / scale
        integrals = z[-1] / scale if z.shape[1] else np.full(outputs.shape[1], np.nan)
        return values, outputs, integrals

    def _instants(self) -> Array:
        return np.unique(self.run.t)

    def _moved(
        self, k: int, first: Array, part: float, every: Array | None
    ) -> tuple[Trajectory, float]:
        """The motion with its change by one parameter, in the unit of its own value."""
        plan, nv, program = self.plan, self.varied.own, self.varied.kernel.program
        own = float(plan.parameters[k])
        scale = abs(own) or 1.0
        names = [x.name for x in program.labels["p"]]
        values = dict(zip(names, plan.parameters.tolist(), strict=False))
        values[names[len(plan.parameters) + k]] = scale
        N = self.plan.kernel.call("tangent", **self._at_start())["N"].reshape(-1, nv)
        change = [N @ first[:nv] * scale, first[nv:] * scale, np.zeros(self.varied.outputs)]
        state = State(plan.state.t, plan.state.q, np.concatenate([plan.state.v, *change]))
        meta = self.run.meta
        method = meta.get("method") if meta.get("method") in ADAPTIVE else None
        moved = simulate(
            self.varied.kernel, state, float(self.run.t[-1]), parameters=values,
            inputs=self.varied.inputs, every=every, series=(), method=method,
            rtol=part * meta.get("rtol", 1e-8), atol=part * meta.get("atol", 1e-10),
        )  # fmt: skip
        return moved, scale

    def _at_start(self) -> dict[str, Any]:
        state, p = self.plan.state, self.plan.parameters
        return {"t": state.t, "q": state.q, "v": state.v, "p": p}

    def _inputs(self, moved: Trajectory) -> Array:
        """Inputs at the recorded instants."""
        series = moved.series.get("inputs")
        return np.zeros((len(moved.t), 0)) if series is None else series.values

    def _outputs(self, rows: Array, dq: Array, dv: Array, k: int, scale: float) -> Array:
        """Changes of the outputs by (variation-1), δu of formulas among them."""
        program, n = self.plan.program, len(rows)
        count = len(program.labels["outputs"])
        if not count:
            return np.zeros((n, 0))
        direction = np.zeros((n, len(self.plan.parameters)))
        direction[:, k] = scale
        p = np.concatenate([self.plan.parameters, direction[0]])
        table = np.column_stack([rows, dq, dv, np.zeros((n, self.varied.outputs))])
        nq, nv, nu = self.varied.positions, self.varied.own, self.plan.size("nu")
        order = [*range(1 + nq + nv), *range(1 + nq + nv + nu, table.shape[1])]
        order += range(1 + nq + nv, 1 + nq + nv + nu)
        out = map_entry(self.varied.kernel, "changes", table[:, order], p)
        return np.asarray(out / scale)

    def _check_same(self, q: Array, v: Array) -> None:
        """The equations integrated again must be those of the run."""
        for mine, theirs in ((q, self.run.q), (v, self.run.v)):
            size = 1.0 + np.max(np.abs(theirs), axis=0, initial=0.0)
            off = np.max(np.abs(mine - theirs) / size, axis=1, initial=0.0)
            if np.max(off, initial=0.0) > ASTRAY:
                t = float(self.run.t[int(np.argmax(off > ASTRAY))])
                raise SimulationError(
                    f"the run {self.run.name!r} is not the motion of this mechanism: integrated "
                    f"again from its start, it is {np.max(off):.2g} away, relatively, from t = "
                    f"{t:.6g} s on.",
                    status="inconsistent",
                    t=t,
                    hint="Give the mechanism and the inputs of the run; or run it with a tighter "
                    "tolerance.",
                )


def start_change(
    here: Local,
    chosen: Sequence[int],
    starts: Mapping[str, Mapping[str, float]],
    moved: Sequence[str] = (),
) -> Array:
    """(ξ, δv) at the start for a unit of each parameter.

    Args:
        here: the mechanism at its start.
        chosen: numbers of parameters.
        starts: labels that were given, each with its derivatives by parameters: empty for a number.
        moved: labels among them by which is differentiated, too: columns after those of parameters.

    Raises:
        SimulationError: the given ones leave no start for other values, or do not determine it.
    """
    program, none = here.kernel.program, np.zeros((here.nc, len(moved)))
    names = [*(program.labels["p"][k].name for k in chosen), *moved]
    starts = {x: {**y, x: 1.0} if x in moved else y for x, y in starts.items()}
    tangent = {x: here.tangent[x] for x in ("phi_p", "rate_p", "rate_q")}
    for x in ("phi_p", "rate_p"):
        tangent[x] = np.hstack([tangent[x][:, chosen], none[: len(tangent[x])]])
    nv, speeds = here.nv, [x.name for x in program.labels["v"]]
    change = np.zeros((2 * nv, len(names)))
    places = _held_positions(here, starts)
    for j, label in places.items():
        change[j] = [starts.get(label, {}).get(name, 0.0) for name in names]
    for j, label in enumerate(speeds):
        change[nv + j] = [starts.get(label, {}).get(name, 0.0) for name in names]
    if len(here.holonomic):
        free = [j for j in range(nv) if j not in places]
        pull = -tangent["phi_p"] - here.holonomic @ change[:nv]
        change[free] += _followed(here, here.holonomic, free, pull, starts, names)
    if here.nc:
        free = [j for j in range(nv) if speeds[j] not in starts]
        pull = -tangent["rate_p"] - tangent["rate_q"] @ change[:nv]
        pull = pull - here.G @ change[nv:]
        if np.any(np.abs(pull) > RANK):
            _followed(
                here, here.G, free, (here.G[:, free] @ here.state.v[free])[:, None], starts, []
            )
        change[[nv + j for j in free]] += _followed(here, here.G, free, pull, starts, names)
    return change


def _held_positions(here: Local, starts: Collection[str]) -> dict[int, str]:
    """Directions of velocities along which positions are given -> the label of the position."""
    labels = here.kernel.program.labels["q"]
    held: dict[int, str] = {}
    for chart in here.kernel.program.facts.get("charts", ()):
        names = [x.name for x in labels[chart.q]]
        places = range(*chart.v.indices(here.nv))
        if len(names) == len(places):
            held |= {j: x for j, x in zip(places, names, strict=True) if x in starts}
        elif {*names} & {*starts}:
            held |= dict.fromkeys(places, "")
    return held


def _followed(
    here: Local,
    rows: Array,
    free: Sequence[int],
    pull: Array,
    starts: Collection[str],
    names: Sequence[str],
) -> Array:
    """x of rows x = pull over the free columns, the only one."""
    length = np.maximum(np.linalg.norm(rows, axis=1), 1e-300)[:, None]
    A, b = rows[:, free] / length, pull / length
    weights = 1.0 + np.arange(len(free)) / max(1, len(free))
    x = np.linalg.lstsq(A, b, rcond=RANK)[0]
    other = weights[:, None] * np.linalg.lstsq(A * weights, b, rcond=RANK)[0]
    size = np.max(np.abs(x), axis=0, initial=0.0) + np.max(np.abs(b), axis=0, initial=0.0) + 1e-30
    missed = np.max(np.abs(A @ x - b), axis=0, initial=0.0) / size
    loose = np.max(np.abs(other - x), axis=0, initial=0.0) / size
    fixed = ", ".join(starts) or "none"
    if np.max(missed, initial=0.0) > 1e-6:
        which = repr(names[int(np.argmax(missed))]) if names else "a parameter"
        raise SimulationError(
            f"the starts that are given ({fixed}) close the loops for this value of {which} alone: "
            "no run with another value begins so.",
            status="inconsistent",
            hint="Leave some of them out of the description, or name those that stay: held=(…).",
        )
    if np.max(loose, initial=0.0) > 1e-6:
        k = int(np.argmax(np.max(np.abs(other - x), axis=1)))
        label = coordinate_label(here.kernel.program.labels["v"][free[k]]).name
        raise SimulationError(
            f"the starts that are given ({fixed}) do not determine the start: where {label!r} "
            "begins, or how fast, depends on how the loops are closed.",
            status="inconsistent",
            hint=f"Give a start of {label!r} and of its rate, and run again.",
        )
    return np.asarray(x)
