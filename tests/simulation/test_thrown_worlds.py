"""What impulses throw at others within a step of a world, as of a scene: it joins in that step."""

import numpy as np
import pytest

import liaison as li

STEP = 1e-3
SHAPES = {"ball": li.Sphere(0.05), "box": li.Box(0.1, 0.1, 0.1), "capsule": li.Capsule(0.05, 0.1)}


def in_a_row(shape, speed, restitution, planes):
    """A bullet and three bodies at rest, 1, 7 and 7 mm apart, the last 7 mm before a wall."""
    bodies = [li.body(f"b{k}", mass=1, shapes=shape) for k in range(4)]
    joints = [li.join(li.ground, x, "free", name=f"F{k}") for k, x in enumerate(bodies)]
    start = {f"F{k}.x": x for k, x in enumerate((0, 0.101, 0.208, 0.315))} | {"F0.vx": speed}
    return li.collide(li.mechanism(*joints), planes=planes, start=start, restitution=restitution)


def same_steps(scene, steps, tolerance):
    """Poses of worlds after each step are those of a run of the scene."""
    run = scene.simulate(steps * STEP, step=STEP)
    worlds = li.worlds(scene, 1, step=STEP, device="processor")
    for k in range(steps):
        worlds.step(1)
        assert worlds.lost == 0
        assert worlds.q[:, 0] == pytest.approx(run.q[k + 1], abs=tolerance)
    return run, worlds


SOME = [("box", 40, 1), ("ball", 400, 0)]
MORE = [
    pytest.param(shape, *values, marks=pytest.mark.slow)
    for shape in SHAPES
    for values in ((10, 0), (40, 0), (40, 1), (400, 0))
    if (shape, *values) not in SOME
]


@pytest.mark.parametrize(("shape", "speed", "restitution"), [*SOME, *MORE])
def test_what_is_thrown_joins_in_the_same_step(shape, speed, restitution):
    """Bodies entered each other by up to half their thickness, with a penetration of 0."""
    scene = in_a_row(SHAPES[shape], speed, restitution, [(-1, 0, 0, -0.372)])
    run, _ = same_steps(scene, 4, 1e-9)
    x = run.q.reshape(len(run.t), 4, 7)[:, :, 0]
    assert 0.1 - np.diff(x).min() < 1e-9


FLAT = li.HeightField(x=4, y=4, heights=np.zeros((9, 9)))


@pytest.mark.parametrize(
    ("shape", "terrain"),
    [
        ("box", FLAT),
        *(
            pytest.param(*x, marks=pytest.mark.slow)
            for x in (("ball", None), ("box", None), ("ball", FLAT))
        ),
    ],
)
def test_what_is_hit_from_above_does_not_enter_the_ground(shape, terrain):
    bodies = [li.body(f"b{k}", mass=1, shapes=SHAPES[shape]) for k in range(2)]
    joints = [li.join(li.ground, x, "free", name=f"F{k}") for k, x in enumerate(bodies)]
    start = {"F0.z": 0.058, "F1.z": 0.16, "F1.vz": -20}
    ground = {} if terrain is None else {"terrain": terrain}
    scene = li.collide(li.mechanism(*joints), start=start, **ground)
    run, worlds = same_steps(scene, 5, 1e-9)
    assert run["b0.z"].min() > 0.05 - 1e-9
    assert worlds.penetrations.max() < 1e-9


@pytest.mark.parametrize("shape", ["ball", pytest.param("box", marks=pytest.mark.slow)])
def test_single_precision_joins_too(shape):
    scene = in_a_row(SHAPES[shape], 40, 0, [(-1, 0, 0, -0.372)])
    worlds = li.worlds(scene, 2, step=STEP, device="processor", precision="single")
    run = scene.simulate(4 * STEP, step=STEP)
    worlds.step(4)
    assert worlds.lost == 0
    assert worlds.q[:, 0] == pytest.approx(run.q[-1], abs=2e-5)


def test_a_step_in_which_balls_fly_by_each_other_is_not_divided():
    """A ball hits the floor while another flies by: parts of the step had another impact."""
    bodies = [li.body(f"b{k}", mass=1, shapes=SHAPES["ball"]) for k in range(2)]
    joints = [li.join(li.ground, x, "free", name=f"F{k}") for k, x in enumerate(bodies)]
    start = {"F0.z": 0.08, "F0.vx": 120, "F0.vz": -40, "F1.z": 0.08, "F1.y": 0.22, "F1.vx": -120}
    scene = li.collide(li.mechanism(*joints), start=start, friction=0.3)
    same_steps(scene, 2, 1e-12)
