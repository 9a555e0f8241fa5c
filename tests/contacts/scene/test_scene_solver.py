"""The solver of many contacts: elimination against dense algebra, piles by their residual."""

import numpy as np
import pytest

from liaison.contacts.impulses.block_factors import eliminate, factorize_bodies, solve_bodies
from liaison.contacts.scene.layout import Contact, System, Twist, block_room, fill
from liaison.program.loops.compile import compile_loops
from liaison.program.loops.records import Rows
from liaison.simulation.scene import Scene
from samples.heaps import balls, walls

RADIUS = 0.05
WIDE = 4.4 * 2.2 * RADIUS


def pile(n, side=4, seed=0, mu=0.3, e=0.0):
    """Balls in layers that fall into a box."""
    rng = np.random.default_rng(seed)
    k = np.arange(n)
    layer = k // side**2
    shift = 0.5 + 0.25 * (layer % 2)
    x, y, z = k % side + shift, k // side % side + shift, 0.9 * layer + 0.55
    places = np.column_stack([x, y, z]) * 2.2 * RADIUS
    places += rng.uniform(-0.02, 0.02, (n, 3)) * RADIUS
    return Scene(balls(places, RADIUS), walls(WIDE), friction=mu, restitution=e)


def touching(pairs):
    """Contacts of these bodies."""
    table = Rows(Contact, np.zeros(Contact.header * len(pairs)))
    fill(table, Contact, body=pairs)
    return table


@pytest.mark.parametrize("seed", range(3))
def test_bodies_in_blocks_are_solved_as_a_dense_system_is(seed):
    rng = np.random.default_rng(seed)
    n = 30
    contacts = [sorted(rng.choice(n, 2, replace=False)) for _ in range(50)]
    contacts += [contacts[0], [-1, 3]]  # two bodies may touch twice; a plane is no body
    count, blocks = len(contacts), block_room(n)
    system = System.new(most=n, contacts=count, blocks=blocks)
    system.bodies = n
    go = compile_loops([eliminate, factorize_bodies, solve_bodies])
    assert 0 < go[eliminate](count, touching(contacts), system) < blocks
    dense = np.zeros((n, 6, n, 6))
    for i in range(n):
        dense[i, :, i] = rng.normal(size=(6, 6)) + 30 * np.eye(6)
        system.diagonal[i] = dense[i, :, i].ravel()
    for c, (i, j) in enumerate(contacts):
        if i >= 0:
            first, last = (i, j) if system.place[i] < system.place[j] else (j, i)
            for blocks_of, row, column in (
                (system.lower, last, first),
                (system.upper, first, last),
            ):
                dense[row, :, column] = rng.normal(size=(6, 6))
                blocks_of[system.between[c]] = dense[row, :, column].ravel()
    b = rng.normal(size=6 * n)
    x = Rows(Twist, b.copy())
    assert go[factorize_bodies](system) == 0
    go[solve_bodies](system, x)
    wanted = np.linalg.solve(dense.reshape(6 * n, 6 * n), b)
    assert x.floats.ravel() == pytest.approx(wanted, abs=1e-12)


def test_too_many_blocks_are_told():
    contact = touching([[i, j] for i in range(6) for j in range(i)])
    for blocks, found in ((15, 15), (14, -1)):
        system = System.new(most=6, contacts=15, blocks=blocks)
        system.bodies = 6
        assert eliminate(15, contact, system) == found


@pytest.mark.parametrize("e", [0.0, 0.5])
def test_every_step_of_a_pile_without_friction_is_solved(e):
    run = pile(48, mu=0.0, e=e).simulate(0.6, step=1e-3)
    assert run["residual"].max() <= 1e-6
    assert run.counts["missed"] == 0
    assert "miss" not in run.message
    assert run.counts["turns"] > 0  # sweeps alone do not get there


def test_a_pile_with_friction_is_solved_and_rests():
    run = pile(48, mu=0.3).simulate(1.0, step=1e-3)
    assert run["residual"].max() <= 1e-6  # steps that are not solved are halved
    assert run.counts["missed"] == 0
    weight = run["planes"][-1].sum(axis=0)
    assert weight == pytest.approx([0, 0, 48 * 9.81], abs=1e-4 * 48 * 9.81)


def test_a_step_that_misses_its_tolerance_is_told():
    run = pile(27, mu=0.5).simulate(0.3, step=1e-3, tolerance=1e-15, sweeps=1)
    # few contacts are solved to this tolerance as well, where it is below 1e-10
    assert run.counts["missed"] == np.sum(run["residual"] > 1e-15) > 0
    assert f"{run.counts['missed']} of 300 steps miss the tolerance" in run.message
    # also where the one sweep leaves no impulse at all
    assert run["residual"].max() <= 1e-6


@pytest.mark.parametrize("n", [8, 30])
def test_balls_that_touch_and_move_along_together_need_no_impulse(n):
    rng = np.random.default_rng(0)
    along = rng.normal(size=3)
    places = 2 * RADIUS * np.outer(np.arange(n), along / np.linalg.norm(along))
    speeds = np.tile([0, 0, 0, *rng.normal(size=3)], (n, 1))
    far = np.array([[0, 0, 1.0, -1000]])
    scene = Scene(balls(places, RADIUS, speeds=speeds), far, friction=0.3, gravity=(0, 0, 0))
    run = scene.simulate(0.2, step=1e-3)
    assert run["contacts"].max() == n - 1
    assert run["residual"].max() <= 1e-10  # rates of 1e-16 m/s are rounding, and missed by nothing
    assert run.counts["missed"] == 0


def test_few_contacts_are_solved_to_rounding():
    run = pile(8, side=2, mu=0.5, seed=3).simulate(0.8, step=1e-3)
    assert run["contacts"].max() <= 20
    assert run["residual"].max() <= 1e-10
