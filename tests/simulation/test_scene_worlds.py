"""Worlds of a scene: many boxes of balls, by the code of a GPU on this processor."""

from dataclasses import replace

import numpy as np
import pytest

import liaison
from liaison.contacts.scene import Bodies
from liaison.contacts.scene.parts import Laws
from liaison.errors import LiaisonError, SimulationError
from liaison.program.llvm.machine import ptx
from liaison.simulation.scene import Scene
from liaison.simulation.worlds.scene.text import scene_module

H, RADIUS = 1e-3, 0.05
WALLS = [[0, 0, 1, 0], [1, 0, 0, 0], [-1, 0, 0, -0.27], [0, 1, 0, 0], [0, -1, 0, -0.27]]


def balls(count: int = 7, speed: float = 0.3) -> Bodies:
    """Balls of different sizes and masses in layers of four, thrown about."""
    rng = np.random.default_rng(2)
    k = np.arange(count)
    places = np.column_stack(
        [0.07 + 0.12 * (k % 2), 0.07 + 0.12 * (k // 2 % 2), 0.06 + 0.11 * (k // 4)]
    )
    radius, mass = RADIUS * rng.uniform(0.8, 1.0, count), rng.uniform(0.5, 2.0, count)
    return Bodies(
        names=tuple(f"b{x}" for x in k), mass=mass,
        inertia=(0.4 * mass * radius**2)[:, None, None] * np.eye(3),
        pose=np.column_stack([places, np.ones(count), np.zeros((count, 3))]),
        speed=speed * rng.uniform(-1, 1, (count, 6)) * [5, 5, 5, 1, 1, 1],
        owner=k, ball=np.column_stack([np.zeros((count, 3)), radius]),
    )  # fmt: skip


def scene(friction: float = 0.4, **options) -> Scene:
    return Scene(balls(**options), WALLS, friction=friction)


def test_a_step_is_that_of_the_scene():
    """From states on the way down and in the heap: contacts with balls, floor and walls."""
    run = scene().simulate(0.25, step=H, every=10, events=False)
    worlds = liaison.worlds(scene(), len(run.t) - 1, step=H, device="processor")
    worlds.reset(q=run.q[:-1].T, v=run.v[:-1].T)
    worlds.step(1)
    most = 0
    for k in range(worlds.count):
        from_there = replace(balls(), pose=run.q[k].reshape(-1, 7), speed=run.v[k].reshape(-1, 6))
        own = Scene(from_there, WALLS, friction=0.4).simulate(H, step=H)
        assert np.max(np.abs(worlds.q[:, k] - own.q[-1])) < 1e-12
        assert np.max(np.abs(worlds.v[:, k] - own.v[-1])) < 1e-9
        assert worlds.u[0, k] == own["contacts"][-1]
        most = max(most, int(worlds.u[0, k]))
    assert most >= 10
    assert worlds.lost == 0
    assert worlds.residuals.max() < 1e-10


def test_what_planes_and_gravity_push_is_what_momentum_changes_by():
    worlds = liaison.worlds(scene(), 2, step=H, device="processor")
    worlds.reset(spread=1e-3, seed=4)
    assert np.ptp(worlds.q, axis=1).max() > 1e-4
    mass = balls().mass
    for _ in range(12):
        worlds.step(24)
        before = worlds.v.reshape(7, 6, 2)[:, 3:].copy()
        worlds.step(1)
        change = np.einsum("i,ijk->jk", mass, worlds.v.reshape(7, 6, 2)[:, 3:] - before) / H
        force = worlds.u[3:].reshape(5, 3, 2).sum(axis=0)
        force[2] -= 9.81 * mass.sum()
        assert change == pytest.approx(force, abs=1e-8 * 9.81 * mass.sum())
    assert worlds.lost == 0
    assert worlds.penetrations.max() < 1e-6 * RADIUS
    assert worlds.u[0].max() > 10


@pytest.mark.slow
def test_many_balls_are_solved_all_at_once_where_sweeps_are_slow():
    """A narrow box, in which balls jam: here 300 sweeps are not enough for some steps."""
    worlds = liaison.worlds(scene(count=40, speed=1.0), 1, step=H, device="processor")
    worlds.step(300)
    assert worlds.lost == 0
    assert worlds.contacts.max() > 30
    assert worlds.residuals.max() <= 1e-6
    assert worlds.penetrations.max() <= 1.1e-6 * RADIUS


def test_single_precision_follows_double():
    double, single = (
        liaison.worlds(scene(), 1, step=H, device="processor", precision=x)
        for x in ("double", "single")
    )
    for worlds in (double, single):
        worlds.step(40)
        assert worlds.lost == 0
    assert np.max(np.abs(double.q - single.q)) < 1e-4


def test_a_world_that_begins_inside_another_body_is_lost_and_reset():
    worlds = liaison.worlds(scene(), 3, step=H, device="processor")
    q = np.tile(worlds.plan.state.q[:, None], (1, 3))
    q[2, 1] = 0.01
    worlds.reset(q=q)
    worlds.step(2)
    assert worlds.lost == 1
    assert worlds.why(1) == "inconsistent start"
    assert np.array_equal(worlds.q[:, 1], q[:, 1])
    worlds.reset(worlds.statuses != 0)
    worlds.step(2)
    assert worlds.lost == 0


def test_worlds_as_runs():
    runs = liaison.worlds(scene(), 2, step=H, device="processor").simulate(30, every=10)
    assert runs.q.shape == (2, 4, 49)
    assert len(runs) == 2


def test_a_scene_has_no_inputs():
    with pytest.raises(LiaisonError, match="no inputs"):
        liaison.worlds(scene(), 2, step=H, device="processor").step(1, inputs={"x": 1.0})


CORNERS = [[-5, -4, -3], [5, -4, -3], [0, 5, -3], [0, 0, 5], [2, 3, 4]]
SHAPES = {
    "box": liaison.Box(0.10, 0.08, 0.06),
    "hull": liaison.Hull((np.array(CORNERS) * 0.01).tolist()),
    "drum": liaison.Cylinder(0.05, 0.1),
    "ball": liaison.Sphere(0.05),
    "rod": liaison.Capsule(0.04, 0.06),
}
ROUGH = liaison.HeightField(
    x=3, y=3, heights=np.random.default_rng(1).uniform(0, 0.1, (16, 16))
)  # fmt: skip


def mixed(height: float = 0.09, **options) -> Scene:
    """A body of every shape above each other, turned at random, with masses off their centers."""
    rng, parts, start = np.random.default_rng(4), [], {}
    for k, (name, shape) in enumerate(SHAPES.items()):
        center = (0, 0, 0) if name in ("drum", "rod") else (0.01, 0, -0.005)
        body = liaison.body(
            name, mass=1 + 0.2 * k, inertia=(0.002, 0.003, 0.004), center=center, shapes=shape
        )
        parts.append(liaison.join(liaison.ground, body, "free", name=f"F{k}"))
        turn = rng.normal(size=4)
        values = [0.01 * k, height + 0.13 * k, *turn / np.linalg.norm(turn), 0.1 * k, 1.0]
        names = ("x", "z", "qw", "qx", "qy", "qz", "vx", "wy")
        start |= {f"F{k}.{x}": y for x, y in zip(names, values, strict=True)}
    mechanism = liaison.mechanism(*parts, liaison.gravity((0, 0, -9.81)))
    return liaison.collide(mechanism, start=start, **options)


@pytest.mark.parametrize(
    ("options", "close"),
    [
        ({"terrain": ROUGH, "height": 0.25}, 5e-5),
        pytest.param({}, 1e-10, marks=pytest.mark.slow),
        pytest.param({"restitution": 0.5}, 1e-5, marks=pytest.mark.slow),
    ],
)
def test_bodies_of_all_shapes_move_as_on_the_processor(options, close):
    """Boxes, hulls, cylinders, balls, capsules on each other, a plane, a height field, 400 steps.

    Without friction impulses do what they do in one way only; differences of one step are
    rounding, or residuals of up to 1e-7 where several points touch, and grow with every impact.
    """
    own = mixed(**options)
    run = own.simulate(0.4, step=H, every=100, events=False)
    worlds = liaison.worlds(own, 1, step=H, device="processor")
    most = 0.0
    for q, contacts in zip(run.q[1:], run["contacts"][1:], strict=True):
        worlds.step(100)
        assert np.max(np.abs(worlds.q[:, 0] - q)) < close
        assert worlds.u[0, 0] == contacts
        most = max(most, contacts)
    assert worlds.lost == 0
    assert most >= 2
    assert worlds.residuals.max() < 1e-8


def test_boxes_with_friction_keep_the_balance_of_momentum_and_come_to_rest():
    parts = [
        liaison.join(
            liaison.ground,
            liaison.body(f"b{k}", mass=1, inertia=(1e-3, 1e-3, 1e-3), shapes=SHAPES["box"]),
            "free",
            name=f"F{k}",
        )
        for k in range(4)
    ]
    start = {f"F{k}.z": 0.05 + 0.09 * k for k in range(4)} | {"F1.x": 0.02, "F3.wx": 2.0}
    mechanism = liaison.mechanism(*parts, liaison.gravity((0, 0, -9.81)))
    heap = liaison.collide(mechanism, start=start, friction=0.5)
    worlds = liaison.worlds(heap, 2, step=H, device="processor")
    worlds.reset(spread=1e-4, seed=1)
    for _ in range(5):
        worlds.step(119)
        before = worlds.v.reshape(4, 6, 2)[:, 3:].copy()
        worlds.step(1)
        change = (worlds.v.reshape(4, 6, 2)[:, 3:] - before).sum(axis=0) / H
        force = worlds.u[3:] - 4 * 9.81 * np.array([[0], [0], [1]])
        assert change == pytest.approx(force, abs=1e-6 * 4 * 9.81)
    assert worlds.lost == 0
    assert worlds.penetrations.max() < 1e-6
    assert worlds.u[0].min() >= 12
    assert np.abs(worlds.v).max() < 1e-2


def lawful(values: list[float]) -> Scene:
    """The balls with friction, restitution, rolling and pivoting friction."""
    walls = len(WALLS)
    laws = Laws(
        np.zeros(7, dtype=np.int64), np.zeros(walls, dtype=np.int64),
        np.zeros((1, 1), dtype=np.int64), np.array([values]),
        tuple(f"w{k}" for k in range(walls)),
    )  # fmt: skip
    return Scene(balls(7), WALLS, laws=laws)


@pytest.mark.parametrize(
    ("values", "close"),
    [
        ([0.4, 0, 2e-3, 1e-3], 1e-9),
        pytest.param([0.4, 0.8, 0, 0], 1e-12, marks=pytest.mark.slow),
    ],
)
def test_restitution_and_rolling_friction_are_those_of_the_scene(values, close):
    """Steps of balls that bounce, or roll and spin; without it they end elsewhere.

    Moments are found to 1e-6 of the strongest.
    """
    own = lawful(values)
    run = own.simulate(0.3, step=H, every=15, events=False)
    some, plain = (
        liaison.worlds(x, len(run.t) - 1, step=H, device="processor") for x in (own, scene())
    )
    for worlds in (some, plain):
        worlds.reset(q=run.q[:-1].T, v=run.v[:-1].T)
        worlds.step(1)
        assert worlds.lost == 0
    for k in range(some.count):
        there = replace(balls(), pose=run.q[k].reshape(-1, 7), speed=run.v[k].reshape(-1, 6))
        alone = Scene(there, WALLS, laws=own.laws).simulate(H, step=H, events=False)
        assert np.max(np.abs(some.q[:, k] - alone.q[-1])) < close
    assert np.max(np.abs(some.q - plain.q)) > 1e-6


@pytest.mark.slow
def test_moments_of_rolling_friction_do_not_turn_what_is_placed():
    """A box that tumbles and lands: each step turns it as far as its spin says.

    Where four corners share a load forces may be others than those of the scene, each as good.
    """
    tumbling = liaison.collide("""gravity = [0, 0, -9.81] m/s^2 ;
        let b = body mass = 1 kg, shape = box([10, 8, 6] cm) end ;
        let F = join earth and b with free end ;
        start F = [0, 0, 8 cm] ++ 0.3 rad || [1, 0.4, 0.2] ; start F' = [1, 0, 0, 2, 3, 1] ;
        collide b and earth with friction = 0.3, rolling = 2 mm, pivoting = 1 mm end ;""")
    run = tumbling.simulate(0.15, step=H, events=False)
    worlds = liaison.worlds(tumbling, len(run.t) - 1, step=H, device="processor")
    worlds.reset(q=run.q[:-1].T, v=run.v[:-1].T)
    worlds.step(1)
    assert worlds.lost == 0
    assert np.max(np.abs(worlds.q - run.q[1:].T)) < H * 0.1


def test_memory_that_does_not_fit_is_refused_before():
    with pytest.raises(SimulationError, match="worlds fit"):
        liaison.worlds(scene(), 10**7, step=H, device="processor")


def test_the_text_for_a_gpu_is_made_without_one():
    worlds = liaison.worlds(scene(), 1, step=H, device="processor")
    text = ptx(scene_module(worlds.plan, ("march", "reset")).text, "sm_90", passes=True)
    assert text.count(".entry") == 2
    assert "bar.warp.sync" in text
    # worlds are handed out one by one, and those of a block take turns in its memory
    assert text.count("atom.global.add.u32") + text.count("atom.relaxed") > 0
