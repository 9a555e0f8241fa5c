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


def test_a_rod_that_spins_does_not_pass_a_plate_that_it_touches_with_an_end() -> None:
    """An end touches, and it turns by ten radians in the step of the impact."""
    rod = li.body("a", mass=0.01, inertia=(1e-6,) * 3, shapes=li.Capsule(0.005, 0.02))
    plate = li.body("w", mass=1000, inertia=(100,) * 3, shapes=li.Box(0.01, 1, 1))
    joints = (
        li.join(li.ground, rod, "free", name="A"), li.join(li.ground, plate, "free", name="W"),
    )  # fmt: skip
    start = {"A.x": -5.01, "A.y": 0.1, "A.z": 0.05, "A.vx": 100}
    turn = {"A.wx": 30, "A.wy": 20, "A.wz": 10}
    scene = li.collide(li.mechanism(*joints), planes=[], start=start | turn, friction=0)
    run = scene.simulate(0.12, step=5e-3)
    assert run["a.x"].max() < 0
    assert run["a.vx"][-1] < 0
    momentum = 0.01 * run.v[:, 3] + 1000 * run.v[:, 9]
    assert np.ptp(momentum) < 1e-12


def test_what_a_bullet_throws_does_not_pass_a_plate() -> None:
    """At rest before the step, it is nowhere near the plate without the impulse."""
    shapes = {"a": li.Sphere(0.01), "b": li.Sphere(0.01), "w": li.Box(0.01, 1, 1)}
    mass = {"a": 1.0, "b": 0.01, "w": 100.0}
    bodies = [
        li.body(x, mass=mass[x], inertia=(1e-3 * mass[x],) * 3, shapes=shapes[x]) for x in shapes
    ]
    joints = [li.join(li.ground, x, "free", name=x.name.upper()) for x in bodies]
    start = {"A.x": -0.2, "A.vx": 200, "W.x": 0.18}
    scene = li.collide(li.mechanism(*joints), planes=[], start=start, restitution=1)
    run = scene.simulate(2e-3, step=1e-3)
    assert np.all(run["b.x"] < run["w.x"])


def test_no_bullet_passes_a_plate_that_lies_across_its_axes() -> None:
    """A hull of 1 cm across the diagonal of a box of 70 cm."""
    across = np.array([(1, 1, 0), (1, -1, 0), (0, 0, np.sqrt(2))]) / np.sqrt(2)
    corners = np.array([*product((-0.005, 0.005), (-0.5, 0.5), (-0.5, 0.5))]) @ across
    bullet = li.body("a", mass=0.1, inertia=(1e-5,) * 3, shapes=li.Sphere(0.01))
    plate = li.body("w", mass=50, inertia=(5,) * 3, shapes=li.Hull(corners.tolist()))
    joints = (
        li.join(li.ground, bullet, "free", name="A"), li.join(li.ground, plate, "free", name="W"),
    )  # fmt: skip
    x, v = -0.5337 * across[0], 100 * across[0]
    start = {f"A.{k}": z for k, z in zip(("x", "y", "vx", "vy"), (*x[:2], *v[:2]), strict=True)}
    run = li.collide(li.mechanism(*joints), planes=[], start=start).simulate(0.02, step=1e-3)
    assert (run.q[:, :3] @ across[0]).max() < 0


@pytest.mark.parametrize("shape", [li.Sphere(0.05), li.Box(0.1, 0.1, 0.1), li.Capsule(0.05, 0.1)])
@pytest.mark.parametrize(("speed", "restitution"), [(10, 0), (40, 0), (400, 0), (400, 1)])
def test_what_is_thrown_does_not_enter_what_was_out_of_its_way(
    shape: Any, speed: float, restitution: float
) -> None:
    """Balls at rest 7 mm apart and 7 mm from a wall entered each other, and passed at 400 m/s.

    Penetration was that of pairs near the way without impulses: 0 where it was 58 mm.
    """
    places = [0, 0.101, 0.208, 0.315]
    bodies = [li.body(f"b{k}", mass=1, shapes=shape) for k in range(4)]
    joints = [li.join(li.ground, x, "free", name=f"F{k}") for k, x in enumerate(bodies)]
    start = {f"F{k}.x": x for k, x in enumerate(places)} | {"F0.vx": speed}
    scene = li.collide(
        li.mechanism(*joints), planes=[(-1, 0, 0, -0.372)], start=start, restitution=restitution
    )
    run = scene.simulate(0.004, step=1e-3)
    x = run.q.reshape(len(run.t), 4, 7)[:, :, 0]
    deepest = max(0.1 - np.diff(x).min(), x[:, 3].max() + 0.05 - 0.372)
    assert deepest < 1e-9
    assert run["energy"].sum(axis=1).max() <= 0.5 * speed**2 * (1 + 1e-9)


@pytest.mark.parametrize("gap", [0.002, 0.008, 0.02])
@pytest.mark.parametrize("terrain", [None, li.HeightField(x=4, y=4, heights=np.zeros((9, 9)))])
def test_what_is_hit_from_above_does_not_enter_the_ground(gap: float, terrain: Any) -> None:
    """What was out of its way without the hit was 1 mm deep, and nothing said so."""
    bodies = [li.body(f"b{k}", mass=1, shapes=li.Box(0.1, 0.1, 0.1)) for k in range(2)]
    joints = [li.join(li.ground, x, "free", name=f"F{k}") for k, x in enumerate(bodies)]
    start = {"F0.z": 0.05 + gap, "F1.z": 0.152 + gap, "F1.vz": -20}
    ground = {} if terrain is None else {"terrain": terrain}
    run = li.collide(li.mechanism(*joints), start=start, **ground).simulate(0.006, step=1e-3)
    assert run["b0.z"].min() > 0.05 - 1e-9
