"""ggl: closures of positions and of velocities brought back each by multipliers of its own.

Gear, Gupta and Leimkuhler let positions follow q̇ = N (v + x) with M x = Gᵀ η, so that Φ = 0 and
G v = ν may be asked together; η vanishes on the exact motion. Both brought back in a time T,

    G x = −(G v − ν) − Φ/T,      G v̇ = γ − (G v − ν)/T                             (ggl-1)

give Φ̇ = −Φ/T and d/dt (G v − ν) = −(G v − ν)/T up to products of what is off with velocities: two
decays of first order, where Baumgarte's is one of second order that either level disturbs.

Public names: ggl.

Source: GGL85.
Differs: η and λ are solved for at every evaluation (index 1), so that explicit methods serve.
"""

from __future__ import annotations

import math
from dataclasses import replace

from liaison.equations import Equations
from liaison.errors import DerivationError
from liaison.expr import as_expr, substitute

from .lower import lower


def ggl(equations: Equations, time: float) -> Equations:
    """The same equations with (ggl-1) in place of q̇ = N v and G v̇ = γ.

    Args:
        equations: of any formalism, with closures.
        time: T [s], positive; some steps of the run.

    Raises:
        DerivationError: a time that is not positive.

    Example:
        >>> import liaison
        >>> equations = liaison.derive("examples/four_bar.lsd")
        >>> liaison.ggl(equations, 0.02).name
        'four bar'
    """
    if not (math.isfinite(time) and time > 0):
        raise DerivationError(f"the time of a stabilisation is {time}; it is positive.")
    symbols, closures, chart = equations.symbols, equations.closures, equations.kinematics
    nv = len(symbols.v)
    entries = lower(equations).entries
    rows = zip(closures.gamma, closures.rate, strict=True)
    gamma = tuple(as_expr(a - rate * (1 / time)) for a, rate in rows)
    places, speeds = (entries[name].outputs[:nv] for name in ("correct_q", "correct_v"))
    back = [a * (1 / time) + b for a, b in zip(places, speeds, strict=True)]
    moved = dict(zip(symbols.q, chart.retract, strict=True))
    there = substitute([as_expr(x) for x in back], moved)
    faster = {v: v + x for v, x in zip(symbols.v, there, strict=True)}
    return replace(
        equations,
        closures=replace(closures, gamma=gamma),
        kinematics=replace(chart, local_rate=tuple(substitute(chart.local_rate, faster))),
    )
