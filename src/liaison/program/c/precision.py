"""How far single precision is from double: the same steps in both, computed here.

The step of `small` is followed operation by operation on numbers of either type, from the same
start. What is left is the rounding of the type alone: of data, of every operation, of sums.

Public names: PrecisionError, precision_error, check_step, check_precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np

from liaison.errors import ProgramError
from liaison.expr import OPS, Expr
from liaison.expr.graph.values import ARRAY_VALUES
from liaison.numeric import Array, State
from liaison.program.plan import plan
from liaison.program.program import Program

from .real import INFIX
from .small import StepParts

CHOICES: dict[str, Callable[..., Any]] = {
    "min": lambda x, y: y if y < x or y != y else x,
    "max": lambda x, y: y if y > x or y != y else x,
    "select": lambda c, x, y: x if c > 0 else y,
}
PARTS, WEIGHTS = (0.0, 0.5, 0.5, 1.0), (1.0, 2.0, 2.0, 1.0)
WORK = 2_000_000
"""Operations that are computed at most, about."""

FEW, MISSED = 20, 1e-8
"""Steps that are looked at; what accelerations may miss of the closures, of their size."""

LARGE = 1e-4
"""The error of single precision that is too much."""

MOST, LEAST = 1000, 20
"""Steps that are taken."""


@final
@dataclass(frozen=True, slots=True)
class PrecisionError:
    """What single precision costs.

    Attributes:
        steps: how many were taken.
        step: of this size [s].
        position: largest difference of a coordinate from double precision, over its largest size
            in the run or 1, whichever is larger.
        closure: largest |Φ| that was left in single precision.
    """

    steps: int
    step: float
    position: float
    closure: float

    def __str__(self) -> str:
        return (
            f"single precision is {self.position:.1e} from double after {self.steps} steps of "
            f"{self.step:g} s, closures are met to {self.closure:.1e}"
        )


def precision_error(
    parts: StepParts, state: State, *, step: float = 1e-3, steps: int | None = None
) -> PrecisionError:
    """The error of single precision in a short run.

    Args:
        parts: of the step.
        state: the start.
        step: its size [s].
        steps: how many; as many as take a moment if None, up to 1000.
    """
    if steps is None:
        cost = 5 * sum(parts.program.operations("rate").values())
        steps = max(LEAST, min(MOST, WORK // max(1, cost)))
    with np.errstate(all="ignore"):
        runs = [_Run(parts, state, kind) for kind in (np.float32, np.float64)]
        paths = [np.array([run.step(step) for _ in range(steps)]) for run in runs]
    error = np.abs(paths[0] - paths[1]).max(axis=0)
    size = np.maximum(1.0, np.abs(paths[1]).max(axis=0))
    return PrecisionError(steps, step, float((error / size).max()), runs[0].worst)


def check_step(parts: StepParts, state: State, *, step: float = 1e-3) -> None:
    """Raises where the accelerations of steps in double precision do not meet the closures.

    Rows of closures that depend on each other where they are met, and nowhere else, have a rank
    that only a pivoted solution decides.

    Raises:
        ProgramError: a program with such closures.
    """
    run = _Run(parts, state, np.float64)
    with np.errstate(all="ignore"):
        for _ in range(FEW):
            run.step(step)
    missed = float(np.max(run.missed))
    if not parts.size("nc") or missed <= MISSED:
        return
    raise ProgramError(
        f"accelerations of {parts.program.name!r} miss its closures by {missed:.1e} of their size: "
        "rows depend on each other where they are met, and a step of fixed cost does not pivot.",
        hint="Take freer joints that leave no redundant closure (`liaison mobility` lists them).",
    )


def check_precision(parts: StepParts, error: PrecisionError) -> None:
    """Raises where single precision is not accurate enough.

    Raises:
        ProgramError: a difference from double precision that is large, or not a number.
    """
    if not (error.position <= LARGE and error.closure <= LARGE):
        raise ProgramError(
            f"single precision is not enough for {parts.program.name!r}: it is "
            f"{error.position:.1e} from double after {error.steps} steps of {error.step:g} s, "
            f"closures are met to {error.closure:.1e}.",
            hint="Write it with --precision double.",
        )


@final
class _Run:
    """A run with numbers of one type; angles go on without turns, in two parts."""

    def __init__(self, parts: StepParts, state: State, kind: Any) -> None:
        self.parts, self.kind = parts, kind
        names = parts.entries
        self.entry = {x: _function(parts.program, x, kind) for x in names}
        listed = {"q": state.q, "v": state.v, **parts.program.defaults}
        self.q, self.v, self.u, self.p = (
            [kind(x) for x in listed.get(name, ())] for name in ("q", "v", "u", "p")
        )
        self.q_low, self.v_low = [kind(0)] * len(self.q), [kind(0)] * len(self.v)
        self.turns = [0] * len(self.q)
        self.t, self.worst = kind(state.t), 0.0
        self.missed: list[float] = []  # by accelerations of the closures, of their size

    def call(self, entry: str, t: Any, v: list[Any], x: list[Any]) -> list[Any]:
        """The outputs of an entry."""
        return self.entry[entry](t, self.q, v, self.u, self.p, x)

    def step(self, size: float) -> Array:
        """One step; where it led, in double precision."""
        kind, nv = self.kind, len(self.v)
        h = kind(size)
        out, total = [kind(0)] * (2 * nv), [kind(0)] * (2 * nv)
        for part, weight in zip(PARTS, WEIGHTS, strict=True):
            c = kind(part) * h
            xi = [c * x for x in out[:nv]]
            v = [x + c * y for x, y in zip(self.v, out[nv:], strict=False)]
            solved = self.call("rate", self.t + c, v, xi)
            out = solved[: 2 * nv]
            size = 1.0 + max((abs(float(x)) for x in out[nv:]), default=0.0)
            self.missed.append(abs(float(solved[2 * nv])) / size)
            total = [x + kind(weight) * y for x, y in zip(total, out, strict=True)]
        total = [x * (h / kind(6)) for x in total]
        self.move(total[:nv])
        self.accelerate(total[nv:])
        self.t += h
        if self.parts.size("nc"):
            self.close()
        turn = 2 * np.pi
        ends = zip(self.q, self.q_low, self.turns, strict=True)
        return np.array([float(x) + float(low) + turn * n for x, low, n in ends])

    def close(self) -> None:
        """Back to the closures."""
        nv = len(self.v)
        for _ in range(self.parts.iterations):
            self.move(self.call("correct_q", self.t, self.v, self.q)[:nv])
        self.accelerate(self.call("correct_v", self.t, self.v, self.q)[:nv])
        left = self.call("closure", self.t, self.v, self.q)[: self.parts.size("nphi")]
        self.worst = float(np.max(np.abs([self.worst, *map(float, left)])))

    def move(self, x: list[Any]) -> None:
        """q := q ⊞ x."""
        others = self.call("retract", self.t, self.v, x) if -1 in self.parts.moves else ()
        for k, j in enumerate(self.parts.moves):
            if j < 0:
                self.q[k] = others[k]
            else:
                self.q[k], self.q_low[k] = _added(self.q[k], self.q_low[k], x[j])
        high = self.kind(2 * np.pi)
        low = self.kind(2 * np.pi - float(high))
        for k in self.parts.turning:
            if abs(self.q[k]) > self.kind(np.pi):
                sign = 1 if self.q[k] > 0 else -1
                self.q[k] -= self.kind(sign) * high
                self.q_low[k] -= self.kind(sign) * low
                self.turns[k] += sign

    def accelerate(self, x: list[Any]) -> None:
        """v := v + x."""
        for k, y in enumerate(x):
            self.v[k], self.v_low[k] = _added(self.v[k], self.v_low[k], y)


def _added(total: Any, low: Any, x: Any) -> tuple[Any, Any]:
    """A sum, and what rounding takes away."""
    y = x + low
    s = total + y
    return s, y - (s - total)


def _function(program: Program, entry: str, kind: Any) -> Callable[..., list[Any]]:
    """An entry as a Python function of numbers of one type."""
    entry_plan = plan(program, entry)
    names: dict[Expr, str] = {}
    numbers: list[Any] = []

    def operand(node: Expr) -> str:
        if node in entry_plan.numbers:
            numbers.append(kind(entry_plan.numbers[node]))
            return f"c[{len(numbers) - 1}]"
        if node.op == "symbol":
            array, index = program.inputs[node]
            return "t" if array == "t" else f"{array}[{index}]"
        return names[node]

    lines = ["def entry(t, q, v, u, p, x):"]
    outputs: dict[int, str] = {}
    for piece in entry_plan.pieces:
        for node in (x for item in piece.items for x in item):
            args = [operand(x) for x in node.args]
            names[node] = f"t{len(names)}"
            lines.append(f"    {names[node]} = {_text(node, args, numbers, kind)}")
        outputs |= {k: operand(x) for k, x in piece.outputs}
    lines.append(f"    return [{', '.join(outputs[k] for k in sorted(outputs))}]")
    scope: dict[str, Any] = {"c": numbers}
    exec("\n".join(lines), scope)
    function: Callable[..., list[Any]] = scope["entry"]
    return function


def _text(node: Expr, args: Sequence[str], numbers: list[Any], kind: Any) -> str:
    """An operation in Python; functions lie among the numbers."""
    if node.op in INFIX:
        return OPS[node.op].c.format(*args)  # as Python writes it
    function = CHOICES.get(node.op) or ARRAY_VALUES.get(node.op)
    if function is None:  # a table of data
        table, order = node.data
        function = partial(_looked_up, table, order, kind)
    numbers.append(function)
    return f"c[{len(numbers) - 1}]({', '.join(args)})"


def _looked_up(table: Any, order: int, kind: Any, x: Any) -> Any:
    return kind(table.value(float(x), order))
