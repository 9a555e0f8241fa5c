"""Make a scene of free bodies that collide.

Public names: collide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from liaison.contacts.scene.parts import Laws
from liaison.errors import ModelError, checked
from liaison.model.contacts.collisions import collisions
from liaison.numeric.progress import lasting
from liaison.simulation.scene import Scene
from liaison.verbs.given import Given, Value, in_si, mechanism_of, with_starts, with_values
from liaison.verbs.scenes import placed_on, placed_scene

GROUND = ((0.0, 0.0, 1.0, 0.0),)
"""The plane z ≥ 0."""


@lasting("contacts")
@checked
def collide(
    given: Given,
    *,
    planes: Sequence[Sequence[float]] | None = None,
    friction: float | None = None,
    restitution: float | None = None,
    start: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Scene:
    """A scene of free bodies: their spheres, boxes and hulls touch each other, and planes.

    Contacts are found while it runs, so that there may be thousands of pairs. Who touches whom, and
    how, is what `collide` in the description says; where it says nothing, all touch all, and
    `planes`, `friction` and `restitution` are given here.

    Args:
        given: a mechanism, or the path of its text, each of whose bodies joins the ground by a
            `free` joint and has a sphere or a box for its shape; gravity is all that acts.
        planes: (nx, ny, nz, d) of each, with n·x ≥ d allowed [m]; the ground z ≥ 0 if not given.
        friction: Coulomb's coefficient of all contacts; 0 if not given.
        restitution: e of all impacts, 0 to 1; 0 if not given.
        start: positions and rates to begin with, by label, instead of the mechanism's own.
        parameters: values by name, in SI.

    Returns:
        The scene; `scene.simulate(until, step=…)` lets it move.

    Raises:
        ModelError: something in the mechanism that a scene has no place for, by its name.

    Example:
        >>> import liaison
        >>> m = liaison.read("examples/pile.lsd")
        >>> scene = liaison.collide(m)
        >>> run = scene.simulate(0.02, step=0.01)
        >>> run.status
        'done'
    """
    mechanism = with_values(mechanism_of(given), parameters or {})
    start = in_si(mechanism, start, "start")
    mechanism = with_starts(mechanism, start)
    statements = collisions(mechanism)
    if statements and not (planes is None and friction is None and restitution is None):
        raise ModelError(
            f"'{statements[0].name}' says what collides and how; planes, friction and restitution "
            "of the call would say it again.",
            place=statements[0].place,
            hint="Leave them out of the call, or take the statement out of the description.",
        )
    if statements:
        return placed_scene(mechanism, start).scene
    return placed_on(
        mechanism, start, GROUND if planes is None else planes,
        lambda bodies, count: Laws.same(bodies, count, friction or 0.0, restitution or 0.0),
    ).scene  # fmt: skip
