"""Compare drift with Baumgarte's terms and with projection.

Public names: baumgarte, Stabilization.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from liaison.arguments import checked
from liaison.equations.formalisms.newton_euler import newton_euler
from liaison.equations.transform.stabilized import stabilized
from liaison.errors import DerivationError
from liaison.lazy import Shown
from liaison.numeric.progress import lasting
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.lower import lower
from liaison.simulation import Projection
from liaison.simulation.run import simulate
from liaison.tree.assemble import assemble
from liaison.tree.tree import span
from liaison.verbs.given import Given, Value, in_seconds, in_si, mechanism_of
from liaison.verbs.registry import command

LOOSE = Projection(position=1e3, velocity=1e3, lost=1e4, start=1.0)
"""Tolerances at which nothing is projected."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Stabilization(Shown):
    """Largest |Φ| of three runs by the same method and step.

    Attributes:
        name: of the mechanism.
        time: T_stab [s].
        step: of the runs [s].
        residuals: by "neither", "Baumgarte" and "projection": over all of the run [m, rad].
    """

    name: str
    time: float
    step: float
    residuals: dict[str, float]

    @property
    def text(self) -> str:
        """A line for each run."""
        head = f"{self.name}: largest |Φ|, method rk4, step {self.step:g} s, T_stab {self.time:g} s"
        return "\n".join([head, *(f"  {k:<11} {x:.3e}" for k, x in self.residuals.items())])

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {"name": self.name, "time": self.time, "step": self.step, **self.residuals}


@command
@lasting("simulation")
@checked
def baumgarte(
    given: Given,
    *,
    time: Value = 0.02,
    damping: float = 1.0,
    until: Value = 5.0,
    step: Value = 0.005,
    inputs: Mapping[str, Any] | None = None,
) -> Stabilization:
    """Runs with Baumgarte's terms, with projection, and with neither; how far closures drift.

    Args:
        given: the mechanism, the path of its text, or the text.
        time: T_stab, in which errors of closures decay [s].
        damping: ζ of the decay; 1 is critical.
        until: end of the runs [s].
        step: of the method rk4 [s].
        inputs: numbers, texts with a unit or formulas of t by name; the defaults if not named.

    Raises:
        DerivationError: a mechanism without closures, or with contacts.

    Example:
        >>> import liaison
        >>> print(str(liaison.baumgarte("examples/four_bar.lsd", until=0.1)).splitlines()[0])
        four bar: largest |Φ|, method rk4, step 0.005 s, T_stab 0.02 s
    """
    time, until, step = (
        in_seconds(x, f"baumgarte: {name}")
        for name, x in (("time", time), ("until", until), ("step", step))
    )
    mechanism = mechanism_of(given)
    driven = in_si(mechanism, inputs, "inputs")
    tree = span(mechanism)
    plain = newton_euler(tree)
    if not plain.closures.phi or mechanism.contacts:
        raise DerivationError(
            f"{mechanism.name!r} has no closures of positions that could drift, or has contacts.",
            hint="A mechanism with a loop has them; of contacts, see docs/theory/contacts.md.",
        )
    state = assemble(tree)
    ways = {
        "neither": (plain, LOOSE),
        "Baumgarte": (stabilized(plain, time, damping=damping), LOOSE),
        "projection": (plain, Projection()),
    }
    residuals = {}
    for name, (equations, projection) in ways.items():
        kernel = to_llvm(lower(equations))
        run = simulate(
            kernel, state, until=until, step=step, method="rk4", projection=projection,
            every=until / 50, inputs=driven,
        )  # fmt: skip
        residuals[name] = float(run.series["position_residual"].values.max())
    return Stabilization(mechanism.name, time, step, residuals)
