"""Where bodies of a scene touch, for its picture; cylinders among them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liaison as li
from liaison.errors import SimulationError
from liaison.verbs.scenes import scene_places

CAN = li.Cylinder(0.1, 0.2)
HALF = np.sqrt(0.5)


def heap(shapes: Any) -> Any:
    bodies = [li.body(f"b{k}", shapes=x, density=500) for k, x in enumerate(shapes)]
    joints = [li.join(li.ground, x, "free", name=f"F{k}") for k, x in enumerate(bodies)]
    law = li.collision(*bodies, li.ground, friction=0.3)
    return li.mechanism(*joints, law, li.gravity((0, 0, -9.81)))


def run(one: Any, start: dict[str, float], until: float = 0.3) -> Any:
    return li.simulate(one, until=until, start=start, method="moreau", step=1e-3)


def there(one: Any, result: Any) -> list[Any]:
    return [x for x in scene_places(one, result) if x.is_closed[-1]]


def test_points_of_a_box_and_of_a_ball_on_it(tmp_path: Path) -> None:
    one = heap([li.Box(0.4, 0.2, 0.2), li.Sphere(0.1)])
    result = run(one, {"F0.z": 0.1, "F1.z": 0.3, "F1.x": 0.1}, 0.05)
    points = [tuple(np.round(x.point[-1], 6) + 0.0) for x in there(one, result)]
    corners = [(x, y, 0.0) for x in (-0.2, 0.2) for y in (-0.1, 0.1)]
    assert sorted(points) == sorted([*corners, (0.1, 0.0, 0.2)])
    assert max(x.slip[-1] for x in there(one, result)) < 1e-9
    for name, contacts in (("with", True), ("without", False)):
        li.page(result, one, tmp_path / name, contacts=contacts)
    with_points, without = ((tmp_path / x).stat().st_size for x in ("with", "without"))
    assert with_points > without + 300


def test_a_ball_that_slides_is_seen_to_slip() -> None:
    one = heap([li.Sphere(0.1), CAN])
    result = run(one, {"F0.z": 0.1, "F0.vx": 1.0, "F1.x": -1.0, "F1.z": 0.1}, 0.02)
    slips = {round(float(x.point[-1, 0]), 2): x.slip[-1] for x in there(one, result)}
    assert slips[0.02] == pytest.approx(1 - 3.5 * 0.3 * 9.81 * 0.02, abs=1e-2)  # ball: 7/2 f g t


def test_cylinders_stand_on_each_other_and_roll() -> None:
    stack = run(heap([CAN, CAN]), {"F0.z": 0.1, "F1.z": 0.301})
    assert stack.q[-1, [2, 9]] == pytest.approx([0.1, 0.3], abs=1e-9)
    assert np.abs(stack.v[-1]).max() < 1e-9
    one = heap([CAN, li.Sphere(0.1)])
    lies = {"F0.z": 0.1, "F0.qw": HALF, "F0.qx": HALF, "F0.vx": 1.0, "F0.wz": -10.0}
    rolls = run(one, {**lies, "F1.z": 0.1, "F1.x": -2.0}, 0.5)
    assert rolls.q[-1, :3] == pytest.approx([0.5, 0, 0.1], abs=1e-6)
    energy = rolls["energy"].sum(axis=1)
    assert np.ptp(energy) < 1e-9 * energy[0]
    assert len([x for x in there(one, rolls) if abs(x.point[-1, 0] - 0.5) < 0.01]) == 2


def test_a_cylinder_below_the_ground_is_refused() -> None:
    with pytest.raises(SimulationError, match=r"'b0' begins 0\.05 m below earth"):
        run(heap([CAN, CAN]), {"F0.z": 0.05, "F1.z": 0.5})
