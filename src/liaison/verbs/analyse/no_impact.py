"""Prove that unilateral relations are entered without impact.

Public names: no_impact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liaison.analyse.proofs.no_impact import NoImpact
from liaison.analyse.proofs.no_impact import no_impact as entered_without
from liaison.analyse.proofs.rank_proof import MOST_BOXES
from liaison.arguments import checked
from liaison.numeric.progress import lasting
from liaison.verbs.given import Given, mechanism_of, with_values


@lasting("analyse")
@checked
def no_impact(
    given: Given, *, parameters: Mapping[str, Any] | None = None, boxes: int = MOST_BOXES
) -> NoImpact:
    """Whether unilateral relations of rates are entered without impact: see `analyse.no_impact`.

    Args:
        given: the mechanism, or the path of its text.
        parameters: values by name, in SI.
        boxes: of positions that a proof may look at, at most.

    Example:
        >>> import liaison
        >>> liaison.no_impact("examples/chaplygin_unilateral.lsd").entries[0].verdict
        'proved'
    """
    return entered_without(with_values(mechanism_of(given), parameters or {}), boxes=boxes)
