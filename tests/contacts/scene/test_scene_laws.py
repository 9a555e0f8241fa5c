"""Laws of scenes: energy with restitution and friction, momentum, residuals by other means."""

import numpy as np
import pytest

from liaison.contacts.scene.layout import World
from liaison.simulation.scene import Scene
from samples.heaps import balls, heap, walls


@pytest.mark.parametrize(("mu", "e"), [(0.3, 0.5), (1.0, 0.5), (1.0, 0.9)])
def test_energy_does_not_grow_with_friction_and_restitution(mu, e):
    down = np.tile([0, 0, 0, 0, 0, -2.0], (27, 1))
    thrown = balls(heap(27, side=3, gap=1.09), speeds=down)
    scene = Scene(thrown, walls(0.335), friction=mu, restitution=e)
    run = scene.simulate(0.1, step=1e-3)
    total = run["energy"].sum(axis=1)
    # impacts arrive within their step: what gravity does in a part of it is not accounted
    assert np.max(np.diff(total)) < 1e-5 * total[0]
    assert run["residual"].max() <= 1e-6
    if (mu, e) == (1.0, 0.5):
        assert run.counts["limited"] > 0  # all of it would have given energy


def test_without_restitution_nothing_is_limited():
    run = Scene(balls(heap(9, side=3)), walls(0.34), friction=0.5).simulate(0.1, step=1e-3)
    assert run.counts["limited"] == 0


def test_free_balls_that_meet_keep_their_momentum():
    rng = np.random.default_rng(4)
    places = heap(12, side=3)
    speeds = np.column_stack([rng.normal(size=(12, 3)), 2.0 * (0.15 - places)])
    scene = Scene(
        balls(places, speeds=speeds), np.zeros((0, 4)), friction=0.4, restitution=0.6,
        gravity=(0, 0, 0),
    )  # fmt: skip
    run = scene.simulate(0.2, step=1e-3)
    v = run.v.reshape(len(run.t), 12, 6)
    momentum = v[:, :, 3:].sum(axis=1)
    assert run["contacts"].max() > 2
    assert np.abs(momentum - momentum[0]).max() < 1e-12


def residual_by_hand(world):
    """What impulses miss of Coulomb's law, from the contacts of a step, in NumPy."""
    contacts = [world.contact[k] for k in range(int(world.contacts))]
    worst = strongest = approach = 0.0
    for x in contacts:
        u, before, free = np.array(x.right), 0.0, 0.0
        for side in range(2):
            if x.body[side] >= 0:
                rows, body = x.rows[3 * side : 3 * side + 3], int(x.body[side])
                u = u + rows @ world.next[body].floats
                before += rows[0] @ world.speed[body].floats
                free += rows[0] @ world.free[body].floats
        f, a, across = np.array(x.force), x.normal, x.across
        strongest = max(strongest, f[0] * a)
        approach = max(approach, -before, -free, abs(x.right[0]))
        t = f[1:] - u[1:] / across
        t = t * min(1.0, x.friction * f[0] / max(np.linalg.norm(t), 1e-300))
        missed = f[0] * a - max(f[0] * a - u[0], 0.0), *(across * (t - f[1:]))
        worst = max(worst, *np.abs(missed))
    return worst / min(strongest, approach * max(len(contacts), 10))


def test_the_residual_is_that_of_the_contacts_of_the_step():
    scene = Scene(balls(heap(18, side=3)), walls(0.34), friction=0.5)
    run = scene.run(0.4, step=1e-3)
    compared = 0
    while not run.is_over:
        run.go(1)
        world = World(run.arrays.run.beside)
        count = int(world.contacts)
        forces = np.array([world.contact[k].force for k in range(count)])
        # where nothing was to be placed the contacts are still those of the impulses
        if count > 20 and np.array_equal(forces, world.kept_force[:count]):
            compared += 1
            assert world.left == pytest.approx(residual_by_hand(world), rel=1e-3, abs=1e-12)
            assert world.left <= 1e-6
    assert compared > 20


def pyramid():
    """Sixteen, nine and four balls in three layers that touch, held by walls."""
    layers = [[[x, y, 0] for x in range(4) for y in range(4)]]
    layers += [[[x + 0.5, y + 0.5, 0.5**0.5] for x in range(3) for y in range(3)]]
    layers += [[[x + 1, y + 1, 2**0.5] for x in range(2) for y in range(2)]]
    return Scene(balls(0.1 * np.concatenate(layers) + 0.05), walls(0.4), friction=0.3)


@pytest.mark.parametrize("steps", [2000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_a_pile_at_rest_stays_where_it_is(steps):
    run = pyramid().simulate(1e-3 * steps, step=1e-3, every=steps // 10, events=False)
    places = run.q.reshape(len(run.t), -1, 7)[:, :, :3]
    assert run.counts["missed"] == 0
    assert run["contacts"].max() > 40
    # a few times the penetration that is left alone, 1e-6 of a radius
    assert np.abs(places - places[0]).max() < 4e-6 * 0.05
