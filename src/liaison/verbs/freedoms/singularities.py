"""Find singular positions: dead points, bifurcations.

Public names: singularities.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from liaison.analyse.along.singularities import NEAR, RankAlong, rank_along
from liaison.arguments import checked
from liaison.errors import OptionError
from liaison.expr.graph.node import collector_paused
from liaison.freedoms.mobility import singularities as followed
from liaison.freedoms.singular import STEP, STEPS, Singularities
from liaison.numeric.progress import working
from liaison.simulation.record.trajectory import Trajectory, load
from liaison.tree.tree import Tree
from liaison.verbs.given import Given, check_positive, exact_in_si, mechanism_or_tree


@checked
def singularities(
    given: Given | Tree,
    along: Trajectory | str | Path | None = None,
    *,
    at: Mapping[str, Any] | None = None,
    near: float | None = None,
    step: float | None = None,
    steps: int | None = None,
) -> Singularities | RankAlong:
    """Where closures lose rank: along a run, or on the whole motion of a mechanism of mobility 1.

    Args:
        given: a mechanism, the path of its text, or a tree.
        along: a run of it, or the file of one; without it the motion is followed all around, and
            dead points of each coordinate are found as well.
        at: positions by label instead of its own starts [m, rad], where there is no run.
        near: of a run: relative singular value below which the rank counts as lost.
        step: without a run: arc length of a step [rad, m].
        steps: without a run: how many at most; 4000 if not given.

    Example:
        >>> import liaison
        >>> liaison.singularities("examples/four_bar.lsd").is_closed
        True
    """
    check_positive("singularities", near=near, step=step, steps=steps)
    mechanism = mechanism_or_tree(given)
    with collector_paused(), working("freedoms", f"singularities of {mechanism.name}"):
        if along is None:
            _check({"near": near}, "without a run", ("at", "step", "steps"))
            length, count = STEP if step is None else step, STEPS if steps is None else steps
            return followed(
                mechanism, at=exact_in_si(mechanism, at, "at"), step=length, steps=count
            )
        _check({"at": at or None, "step": step, "steps": steps}, "along a run", ("near",))
        run = along if isinstance(along, Trajectory) else load(along)
        return rank_along(run, mechanism, near=NEAR if near is None else near)


def _check(others: dict[str, Any], case: str, known: tuple[str, ...]) -> None:
    """Raises an error for options of the other case."""
    wrong = [name for name, value in others.items() if value is not None]
    OptionError.check(f"singularities {case}", wrong, known)
