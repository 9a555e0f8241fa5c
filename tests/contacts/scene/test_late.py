"""What comes down at the end of a step: corners that no place of its middle was near."""

from itertools import pairwise

import numpy as np
import pytest

import liaison as li
from liaison.numeric import Array
from liaison.simulation.scene import Scene
from liaison.spatial.rotations import rotation_quaternion

STEP, BODIES = 1e-3, 6
NAMES = ("x", "y", "z", "qw", "qx", "qy", "qz", "vx", "vy", "vz", "wx", "wy", "wz")


def boxes(seed: int, shape: str = "box") -> Scene:
    """Boxes of some 10 cm that fly at each other at 10 m/s above a floor and turn at 50 rad/s."""
    rng = np.random.default_rng(seed)
    bodies, joints, start = [], [], {}
    for k in range(BODIES):
        a = rng.uniform(0.06, 0.2, 3)
        form = li.Box(*a) if shape == "box" else li.Cylinder(a[0] / 2, a[1])
        bodies.append(li.body(f"b{k}", density=700, shapes=form))
        joints.append(li.join(li.ground, bodies[-1], "free", name=f"F{k}"))
        place = 0.32 * (np.array([k % 2, k // 2 % 2, k // 4]) - (0.5, 0.5, 0.3))
        turn = rng.normal(size=4)
        v = rng.normal(size=3) * 3.0 - 10.0 * place / np.linalg.norm(place)
        values = (*place[:2], place[2] + 0.6, *(turn / np.linalg.norm(turn)), *v)
        values += (*(rng.normal(size=3) * 30.0),)
        start |= {f"F{k}.{x}": float(y) for x, y in zip(NAMES, values, strict=True)}
    return li.collide(
        li.mechanism(*joints, li.gravity((0, 0, -9.81))), friction=0.6, restitution=0.6,
        start=start,
    )  # fmt: skip


def overlap(one: Array, a: Array, other: Array, b: Array) -> float:
    """How deep two boxes are inside each other, by fifteen directions."""
    R, S = rotation_quaternion(one[3:]), rotation_quaternion(other[3:])
    edges = [np.cross(x, y) for x in R.T for y in S.T]
    ways = [*R.T, *S.T, *(x / np.linalg.norm(x) for x in edges if np.linalg.norm(x) > 1e-6)]
    apart = [abs(n @ (other[:3] - one[:3])) - np.abs(n @ R) @ a - np.abs(n @ S) @ b for n in ways]
    return -max(apart)


@pytest.mark.parametrize("seed", [2, 7])
def test_no_corner_comes_down_into_another_box(seed: int) -> None:
    """They were 1.7 and 2.7 mm deep, and `penetration` was 0."""
    scene = boxes(seed)
    run = scene.simulate(0.1, step=STEP)
    half = scene.bodies.boxes()[0][:, 3:6]
    deepest = 0.0
    for q in run.q.reshape(len(run.t), BODIES, 7):
        for i in range(BODIES):
            for j in range(i):
                deepest = max(deepest, overlap(q[i], half[i], q[j], half[j]))
    assert run["contacts"].max() > 0
    assert deepest < 1e-5
    assert max(y - x for x, y in pairwise(run["energy"].sum(axis=1))) < 1e-3


@pytest.mark.parametrize("shape", ["box", "cylinder"])
def test_worlds_take_the_same_steps(shape: str) -> None:
    scene = boxes(2, shape)
    run = scene.simulate(0.06, step=STEP)
    worlds = li.worlds(scene, 60, step=STEP, device="processor")
    worlds.reset(q=run.q[:-1].T.copy(), v=run.v[:-1].T.copy())
    worlds.step(1)
    assert worlds.lost == 0
    assert np.abs(worlds.q - run.q[1:].T).max() < 1e-6  # directions between cylinders: 1e-5
