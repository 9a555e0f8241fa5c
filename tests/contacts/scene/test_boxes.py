"""Boxes in scenes: rows against slopes, where they touch against exact distances, stacks, balls."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import lsq_linear

import liaison
from liaison.contacts.scene import Bodies
from liaison.errors import SimulationError
from liaison.program import to_llvm
from liaison.program.pairs import pair_program
from liaison.simulation.scene import Scene
from samples.heaps import FLOOR

G = 9.81
PILE = Path(__file__).parents[3] / "examples" / "pile.lsd"


def unit(x):
    return x / np.linalg.norm(x)


def features(name, rng):
    """Numbers of both sides of a pair, as the kernel takes them."""
    first, second = np.zeros(10), np.zeros(6)
    second[:3] = 0.3 * rng.normal(size=3)
    if name == "ball_box":
        first[:] = *0.1 * rng.normal(size=3), 0.5, 0.6, 0.7, *unit(rng.normal(size=4))
        second[3] = 0.1
    elif name == "edge_edge":
        first[:6] = *rng.normal(size=3), *unit(rng.normal(size=3))
        second[3:6] = unit(rng.normal(size=3))
    elif name == "ball_ball":
        first[:4], second[3] = (*0.1 * rng.normal(size=3), 0.3), 0.1
    else:
        first[:4], second[3] = (*unit(rng.normal(size=3)), 0.2), 0.1
    return first, second


def turned(pose, axis, angle):
    """A pose turned a little about an axis of the ground."""
    w, e = pose[3], pose[4:]
    half = np.zeros(3)
    half[axis] = angle / 2
    return np.concatenate([pose[:3], [w - half @ e], e + w * half + np.cross(half, e)])


@pytest.mark.parametrize("name", ["ball_ball", "ball_box", "point_face", "edge_edge"])
@pytest.mark.parametrize("seed", range(4))
def test_rows_of_a_pair_are_the_slope_of_its_gap(name, seed):
    kernel, rng = to_llvm(pair_program()), np.random.default_rng(seed)
    p, u = features(name, rng)
    poses = [np.concatenate([rng.normal(size=3), unit(rng.normal(size=4))]) for _ in range(2)]
    if seed == 0:
        poses[1][:3] = poses[0][:3] + 0.1  # the ball inside the box
    rows = kernel(name, q=poses[0], v=poses[1], p=p, u=u)[1:].reshape(2, 3, 6)

    def gap(side, column, step):
        moved = [x.copy() for x in poses]
        if column < 3:
            moved[side] = turned(moved[side], column, step)
        else:
            moved[side][column - 3] += step
        return kernel(f"{name}_gap", q=moved[0], v=moved[1], p=p, u=u)[0]

    for side, column in itertools.product(range(2), range(6)):
        slope = (gap(side, column, 1e-6) - gap(side, column, -1e-6)) / 2e-6
        assert slope == pytest.approx(rows[side, 0, column], abs=1e-8)
    assert rows[1, :, 3:] @ rows[1, :, 3:].T == pytest.approx(np.eye(3), abs=1e-13)


def boxes(places, half, speeds=None, turns=None, mass=1.0):
    """Equal boxes, with their corners as points for planes."""
    n, half = len(places), np.array(half, dtype=float)
    turns = np.tile([1.0, 0, 0, 0], (n, 1)) if turns is None else np.array(turns, dtype=float)
    a, b, c = 4 * half**2
    inertia = np.tile(mass / 12 * np.diag([b + c, a + c, a + b]), (n, 1, 1))
    corners = np.array([[*(half * s), 0] for s in itertools.product((-1, 1), repeat=3)])
    return Bodies(
        names=tuple(f"b{k}" for k in range(n)), mass=np.full(n, mass), inertia=inertia,
        pose=np.column_stack([np.array(places, dtype=float), turns]),
        speed=np.zeros((n, 6)) if speeds is None else np.array(speeds, dtype=float),
        owner=np.repeat(np.arange(n), 8), ball=np.tile(corners, (n, 1)),
        solid=np.tile([0, 0, 0, *half, 1, 0, 0, 0], (n, 1)), solid_owner=np.arange(n),
    )  # fmt: skip


def rotation(turn):
    w, x, y, z = turn
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def distance(one, other, half):
    """Between two boxes, as the least distance of points of them."""
    A = np.hstack([rotation(one[3:]), -rotation(other[3:])])
    low, high = np.concatenate([-half, -half]), np.concatenate([half, half])
    found = lsq_linear(A, other[:3] - one[:3], (low, high), tol=1e-14, method="bvls")
    return np.linalg.norm(A @ found.x - (other[:3] - one[:3]))


@pytest.mark.parametrize("seed", range(12))
def test_boxes_that_fly_into_each_other_touch_and_do_not_pass(seed):
    rng = np.random.default_rng(seed)
    half = np.array([0.1, 0.06, 0.04])
    turns = [unit(rng.normal(size=4)) for _ in range(2)]
    aim = 0.02 * rng.normal(size=3)
    spin = rng.normal(size=(2, 3))
    speeds = [[*spin[0], 1, 0, 0], [*spin[1], -1, 0, 0]]
    pair = boxes([[-0.2, 0, 0], [0.2 + aim[0], aim[1], aim[2]]], half, speeds, turns)
    scene = Scene(pair, np.zeros((0, 4)), restitution=0.5, friction=0.3, gravity=(0, 0, 0))
    run = scene.simulate(0.4, step=1e-3)
    q, v = run.q.reshape(-1, 2, 7), run.v.reshape(-1, 2, 6)
    impacts = [x for x in run.events if x.what == "impact"]
    assert impacts
    assert {x.name for x in impacts} == {"b0-b1"}
    # momentum is kept, energy lost
    assert np.ptp(v[:, :, 3:].sum(axis=1), axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    energy = run["energy"][:, 0]
    assert np.max(np.diff(energy)) < 1e-6 * energy[0]  # the gyroscopic terms go with h²
    assert energy[-1] < energy[0]
    # they touch where they are near to the way of a step, and are never deep in each other
    hit = int(np.searchsorted(run.t, impacts[0].t))
    assert distance(*q[hit], half) < 2 * 2.2e-3
    assert run["penetration"].max() < 1e-8
    assert distance(*q[-1], half) > 0.01  # they part


def test_a_stack_of_boxes_stands_and_carries_its_weight():
    n, half = 5, np.array([0.1, 0.08, 0.05])
    places = [[0.004 * k, -0.003 * k, 0.05 + 0.1 * k] for k in range(n)]
    run = Scene(boxes(places, half), FLOOR, friction=0.5).simulate(1, step=1e-3, every=10)
    assert run.q[-1].reshape(n, 7)[:, :3] == pytest.approx(np.array(places), abs=1e-6)
    assert run["planes"][-1, 0] == pytest.approx([0, 0, n * G], abs=1e-5 * n * G)
    assert run["penetration"].max() < 1e-6 * 0.05
    assert not run.events


@pytest.mark.parametrize("turn", [0.0, 0.4, np.pi / 4])
def test_a_box_that_falls_flat_on_another_rests_on_it_however_it_is_turned(turn):
    half = np.array([0.1, 0.1, 0.05])
    turns = [[1, 0, 0, 0], [np.cos(turn / 2), 0, 0, np.sin(turn / 2)]]
    pair = boxes([[0, 0, 0.05], [0, 0, 0.2]], half, turns=turns)
    run = Scene(pair, FLOOR, friction=0.3).simulate(0.6, step=1e-3)
    assert run["b1.z"][-1] == pytest.approx(0.15, abs=1e-6)
    assert np.max(np.abs(run.v[-1])) < 1e-6
    assert [x.what for x in run.events if x.name == "b0-b1"] == ["impact", "closes"]


def test_a_box_slides_on_another_as_coulomb_says():
    mu, speed = 0.2, 1.0
    pair = boxes([[0, 0, 0.05], [-0.5, 0, 0.15]], [1.0, 0.3, 0.05])
    solid = pair.solid.copy()
    solid[1, 3:6] = 0.05
    speeds = pair.speed.copy()
    speeds[1, 3] = speed
    inertia = np.stack([1e4 * np.eye(3), 1e-3 * np.eye(3)])
    sliding = Bodies(
        pair.names, np.array([1e4, 1.0]), inertia, pair.pose, speeds, pair.owner[:8],
        pair.ball[:8], solid=solid, solid_owner=pair.solid_owner,
    )  # fmt: skip
    run = Scene(sliding, FLOOR, friction=mu).simulate(0.8, step=1e-3)
    still = speed / (mu * G)
    assert run["b1.vx"][200] == pytest.approx(speed - mu * G * 0.2, abs=1e-5)
    assert run["b1.x"][-1] == pytest.approx(-0.5 + speed * still / 2, abs=2e-3)
    ((name, what, t),) = [(x.name, x.what, x.t) for x in run.events]
    assert (name, what) == ("b0-b1: sliding", "sticks")
    assert t == pytest.approx(still, abs=2e-3)


BALL_ON_BOX = """
gravity = [0, 0, -9.81] m/s^2 ;
let box1 = body
  mass = 10 kg, shape = [1, 2, 3] cm ++ 90 deg || [0, 0, 1] @ box([40, 20, 10] cm)
end ;
let ball1 = body mass = 1 kg, shape = sphere(radius = 5 cm) end ;
let B = join earth and box1 with free end ;
let F = join earth and ball1 with free end ;
start B.z = 2 cm ;
start F = [{x}, 2 cm, {z}] ;
"""


def test_a_ball_comes_to_rest_on_a_box_that_stands_aside_of_its_frame():
    text = BALL_ON_BOX.format(x="1 cm", z="30 cm")
    run = liaison.collide(text, friction=0.5).simulate(1, step=1e-3)
    assert run["ball1.z"][-1] == pytest.approx(0.1 + 0.05, abs=1e-6)
    names = {x.name for x in run.events if x.what == "closes"}
    assert names == {"box1-ball1"}


def test_a_ball_rolls_over_the_edge_of_a_box():
    # its way down begins where its center is over the edge, 10 cm from the middle at x = 1 cm
    text = BALL_ON_BOX.format(x="6 cm", z="15 cm") + "start F.vx = 0.5 m/s ;"
    run = liaison.collide(text, friction=0.5).simulate(0.6, step=1e-3)
    high = run["ball1.z"]
    over = run.t[np.flatnonzero(run["ball1.x"] > 0.11)[0]]
    before = run.t < over - 5e-3
    assert high[before] == pytest.approx(0.15, abs=1e-6)
    # around the edge the distance of its center from it stays the radius, until it lets go
    opens = next(x.t for x in run.events if (x.name, x.what) == ("box1-ball1", "opens"))
    around = (run.t > over + 2e-3) & (run.t < opens - 2e-3)
    assert around.sum() > 20
    edge = np.column_stack([run["ball1.x"] - 0.11, high - 0.1])[around]
    assert np.linalg.norm(edge, axis=1) == pytest.approx(0.05, abs=2e-5)
    assert high[-1] == pytest.approx(0.05, abs=1e-9)  # on the floor, a radius above it


def test_boxes_that_begin_inside_each_other_are_refused():
    half = [0.1, 0.1, 0.1]
    pair = boxes([[0, 0, 0], [0.15, 0, 0]], half)
    with pytest.raises(SimulationError, match=r"'b0' and 'b1' begin 0\.05 m inside"):
        Scene(pair, np.zeros((0, 4))).simulate(1, step=1e-3)


def test_boxes_and_balls_in_a_box_come_to_rest():
    text = "gravity = [0, 0, -9.81] m/s^2 ;"
    for k in range(12):
        shape = "box([8, 6, 5] cm)" if k % 2 else "sphere(radius = 4 cm)"
        text += f"""
        let b{k} = body mass = 0.3 kg, shape = {shape} end ;
        let F{k} = join earth and b{k} with free end ;
        start F{k} = [{0.11 * (k % 2) + 0.002 * k}, {0.11 * (k // 2 % 2) - 0.003 * k},
          {0.06 + 0.11 * (k // 4)}] m ++ {13 * k} deg || [1, 2, {k}] ;
        """
    walls = [(0, 0, 1, 0), (1, 0, 0, -0.08), (-1, 0, 0, -0.22), (0, 1, 0, -0.12), (0, -1, 0, -0.19)]
    run = liaison.collide(text, planes=walls, friction=0.4).simulate(3, step=1e-3, every=20)
    force = run["planes"][-1].sum(axis=0)
    assert force == pytest.approx([0, 0, 12 * 0.3 * G], rel=1e-4, abs=1e-3)
    assert run["penetration"].max() < 1e-6


@pytest.mark.slow
def test_bricks_and_balls_of_the_example_come_to_rest_in_their_tray():
    run = liaison.simulate(PILE, until=2.0, every=0.05)
    weight = liaison.check(PILE).mass * G
    # a hundred points, each to 1e-6 of the strongest impulse; a ball that still rolls may hit one
    late = run["planes"][run.t > 1.5].sum(axis=1)[:, 2]
    assert np.median(late) == pytest.approx(weight, rel=1e-3)
    assert run["penetration"].max() < 1e-6 * 0.025
    places = run["poses"][-1, :, :, 3]
    assert np.all(places[:, 2] > 0.02)
    assert np.all(np.abs(places[:, :2]) < 0.15)
    # most of it is over: when the last brick falls over differs with the last bit of a step
    assert sum(x.t > 1.75 for x in run.events) < 0.05 * len(run.events)
