"""Replace unilateral relations by unilateral viscous friction.

Public names: viscous.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from liaison.analyse.rest.viscous import viscous as with_friction
from liaison.arguments import checked
from liaison.model.mechanism import Mechanism
from liaison.verbs.given import Given, mechanism_of


@checked
def viscous(given: Given, alpha: Any, only: Iterable[str] | None = None) -> Mechanism:
    """The mechanism with unilateral friction for its unilateral relations: see `analyse.viscous`.

    Args:
        given: the mechanism, or the path of its text.
        alpha: the coefficient, in N·s/m where a relation is of a speed in m/s.
        only: names of the relations to replace; all of rates if not given.

    Example:
        >>> import liaison
        >>> m = liaison.viscous("examples/chaplygin_unilateral.lsd", 100)
        >>> len(m.contacts)
        0
    """
    return with_friction(mechanism_of(given), alpha, only)
