"""Analyses by one call: each reads the mechanism, assembles and compiles it, and asks `analyse`.

Public names: equilibrium, linearize, solutions, verify, sensitivities, kinematic_run,
inverse_dynamics, no_impact, viscous, convergence.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from liaison.analyse.along.maximal_run import maximal_ready
from liaison.analyse.proofs.no_impact import NoImpact
from liaison.analyse.proofs.no_impact import no_impact as entered_without
from liaison.analyse.rest.viscous import ALPHA, Convergence, with_alpha
from liaison.analyse.rest.viscous import convergence as distances
from liaison.analyse.rest.viscous import viscous as with_friction

from .analyse import (
    Efforts,
    Equilibrium,
    Linearization,
    Sensitivities,
    Solutions,
    Verification,
    compare_solutions,
)
from .analyse import equilibrium as rest_of
from .analyse import inverse_dynamics as efforts_along
from .analyse import kinematic_run as moved_by_drives
from .analyse import linearize as small_motions
from .analyse import sensitivities as sensitivities_of
from .analyse import verify as verified
from .corridor import Given, mechanism_of, ready_for, simulate, with_starts, with_values
from .errors import ModelError, NamingError
from .expr import Table, symbol
from .model import Mechanism, PrescribedMotion
from .numeric import Array, State
from .program import Kernel
from .simulation import Trajectory


def equilibrium(
    given: Given,
    state: State | None = None,
    *,
    start: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> Equilibrium:
    """A position in which a mechanism can stay at rest, near its start.

    Args:
        given: the mechanism, or the path of its text.
        state: where to look from; assembled from the start if not given.
        start: positions to assemble from, by label, instead of the mechanism's own.
        parameters: values by name, in SI.
        **options: kind ("stable" or "nearest"), inputs, independent, tolerance.
    """
    kernel, state = ready_for(given, state, start, parameters)
    return rest_of(kernel, state, **options)


def linearize(
    given: Given,
    state: State | Trajectory | None = None,
    *,
    at: float | None = None,
    start: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    independent: Sequence[str] = (),
    **options: Any,
) -> Linearization:
    """Small motions of a mechanism about a state: A, B, eigenvalues, modes, labels.

    Args:
        given: the mechanism, or the path of its text.
        state: an equilibrium (`equilibrium(…).state`), a steady motion, any state, or a run; the
            assembled start if not given.
        at: the instant of a run [s], its last one if not given.
        start: positions and rates to assemble from, by label, instead of the mechanism's own.
        parameters: values by name, in SI.
        independent: coordinates to tell the others by, as far as they can; those with a start in
            the description, if not given.
        **options: inputs.

    Raises:
        NamingError: the tree has no such coordinate.
    """
    mechanism = mechanism_of(given)
    if isinstance(state, Trajectory):
        state = state_at(state, at)
    kernel, state = ready_for(mechanism, state, start, parameters)
    _check_told(kernel, independent)
    wishes = independent or [x.label for x in mechanism.starts]
    return small_motions(kernel, state, independent=wishes, **options)


def _check_told(kernel: Kernel, independent: Sequence[str]) -> None:
    """Refuses coordinates to tell the others by that the tree does not have."""
    known = [label.name.removesuffix("'") for label in kernel.program.labels["v"]]
    for name in independent:
        if name.removesuffix("'") not in known:
            raise NamingError.unknown("coordinate of the tree", name, known)


def state_at(run: Trajectory, at: float | None) -> State:
    """The state of a run at an instant [s], or at its end."""
    there = run.resample([run.t[-1] if at is None else at])
    return State(there.t[0], there.q[0], there.v[0], {x: run.labels[x] for x in "qv"})


def verify(
    given: Given,
    run: Trajectory | None = None,
    *,
    about: str | tuple[float, float, float] = "ground",
    until: float | None = None,
    **options: Any,
) -> Verification:
    """Holds a run against the general theorems of mechanics.

    Args:
        given: the mechanism that moved, or the path of its text.
        run: what it did; simulated now if not given.
        about: the point of the moment: a body, whose origin moves, or a place in the ground [m].
        until: the last instant of a run made now [s]; 1 if not given.
        **options: of that run, as for `simulate`.
    """
    kernel, state = ready_for(given, None, None, None)
    if run is None:
        end = 1.0 if until is None else until
        settings = {"rtol": 1e-10, "atol": 1e-12, "every": (end - state.t) / 1000, **options}
        run = simulate(kernel, state, until=end, **settings)
    return verified(kernel, run, about=about)


def sensitivities(given: Given, run: Trajectory, parameters: Sequence[str] = ()) -> Sensitivities:
    """How a run changes with parameters of its mechanism: see `analyse.sensitivities`."""
    kernel, _ = ready_for(given, None, None, None)
    return sensitivities_of(kernel, run, parameters)


def kinematic_run(
    given: Given,
    motion: Mapping[str, Any] | None = None,
    *,
    until: float,
    every: float | Sequence[float] = 0.01,
    start: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> Trajectory:
    """Moves a mechanism by drives that leave it no freedom: kinematics alone, forces after.

    Args:
        given: the mechanism, or the path of its text.
        motion: coordinate -> formula of `time`, or a `Table` over time; besides what the mechanism
            imposes itself. Starts of these coordinates and of all rates are set aside.
        until: the last instant [s].
        every: a period [s], or instants.
        start: positions to assemble from, by label.
        parameters: values by name, in SI.
        **options: inputs, series.
    """
    mechanism = driven(mechanism_of(given), motion or {})
    kernel, state = ready_for(mechanism, None, start, parameters)
    return moved_by_drives(kernel, state, instants(state.t, until, every), **options)


def instants(first: float, last: float, every: float | Sequence[float]) -> Sequence[float]:
    """Every period from first to last [s], or the instants that are given."""
    if isinstance(every, int | float):
        count = max(1, round((last - first) / every))
        return [first + (last - first) * k / count for k in range(count + 1)]
    return every


def driven(mechanism: Mechanism, motion: Mapping[str, Any]) -> Mechanism:
    """The mechanism with coordinates that follow laws of time, and no start against them."""
    laws = tuple(PrescribedMotion(f"drive {x}", x, law_of(law)) for x, law in motion.items())
    own = [x.coordinate for x in mechanism.constraints if isinstance(x, PrescribedMotion)]
    taken = {*motion, *own}
    starts = tuple(
        x for x in mechanism.starts if x.label not in taken and not x.label.endswith("'")
    )
    return replace(mechanism, constraints=mechanism.constraints + laws, starts=starts)


def law_of(law: Any) -> Any:
    """A formula of time; a table becomes one."""
    if isinstance(law, Table):
        return law(symbol("t"))
    if callable(law):
        raise ModelError(
            "a motion is a formula of `time` or a Table, not a Python function: its rates are "
            "derived.",
            hint="Sample the function: Table(times, [f(t) for t in times]).",
        )
    return law


def inverse_dynamics(
    given: Given, run: Trajectory, drives: Sequence[str], **options: Any
) -> Efforts:
    """The efforts of drives that bring about a motion: see `analyse.inverse_dynamics`."""
    kernel, _ = ready_for(given, None, None, None)
    return efforts_along(kernel, run, drives, **options)


def solutions(
    given: Given,
    state: State | None = None,
    *,
    start: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, float] | None = None,
    maximal: bool = False,
) -> Solutions:
    """The constrained system at a state by every way of solving it, compared.

    Args:
        given: the mechanism, or the path of its text.
        state: where it is; assembled from the start if not given.
        start: positions and rates to assemble from, by label, instead of the mechanism's own.
        parameters: values by name, in SI.
        inputs: values by name instead of the defaults.
        maximal: six velocities for every body and all rows of every joint, instead of the
            coordinates of a tree; the state is in these all the same.
    """
    if maximal:
        mechanism = with_starts(with_values(mechanism_of(given), parameters or {}), start or {})
        kernel, state = maximal_ready(mechanism, state)
    else:
        kernel, state = ready_for(given, state, start, parameters)
    return compare_solutions(kernel, state, inputs=inputs)


def no_impact(
    given: Given, *, parameters: Mapping[str, Any] | None = None, **options: Any
) -> NoImpact:
    """Whether one-sided relations of rates are entered without impact: see `analyse.no_impact`.

    Args:
        given: the mechanism, or the path of its text.
        parameters: values by name, in SI.
        **options: boxes, of positions that a proof may look at.
    """
    return entered_without(with_values(mechanism_of(given), parameters or {}), **options)


def viscous(given: Given, alpha: Any, only: Iterable[str] | None = None) -> Mechanism:
    """The mechanism with one-sided friction for its one-sided relations: see `analyse.viscous`.

    Args:
        given: the mechanism, or the path of its text.
        alpha: the coefficient, in N·s/m where a relation is of a speed in m/s.
        only: names of the relations to replace; all of rates if not given.
    """
    return with_friction(mechanism_of(given), alpha, only)


def convergence(
    given: Given,
    alphas: Sequence[float],
    until: float,
    *,
    every: float | Sequence[float] | None = None,
    only: Iterable[str] | None = None,
    constrained: Trajectory | None = None,
    start: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> Convergence:
    """How one-sided friction approaches the relations it stands for, as α grows.

    Args:
        given: the mechanism, or the path of its text.
        alphas: coefficients of the friction, such as (10, 100, 1000).
        until: the last instant [s].
        every: a period [s] or instants at which motions are compared; 400 if not given.
        only: names of the relations that become friction; all of rates if not given.
        constrained: the motion that keeps the relations, at these instants; run if not given.
        start: positions and rates to assemble from, by label.
        parameters: values by name, in SI.
        **options: of the runs; by default Radau with rtol 1e-10 and atol 1e-12.
    """
    mechanism = with_starts(with_values(mechanism_of(given), parameters or {}), start or {})
    kernel, state = ready_for(with_alpha(mechanism, only), None, None, None)
    times = instants(state.t, until, (until - state.t) / 400 if every is None else every)
    fine: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12, "every": times, "series": ()} | options
    if constrained is None:
        constrained = simulate(mechanism, until=until, **fine)
    stiff: dict[str, Any] = {"method": "radau"} | fine

    def run(alpha: float) -> Trajectory:
        return simulate(kernel, state, until=until, parameters={ALPHA: alpha}, **stiff)

    def apart(q: Array, other: Array) -> Array:
        return kernel("difference", state.t, q=q, v=state.v, x=other)

    return distances(mechanism.name, alphas, run, constrained, apart)
