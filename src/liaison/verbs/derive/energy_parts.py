"""Print the kinetic energy by degrees in the velocities.

    T = T₂ + T₁ + T₀,   T₂ = ½ vᵀ M v,   T₁ = bᵀ v,   T₀ = T(v = 0)               (energy-1)

Without imposed motions T = T₂. A coordinate that is imposed as a function of time is replaced by
that function; the velocities that are left are those of the other coordinates. Painlevé's integral
is T₂ − T₀ + U.

Public names: energy_parts, EnergyParts.

Source: LL 2.2.7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from liaison.analyse.proofs.exact_motion import ExactMotion
from liaison.analyse.proofs.first_integrals import energy_degrees, rate_potential
from liaison.arguments import checked
from liaison.equations.formalisms.lagrange import lagrange
from liaison.equations.reading_order import order_of, squares_of
from liaison.expr import ZERO, Expr, to_text
from liaison.expr.graph.node import collector_paused
from liaison.expr.reading.arrange import Order
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.simplify import simplified
from liaison.expr.reading.text import to_unicode
from liaison.lazy import Shown
from liaison.numeric.progress import lasting
from liaison.tree.tree import span
from liaison.verbs.given import Given, mechanism_of
from liaison.verbs.gravity import with_named_gravity
from liaison.verbs.registry import command


@final
@dataclass(frozen=True, slots=True, repr=False)
class EnergyParts(Shown):
    """Parts of the kinetic energy, and the potential energy, imposed motions put in [J].

    Attributes:
        name: of the mechanism.
        T2: of second degree in the velocities.
        T1: of first degree.
        T0: of degree zero.
        U: potential energy; of a potential V of velocities, V − v · ∂V/∂v.
        V: potential of velocities; zero without one.
        velocities: names of those that are left.
        imposed: names of coordinates that are functions of time.
        order: of symbols in printed formulas.
        squares: what squares of symbols are, for unit quaternions.
    """

    name: str
    T2: Expr
    T1: Expr
    T0: Expr
    U: Expr
    velocities: tuple[str, ...]
    imposed: tuple[str, ...]
    order: Order
    squares: dict[Expr, Expr]
    V: Expr = ZERO

    @property
    def text(self) -> str:
        """The parts, one line each where they are short."""
        lines = [f"{self.name}: T = T₂ + T₁ + T₀ by degrees in {', '.join(self.velocities)}"]
        if self.imposed:
            lines.append(f"  functions of time: {', '.join(self.imposed)}")
        lines += [f"  {x} = {y}" for x, y in self._written().items()]
        if self.V is not ZERO:
            lines.append("  V is a potential of velocities; U has V − v · ∂V/∂v of it.")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text

    def _written(self) -> dict[str, str]:
        parts = {"T₂": self.T2, "T₁": self.T1, "T₀": self.T0, "U": self.U}
        parts |= {} if self.V is ZERO else {"V": self.V}
        return {name: _short(x, self.order, self.squares) for name, x in parts.items()}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        names = {"T₂": "T2", "T₁": "T1", "T₀": "T0"}
        parts = {names.get(x, x): y for x, y in self._written().items()}
        return {"name": self.name, "velocities": list(self.velocities),
                "imposed": list(self.imposed), **parts}  # fmt: skip


def _short(x: Expr, order: Order, squares: dict[Expr, Expr]) -> str:
    """A formula made short, where that can be done; else with named parts."""
    try:
        return to_unicode(simplified(x, order, squares))
    except TooLarge:
        *shared, whole = to_text(x).splitlines()
        return "\n".join([whole, *(f"      with {line}" for line in shared)])


@command
@lasting("equations")
@checked
def energy_parts(given: Given) -> EnergyParts:
    """T₂, T₁ and T₀: the kinetic energy by degrees in the velocities, imposed motions put in.

    Args:
        given: the mechanism, the path of its text, or the text.

    Example:
        >>> import liaison
        >>> print(str(liaison.energy_parts("examples/double_pendulum.lsd")).splitlines()[0])
        double pendulum: T = T₂ + T₁ + T₀ by degrees in A', B'
    """
    with collector_paused():
        equations = lagrange(span(with_named_gravity(mechanism_of(given)), exact=True))
        motion = ExactMotion(equations)
        parts = energy_degrees(equations, motion)
        (V,) = motion.substituted([rate_potential(equations)])
    return EnergyParts(
        name=equations.name,
        T2=parts.T2,
        T1=parts.T1,
        T0=parts.T0,
        U=parts.U,
        velocities=tuple(str(x.name) for x in parts.velocities),
        imposed=tuple(str(x.name) for x in parts.imposed),
        order=order_of(equations),
        squares=squares_of(equations),
        V=V,
    )
