"""Solutions: the constrained system at one state, by every way of solving it, compared.

Public names: accelerations, compare_solutions, Way, Solutions.

Source: docs/theory/solutions.md.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from liaison.errors import ModelError, NamingError
from liaison.lazy import Shown
from liaison.numeric import Array, State
from liaison.numeric.constrained import METHODS, Solution, Unsolvable, full_pivoting
from liaison.program import Kernel
from liaison.simulation.machine import map_entry
from liaison.simulation.plan.plan import parameters_of

from .local import Local, check_closed, local
from .open_sides import check_inactive_here

CONTRADICTION = 1e-6
"""Largest part of γ, relative to G a and to γ, that may stay unmet."""

STILL = 1e-3
"""Accelerations [m/s², rad/s²] that count as none beside those a mechanism has."""

REPEAT, CALLS = 20, 1000
"""How often a way is timed, and the generated code, which takes about as long as its call."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Way(Shown):
    """One way at one state.

    Attributes:
        method: its name.
        why_not: why it does not apply; empty if it does.
        agreement: largest difference of a from the generated kernel's, relative to the largest.
        multipliers: the same for the forces Gᵀ λ.
        missed: largest |G a − γ|, relative to the largest of both sides.
        condition: of the worst matrix it inverted; 0 for generated code, which has no matrix.
        seconds: CPU time of a solution; of generated code with the evaluation of its terms.
        choice: names of the independent velocities, where the method has such.
    """

    method: str
    why_not: str = ""
    agreement: float = 0.0
    multipliers: float = 0.0
    missed: float = 0.0
    condition: float = 0.0
    seconds: float = 0.0
    choice: tuple[str, ...] = ()


@final
@dataclass(frozen=True, slots=True, repr=False)
class Solutions(Shown):
    """All ways at one state of a mechanism.

    Attributes:
        name: of the mechanism.
        velocities: how many there are.
        rows: of the closures that are solved for.
        rank: how many of them are independent here.
        ways: each beside the generated code, which comes first.
        vanished: rows that hold whatever moves, by name: none of the ways has to meet them.
    """

    name: str
    velocities: int
    rows: int
    rank: int
    ways: tuple[Way, ...]
    vanished: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        ways = [{key: getattr(way, key) for key in Way.__dataclass_fields__} for way in self.ways]
        counts = {"velocities": self.velocities, "rows": self.rows, "rank": self.rank}
        return {"name": self.name, **counts, "vanished": [*self.vanished], "ways": ways}

    def __str__(self) -> str:
        """A table."""
        head = f"{self.velocities} velocities, {self.rows} closure rows of rank {self.rank}"
        lines = [f"{self.name}: {head}"]
        if self.vanished:
            many = f"{len(self.vanished)} more rows hold whatever moves"
            lines.append(f"{many}: {', '.join(self.vanished)}")
        lines.append(f"{'way':15}{'a':>9}{'Gᵀλ':>9}{'missed':>9}{'condition':>11}{'µs':>8}")
        for way in self.ways:
            if way.why_not:
                lines.append(f"{way.method:15} does not apply: {way.why_not}")
                continue
            condition = f"{way.condition:11.1e}" if way.condition else f"{'–':>11}"
            lines.append(
                f"{way.method:15}{way.agreement:9.1e}{way.multipliers:9.1e}{way.missed:9.1e}"
                f"{condition}{1e6 * way.seconds:8.1f}"
                + (f"  by {', '.join(way.choice)}" if way.choice else "")
            )
        return "\n".join(lines)


def accelerations(
    kernel: Kernel,
    state: State,
    *,
    method: str = "proximal",
    inputs: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Solution:
    """v̇ and λ at a state, by one of `METHODS`.

    Args:
        kernel: of the mechanism.
        state: where it is.
        method: augmented, schur, null_space, pseudo_inverse, partition, projector or proximal.
            The default applies to dependent rows and to all mechanisms whose allowed motions have
            inertia.
        inputs: values by name instead of the defaults.
        parameters: the same.

    Raises:
        Unsolvable: the method does not apply here.
        ModelError: closure rows contradict each other.
    """
    if method not in METHODS:
        raise NamingError.unknown("way to solve", method, METHODS)
    values = parameters_of(kernel.program, parameters)
    here = local(kernel, state, inputs=inputs, parameters=values, any_rates=True)
    check_closed(here)
    check_inactive_here(here, "accelerations")
    try:
        solution = METHODS[method](here.M, here.G, here.forces, here.gamma)
    except Unsolvable as error:
        error.message = error.named([x.name for x in kernel.program.labels["v"]])
        raise
    missed = _missed(here, solution.a)
    if not missed <= CONTRADICTION:
        raise ModelError(
            f"closure rows contradict each other at t = {state.t:g} s: {missed:.2g} of them stays "
            "unmet.",
            hint=_worst_row(here, solution.a),
        )
    return solution


def compare_solutions(
    kernel: Kernel,
    state: State,
    *,
    inputs: Mapping[str, float] | None = None,
    parameters: Mapping[str, float] | None = None,
) -> Solutions:
    """Every way at one state, beside the generated code.

    Args:
        kernel: of the mechanism.
        state: where it is.
        inputs: values by name instead of the defaults.
        parameters: the same.
    """
    values = parameters_of(kernel.program, parameters)
    here = local(kernel, state, inputs=inputs, parameters=values, any_rates=True)
    check_closed(here)
    check_inactive_here(here, "solutions")
    arguments = {"q": state.q, "v": state.v, "u": here.u, "p": here.p}
    reference = kernel.call("forward", state.t, **arguments)
    ways = [_generated(kernel, here, reference)]
    ways += [_way(here, name, reference) for name in METHODS]
    rank = len(full_pivoting(here.G)[0])
    vanished = tuple(kernel.program.facts.get("vanished", ()))
    return Solutions(kernel.program.name, here.nv, here.nc, rank, tuple(ways), vanished)


def _generated(kernel: Kernel, here: Local, reference: Mapping[str, Array]) -> Way:
    state = here.state
    row = np.concatenate([[state.t], state.q, state.v, here.u])
    rows = np.tile(row, (CALLS, 1))
    map_entry(kernel, "forward", rows[:1], here.p)
    begin = time.thread_time()
    map_entry(kernel, "forward", rows, here.p)
    seconds = (time.thread_time() - begin) / CALLS
    return Way("generated code", missed=_missed(here, reference["vdot"]), seconds=seconds)


def _way(here: Local, name: str, reference: Mapping[str, Array]) -> Way:
    """One way beside the generated code."""
    system = (here.M, here.G, here.forces, here.gamma)
    labels = here.kernel.program.labels["v"]
    try:
        solution = METHODS[name](*system)
    except Unsolvable as error:
        return Way(name, why_not=error.named([x.name for x in labels]))
    begin = time.thread_time()
    for _ in range(REPEAT):
        METHODS[name](*system)
    seconds = (time.thread_time() - begin) / REPEAT
    return Way(
        name,
        agreement=_apart(solution.a, reference["vdot"]),
        multipliers=_apart(here.G.T @ solution.lam, here.G.T @ reference["lam"]),
        missed=_missed(here, solution.a),
        condition=solution.condition,
        seconds=seconds,
        choice=tuple(labels[k].name for k in solution.chosen),
    )


def _apart(a: Array, b: Array) -> float:
    scale = np.abs(b).max(initial=0.0) + STILL
    return float(np.abs(a - b).max(initial=0.0) / scale)


def _missed(here: Local, a: Array) -> float:
    moved = np.abs(here.G) @ np.abs(a)
    size = max(np.abs(here.gamma).max(initial=0.0), moved.max(initial=0.0))
    return float(np.abs(here.G @ a - here.gamma).max(initial=0.0) / (size + STILL))


def _worst_row(here: Local, a: Array) -> str:
    k = int(np.abs(here.G @ a - here.gamma).argmax())
    return f"Most of it in the row {here.kernel.program.labels['lam'][k].name!r}."
