"""A motion and its change with one parameter as one program, integrated together.

The velocities of the program are (v, δq, δv, z): v of the motion, its change (variation-1), and z
the integrals of the changes of the outputs. The direction δp is a parameter of the program, so that
one kernel serves all of them. Inputs given by formulas are differentiated through.

Public names: Varied, varied.

Source: HNW1 §I.14 (the equations of the motion and of its derivatives, side by side).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias, final

import numpy as np

from liaison.errors import ModelError
from liaison.expr import ONE, ZERO, Expr, directional, substitute, switches, symbol, symbols_of
from liaison.numeric import Array
from liaison.program import Kernel, Program
from liaison.program.derivatives.variation import change_of
from liaison.program.extend import resolve
from liaison.program.lower import LazyEntries
from liaison.simulation.plan.inputs import inputs_of
from liaison.simulation.plan.plan import kernel_like
from liaison.units import Label

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
        moving: conditions of jumps and bends whose instants depend on the state or a parameter.
    """

    kernel: Kernel
    own: int
    positions: int
    outputs: int
    inputs: Mapping[str, Any]
    moving: tuple[Expr, ...]

    def split(self, v: Array) -> tuple[Array, Array, Array, Array]:
        """v, δq, δv and z of rows of velocities."""
        ends = np.cumsum([self.own, self.positions, self.own])
        parts = np.split(v, ends, axis=-1)
        return parts[0], parts[1], parts[2], parts[3]


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
    made = _Varying(program, inputs, with_outputs)
    return Varied(
        kernel_like(kernel, made.program()), len(made.v), len(made.q), len(made.outputs),
        dict(inputs), made.moving(),
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

    def moving(self) -> tuple[Expr, ...]:
        """Conditions of jumps and bends that a change of a parameter moves."""
        own = {*self.q, *self.v, *self.p}
        return tuple(f for f in switches(self.accelerations()) if own & {*symbols_of([f])})

    def accelerations(self) -> list[Expr]:
        """v̇ with the formulas of inputs in it."""
        formulas = {self.u[k]: f for k, f in self.formulas.items()}
        return substitute(_blocks(self.old, "forward")["vdot"], formulas)

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
            "moving": lambda: [("moving", self.moving())],
            "vdot": lambda: [("vdot", self.accelerations())],
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
    found = {k: x for x, (name, k) in program.inputs.items() if name == array}
    return [found[k] for k in sorted(found)]


def _blocks(program: Program, entry: str) -> dict[str, list[Expr]]:
    """The formulas of an entry by the names of its blocks."""
    made, blocks, start = program.entry(entry), {}, 0
    for name, size in made.layout:
        blocks[name] = list(made.outputs[start : start + size])
        start += size
    return blocks
