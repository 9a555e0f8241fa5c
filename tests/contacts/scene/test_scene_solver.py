"""The solver of many contacts: elimination against dense algebra, piles by their residual."""

import numpy as np
import pytest

from liaison.contacts.impulses.block_factors import factor_room, factorize_bodies, solve_bodies
from liaison.contacts.impulses.elimination import BETWEEN, PLACE, block_room, eliminate, table_size
from liaison.contacts.scene import Scene
from liaison.program.loops.compile import compile_loops
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


@pytest.mark.parametrize("seed", range(3))
def test_bodies_in_blocks_are_solved_as_a_dense_system_is(seed):
    rng = np.random.default_rng(seed)
    n = 30
    contacts = [sorted(rng.choice(n, 2, replace=False)) for _ in range(50)]
    contacts += [contacts[0], [-1, 3]]  # two bodies may touch twice; a plane is no body
    contact = np.array(contacts, dtype=np.int64).ravel()
    count, blocks = len(contacts), block_room(n)
    table, a = np.zeros(table_size(n, count), dtype=np.int64), np.zeros(factor_room(n))
    go = compile_loops([eliminate, factorize_bodies, solve_bodies])
    assert 0 < go[eliminate](n, count, contact, blocks, table) < blocks
    dense = np.zeros((n, 6, n, 6))
    for i in range(n):
        dense[i, :, i] = rng.normal(size=(6, 6)) + 30 * np.eye(6)
        a[36 * i : 36 * i + 36] = dense[i, :, i].ravel()
    place = table[table[PLACE] :]
    for c, (i, j) in enumerate(contacts):
        if i >= 0:
            first, last = (i, j) if place[i] < place[j] else (j, i)
            slot = 36 * table[table[BETWEEN] + c]
            for start, row, column in ((n, last, first), (n + blocks, first, last)):
                dense[row, :, column] = rng.normal(size=(6, 6))
                a[36 * start + slot : 36 * start + slot + 36] = dense[row, :, column].ravel()
    b = rng.normal(size=6 * n)
    x = b.copy()
    assert go[factorize_bodies](n, blocks, table, a) == 0
    go[solve_bodies](n, blocks, table, a, x)
    assert x == pytest.approx(np.linalg.solve(dense.reshape(6 * n, 6 * n), b), abs=1e-12)


def test_too_many_blocks_are_told():
    contact = np.array([[i, j] for i in range(6) for j in range(i)], dtype=np.int64).ravel()
    table = np.zeros(table_size(6, 15), dtype=np.int64)
    assert eliminate(6, 15, contact, 15, table) == 15
    assert eliminate(6, 15, contact, 14, table) == -1


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
    run = pile(48, mu=0.5).simulate(0.4, step=1e-3, tolerance=1e-15, sweeps=1)
    assert run.counts["missed"] == np.sum(run["residual"][run["contacts"] > 20] > 1e-15) > 0
    assert f"{run.counts['missed']} of 400 steps miss the tolerance" in run.message


def test_few_contacts_are_solved_to_rounding():
    run = pile(8, side=2, mu=0.5, seed=3).simulate(0.8, step=1e-3)
    assert run["contacts"].max() <= 20
    assert run["residual"].max() <= 1e-10
