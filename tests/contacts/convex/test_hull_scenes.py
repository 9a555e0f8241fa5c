"""Hulls in scenes of free bodies: as the boxes they are hulls of, in heaps, with balls."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import liaison as li
from liaison.errors import SimulationError

BRICK = li.Hull([*product((-0.2, 0.2), (-0.15, 0.15), (-0.1, 0.1))])
BOX = li.Box(0.4, 0.3, 0.2)
BALL = li.Sphere(0.1)


def heap(shapes: Any, **options: Any) -> Any:
    bodies = [
        li.body(f"b{k}", mass=2, inertia=(0.01, 0.02, 0.03), shapes=x) for k, x in enumerate(shapes)
    ]
    joints = [li.join(li.ground, x, "free", name=f"F{k}") for k, x in enumerate(bodies)]
    law = li.collision(*bodies, li.ground, **{"friction": 0.3, **options})
    return li.mechanism(*joints, law, li.gravity((0, 0, -9.81)))


def run(one: Any, start: dict[str, float], until: float = 1) -> Any:
    return li.simulate(one, until=until, start=start, method="moreau", step=1e-3)


@pytest.mark.parametrize(
    ("start", "until"),
    [
        ({"F0.z": 0.1, "F1.z": 0.3, "F1.vx": 1.0, "F1.x": -0.05}, 1.0),  # slides on the other
        ({"F0.z": 0.1, "F1.z": 0.35, "F1.x": 0.25, "F1.wy": 0.5}, 2.0),  # falls off, comes to rest
    ],
)
def test_boxes_as_hulls_move_as_boxes(start: dict[str, float], until: float) -> None:
    boxes = run(heap([BOX, BOX]), start, until)
    assert "scene" in boxes.meta
    for shapes in ([BRICK, BRICK], [BOX, BRICK], [BRICK, BOX]):
        hulls = run(heap(shapes), start, until)
        assert np.abs(boxes.q - hulls.q).max() < 1e-9
        assert hulls["penetration"].max() < 1e-9


def test_a_ball_rests_and_rolls_on_a_hull_as_on_a_box() -> None:
    start = {"F0.z": 0.1, "F1.z": 0.35, "F1.x": 0.05, "F1.vy": 0.1}
    with_box = li.collide(_free([BOX, BALL]), friction=0.3, start=start)
    with_hull = li.collide(_free([BRICK, BALL]), friction=0.3, start=start)
    one, other = (x.simulate(0.5, step=1e-3) for x in (with_box, with_hull))
    assert np.abs(one.q - other.q).max() < 1e-9
    assert other["penetration"].max() < 1e-9


def _free(shapes: Any) -> Any:
    bodies = [
        li.body(f"b{k}", mass=2, inertia=(0.01, 0.02, 0.03), shapes=x) for k, x in enumerate(shapes)
    ]
    joints = [li.join(li.ground, x, "free", name=f"F{k}") for k, x in enumerate(bodies)]
    return li.mechanism(*joints, li.gravity((0, 0, -9.81)))


def test_a_heap_of_random_hulls_comes_to_rest_and_weighs_what_it_weighs() -> None:
    draw = np.random.default_rng(0)
    bodies, joints, start = [], [], {}
    for k in range(6):
        points = draw.normal(size=(12, 3))
        points *= 0.1 / np.linalg.norm(points, axis=1)[:, None]
        bodies.append(li.body(f"b{k}", shapes=li.Hull(points), density=1000))
        joints.append(li.join(li.ground, bodies[-1], "free", name=f"F{k}"))
        x, y, z = 0.15 * (k % 2), 0.15 * (k // 2 % 2), 0.12 + 0.21 * (k // 4)
        start |= {f"F{k}.x": x + 0.05 * (k // 4), f"F{k}.y": y, f"F{k}.z": z}
    start |= {f"F{k}.x": start[f"F{k}.x"] + 0.06 * (k % 2) for k in range(6)}
    start |= {f"F{k}.y": start[f"F{k}.y"] + 0.06 * (k // 2 % 2) for k in range(6)}
    law = li.collision(*bodies, li.ground, friction=0.5)
    result = run(li.mechanism(*joints, law, li.gravity((0, 0, -9.81))), start, 1.6)
    weight = sum(float(x.mass) for x in bodies) * 9.81
    assert result["planes"][-1].sum(axis=0)[2] == pytest.approx(weight, rel=1e-4)
    assert np.abs(result.v[-1]).max() < 1e-2
    assert result["penetration"].max() < 1e-6
    energy = result["energy"].sum(axis=1)
    assert energy.max() < energy[0] * (1 + 1e-5)


def test_hulls_that_begin_inside_each_other_are_an_error() -> None:
    with pytest.raises(SimulationError, match="inside"):
        run(heap([BRICK, BRICK]), {"F0.z": 0.1, "F1.z": 0.25})
