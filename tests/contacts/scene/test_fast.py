"""Bodies of a scene that go farther in a step than they are thick: none passes another unseen."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import liaison as li

BULLETS = {
    "ball": li.Sphere(0.01),
    "box": li.Box(0.02, 0.02, 0.02),
    "hull": li.Hull([*product((-0.01, 0.01), repeat=3)]),
}


def shot(kind: str, speed: float, step: float, x: float = 0.1) -> Any:
    """A bullet that flies at a plate of 1 cm that floats 1 m below it."""
    bullet = li.body("a", mass=0.1, inertia=(1e-5,) * 3, shapes=BULLETS[kind])
    plate = li.body("w", mass=50, inertia=(5, 5, 10), shapes=li.Box(1, 1, 0.01))
    joints = (
        li.join(li.ground, bullet, "free", name="A"), li.join(li.ground, plate, "free", name="W"),
    )  # fmt: skip
    start = {"A.z": 1.0337, "A.vz": -speed, "A.x": x}
    scene = li.collide(li.mechanism(*joints), planes=[], friction=0.3, restitution=0.5, start=start)
    return scene.simulate(step * (3 + 1.2 // (speed * step)), step=step)


@pytest.mark.parametrize("kind", BULLETS)
@pytest.mark.parametrize(("speed", "step"), [(100, 1e-3), (400, 1e-2)])
def test_no_bullet_passes_a_plate(kind: str, speed: float, step: float) -> None:
    run = shot(kind, speed, step)
    assert run.status == "done"
    assert run["a.z"].min() > run["w.z"].min()
    assert run.v[-1, 5] == pytest.approx(0.5 * speed, rel=0.01)  # the plate gives way
    momentum = 0.1 * run.v[:, 5] + 50 * run.v[:, 11]
    assert np.ptp(momentum) < 1e-12 * speed
    assert len(run.t) == run.counts["steps"] + 1  # parts are not recorded


def test_what_flies_by_goes_on() -> None:
    run = shot("ball", 400, 1e-3, x=0.6)
    assert run["a.z"][-1] == pytest.approx(1.0337 - 400 * run.t[-1])
    assert "passed" not in run.message
