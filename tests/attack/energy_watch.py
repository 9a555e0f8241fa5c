"""The energy watch: faults planted in equations, energies, methods and states; and none.

Every fault is planted in a copy: a wrong row of M or h, loads and multipliers left out, energies of
the wrong sign, steps with wrong weights, states changed at an instant. A run with it must end with
the status "suspect"; the same run without it must not, and its states must be those of a run that
is not watched.

    python tests/attack/energy_watch.py

Public names: attack, FAULTS, planted, MODELS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import liaison
from attack.table import Row
from liaison.equations import Equations
from liaison.equations.equations import Closures
from liaison.formats.lsd.read import read_lsd
from liaison.simulation.plan.settings import settings_of
from liaison.simulation.run import Run

BODY = "body mass = 2 kg, inertia = 0.05 kg*m^2, center = [0.3, 0, 0] m end"

MODELS = {
    "double pendulum": f"""
gravity = [0, -9.81, 0] m/s^2 ;
let a = {BODY} ;
let b = {BODY} ;
let A = join earth and a with revolute axis = [0, 0, 1] end ;
let B = join [0.6, 0, 0] m @ a and b with revolute axis = [0, 0, 1] end ;
start A = 0.4 ; start B = 0.7 ; start A' = 1 rad/s ;
""",
    "spring and damper": f"""
gravity = [0, -9.81, 0] m/s^2 ;
let a = {BODY} ;
let A = join earth and a with revolute axis = [0, 0, 1] end ;
apply spring stiffness = 30 N*m/rad, rest = 0.2 rad end on A ;
apply damper coefficient = 0.5 N*m*s/rad end on A ;
start A' = 3 rad/s ;
""",
    "pushed": f"""
let a = {BODY} ;
let A = join earth and a with revolute axis = [0, 0, 1] end ;
input push = 0.4 N*m ;
apply motor torque = push end on A ;
apply motor torque = 0.7 N*m*sin(3 rad/s*t) end on A ;
start A' = 2 rad/s ;
""",
    "driven": f"""
gravity = [0, -9.81, 0] m/s^2 ;
let a = {BODY} ;
let b = {BODY} ;
let A = join earth and a with revolute axis = [0, 0, 1] end ;
let B = join [0.6, 0, 0] m @ a and b with revolute axis = [0, 0, 1] end ;
impose A = 2*t*(1 rad/s) + 0.5*sin(4 rad/s*t) ;
start B = 0.7 ;
""",
}
"""Mechanisms in which faults are planted."""

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
UNTIL = 1.0


class Told:
    """Reports with another T and U."""

    def __init__(self, reports: Any, T: float, U: float) -> None:
        self._reports, self._parts = reports, (T, U)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reports, name)

    @property
    def energy(self) -> tuple[Any, Any]:
        """T and U, each times a number."""
        return tuple(x * y for x, y in zip(self._reports.energy, self._parts, strict=True))


def dynamics(change: Callable[[Any], dict[str, Any]]) -> Callable[[Equations], Equations]:
    """A fault in M, h or τ, from which accelerations follow."""

    def planted_in(equations: Equations) -> Equations:
        own = replace(equations.dynamics, articulated=None)
        own = replace(own, **change(own))
        f = tuple(t - h for t, h in zip(own.tau, own.h, strict=True))
        return replace(equations, dynamics=replace(own, f=f))

    return planted_in


def closures(change: Callable[[Any], dict[str, Any]]) -> Callable[[Equations], Equations]:
    """A fault in what closes loops."""
    return lambda x: replace(x, closures=replace(x.closures, **change(x.closures)))


def energies(T: float, U: float) -> Callable[[Equations], Equations]:
    """T and U, each times a number."""
    return lambda x: replace(x, reports=Told(x.reports, T, U))


def row_scaled(part: float) -> Callable[[Any], dict[str, Any]]:
    """The second row of M, times a number."""
    return lambda d: {
        "M": MappingProxyType({k: x * (part if k[0] == 1 else 1) for k, x in d.M.items()})
    }


def scaled(name: str, part: float, only: int | None = None) -> Callable[[Any], dict[str, Any]]:
    """A column of numbers times one, or one entry of it."""

    def change(d: Any) -> dict[str, Any]:
        own = getattr(d, name)
        return {name: tuple(x * (part if only in (None, k) else 1) for k, x in enumerate(own))}

    return change


def rate_scaled(part: float) -> Callable[[Equations], Equations]:
    """Positions that follow velocities too fast."""
    return lambda x: replace(
        x,
        kinematics=replace(
            x.kinematics, local_rate=tuple(y * part for y in x.kinematics.local_rate)
        ),
    )


def without_multipliers(equations: Equations) -> Equations:
    """v̇ = M⁻¹ f, whatever the closures are; projection still brings the state back."""
    symbols = replace(equations.symbols, lam=())
    free = liaison.lower(replace(equations, symbols=symbols, closures=Closures()))
    program = liaison.lower(equations)
    return replace(program, entries=Mixed(program.entries, {"rate": _padded(free, program)}))


def _padded(free: Any, program: Any) -> Any:
    """The entry `rate` of a mechanism without closures in the place of one with them."""
    return replace(free.entries["rate"], layout=program.entries["rate"].layout)


class Mixed(dict):
    """Entries of a program, some of them of another."""

    def __init__(self, entries: Any, others: dict[str, Any]) -> None:
        super().__init__(others)
        self._entries = entries

    def __missing__(self, name: str) -> Any:
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries


class Act:
    """What is done to a run under way: numbers of its block changed, at a part of its time."""

    def __init__(self, what: str, change: Callable[[Any], Any], when: float = 0.5) -> None:
        self.what, self.change, self.when = what, change, when

    def __call__(self, run: Run) -> None:
        """Changes the numbers; slopes that are kept from step to step are not used."""
        block = run.arrays.run
        numbers = getattr(block, self.what)
        numbers[:] = self.change(numbers.copy())
        block.is_fresh = 0


def uneven(b: Any) -> Any:
    """Weights of a step that add up to one, and to nothing else."""
    b[1:3] += 0.01, -0.01
    return b


D, S, P, V, F = "double pendulum", "spring and damper", "pushed", "driven", "four_bar.lsd"

FAULTS: dict[str, tuple[str, Any]] = {
    "row of M too large": (D, dynamics(row_scaled(1.02))),
    "row of M too small": (D, dynamics(row_scaled(0.9))),
    "M without coupling": (
        D,
        dynamics(lambda d: {"M": {k: x for k, x in d.M.items() if k[0] == k[1]}}),
    ),
    "no inertial forces": (D, dynamics(scaled("h", 0.0))),
    "h of one coordinate off": (D, dynamics(scaled("h", 1.03, 0))),
    "h of one coordinate reversed": (D, dynamics(scaled("h", -1.0, 1))),
    "T too large": (D, energies(1.02, 1.0)),
    "U of the wrong sign": (D, energies(1.0, -1.0)),
    "positions run ahead": (D, rate_scaled(1.01)),
    "velocities scaled at an instant": (D, Act("v", lambda v: 1.01 * v)),
    "positions scaled at an instant": (D, Act("q", lambda q: 1.01 * q)),
    "weights of a method wrong": (D, Act("b", uneven, 0.0)),
    "a stage in the wrong place": (D, Act("a", lambda a: 0.98 * a, 0.0)),
    "spring and damper left out": (S, dynamics(scaled("tau", 0.0))),
    "spring and damper too strong": (S, dynamics(scaled("tau", 1.1))),
    "spring with energy of the wrong sign": (S, energies(1.0, -1.0)),
    "torque left out": (P, dynamics(scaled("tau", 0.0))),
    "torque counted twice": (P, dynamics(scaled("tau", 2.0))),
    "drive without its acceleration": (V, closures(scaled("gamma", 0.0))),
    "row of M off beside a drive": (V, dynamics(row_scaled(1.1))),
    "row of M off in a loop": (F, dynamics(row_scaled(1.1))),
    "inertial forces off in a loop": (F, dynamics(scaled("h", 1.02))),
    "multipliers not applied": (F, without_multipliers),
    "velocities scaled in a loop": (F, Act("v", lambda v: 1.01 * v)),
}
"""Name -> the mechanism, and the fault: of its equations, or of a run under way."""


def mechanism(name: str) -> Any:
    """A mechanism by its name."""
    return liaison.read(EXAMPLES / name) if name in (F,) else read_lsd(MODELS[name])


def ran(name: str, fault: Any = None, **options: Any) -> Any:
    """A run of a mechanism with a fault planted in a copy of what it is made of."""
    tree = liaison.span(mechanism(name))
    equations = liaison.newton_euler(tree)
    is_planted = fault is not None and not isinstance(fault, Act)
    changed = fault(equations) if is_planted else equations
    program = liaison.lower(changed) if isinstance(changed, Equations) else changed
    run = Run(liaison.to_llvm(program), liaison.assemble(tree), UNTIL, settings_of(**options))
    if isinstance(fault, Act):
        while run.t < UNTIL * fault.when:
            run.go(1)
        fault(run)
    return run.finish(series=(), on_failure="return")


def planted(name: str) -> Any:
    """The run with a fault."""
    return ran(*FAULTS[name])


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """Two rows: faults that must be found, and runs that must not be suspected."""
    names = list(FAULTS)
    row = Row("faults planted in equations, energies and steps", f"{len(names)}, each suspected")
    for name in names[:: max(1, round(len(names) / max(6, len(names) * scale)))]:
        row.tries += 1
        run = planted(name)
        row.ends[run.status] += 1
        if run.status not in ("suspect", "failed"):
            row.fault(f"{name}: {run.status}, {run.meta['energy_balance']}")
    yield row
    row = Row("the same runs without a fault", "none suspected, states bit for bit")
    for name in (D, S, P, V, F):
        row.tries += 1
        run, unseen = ran(name), ran(name, watch=False)
        row.ends[run.status] += 1
        if run.status != "done":
            row.fault(f"{name}: {run.message}")
        if not (np.array_equal(run.q, unseen.q) and np.array_equal(run.v, unseen.v)):
            row.fault(f"{name}: the watch changed the states")
    yield row


if __name__ == "__main__":
    for shown in attack(Path(), 1.0):
        print(shown.what, shown.tries, dict(shown.ends), *shown.faults, sep="\n  ")
