"""Find all joint coordinates that put a body at a pose.

Public names: inverse_kinematics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

from liaison.arguments import checked
from liaison.errors import OptionError
from liaison.expr.graph.node import collector_paused
from liaison.freedoms.global_.assembly import AssemblyModes
from liaison.freedoms.global_.inverse_kinematics import inverse_kinematics as find_reaches
from liaison.freedoms.keywords import SearchKeywords
from liaison.model.scalars import scalar
from liaison.numeric.progress import working
from liaison.tree.tree import Tree
from liaison.verbs.given import Given, exact_in_si, mechanism_or_tree
from liaison.verbs.one_sided import with_note

PARALLEL = (
    "no rotation was given, so that the axes of {!r} were to be those of the ground; "
    "rotation=[[…], […], […]] (--rotation) asks for others"
)
"""Why a place that the hand reaches may have no solution."""


@checked
def inverse_kinematics(
    given: Given | Tree,
    body: str,
    *,
    position: Sequence[Any],
    rotation: Sequence[Sequence[Any]] | None = None,
    at: Mapping[str, Any] | None = None,
    **options: Unpack[SearchKeywords],
) -> AssemblyModes:
    """Every set of joint coordinates that puts a body of an arm at a pose.

    Args:
        given: an arm, the path of its text, or a tree.
        body: the name of the hand.
        position: of its origin, in ground's axes [m].
        rotation: its axes as columns, in ground's axes; those of the ground if not given.
        at: coordinates that are held besides, by label [m, rad]: all but six of the arm's.
        **options: seed, time_limit [s], memory_limit [bytes].

    Example:
        >>> import liaison
        >>> arm = "examples/double_pendulum.lsd"
        >>> hand = liaison.pose(arm, "lower", {"A": 0.4, "B": 0.5})
        >>> place = [round(float(x), 3) for x in hand[:3, 3]]
        >>> type(liaison.inverse_kinematics(arm, "lower", position=place)).__name__
        'AssemblyModes'
    """
    OptionError.check(
        "inverse_kinematics", options, [*SearchKeywords.__annotations__, *("rotation", "at")]
    )
    mechanism = mechanism_or_tree(given)
    place = [scalar(x, "a coordinate of the position", unit="m") for x in position]
    with collector_paused(), working("freedoms", f"inverse kinematics of {mechanism.name}"):
        modes = find_reaches(
            mechanism,
            body,
            position=place,
            rotation=rotation,
            at=exact_in_si(mechanism, at, "at"),
            **options,
        )
    if rotation is None and not len(modes):
        modes = replace(modes, notes=(*modes.notes, PARALLEL.format(body)))
    return with_note(modes, mechanism)
