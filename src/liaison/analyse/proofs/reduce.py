"""Mobility and equations joined: equations of motion in independent velocities.

Mobility says how many velocities are independent and which can be, exactly; the closures are then
solved for the others. On non-reduced components, where the rank of the closures is too low at
every position, only this gives the right acceleration: multipliers with the plain closures let the
mechanism accelerate in directions that lead nowhere, until rounding has carried it off the variety.

Public names: Reduction, reduce.

Source: docs/theory/mobility.md (mobility-7); docs/theory/formalisms.md (reduced-1, reduced-2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liaison.equations import Equations, Reduced, newton_euler, reduced
from liaison.errors import DerivationError, NamingError, SimulationError
from liaison.expr import Expr
from liaison.freedoms import Mobility, mobility
from liaison.freedoms.keywords import ProofKeywords
from liaison.lazy import Shown
from liaison.model import Constraint, Mechanism, OfCoordinates
from liaison.model.contacts import check_bilateral
from liaison.numeric import State
from liaison.program import Entry, Kernel, Program, lower, to_llvm
from liaison.simulation import Settings, Trajectory
from liaison.simulation.plan.plan import Plan, plan_of
from liaison.simulation.record.trajectory import DONE, STOPPED, EventRecord
from liaison.simulation.report import inputs_series, meta_of, series_of
from liaison.tree import Tree, as_float, assemble, span

Floats = NDArray[np.float64]

SERIES = ("energy", "outputs", "poses", "closure")
"""Series evaluated along a run by default."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Reduction(Shown):
    """Reduced equations of motion, the position they were chosen at, and why so many.

    Example:
        >>> import liaison
        >>> reduction = liaison.reduction("examples/four_bar.lsd")
        >>> reduction.size, reduction.independent
        (1, ("A'",))
    """

    equations: Reduced
    mobility: Mobility
    state: State  # where the mechanism starts
    kernel: Kernel  # machine code of u̇, q̇ and v
    whole: Equations  # with multipliers, as they were before

    @property
    def independent(self) -> tuple[str, ...]:
        """Names of the independent velocities."""
        return tuple(label.name for label in self.equations.independent)

    def start(self) -> Floats:
        """The independent velocities at the start."""
        names = [label.name for label in self.state.labels["v"]]
        return self.state.v[[names.index(name) for name in self.independent]]

    def acceleration(self, q: ArrayLike, u: ArrayLike, t: float = 0.0) -> Floats:
        """u̇ at positions q and independent velocities u."""
        return self._numbers(t, np.asarray(q, float), np.asarray(u, float))[: self.size]

    def velocity(self, q: ArrayLike, u: ArrayLike, t: float = 0.0) -> Floats:
        """All velocities v = Ψ u + ψ."""
        motion = self._numbers(t, np.asarray(q, float), np.asarray(u, float))
        return motion[self.size + len(self.equations.q) :]

    @property
    def size(self) -> int:
        """How many independent velocities there are."""
        return self.equations.mobility

    def _numbers(self, t: float, q: Floats, u: Floats) -> Floats:
        numbers = np.asarray(self.kernel("motion", t, q=q, v=u))
        if not np.all(np.isfinite(numbers)):
            raise SimulationError(
                f"the velocities of {', '.join(self.independent)} do not drive "
                f"'{self.equations.name}' at t = {t:.6g} s: a pivot of the closures vanishes.",
                hint="Choose other independent coordinates.",
            )
        return numbers

    def follow(self, times: ArrayLike, *, rtol: float = 1e-10) -> tuple[Floats, Floats]:
        """Positions and velocities at some instants, from the start on, by SciPy's DOP853.

        Args:
            times: increasing; the first is the start [s].
            rtol: the error allowed a step.

        Raises:
            SimulationError: the independent velocities reach a dead centre.
        """
        motion = self._followed(np.asarray(times, float), rtol, [])
        return motion[1], motion[2]

    def _followed(
        self, times: Floats, rtol: float, watched: list[Any]
    ) -> tuple[Floats, Floats, Floats, Any]:
        """Instants, positions and velocities, and what SciPy says of the events."""
        from scipy.integrate import solve_ivp

        nq = len(self.equations.q)

        def slope(t: float, y: Floats) -> Floats:
            motion = self._numbers(t, y[:nq], y[nq:])
            return np.concatenate([motion[self.size : self.size + nq], motion[: self.size]])

        begin = np.concatenate([self.state.q, self.start()])
        turns = _DeadCentre(self)
        run = solve_ivp(
            slope, (times[0], times[-1]), begin, "DOP853", times, rtol=rtol, atol=rtol,
            events=[turns, *watched],
        )  # fmt: skip
        if run.t_events[0].size:
            dead = float(run.t_events[0][0])
            raise SimulationError(
                f"the velocities of {', '.join(self.independent)} do not drive "
                f"'{self.equations.name}' through a dead centre at t = {dead:.6g} s: there they "
                "are zero whatever the others are.",
                status="singular",
                t=dead,
                hint="Choose other independent coordinates.",
            )
        if not run.success:
            raise SimulationError(f"'{self.equations.name}' could not be followed: {run.message}")
        t, states = run.t, run.y.T
        for k, event in enumerate(watched, 1):
            if event.terminal and run.t_events[k].size and run.t_events[k][-1] > t[-1]:
                t = np.append(t, run.t_events[k][-1])
                states = np.vstack([states, run.y_events[k][-1]])
        v = [self.velocity(y[:nq], y[nq:], x) for x, y in zip(t, states, strict=True)]
        return t, states[:, :nq], np.array(v), run

    def simulate(
        self,
        until: float,
        *,
        every: float = 0.01,
        rtol: float = 1e-10,
        series: Sequence[str] = SERIES,
        stop: Any = None,
    ) -> Trajectory:
        """The motion as a run, with energy, outputs, poses and what closures leave.

        Nothing is projected: what the closures are left with shows how good it is.

        Args:
            until: the last instant [s].
            every: between records [s]; the last instant is recorded besides.
            rtol: the error allowed a step.
            series: what to evaluate.
            stop: what ends it, as for `simulate`: names of events, formulas, values by label.

        Raises:
            SimulationError: the independent velocities reach a dead centre.

        Example:
            >>> import liaison
            >>> reduction = liaison.reduction("examples/four_bar.lsd")
            >>> reduction.simulate(until=0.1).status
            'done'
        """
        kernel = to_llvm(lower(self.whole))
        begin = self.state.t
        plan = plan_of(kernel, self.state, until, Settings(), stop=stop)
        period = float(every)
        count = int(np.ceil((until - begin) / period - 1e-9))
        times = np.append(begin + period * np.arange(count), until)
        events = [_Watched(self, plan, k) for k in range(len(plan.events))]
        t, q, v, solution = self._followed(times, rtol, events)
        inputs = np.tile(np.array(self.whole.defaults["u"], float), (len(t), 1))
        table = np.hstack([t[:, None], q, v, inputs])
        stopped = t[-1] < until
        return Trajectory(
            name=kernel.program.name, t=t, q=q, v=v, labels=kernel.program.labels,
            series=inputs_series(plan, table) | series_of(plan, table, series),
            events=self._records(plan, solution), status=STOPPED if stopped else DONE,
            message=f"{'stopped by an event at' if stopped else 'reached'} t = {t[-1]:g} s.",
            meta=meta_of(plan) | {"method": "reduced, DOP853", "rtol": rtol, "until": until},
        )  # fmt: skip

    def _records(self, plan: Plan, solution: Any) -> tuple[EventRecord, ...]:
        """Events in the order of their instants."""
        nq, records = len(self.equations.q), []
        for k, event in enumerate(plan.events, 1):
            for t, y in zip(solution.t_events[k], solution.y_events[k], strict=True):
                v = self.velocity(y[:nq], y[nq:], float(t))
                records.append(EventRecord(event.name, float(t), y[:nq], v))
        return tuple(sorted(records, key=lambda x: x.t))


@final
class _Watched:
    """An event of a plan as SciPy takes it: a function of time and (q, u)."""

    def __init__(self, reduction: Reduction, plan: Plan, k: int) -> None:
        self.reduction, self.plan, self.k = reduction, plan, k
        self.terminal, self.direction = plan.events[k].stops, float(plan.events[k].direction)
        added = plan.added
        own = added is not None and "events" in added.program.entries
        self.kernel = added if own and added is not None else plan.kernel

    def __call__(self, t: float, y: Floats) -> float:
        """Its formula at a state."""
        nq = len(self.reduction.equations.q)
        v = self.reduction.velocity(y[:nq], y[nq:], t)
        out = self.kernel(
            "events", t, q=y[:nq], v=v, u=self.plan.inputs.held, p=self.plan.parameters
        )
        return float(out[self.k])


@final
class _DeadCentre:
    """How far independent velocities drive the others: changes its sign at a dead centre.

    With v = Ψ u + ψ and Ψ = Q R, 1/|det R| vanishes where velocities other than u need not; beyond
    it Ψ comes back with the other sign, and so does Q, which is compared with the one before.
    """

    terminal, direction = True, 0.0

    def __init__(self, reduction: Reduction) -> None:
        self.reduction = reduction
        self.seen: list[tuple[float, Floats, float]] = []

    def __call__(self, t: float, y: Floats) -> float:
        """The sign, and how far from a dead centre."""
        nq, n = len(self.reduction.equations.q), self.reduction.size
        if not n:
            return 1.0
        zero = self.reduction.velocity(y[:nq], np.zeros(n), t)
        columns = [self.reduction.velocity(y[:nq], x, t) - zero for x in np.eye(n)]
        Q, R = np.linalg.qr(np.stack(columns, axis=1))
        before = [x for x in self.seen if x[0] <= t]
        sign = 1.0
        if before:
            _, old, had = before[-1]
            sign = had * _turned(old, Q, R)
        if not self.seen or t > self.seen[-1][0]:
            self.seen.append((t, Q * np.sign(np.diag(R)), sign))
        return sign / max(abs(float(np.prod(np.diag(R)))), 1e-300)


def _turned(old: Floats, Q: Floats, R: Floats) -> float:
    """−1 if a basis came back with the other orientation."""
    new = Q * np.sign(np.diag(R))
    return -1.0 if np.linalg.det(old.T @ new) < 0 else 1.0


def reduce(
    source: Mechanism | Tree,
    independent: Sequence[str] = (),
    *,
    at: Mapping[str, Any] | None = None,
    **options: Unpack[ProofKeywords],
) -> Reduction:
    """The equations of motion of a mechanism in independent velocities, without multipliers.

    Args:
        source: a mechanism, or a tree of one.
        independent: coordinates whose velocities are to be the unknowns; chosen if not given.
        at: positions and rates by label instead of the mechanism's starts [m, rad].
        **options: of `mobility`: order, primes, seed.

    Raises:
        DerivationError: several branches meet in the position, the mobility is not decided there,
            or the coordinates asked for are not independent.
    """
    mechanism = source.mechanism if isinstance(source, Tree) else source
    check_bilateral(mechanism.contacts, "reduce")
    tree = span(mechanism)
    start = {name: float(as_float(x)) for name, x in (at or {}).items()}
    state = assemble(tree, None, guess=None, **start)
    places = {name: x for name, x in (at or {}).items() if name in mechanism.coordinates}
    result = mobility(mechanism, at=places, **options)
    equations = newton_euler(tree)
    chosen = _independent_names(equations, result, independent)
    reduced_form = reduced(
        equations, _values(equations, state), chosen, _freedom(mechanism, result)
    )
    _check_independent(reduced_form, independent)
    return Reduction(
        reduced_form, result, state, to_llvm(_program(equations, reduced_form)), equations
    )


def _freedom(mechanism: Mechanism, result: Mobility) -> int | None:
    """The finite mobility; None where relations of speeds take more away."""
    if not all(map(_is_of_positions, mechanism.constraints)):
        return None
    if result.finite[0] != result.finite[1] or result.status in (
        "bifurcation",
        "singular",
        "undecided",
    ):
        low, high = result.finite
        number = f"{low}" if low == high else f"{low} to {high}"
        raise DerivationError(
            f"'{result.name}' has no single branch here (mobility {number}, {result.status}): its "
            "velocities have no basis.",
            hint="Give another position, on the branch that is meant.",
        )
    return result.finite[0]


def _is_of_positions(relation: Constraint) -> bool:
    return isinstance(relation, OfCoordinates) and not relation.OF_SPEEDS


def _independent_names(
    equations: Equations, result: Mobility, independent: Sequence[str]
) -> Sequence[str]:
    """The requested ones, or those named by mobility, as far as the tree has them."""
    names = {label.name for label in equations.labels["v"]}
    for name in independent:
        if name not in names and f"{name}'" not in names:
            known = [x.removesuffix("'") for x in names]
            raise NamingError.unknown("coordinate of the tree", name, known)
    if independent or result.psi is None:
        return independent
    return [name for name in result.psi.independent if f"{name}'" in names or name in names]


def _check_independent(reduced_form: Reduced, independent: Sequence[str]) -> None:
    independent_names = {label.name for label in reduced_form.independent}
    lost = [
        name
        for name in independent
        if name not in independent_names and f"{name}'" not in independent_names
    ]
    if lost:
        raise DerivationError(
            f"{', '.join(lost)} cannot be independent here: the velocities "
            f"{', '.join(sorted(independent_names))} are.",
            hint=f"Name at most {reduced_form.mobility} coordinates that drive the mechanism.",
        )


def _values(equations: Equations, state: State) -> dict[Expr, float]:
    symbols, defaults = equations.symbols, equations.defaults
    return {
        symbols.t: state.t,
        **dict(zip(symbols.q, state.q.tolist(), strict=True)),
        **dict(zip(symbols.p, defaults["p"], strict=True)),
        **dict(zip(symbols.u, defaults["u"], strict=True)),
    }


def _program(equations: Equations, reduced_form: Reduced) -> Program:
    """u̇, q̇ and v as one entry of q, u (in the place of v), inputs and parameters."""
    places: dict[Expr, tuple[str, int]] = {reduced_form.t: ("t", 0)}
    symbols = equations.symbols
    for array, names in (
        ("q", reduced_form.q),
        ("v", reduced_form.u),
        ("u", symbols.u),
        ("p", symbols.p),
    ):
        places |= {name: (array, k) for k, name in enumerate(names)}
    outputs = (*reduced_form.accelerations(), *reduced_form.rates, *reduced_form.velocity)
    defaults = {name: np.array(values, float) for name, values in equations.defaults.items()}
    entry = Entry("motion", outputs)
    return Program(reduced_form.name, {"motion": entry}, places, defaults=defaults)
