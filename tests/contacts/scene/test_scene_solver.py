"""The solver of many contacts: elimination against dense algebra, piles by their residual."""

import numpy as np
import pytest

from liaison.contacts.impulses.block_factors import least_degree, order_panels
from liaison.contacts.impulses.panels import factorize_panels, solve_panels
from liaison.contacts.scene.layout import Contact, Panels, System, Twist, fill
from liaison.contacts.scene.world import block_room, panel_sizes
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


def panels_for(n, count):
    """A system of so many bodies and contacts, and its panels."""
    system = System.new(most=n, contacts=count, blocks=block_room(n), matrix=0)
    system.bodies = n
    return system, Panels.new(**panel_sizes(n, count))


@pytest.mark.parametrize("is_compiled", [False, True])
@pytest.mark.parametrize(("n", "count"), [(30, 50), (9, 30), (12, 4)])
def test_bodies_in_panels_are_solved_as_a_dense_system_is(n, count, is_compiled):
    rng = np.random.default_rng(n)
    contacts = [sorted(rng.choice(n, 2, replace=False)) for _ in range(count)]
    contacts += [contacts[0], [-1, 3]]  # two bodies may touch twice; a plane is no body
    system, panels = panels_for(n, len(contacts))
    loops = [order_panels, factorize_panels, solve_panels]
    go = compile_loops(loops) if is_compiled else {x: x for x in loops}
    assert go[order_panels](len(contacts), touching(contacts), system, panels) > 0
    dense, place = np.zeros((n, 6, n, 6)), panels.place
    assert sorted(place) == list(range(n))
    for i in range(n):
        dense[i, :, i] = rng.normal(size=(6, 6)) + 30 * np.eye(6)
        block_of(panels.upper, panels.pivot[place[i]])[:] = dense[i, :, i]
    for c, (i, j) in enumerate(contacts):
        if i >= 0:
            sooner, later = (i, j) if place[i] < place[j] else (j, i)
            dense[sooner, :, later], dense[later, :, sooner] = rng.normal(size=(2, 6, 6))
            block_of(panels.upper, panels.between[c])[:] = dense[sooner, :, later]
            block_of(panels.lower, panels.between[c])[:] = dense[later, :, sooner].T
    b = rng.normal(size=6 * n)
    x = Rows(Twist, b.copy())
    assert go[factorize_panels](panels) == 0
    go[solve_panels](panels, x)
    wanted = np.linalg.solve(dense.reshape(6 * n, 6 * n), b)
    assert x.floats.ravel() == pytest.approx(wanted, abs=1e-12)


def block_of(panels, at):
    """A block of six rows, without what fills them up to eight."""
    return panels[at : at + 48].reshape(6, 8)[:, :6]


def test_a_block_without_factors_is_told():
    system, panels = panels_for(2, 1)
    order_panels(1, touching([[0, 1]]), system, panels)
    assert factorize_panels(panels) == 1


def test_too_many_blocks_are_told():
    contact = touching([[i, j] for i in range(6) for j in range(i)])
    for blocks, found in ((15, 15), (14, -1)):
        system = System.new(most=6, contacts=15, blocks=blocks, matrix=1)
        system.bodies = 6
        assert least_degree(15, contact, system) == found
    system, panels = panels_for(6, 15)
    assert order_panels(15, contact, system, panels) == 36
    panels = Panels.new(most=6, contacts=15, blocks=35)
    assert order_panels(15, contact, system, panels) == -1


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
    # each with the reason for which impulses were not found
    assert sum(run.meta["reasons"].values()) == run.counts["missed"]
    assert all(f"{count}: {why}" in run.message for why, count in run.meta["reasons"].items())
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
