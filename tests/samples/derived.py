"""A sample taken along the corridor: equations, program, numbers, accelerations of bodies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from liaison.equations import FORMALISMS, Equations, lagrange_reduced
from liaison.expr import as_expr, collector_paused, directional, evaluate
from liaison.program import Kernel, to_numpy
from liaison.program.lower import lower
from liaison.tree import Tree, span

from .drawing import Sample, sample, values_of
from .numbers import dense_solution


@dataclass(frozen=True)
class Solved:
    """A sample in one formalism on one spanning tree, interpreted by NumPy."""

    sample: Sample
    formalism: str = "newton_euler"
    cuts: tuple[str, ...] = ()

    @cached_property
    def tree(self) -> Tree:
        return span(self.sample.mechanism, cuts=self.cuts)

    @cached_property
    def equations(self) -> Equations:
        with collector_paused():
            if self.formalism == "lagrange_reduced":  # its starts do not assemble a sample
                return lagrange_reduced(self.tree, at=self.sample.q)
            return FORMALISMS[self.formalism](self.tree)

    @cached_property
    def kernel(self) -> Kernel:
        return to_numpy(lower(self.equations))

    @cached_property
    def at(self) -> dict[str, Any]:
        """t, q and v in the order of these equations."""
        return self.sample.at(self.equations)

    def call(self, entry: str, x: Any = (), **changed: Any) -> dict[str, np.ndarray]:
        """An entry at the sample's state, by block."""
        with collector_paused():
            return self.kernel.call(entry, **(self.at | changed), x=x)

    @cached_property
    def terms(self) -> dict[str, np.ndarray]:
        """M, G, f, γ, Φ and ν as arrays."""
        found = self.call("terms")
        nv = len(self.at["v"])
        return found | {"M": found["M"].reshape(nv, nv), "G": found["G"].reshape(-1, nv)}

    @cached_property
    def dense(self) -> tuple[np.ndarray, np.ndarray]:
        """v̇ and λ by dense algebra on the terms."""
        terms = self.terms
        return dense_solution(terms["M"], terms["G"], terms["f"], terms["gamma"])

    @cached_property
    def forward(self) -> dict[str, np.ndarray]:
        """v̇, λ and the residual by the generated elimination."""
        return self.call("forward")

    def moved(self, vdot: Any, h: float) -> dict[str, Any]:
        """t, q and v a little later, along v̇ to second order: arguments of a kernel."""
        xi = h * self.at["v"] + h * h / 2 * self.chart_acceleration(vdot)
        q = self.call("retract", x=xi)["q"]
        return {"t": self.at["t"] + h, "q": q, "v": self.at["v"] + h * np.asarray(vdot)}

    def chart_acceleration(self, vdot: Any) -> np.ndarray:
        """ξ̈ where the chart begins: v̇, but for axes that turn."""
        symbols, rate = self.equations.symbols, self.equations.kinematics.local_rate
        flow = dict(zip(symbols.xi, symbols.v, strict=True))
        flow |= dict(zip(symbols.v, symbols.vdot, strict=True))
        values = values_of(self.equations, self.at) | dict.fromkeys(symbols.xi, 0.0)
        values |= dict(zip(symbols.vdot, np.asarray(vdot).tolist(), strict=True))
        return np.array([float(x) for x in evaluate(directional(list(rate), flow), values)])

    @cached_property
    def second_rates(self) -> list[Any]:
        """Formulas of R̈ and p̈ of every body."""
        return second_rates(self.equations)

    def accelerations(self, vdot: Any = None) -> np.ndarray:
        """R̈ row by row and p̈ of every body, in the order of the mechanism's bodies."""
        vdot = self.dense[0] if vdot is None else vdot
        values = values_of(self.equations, self.at)
        values |= dict(zip(self.equations.symbols.vdot, np.asarray(vdot).tolist(), strict=True))
        with collector_paused():
            found = np.array([float(x) for x in evaluate(self.second_rates, values)])
        names = list(self.equations.reports.poses)
        blocks = dict(zip(names, found.reshape(-1, 12), strict=True))
        return np.concatenate([blocks[name] for name in sorted(blocks)])


def second_rates(equations: Equations) -> list[Any]:
    """Poses of the bodies differentiated twice along q̇ = N v and v̇: twelve formulas a body."""
    symbols = equations.symbols
    qdot: list[Any] = [as_expr(0)] * len(symbols.q)
    for (i, j), entry in equations.kinematics.N.items():
        qdot[i] = qdot[i] + entry * symbols.v[j]
    flow = dict(zip(symbols.q, qdot, strict=True))
    flow |= dict(zip(symbols.v, symbols.vdot, strict=True))
    poses = [x for pose in equations.reports.poses.values() for x in pose]
    return directional(directional(poses, flow), flow)


@cache
def solved(seed: int, formalism: str = "newton_euler", cuts: tuple[str, ...] = ()) -> Solved:
    """The default sample of a seed in a formalism, derived once in a process."""
    return Solved(sample(seed), formalism, cuts)
