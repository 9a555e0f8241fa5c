"""stabilized: closures that come back by themselves when a run has drifted off them.

Differentiated twice, Φ = 0 becomes G v̇ = γ, which sees neither Φ nor Φ̇. Baumgarte asks instead

    Φ̈ + (2 ζ / T) Φ̇ + Φ / T² = 0,    for closures of velocities  Ȧ + A / T = 0       (stabilized-1)

so that what is off decays in the time T. A small T makes the closures as stiff as a spring of that
period; projection (docs/theory/projection.md) has no such price and is what runs do by default.

Public names: stabilized.

Source: BAU72.
"""

from __future__ import annotations

import math
from dataclasses import replace

from liaison.equations.equations import Equations
from liaison.errors import DerivationError
from liaison.expr import as_expr


def stabilized(equations: Equations, time: float, *, damping: float = 1.0) -> Equations:
    """The same equations with γ − (2 ζ/T) (G v − ν) − Φ/T² in place of γ.

    Args:
        equations: of any formalism.
        time: T_stab [s], positive; some steps of the run.
        damping: ζ; 1 brings closures back soonest without swinging.

    Raises:
        DerivationError: a time or damping that is not positive.

    Example:
        >>> import liaison
        >>> equations = liaison.derive("examples/four_bar.lsd")
        >>> liaison.stabilized(equations, 0.02).name
        'four bar'
    """
    for name, value in (("time", time), ("damping", damping)):
        if not (math.isfinite(value) and value > 0):
            raise DerivationError(f"the {name} of a stabilisation is {value}; it is positive.")
    closures = equations.closures
    rows = []
    for k, (gamma, rate) in enumerate(zip(closures.gamma, closures.rate, strict=True)):
        if k < len(closures.phi):
            gamma = gamma - rate * (2 * damping / time) - closures.phi[k] * (1 / time**2)
        else:
            gamma = gamma - rate * (1 / time)
        rows.append(as_expr(gamma))
    return replace(equations, closures=replace(closures, gamma=tuple(rows)))
