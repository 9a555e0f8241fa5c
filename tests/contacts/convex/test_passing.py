"""Bodies that go farther in a step than they are thick: none passes another unseen."""

from itertools import product

import numpy as np
import pytest

import liaison


def block(x, y, z):
    return liaison.Hull([*product((-x / 2, x / 2), (-y / 2, y / 2), (-z / 2, z / 2))])


BULLET, WALL = block(0.02, 0.02, 0.02), block(1, 1, 0.01)


def shot(speed, step, *, restitution=0.0, shape="hull", until=None):
    """A bullet that flies at a wall of 1 cm, 1.015 m below it."""
    body = liaison.body("b", mass=0.1, inertia=(1e-5, 1e-5, 1e-5))
    free = liaison.join(liaison.ground, body, "free", name="F")
    size = {"hull": {"points": BULLET}, "ball": {"radius": 0.01}, "box": {"size": (0.02,) * 3}}
    wall = liaison.contact(
        body, liaison.ground, shape, hull=WALL, name="wall", restitution=restitution, **size[shape]
    )
    m = liaison.mechanism(free, wall)
    end = step * (4 + 1.5 // (speed * step)) if until is None else until
    start = {"F.z": 1.03, "F.vz": -speed}
    return liaison.simulate(m, until=end, start=start, method="moreau", step=step)


@pytest.mark.parametrize(("speed", "step"), [(100, 1e-3), (400, 1e-2), (4000, 1e-2)])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("shape", ["hull", "ball", "box"])
def test_no_bullet_passes_a_thin_wall(speed, step, restitution, shape):
    """It went through: in the middle of the step and at its end it was beyond."""
    run = shot(speed, step, restitution=restitution, shape=shape)
    assert run.status == "done", run.message
    assert run["F.z"].min() > 0.015 - 1e-9
    assert run.v[-1, 5] == pytest.approx(restitution * speed, abs=1e-6 * speed)


def test_a_step_that_passes_is_taken_in_parts_and_others_are_not():
    assert shot(1, 1e-3, until=1.2).counts["rejected"] == 0
    run = shot(400, 1e-2)
    assert 0 < run.counts["rejected"] < 12
    assert np.allclose(np.diff(run.t), 1e-2)  # recorded at whole steps


def test_what_flies_by_is_left_alone():
    """Beside the wall, and turning."""
    body = liaison.body("b", mass=0.1, inertia=(1e-5, 1e-5, 1e-5))
    free = liaison.join(liaison.ground, body, "free", name="F")
    wall = liaison.contact(body, liaison.ground, "hull", points=BULLET, hull=WALL, name="wall")
    start = {"F.x": 0.53, "F.z": 1, "F.vz": -300, "F.wz": 50}
    run = liaison.simulate(
        liaison.mechanism(free, wall), until=0.02, start=start, method="moreau", step=1e-3
    )
    assert run["F.z"][-1] == pytest.approx(1 - 300 * 0.02)
    assert run.counts["rejected"] == 0


def test_a_blade_that_turns_does_not_pass_a_pin():
    """A thin blade at 1000 rad/s meets a pin within 3 steps of 1 rad."""
    blade = block(0.4, 0.004, 0.02)
    body = liaison.body("blade", mass=0.1, inertia=(1e-3, 1e-3, 1e-3))
    hinge = liaison.join(liaison.ground, body, "revolute", name="A")
    pin = liaison.Hull(block(0.01, 0.01, 0.1).points + np.array([0, 0.15, 0]))
    touch = liaison.contact(body, liaison.ground, "hull", points=blade, hull=pin, name="pin")
    run = liaison.simulate(
        liaison.mechanism(hinge, touch), until=0.01, start={"A'": 1000}, method="moreau", step=1e-3
    )
    assert run.status == "done", run.message
    assert abs(run["A'"][-1]) < 200  # a normal that turns by a radian in the step
    assert run["A"].max() < np.pi / 2


@pytest.mark.parametrize(("speed", "step"), [(400, 1e-3), (50, 1e-3), (20, 1e-2)])
def test_a_fast_box_lands_on_a_flat_field_as_on_the_plane(speed, step):
    """Places on a field are named as far as a step goes: it gained 0.14 J at 50 m/s."""
    flat = liaison.HeightField(x=4, y=4, heights=np.zeros((5, 5)))
    ends = []
    for where in ({"terrain": flat}, {}):
        body = liaison.body("b", mass=2, inertia=(0.01, 0.02, 0.03))
        free = liaison.join(liaison.ground, body, "free", name="F")
        floor = liaison.contact(
            body, liaison.ground, "box", friction=0.3, name="floor", size=(0.4, 0.3, 0.2), **where
        )
        m = liaison.mechanism(free, floor, liaison.gravity((0, 0, -9.81)))
        start = {"F.z": 2, "F.vz": -speed}
        run = liaison.simulate(
            m, until=10 * step + 2 / speed, start=start, method="moreau", step=step
        )
        energy = run["energy"].sum(axis=1)
        assert np.diff(energy).max() < 1e-9 * energy[0]
        ends.append(np.concatenate([run.q[-1], run.v[-1]]))
    assert np.abs(ends[0] - ends[1]).max() < 1e-9


@pytest.mark.parametrize("device", [None, "processor"])
@pytest.mark.parametrize("x", [-0.03, -0.1, -0.17])
def test_what_is_thrown_back_from_behind_a_plate_hits_the_plate(device, x):
    """In the middle of the step it is beyond the plate, and a wall there throws it back.

    It ended where it began, with the plate at rest.
    """
    bullet = liaison.body("b", density=800, shapes=BULLET)
    plate = liaison.body("w", mass=50, inertia=(5, 5, 5))
    thin, thick = block(0.01, 2, 2), liaison.Hull([*product((0.1, 0.5), (-1, 1), (-1, 1))])
    m = liaison.mechanism(
        liaison.join(liaison.ground, bullet, "free", name="F"),
        liaison.join(liaison.ground, plate, "free", name="W"),
        liaison.contact(bullet, plate, "hull", points=BULLET, hull=thin, restitution=1),
        liaison.contact(bullet, liaison.ground, "hull", points=BULLET, hull=thick, restitution=1),
    )
    start = {"F.x": x, "F.vx": 400.0}
    speed = 2 * 0.0064 / 50.0064 * 400  # of the plate after it
    if device is None:
        run = liaison.simulate(m, until=2e-3, step=1e-3, method="moreau", start=start)
        assert run.counts["rejected"] > 0
        assert run["W.vx"][-1] == pytest.approx(speed)
        return
    worlds = liaison.worlds(m, 1, step=1e-3, device=device, start=start)
    worlds.step(2)
    names = [label.name for label in worlds.state(0).labels["v"]]
    assert worlds.v[names.index("W.vx"), 0] == pytest.approx(speed)
