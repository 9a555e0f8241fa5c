"""Scenes marched by their loops as plain Python, whose arrays are bounded, and by machine code."""

import numpy as np
import pytest

from liaison.contacts.scene import Bodies, Laws
from liaison.simulation.scene import Scene
from samples.heaps import FLOOR, balls, heap, walls


def falling():
    scene = Scene(balls(heap(4, 2)), walls(0.3), friction=0.4, restitution=0.5)
    return scene, {"until": 0.05, "step": 5e-3}


def bricks():
    """Two boxes, the upper one turned, that fall on each other and on the floor."""
    half, turn = np.array([0.05, 0.04, 0.03]), np.array([0.96, 0.2, 0.1, 0.15])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * half
    a, b, c = half**2
    pose = np.array([[0, 0, 0.031, 1, 0, 0, 0], [0.01, 0, 0.115, *turn / np.linalg.norm(turn)]])
    bodies = Bodies(
        names=("low", "high"), mass=np.ones(2),
        inertia=np.tile(np.diag([b + c, a + c, a + b]) / 3, (2, 1, 1)), pose=pose,
        speed=np.zeros((2, 6)), owner=np.repeat([0, 1], 8),
        ball=np.tile(np.column_stack([corners, np.zeros(8)]), (2, 1)),
        solid=np.tile([0, 0, 0, *half, 1, 0, 0, 0], (2, 1)), solid_owner=np.arange(2),
    )  # fmt: skip
    return Scene(bodies, FLOOR), {"until": 0.1, "step": 1e-2}


def rolling():
    same = Laws.same(1, 1, 0.4, 0.0)
    values = np.array([[0.4, 0.0, 1e-3, 2e-3]])
    laws = Laws(same.bodies, same.planes, same.table, values, same.names)
    ball = balls([[0, 0, 0.05]], speeds=[[0, 10, 3, 0.5, 0, 0]])
    return Scene(ball, FLOOR, laws=laws), {"until": 0.003, "step": 1e-3}


def crowd():
    """More contacts than are solved together, so few sweeps that the interior method is needed."""
    places = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)]) * 0.1 + 0.05
    scene = Scene(balls(places), walls(0.2), friction=0.4)
    return scene, {"until": 1e-2, "step": 1e-2, "sweeps": 1, "tolerance": 1e-3}


@pytest.mark.parametrize("make", [falling, bricks, rolling, crowd])
def test_plain_and_compiled_loops_agree_to_the_bit(make):
    scene, options = make()
    compiled, plain = (scene.run(**options, is_compiled=x).finish() for x in (True, False))
    if make is crowd:
        assert compiled.counts["contacts"] > 20
        assert compiled.counts["turns"] > 0
    for name in ("t", "q", "v"):
        assert np.array_equal(getattr(plain, name), getattr(compiled, name))
    for name in ("energy", "residual", "contacts", "penetration", "planes"):
        assert np.array_equal(plain[name], compiled[name])
    assert [(x.name, x.what, x.t) for x in plain.events] == [
        (x.name, x.what, x.t) for x in compiled.events
    ]
    assert plain.counts == compiled.counts
