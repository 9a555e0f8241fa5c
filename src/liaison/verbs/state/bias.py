"""Evaluate the bias h(q, v): gravity, Coriolis, centrifugal.

Public names: bias.
"""

from __future__ import annotations

from collections.abc import Mapping

from liaison.arguments import checked
from liaison.numeric import Array
from liaison.verbs.at_state import Positions, Velocities, at_state
from liaison.verbs.given import Given, Value


@checked
def bias(
    given: Given,
    q: Positions = None,
    v: Velocities = None,
    *,
    t: Value = 0.0,
    parameters: Mapping[str, Value] | None = None,
) -> Array:
    """The bias h of M v̇ + h = τ + Gᵀ λ, shape (nv,): the force that keeps v̇ = 0 without loads.

    It holds centrifugal and Coriolis terms and the weight; springs, dampers and motors are in τ.

    Args:
        given: the mechanism, the path of its text, or the text.
        q: a State; an array (nq,); positions by label, the others assembled; or the start.
        v: an array (nv,); velocities by label; those of the state, or zero beside an array q.
        t: time [s].
        parameters: other values of parameters, by name.

    Example:
        >>> import liaison
        >>> liaison.bias("examples/pendulum.lsd", {"A": 0.0}).round(6)
        array([0.])
    """
    return at_state(given, q, v, t=t, parameters=parameters)("bias")["h"]
