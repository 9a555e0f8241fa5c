"""Put controllers into a mechanism, as formulas.

Public names: controlled.
"""

from __future__ import annotations

from typing import Any

from liaison.analyse.control.controlled import controlled as under_control
from liaison.arguments import checked
from liaison.model.mechanism import Mechanism
from liaison.numeric.progress import lasting
from liaison.verbs.given import Given, mechanism_of


@lasting("analyse")
@checked
def controlled(given: Given, controller: Any) -> Mechanism:
    """The mechanism under controllers: their formulas stand in the place of its inputs.

    It is a description like any other: it runs without Python in a step, `linearize` gives the
    eigenvalues of the closed loop, `write_lsd` writes it. Inputs that are controlled become outputs
    of the same names.

    Args:
        given: the mechanism, or the path of its text.
        controller: `computed_torque(…)`, `gravity_compensation(…)`, what `lqr` returns, a load such
            as `pid(…)`, or a list of them; what several give to one input is added.

    Example:
        >>> import liaison
        >>> rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
        >>> A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
        >>> drive = liaison.signal("drive", "N*m")
        >>> m = liaison.mechanism(A, drive, liaison.motor(A, effort=drive), liaison.gravity())
        >>> closed = liaison.controlled(m, liaison.gravity_compensation())
        >>> closed.inputs, closed.outputs[0].name
        ((), 'drive')
    """
    return under_control(mechanism_of(given), controller)
