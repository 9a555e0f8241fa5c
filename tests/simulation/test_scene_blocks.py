"""One world of a scene, as plain Python: colors of its contacts, and the system of its bodies."""

import numpy as np
import pytest

import liaison
from liaison.contacts.scene import Bodies
from liaison.contacts.scene.layout import ConePair, Contact, Island, System
from liaison.program.loops.language import flat
from liaison.simulation.scene import Scene
from liaison.simulation.worlds.scene.cones import own_contact, own_pair, put_scaled, take_rows
from liaison.simulation.worlds.scene.contact import activate, set_rates
from liaison.simulation.worlds.scene.factors import (
    add_contacts,
    elimination,
    factorized,
    solve_system,
)
from liaison.simulation.worlds.scene.hot import gather
from liaison.simulation.worlds.scene.inside import begin_island
from liaison.simulation.worlds.scene.layout import Block
from liaison.simulation.worlds.scene.pairs import find_pairs, forget
from liaison.simulation.worlds.scene.step import free_motion
from liaison.simulation.worlds.scene.template import block_of, empty_island

H, RADIUS, SIDE = 1e-3, 0.05, 0.3
COUNT = 18
WALLS = [[0, 0, 1, 0], [1, 0, 0, 0], [-1, 0, 0, -SIDE], [0, 1, 0, 0], [0, -1, 0, -SIDE]]


def packed() -> Scene:
    """Balls that touch in a cube of three layers, between a floor and walls."""
    k = np.arange(COUNT)
    places = RADIUS * (1 + 2 * np.column_stack([k % 3, k // 3 % 3, k // 9]))
    mass = np.random.default_rng(1).uniform(0.5, 2.0, COUNT)
    bodies = Bodies(
        names=tuple(f"b{x}" for x in k), mass=mass,
        inertia=(0.4 * mass * RADIUS**2)[:, None, None] * np.eye(3),
        pose=np.column_stack([places, np.ones(COUNT), np.zeros((COUNT, 3))]),
        speed=np.zeros((COUNT, 6)), owner=k,
        ball=np.column_stack([np.zeros((COUNT, 3)), np.full(COUNT, RADIUS)]),
    )  # fmt: skip
    return Scene(bodies, WALLS, friction=0.4)


@pytest.fixture(scope="module")
def touching() -> tuple[Block, Island]:
    """That world with its contacts, before impulses."""
    worlds = liaison.worlds(packed(), 1, step=H, device="processor")
    w = block_of(worlds.plan).copy()
    island = Island(empty_island(worlds.plan.program.facts["scene"]).copy())
    begin_island(w, island)
    w.pose[:] = worlds.q.reshape(COUNT, 7)
    w.speed[:], w.h = 0.0, H
    forget(0, w)
    free_motion(0, w)
    assert find_pairs(0, w) == 0
    activate(0, w.touch, 0, flat(w.pose), w)
    set_rates(0, w.loose, w, island)
    return w, island


def test_contacts_of_a_color_have_no_body_in_common(touching):
    w, _ = touching
    # in a cube of n³ places each axis has n²(n − 1) pairs; a floor and four walls hold the rest
    assert w.pairs == (12 + 12 + 9) + 9 + 4 * 6
    assert w.color_first[w.colors] == w.pairs
    for c in range(w.colors):
        own = range(w.color_first[c], w.color_first[c + 1])
        bodies = [int(x[k]) for x in (w.one, w.other) for k in own if x[k] >= 0]
        assert 1 <= len(own) <= 32
        assert len(bodies) == len(set(bodies))


def test_contacts_that_count_are_gathered_color_by_color(touching):
    w, _ = touching
    before = np.array(w.active)
    w.active[: w.pairs : 3] = 0
    count = gather(0, w)
    assert count == int(np.sum(w.active[: w.pairs]))
    assert list(w.where[:count]) == list(np.flatnonzero(w.active[: w.pairs]))
    for c in range(w.colors):
        span = w.where[w.begin[c] : w.begin[c + 1]]
        assert all(w.color_first[c] <= k < w.color_first[c + 1] for k in span)
    w.active[:] = before


def dense(w: Block, island: Island, damping: float, g: np.ndarray) -> np.ndarray:
    """(1 + δ) M + Dᵀ G D, entry by entry."""
    n = int(w.bodies)
    inertia = np.array(w.scale) ** 2 / np.array(w.quick)
    sizes = np.repeat(np.column_stack([inertia, np.array(w.mass)]), 3, axis=1)
    A = np.diag((1 + damping) * sizes.ravel())
    for h in range(len(g)):
        contact = Contact(own_contact())
        take_rows(int(w.where[h]), contact, w, island)
        rows, D = np.array(contact.rows), np.zeros((3, 6 * n))
        for side in range(2):
            i = int(contact.body[side])
            if i >= 0:
                D[:, 6 * i : 6 * i + 6] += rows[3 * side : 3 * side + 3]
        A += D.T @ g[h] @ D
    return A


def test_the_system_of_bodies_is_solved_as_a_dense_one(touching):
    """Blocks in levels of elimination, against all of the matrix at once."""
    w, island = touching
    rng, count, damping = np.random.default_rng(3), gather(0, w), 0.5
    g = rng.uniform(-0.3, 0.3, (count, 3, 3)) + np.eye(3)
    # along n the rows across it do nothing, as in the interior method
    g[:, 0, 1:] = 0.0
    pair = ConePair(own_pair())
    for h in range(count):
        pair.g[:] = g[h]
        put_scaled(h, pair, w)
    assert elimination(0, w, island) > 0
    s = System(island.system)
    levels = np.array(w.level_first[: w.levels + 1])
    assert levels[0] == 0
    assert levels[-1] == COUNT
    assert np.all(np.diff(levels) > 0)
    assert len(levels) < COUNT
    add_contacts(0, damping, w, island)
    assert factorized(0, s, w) == 0
    right = rng.normal(size=6 * COUNT)
    for i in range(COUNT):
        island.change[i].floats[:] = right[6 * i : 6 * i + 6]
    solve_system(0, s, island.change, island.way_speed, w)
    x = np.concatenate([np.array(island.change[i].floats) for i in range(COUNT)])
    A = dense(w, island, damping, g)
    # factors without exchange: rounding, times a condition of about 1e4
    assert A @ x == pytest.approx(right, abs=1e-10 * np.abs(right).max())
    assert x == pytest.approx(np.linalg.solve(A, right), abs=1e-10 * np.abs(x).max())
