"""Scenes of many free bodies by laws: momentum, weight, penetration, energy, broad phase."""

import math

import numpy as np
import pytest

import liaison
from liaison.contacts.scene import Bodies
from liaison.contacts.scene.candidates import sweep_and_prune
from liaison.contacts.scene.layout import Extent, Pair, fill
from liaison.errors import Interrupted, ModelError, SimulationError
from liaison.program.loops.compile import compile_loops
from liaison.program.loops.records import Rows
from liaison.simulation.scene import Scene
from samples.heaps import FLOOR, balls, heap, walls


def test_balls_that_collide_keep_momentum_and_part_as_they_should():
    speeds = [[0, 0, 0, 1, 0.1, 0], [0, 0, 0, -2, 0, 0.05]]
    pair = balls([[0, 0, 0], [0.3, 0.02, 0.01]], speeds=speeds)
    scene = Scene(pair, np.zeros((0, 4)), restitution=0.7, friction=0.3, gravity=(0, 0, 0))
    run = scene.simulate(0.2, step=1e-3)
    v = run.v.reshape(-1, 2, 6)
    assert np.ptp(v[:, :, 3:].sum(axis=1), axis=0) == pytest.approx(np.zeros(3), abs=1e-14)
    x = run.q.reshape(-1, 2, 7)[:, :, :3]
    spin = 0.4 * 0.05**2 * v[:, :, :3] + np.cross(x, v[:, :, 3:])
    # the arm of the impulse is told midway, where balls may be a step from touching
    assert np.ptp(spin.sum(axis=1), axis=0) == pytest.approx(np.zeros(3), abs=2e-3)
    n = x[-1, 1] - x[-1, 0]
    hit = int(np.argmax(np.any(v[:, 0] != v[0, 0], axis=1)))
    n = x[hit, 1] - x[hit, 0]
    before, after = ((v[k, 1, 3:] - v[k, 0, 3:]) @ n for k in (0, hit))
    assert after == pytest.approx(-0.7 * before, rel=1e-2)


def test_momentum_about_a_point_is_kept_where_nothing_rubs():
    speeds = [[0, 0, 0, 1, 0, 0], [0, 0, 0, -2, 0, 0]]
    pair = balls([[0, 0, 0], [0.3, 0.0, 0.0]], speeds=speeds)
    run = Scene(pair, np.zeros((0, 4)), restitution=1, gravity=(0, 0, 0)).simulate(0.2, step=1e-3)
    # equal balls exchange their velocities
    assert run.v[-1].reshape(2, 6)[:, 3] == pytest.approx([-2, 1], abs=1e-11)
    assert run["energy"][-1, 0] == pytest.approx(run["energy"][0, 0], rel=1e-11)


def test_a_pile_at_rest_carries_its_weight():
    n = 20
    scene = Scene(balls(heap(n, side=3)), walls(0.34), friction=0.3, restitution=0.0)
    run = scene.simulate(2.0, step=1e-3, every=50, tolerance=1e-7)
    # nothing stops a ball that rolls: one of them may still do so, slowly
    assert np.max(np.abs(run.v[-1].reshape(n, 6)[:, 3:])) < 1e-4
    force = run["planes"][-1].sum(axis=0)
    assert force == pytest.approx([0, 0, n * 9.81], rel=1e-6, abs=1e-6 * n * 9.81)
    assert run["residual"][-1] < 1e-6
    assert run["penetration"].max() < 1e-6 * 0.05
    x = run.q[-1].reshape(n, 7)[:, :3]
    apart = np.linalg.norm(x[:, None] - x[None], axis=2)[np.triu_indices(n, 1)]
    assert apart.min() > 0.1 - 1e-7


def test_energy_does_not_grow_without_friction():
    scene = Scene(balls(heap(27, side=3)), walls(0.34), restitution=0.9)
    run = scene.simulate(1.0, step=1e-3)
    total = run["energy"].sum(axis=1)
    # what placing lifts out of penetration goes with h
    assert np.max(np.diff(total)) < 3e-4 * total[0]
    assert total[-1] < total[0]


def test_a_box_falls_on_its_corners_and_rests_on_them():
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let brick = body mass = 2 kg, inertia = [0.01, 0.02, 0.03] kg*m^2, center = [1, 0, 0] cm,
      shape = box([20, 10, 4] cm) end ;
    let B = join earth and brick with free end ;
    start B.z = 10 cm ; start B.wx = 2 rad/s ;
    """
    run = liaison.collide(text, friction=0.4).simulate(2, step=1e-3, every=10)
    assert run["brick.z"][-1] == pytest.approx(0.02, abs=1e-6)
    assert run["planes"][-1, 0, 2] == pytest.approx(2 * 9.81, rel=1e-6)
    # poses are those of the body's own frame: its center of mass is 1 cm beside it
    R, p = run["poses"][-1, 0, :, :3], run["poses"][-1, 0, :, 3]
    center = [run[f"brick.{x}"][-1] for x in "xyz"]
    assert p + R @ [0.01, 0, 0] == pytest.approx(center, abs=1e-12)


def test_a_free_body_turns_as_euler_says():
    one = balls([[0, 0, 5]])
    inertia = np.diag([1.0, 2.0, 3.0])[None]
    spun = Bodies(
        one.names, one.mass, inertia, one.pose, np.array([[0.1, 3, 0.2, 0, 0, 0]]), one.owner,
        one.ball,
    )  # fmt: skip
    run = Scene(spun, np.zeros((0, 4)), gravity=(0, 0, 0)).simulate(3, step=1e-3, every=100)
    R = run["poses"][:, 0, :, :3]
    local = np.einsum("tji,tj->ti", R, run.v[:, :3])
    moment = np.einsum("tij,tj->ti", R, local * [1, 2, 3])
    assert np.max(np.abs(moment - moment[0])) < 1e-4
    assert np.ptp(run["energy"][:, 0]) < 1e-5


@pytest.mark.parametrize("is_compiled", [False, True])
def test_sweeping_finds_the_pairs_that_overlap(is_compiled):
    go = compile_loops([sweep_and_prune])[sweep_and_prune] if is_compiled else sweep_and_prune
    rng = np.random.default_rng(7)
    low = rng.integers(0, 40, (60, 3)) / 40  # some sides coincide: they overlap
    boxes = np.column_stack([low, low + rng.integers(1, 10, (60, 3)) / 40])
    owner = np.arange(60) // 2
    extents, pairs = (Rows(x, np.zeros(n * x.header)) for x, n in ((Extent, 60), (Pair, 2000)))
    fill(extents, Extent, low=boxes[:, :3], high=boxes[:, 3:], body=owner)
    order, work = np.arange(60)[::-1].copy(), np.zeros(5 * 68 + 5)
    count = go(60, extents, order, 2000, pairs, work)
    found = {(pairs[k].first, pairs[k].second) for k in range(count)}
    wanted = {
        (i, j)
        for i in range(60)
        for j in range(i + 1, 60)
        if owner[i] != owner[j]
        and np.all(boxes[i, :3] <= boxes[j, 3:])
        and np.all(boxes[j, :3] <= boxes[i, 3:])
    }
    assert found == wanted
    assert len(wanted) == count > 20
    assert go(60, extents, order, 3, pairs, work) == -1
    extents[5].high[:] = np.inf  # ends behind the last one all the same
    assert 0 < go(60, extents, order, 2000, pairs, work) < 2000


def test_what_is_no_scene_is_refused_by_name():
    jointed = """
    let arm = body mass = 1 kg, inertia = 1 kg*m^2, shape = sphere(radius = 5 cm) end ;
    let A = join earth and arm with revolute end ;
    """
    with pytest.raises(ModelError, match="joint 'A' is not free"):
        liaison.collide(jointed)
    bare = """
    let stone = body mass = 1 kg, inertia = 1 kg*m^2 end ;
    let A = join earth and stone with free end ;
    """
    with pytest.raises(ModelError, match="no sphere, capsule, box, cylinder or hull"):
        liaison.collide(bare)
    with pytest.raises(SimulationError, match="restitution"):
        Scene(balls([[0, 0, 1]]), FLOOR, restitution=1.5)
    with pytest.raises(SimulationError, match=r"'b0' and 'b1' begin 0\.02 m inside"):
        Scene(balls([[0, 0, 1], [0.08, 0, 1]]), FLOOR)
    with pytest.raises(SimulationError, match=r"'b0' begins 0\.01 m below plane 1"):
        Scene(balls([[0, 0, 0.04]]), FLOOR)
    with pytest.raises(SimulationError, match="four numbers"):
        Scene(balls([[0, 0, 1]]), [(0, 0, 1)])
    for bad in ({"every": 0}, {"sweeps": 0.5}, {"tolerance": -1}, {"depth": math.nan}):
        with pytest.raises(SimulationError, match=next(iter(bad))):
            Scene(balls([[0, 0, 1]]), FLOOR).simulate(1, step=1e-3, **bad)
    with pytest.raises(SimulationError, match="positive step"):
        Scene(balls([[0, 0, 1]]), FLOOR).simulate(1, step=0.0)


def test_control_c_leaves_what_was_computed():
    def control_c(fraction):
        if fraction > 0:
            raise KeyboardInterrupt

    pair = balls([[0, 0, 0], [0.3, 0.0, 0.0]])
    scene = Scene(pair, np.zeros((0, 4)), gravity=(0, 0, -10))
    with pytest.raises(Interrupted, match="interrupted at t =") as caught:
        scene.simulate(100.0, step=1e-3, progress=control_c)
    run = caught.value.trajectory
    assert run.status == "interrupted"
    assert 0 < run.t[-1] == pytest.approx(caught.value.t)
    assert run.q[-1, 2] == pytest.approx(-5 * run.t[-1] ** 2, rel=1e-2, abs=1e-4)
