"""Make a scene of free bodies that collide.

Public names: collide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from liaison.arguments import checked
from liaison.contacts.scene.parts import Laws, Terrain
from liaison.errors import ModelError
from liaison.model.contacts.collisions import collisions
from liaison.model.shapes import HeightField
from liaison.numeric.progress import lasting
from liaison.simulation.scene import Scene
from liaison.spatial import number
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
    terrain: HeightField | None = None,
    friction: float | None = None,
    restitution: float | None = None,
    start: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> Scene:
    """A scene of free bodies: their shapes touch each other, planes and a height field.

    Contacts are found while it runs, so that there may be thousands of pairs. Who touches whom, and
    how, is what `collide` in the description says; where it says nothing, all touch all, and
    `planes`, `terrain`, `friction` and `restitution` are given here.

    Args:
        given: a mechanism, or the path of its text, each of whose bodies joins the ground by a
            `free` joint and has a sphere, capsule, box, cylinder or hull for its shape; gravity is
            all that acts.
        planes: (nx, ny, nz, d) of each, with n·x ≥ d allowed [m]; the ground z ≥ 0 if neither these
            nor a terrain is given.
        terrain: a height field, upright at the origin unless it has a place of its own.
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
    options = (planes, terrain, friction, restitution)
    if statements and any(x is not None for x in options):
        raise ModelError(
            f"'{statements[0].name}' says what collides and how; planes, terrain, friction and "
            "restitution of the call would say it again.",
            place=statements[0].place,
            hint="Leave them out of the call, or take the statement out of the description.",
        )
    if statements:
        return placed_scene(mechanism, start).scene
    fields = [] if terrain is None else [_placed(terrain)]
    if planes is None:
        planes = () if fields else GROUND

    def laws(bodies: int, count: int) -> Laws:
        return Laws.same(bodies, count, friction or 0.0, restitution or 0.0, fields=len(fields))

    return placed_on(mechanism, start, planes, laws, fields).scene


def _placed(field: HeightField) -> Terrain:
    """A height field at its own place on the ground.

    Raises:
        ModelError: a place that depends on a parameter.
    """
    numbers = [number(x) for row in (*field.R, field.p) for x in row]
    if None in numbers:
        raise ModelError("the place of a height field depends on a parameter; give numbers.")
    table = np.array(numbers, dtype=float).reshape(4, 3)
    return Terrain(field.grid, table[:3], table[3])
