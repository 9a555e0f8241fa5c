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
from liaison.simulation.plan.plan import plan_of
from liaison.simulation.report import meta_of, series_of
from liaison.tree import Tree, as_float, assemble, span

Floats = NDArray[np.float64]

SERIES = ("energy", "outputs", "poses", "closure")
"""Series evaluated along a run by default."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Reduction(Shown):
    """Reduced equations of motion, the position they were chosen at, and why so many."""

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
        """
        from scipy.integrate import solve_ivp

        instants, nq = np.asarray(times, float), len(self.equations.q)

        def slope(t: float, y: Floats) -> Floats:
            motion = self._numbers(t, y[:nq], y[nq:])
            return np.concatenate([motion[self.size : self.size + nq], motion[: self.size]])

        begin = np.concatenate([self.state.q, self.start()])
        run = solve_ivp(slope, (instants[0], instants[-1]), begin, "DOP853", instants, rtol=rtol,
                        atol=rtol)  # fmt: skip
        if not run.success:
            raise SimulationError(f"'{self.equations.name}' could not be followed: {run.message}")
        states = run.y.T
        v = [self.velocity(y[:nq], y[nq:], t) for t, y in zip(instants, states, strict=True)]
        return states[:, :nq], np.array(v)

    def simulate(
        self,
        until: float,
        *,
        every: float = 0.01,
        rtol: float = 1e-10,
        series: Sequence[str] = SERIES,
    ) -> Trajectory:
        """The motion as a run, with energy, outputs, poses and what closures leave.

        Nothing is projected: what the closures are left with shows how good it is.

        Args:
            until: the last instant [s].
            every: between records [s].
            rtol: the error allowed a step.
            series: what to evaluate.
        """
        begin = self.state.t
        steps = max(1, round((until - begin) / every))
        times = np.linspace(begin, until, steps + 1)
        q, v = self.follow(times, rtol=rtol)
        kernel = to_llvm(lower(self.whole))
        plan = plan_of(kernel, self.state, begin, Settings())
        inputs = np.tile(np.array(self.whole.defaults["u"], float), (len(times), 1))
        table = np.hstack([times[:, None], q, v, inputs])
        return Trajectory(
            name=kernel.program.name, t=times, q=q, v=v, labels=kernel.program.labels,
            series=series_of(plan, table, series), message=f"reached t = {until:g} s.",
            meta=meta_of(plan) | {"method": "reduced, DOP853", "rtol": rtol, "until": until},
        )  # fmt: skip


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
    state = assemble(tree, None, **start)
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
    if result.finite[0] != result.finite[1] or result.status in ("bifurcation", "undecided"):
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
