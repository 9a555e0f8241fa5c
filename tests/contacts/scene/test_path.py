"""The path of impulses over τ ends at Coulomb's law, also where turns that let τ fall do not."""

import numpy as np
import pytest

from liaison.contacts.impulses.interior import from_inside
from liaison.contacts.impulses.path import follow_path
from liaison.contacts.impulses.path_layout import NO_END, TOO_LONG
from liaison.contacts.impulses.solve import forget
from liaison.contacts.scene.layout import RESERVED, Crew, Island, System
from liaison.contacts.scene.rates import note_scale
from liaison.contacts.scene.world import scene_scratch
from liaison.program.loops.compile import compile_loops

LOOPS = (follow_path, from_inside, forget, note_scale)
TOLERANCE = 1e-6


@pytest.fixture(scope="module")
def compiled():
    return compile_loops(LOOPS)


def heap(side, mu, seed, *, right=0.0, aside=0.4, part=0.8):
    """Balls of radius ½ in a lattice, most of which touch, in a box without a lid: one fall of it.

    Contacts point along the axes, and aside; velocities without impulses are nearly those of a
    fall together.
    """
    rng = np.random.default_rng(seed)
    places = np.stack(np.meshgrid(*3 * [np.arange(side)], indexing="ij"), -1).reshape(-1, 3)
    pairs = [
        (i, j, places[j] - places[i])
        for i in range(len(places)) for j in range(i)
        if abs(places[i] - places[j]).sum() == 1
    ]  # fmt: skip
    for axis in np.eye(3):
        pairs += [(-1, j, axis) for j, p in enumerate(places) if p @ axis == 0]
        pairs += [(-1, j, -axis) for j, p in enumerate(places) if p @ axis == side - 1]
    pairs = [x for x in pairs if x[2][2] >= 0 or x[0] >= 0]  # without a lid
    pairs = [x for x in pairs if rng.uniform() < part]
    n, m = len(places), len(pairs)
    scratch = scene_scratch(n, m, 1, panels=True)
    island = Island(scratch[RESERVED + Crew.header :])
    island.bodies, island.contacts, System(island.system).bodies = n, m, n
    island.widest, island.floor, island.limit, island.tolerance = 0.0, 0.0, TOLERANCE, TOLERANCE
    for i in range(n):
        mass = rng.uniform(0.5, 2)
        island.body[i].mass = mass
        island.body[i].turned_inverse[:] = np.eye(3) / (0.1 * mass)
        island.unloaded[i].floats[:] = 0.01 * rng.normal(size=6) - [0, 0, 0, 0, 0, 1]
    for c, (one, other, along) in enumerate(pairs):
        fill_contact(island, c, (one, other), along + aside * rng.normal(size=3))
        island.contact[c].friction, island.contact[c].right[0] = mu, right
    return island, scratch


def fill_contact(island, c, bodies, along):
    """Rows D of a contact of balls of radius ½, M⁻¹Dᵀ, and its mobilities."""
    n = along / np.linalg.norm(along)
    t = np.cross(n, np.eye(3)[np.argmin(abs(n))])
    contact, total = island.contact[c], np.zeros((3, 3))
    contact.body[:] = bodies
    frame = np.array([n, t / np.linalg.norm(t), np.cross(n, t / np.linalg.norm(t))])
    for side, sign in ((0, -1), (1, 1)):
        if bodies[side] >= 0:
            body = island.body[bodies[side]]
            rows = np.hstack([np.cross(-0.5 * sign * n, sign * frame), sign * frame])
            push = np.hstack([rows[:, :3] @ body.turned_inverse, rows[:, 3:] / body.mass])
            contact.rows[3 * side : 3 * side + 3] = rows
            contact.push[3 * side : 3 * side + 3] = push
            total += rows @ push.T
    contact.normal, contact.across = total[0, 0], np.linalg.eigvalsh(total[1:, 1:])[-1]


def begin(island, go):
    """No impulses, and the scale of what is missed."""
    for i in range(island.bodies):
        island.next[i].floats[:] = island.unloaded[i].floats
    go[note_scale](island)
    go[forget](island)


def velocities(island):
    return np.array([island.next[i].floats for i in range(island.bodies)])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_without_friction_the_path_ends_where_the_interior_method_does(seed, compiled):
    island, _ = heap(2, 0.0, seed)
    begin(island, compiled)
    assert compiled[from_inside](1.0, TOLERANCE, 0.1, 0, 60, island) <= TOLERANCE
    wanted = velocities(island)
    for way in range(4):
        compiled[forget](island)
        assert compiled[follow_path](1.0, TOLERANCE, way, 3000, island) <= TOLERANCE
        assert island.why == 0
        # velocities are unique without friction, to the root of what products f u are: 1e-6
        assert velocities(island) == pytest.approx(wanted, abs=1e-2)


def test_the_path_is_followed_where_turns_that_let_tau_fall_end(compiled):
    island, _ = heap(3, 1.0, 5)
    begin(island, compiled)
    for way in range(4):
        compiled[forget](island)
        assert compiled[from_inside](1.0, TOLERANCE, 1.0, way, 60, island) > TOLERANCE
    compiled[forget](island)
    assert compiled[follow_path](1.0, TOLERANCE, 0, 3000, island) <= TOLERANCE


@pytest.mark.parametrize("mu", [0.0, 0.5])
def test_a_path_in_plain_python_is_that_of_machine_code(mu, compiled):
    ends = []
    for go in (compiled, {x: x for x in LOOPS}):
        island, _ = heap(2, mu, 4)
        begin(island, go)
        assert go[follow_path](1.0, 1e-2, 0, 100, island) <= 1e-2
        ends.append(velocities(island))
    # points of a path lie on it to a tenth, but each is found by the same operations
    assert ends[1] == pytest.approx(ends[0], abs=1e-9)


def test_a_path_that_is_given_up_says_why(compiled):
    island, _ = heap(2, 0.5, 0)
    begin(island, compiled)
    assert compiled[follow_path](1.0, 0.0, 0, 20, island) > 0.0
    assert island.why == TOO_LONG


def test_impulses_that_do_not_exist_grow_without_end(compiled):
    # restitution of balls that are held from all sides: what a solution would need, Σ f_n r_n ≥ 0
    # of impulses that only press against each other, is not so
    island, _ = heap(2, 0.0, 0, right=-1.0, aside=0.0, part=1.0)
    begin(island, compiled)
    assert compiled[follow_path](1.0, TOLERANCE, 0, 3000, island) > TOLERANCE
    assert island.why == NO_END
