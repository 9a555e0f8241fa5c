"""Summarize a mechanism: bodies, joints, loops, mobility.

Public names: check.
"""

from __future__ import annotations

from collections.abc import Mapping

from liaison.arguments import checked
from liaison.expr.graph.node import collector_paused
from liaison.numeric.progress import working
from liaison.verbs.given import Given, Value, in_si, mechanism_of, with_starts
from liaison.verbs.summary import Summary


@checked
def check(
    given: Given,
    start: Mapping[str, Value] | None = None,
    *,
    guess: Mapping[str, Value] | None = None,
) -> Summary:
    """What a mechanism is: counts, coordinates, parameters, and its assembled start.

    Args:
        given: the mechanism.
        start: positions and rates to start from, by label, instead of its own.
        guess: positions and rates near which to assemble, which may move.

    Raises:
        LiaisonError: it cannot be, or its loops cannot be closed.

    Example:
        >>> import liaison
        >>> print(liaison.check("examples/pendulum.lsd"))
        pendulum: 1 body, 1 joint, 0 loops
          coordinates  1 position, 1 velocity
          mobility     1 free velocity at the start; Grübler's count 1
          mass         1 kg
          gravity      0 0 -9.81 m/s²
          forces       gravity
          parameters   m = 1 kg, l = 1 m
          outputs      tip_height [mm]
          events       lowest
          start        A = 0.523599 rad
    """
    mechanism = mechanism_of(given)
    start = in_si(mechanism, start, "start")
    mechanism = with_starts(mechanism, start, in_si(mechanism, guess, "guess"))
    with collector_paused(), working("tree", f"assembling {mechanism.name}"):
        return Summary.of(mechanism, start)
