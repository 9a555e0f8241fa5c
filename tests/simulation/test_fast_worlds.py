"""Fast bodies of worlds: none passes another unseen, as none does in a run on the processor."""

from itertools import product

import numpy as np
import pytest

import liaison as li

H = 1e-3
LOST = "a body passed through another: shorten the step"
SHAPES = {
    "ball": li.Sphere(0.01),
    "box": li.Box(0.02, 0.02, 0.02),
    "capsule": li.Capsule(0.005, 0.02),
}


def scene(shape, **start):
    """A bullet before a plate of 1 cm that floats at x = 0."""
    bullet = li.body("a", mass=0.01, inertia=(1e-6,) * 3, shapes=shape)
    plate = li.body("w", mass=1000, inertia=(100,) * 3, shapes=li.Box(0.01, 1, 1))
    joints = (
        li.join(li.ground, bullet, "free", name="A"), li.join(li.ground, plate, "free", name="W"),
    )  # fmt: skip
    start = {"A.x": -1.0, "A.y": 0.1} | start
    return li.collide(li.mechanism(*joints), planes=[], friction=0.3, restitution=0.5, start=start)


def at(worlds, array, name):
    return [x.name for x in worlds.plan.program.labels[array]].index(name)


def shot(worlds, x, speed, spin=0.0):
    """Bullets at different places fly at the plate."""
    q, v = (np.tile(y[:, None], (1, worlds.count)) for y in (worlds.q[:, 0], worlds.v[:, 0]))
    q[at(worlds, "q", "a.x")], v[at(worlds, "v", "a.vx")] = x, speed
    v[at(worlds, "v", "a.wz")] = spin
    worlds.reset(q=q, v=v)
    return worlds


def slow(x):
    """A value of which the slow tests are made as well."""
    return pytest.param(x, marks=pytest.mark.slow)


@pytest.mark.parametrize("shape", ["box", *(slow(x) for x in SHAPES if x != "box")])
@pytest.mark.parametrize("speed", [50, 1000])
def test_no_bullet_of_a_scene_passes_a_plate(shape, speed):
    worlds = li.worlds(scene(SHAPES[shape]), 40, step=H, device="processor")
    x = -0.1 - speed * H * np.linspace(0, 1, 40)
    shot(worlds, x, speed, spin=30.0).step(int(0.2 / (speed * H)) + 3)
    assert worlds.lost == 0
    assert np.all(worlds.q[at(worlds, "q", "a.x")] < 0)
    momentum = 0.01 * worlds.v[at(worlds, "v", "a.vx")] + 1000 * worlds.v[at(worlds, "v", "w.vx")]
    assert momentum == pytest.approx(0.01 * speed, abs=1e-11 * speed)


def test_parts_are_those_of_a_run_of_the_scene():
    start = {"A.x": -0.137, "A.vx": 300.0, "A.wz": 30.0}
    run = scene(SHAPES["capsule"], **start).simulate(3 * H, step=H)
    worlds = li.worlds(scene(SHAPES["capsule"], **start), 1, step=H, device="processor")
    worlds.step(3)
    assert worlds.q[:, 0] == pytest.approx(run.q[-1], abs=1e-9)
    assert worlds.t[0] == 3 * H
    assert worlds.steps_taken[0] == 3


def balls_in_a_row(**start):
    """A bullet, a ball that it throws and another, all of them balls: steps without arms."""
    bodies = [
        li.body(x, mass=mass, inertia=(4e-5 * mass,) * 3, shapes=li.Sphere(0.01))
        for x, mass in (("a", 1.0), ("b", 0.01), ("c", 100.0))
    ]
    joints = [li.join(li.ground, x, "free", name=x.name.upper()) for x in bodies]
    start = {"A.x": -0.2, "A.vx": 200, "C.x": 0.18} | start
    return li.collide(li.mechanism(*joints), planes=[], start=start, restitution=1)


def test_a_ball_that_is_thrown_within_the_step_does_not_pass_another():
    worlds = li.worlds(balls_in_a_row(), 1, step=H, device="processor")
    for _ in range(2):
        worlds.step(1)
        place = [worlds.q[at(worlds, "q", f"{x}.x"), 0] for x in "abc"]
        assert worlds.lost == 0
        assert sorted(place) == place


def test_what_is_too_fast_for_parts_is_lost_by_name():
    """1000 m a step: a thousandth of it is more than all thicknesses. What stands still goes on."""
    worlds = li.worlds(balls_in_a_row(), 2, step=H, device="processor")
    v = np.zeros((18, 2))
    v[at(worlds, "v", "a.vx"), 0] = 1e6
    worlds.reset(v=v)
    worlds.step(3)
    assert worlds.lost == 1
    assert [worlds.why(k) for k in range(2)] == [LOST, ""]
    assert worlds.q[0] == pytest.approx([-0.2, -0.2])  # the last good state


BRICK = li.Hull([*product((-0.01, 0.01), repeat=3)])
WALL = li.Hull([*product((-0.005, 0.005), (-1, 1), (-1, 1))])


def hulls():
    """A brick and a wall of the ground."""
    brick = li.body("brick", shapes=BRICK, density=800)
    on = li.contact(brick, li.ground, "hull", points=BRICK, hull=WALL, friction=0.3)
    return li.mechanism(li.join(li.ground, brick, "free", name="F"), on)


@pytest.fixture(scope="module", params=[1e-3, 1e-2])
def bricks(request):
    return li.worlds(hulls(), 20, step=request.param, device="processor")


def test_no_hull_of_a_mechanism_passes_a_wall(bricks):
    h = bricks.plan.settings.step
    speed = 0.4 / h
    q, v = np.zeros((7, 20)), np.zeros((6, 20))
    q[at(bricks, "q", "F.qw")] = 1.0
    q[at(bricks, "q", "F.x")] = x = -0.1 - speed * h * np.linspace(0, 1, 20)
    v[at(bricks, "v", "F.vx")] = speed
    bricks.reset(q=q, v=v)
    bricks.step(4)
    assert bricks.lost == 0
    assert np.all(bricks.q[at(bricks, "q", "F.x")] < 0)
    assert np.all(bricks.steps_taken == 4)
    run = li.simulate(
        hulls(), until=4 * h, step=h, method="moreau", start={"F.x": x[3], "F.vx": speed}
    )
    assert run.counts["rejected"] > 0
    assert bricks.q[:, 3] == pytest.approx(run.q[-1], abs=1e-12)
    assert bricks.t == pytest.approx(4 * h)


def test_a_hull_that_is_too_fast_is_lost_by_name(bricks):
    h = bricks.plan.settings.step
    q, v = bricks.plan.state.q.copy(), np.zeros(6)
    q[at(bricks, "q", "F.x")], v[at(bricks, "v", "F.vx")] = -1.0, 1e3 / h
    bricks.reset(q=q, v=v)
    bricks.step(2)
    assert bricks.lost == 20
    assert bricks.why(0) == LOST
    # the state of the last part that is good, at its own time
    assert np.all(bricks.t < h)
    assert bricks.q[at(bricks, "q", "F.x")] == pytest.approx(-1.0 + 1e3 / h * bricks.t)


RIDGE = li.HeightField(x=4, y=4, heights=[[0.5 * (abs(k - 100) < 2) for k in range(201)]] * 2)
"""8 cm wide at its foot, across x."""

FLAT = {"ball": SHAPES["ball"], "box": SHAPES["box"]}


def before_a_ridge(shape, **start):
    body = li.body("b", density=800, shapes=shape)
    one = li.mechanism(li.join(li.ground, body, "free", name="F"), li.gravity((0, 0, -9.81)))
    start = {"F.x": -1.0, "F.z": 0.2} | start
    return li.collide(one, terrain=RIDGE, friction=0.2, start=start)


@pytest.mark.parametrize("shape", ["box", *(slow(x) for x in FLAT if x != "box")])
def test_no_body_passes_a_ridge_of_a_height_field(shape):
    """0.2 m a step: both ends of it, and its middle, may be beside the ridge."""
    speed, h = 20.0, 1e-2
    worlds = li.worlds(before_a_ridge(FLAT[shape]), 16, step=h, device="processor")
    q, v = (np.tile(y[:, None], (1, 16)) for y in (worlds.q[:, 0], worlds.v[:, 0]))
    q[at(worlds, "q", "b.x")] = x = -0.3 - speed * h * np.arange(16) / 16
    v[at(worlds, "v", "b.vx")] = speed
    worlds.reset(q=q, v=v)
    worlds.step(4)
    place = worlds.q[at(worlds, "q", "b.x")]
    assert worlds.lost == 0
    assert np.all(place < 0)
    for k in range(0, 16, 5):
        run = before_a_ridge(FLAT[shape], **{"F.x": x[k], "F.vx": speed}).simulate(4 * h, step=h)
        assert run["b.x"][-1] < 0


def test_no_hull_of_a_mechanism_passes_a_ridge():
    speed, h = 20.0, 1e-2
    brick = li.body("brick", shapes=BRICK, density=800)
    on = li.contact(brick, li.ground, "hull", points=BRICK, terrain=RIDGE)
    one = li.mechanism(li.join(li.ground, brick, "free", name="F"), on)
    for x in -0.3 - speed * h * np.arange(8) / 8:
        start = {"F.x": x, "F.z": 0.2, "F.vx": speed}
        run = li.simulate(one, until=4 * h, step=h, method="moreau", start=start)
        assert run["F.x"][-1] < 0
