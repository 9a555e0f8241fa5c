"""Evaluate the mass matrix M(q) at a state.

Public names: mass_matrix.
"""

from __future__ import annotations

from collections.abc import Mapping

from liaison.arguments import checked
from liaison.numeric import Array
from liaison.verbs.at_state import Positions, at_state
from liaison.verbs.given import Given, Value


@checked
def mass_matrix(
    given: Given,
    q: Positions = None,
    *,
    t: Value = 0.0,
    parameters: Mapping[str, Value] | None = None,
) -> Array:
    """The mass matrix M of M v̇ + h = τ + Gᵀ λ, shape (nv, nv), SI.

    Args:
        given: the mechanism, the path of its text, or the text.
        q: a State; an array (nq,); positions by label, `{"A": 0.3}`, the others assembled; or
            nothing for the mechanism's own start.
        t: time [s].
        parameters: other values of parameters, by name.

    Example:
        >>> import liaison
        >>> liaison.mass_matrix("examples/pendulum.lsd", {"A": 0.3}).round(6)
        array([[0.333333]])
    """
    state = at_state(given, q, t=t, parameters=parameters)
    return state("mass_matrix")["M"].reshape(state.nv, state.nv)
