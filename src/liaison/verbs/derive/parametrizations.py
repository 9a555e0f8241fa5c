"""Compare parametrizations: unknowns, cost, time, drift.

Public names: parametrizations.
"""

from __future__ import annotations

from collections.abc import Iterable

from liaison.analyse.compare.parametrizations import Parametrizations
from liaison.analyse.compare.parametrizations import parametrizations as measured
from liaison.arguments import checked
from liaison.numeric.progress import lasting
from liaison.tree.cartesian import PARAMETRIZATIONS
from liaison.verbs.given import Given, Value, check_moving, in_seconds, mechanism_of


@lasting("equations")
@checked
def parametrizations(
    given: Given,
    names: Iterable[str] = PARAMETRIZATIONS,
    *,
    formalism: str = "lagrange",
    until: Value = 1.0,
    step: Value = 1e-3,
) -> Parametrizations:
    """A mechanism in minimal, joint, full joint and Cartesian coordinates, compared by measuring.

    Args:
        given: the mechanism, the path of its text, or the text.
        names: of parametrizations.
        formalism: by name.
        until: how long closures may drift [s].
        step: of RK4 while they do [s].

    Returns:
        A table that prints; `table["cartesian"].constraints` and the like are its entries.

    Example:
        >>> import liaison
        >>> table = liaison.parametrizations("examples/pendulum.lsd", until=0.05)
        >>> str(table).splitlines()[0]
        'pendulum, by lagrange            minimal    joint  full_joint  cartesian'
    """
    mechanism = mechanism_of(given)
    check_moving("parametrizations", mechanism)
    end, size = in_seconds(until, "until"), in_seconds(step, "step")
    return measured(mechanism, names, formalism=formalism, until=end, step=size)
