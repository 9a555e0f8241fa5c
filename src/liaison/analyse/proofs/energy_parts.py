"""Kinetic energy by degrees in the velocities: T = T₂ + T₁ + T₀.

    T₂ = ½ vᵀ M v,   T₁ = bᵀ v,   T₀ = T(v = 0)                                  (energy-1)

Without imposed motions T = T₂. A coordinate that is imposed as a function of time is replaced by
that function; the velocities that are left are those of the other coordinates. Painlevé's integral
is T₂ − T₀ + U.

Source: LL 2.2.7.

Public names: EnergyParts, energy_parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from liaison.equations import Equations
from liaison.equations.reading_order import order_of, squares_of
from liaison.expr import ZERO, Expr, as_expr, gradient, substitute, to_text
from liaison.expr.reading.arrange import Order
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.simplify import simplified
from liaison.expr.reading.text import to_unicode

from .exact_motion import ExactMotion


@final
@dataclass(frozen=True, slots=True)
class EnergyParts:
    """Parts of the kinetic energy, and the potential energy, imposed motions put in [J].

    Attributes:
        name: of the mechanism.
        T: kinetic energy, all of it.
        T2: of second degree in the velocities.
        T1: of first degree.
        T0: of degree zero.
        U: potential energy.
        velocities: names of those that are left.
        imposed: names of coordinates that are functions of time.
        order: of symbols in printed formulas.
        squares: what squares of symbols are, for unit quaternions.
    """

    name: str
    T: Expr
    T2: Expr
    T1: Expr
    T0: Expr
    U: Expr
    velocities: tuple[str, ...]
    imposed: tuple[str, ...]
    order: Order
    squares: dict[Expr, Expr]

    @property
    def text(self) -> str:
        """The parts, one line each where they are short."""
        lines = [f"{self.name}: T = T₂ + T₁ + T₀ by degrees in {', '.join(self.velocities)}"]
        if self.imposed:
            lines.append(f"  functions of time: {', '.join(self.imposed)}")
        return "\n".join([*lines, *(f"  {x} = {y}" for x, y in self._written().items())])

    def __str__(self) -> str:
        return self.text

    def _written(self) -> dict[str, str]:
        parts = {"T₂": self.T2, "T₁": self.T1, "T₀": self.T0, "U": self.U}
        return {name: _short(x, self.order, self.squares) for name, x in parts.items()}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        parts = dict(zip(("T2", "T1", "T0", "U"), self._written().values(), strict=True))
        return {"name": self.name, "velocities": list(self.velocities),
                "imposed": list(self.imposed), **parts}  # fmt: skip


def _short(x: Expr, order: Order, squares: dict[Expr, Expr]) -> str:
    """A formula made short, where that can be done; else with named parts."""
    try:
        return to_unicode(simplified(x, order, squares))
    except TooLarge:
        *shared, whole = to_text(x).splitlines()
        return "\n".join([whole, *(f"      with {line}" for line in shared)])


def energy_parts(equations: Equations, motion: ExactMotion | None = None) -> EnergyParts:
    """T by degrees in the velocities that are left when imposed motions are put in.

    Args:
        equations: with exact numbers: `derive(…, exact=True)`.
        motion: of these equations, where it is at hand.
    """
    motion = motion or ExactMotion(equations)
    T, U = motion.substituted([as_expr(x) for x in equations.reports.energy])
    free = [equations.symbols.v[j] for j in motion.free]
    at_rest = dict.fromkeys(free, ZERO)
    T0 = substitute([T], at_rest)[0]
    T1: Any = ZERO
    for v, slope in zip(free, substitute(gradient(T, free), at_rest), strict=True):
        T1 = T1 + v * slope
    return EnergyParts(
        name=equations.name,
        T=T,
        T2=as_expr(T - T1 - T0),
        T1=as_expr(T1),
        T0=T0,
        U=U,
        velocities=tuple(x.name for x in free),
        imposed=tuple(str(equations.symbols.q[i].name) for i, _ in motion.imposed.values()),
        order=order_of(equations),
        squares=squares_of(equations),
    )
