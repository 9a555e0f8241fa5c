"""Islands of scenes: each is solved by itself, on any thread, to the same bits."""

import numpy as np
import pytest

from liaison.contacts.scene.candidates import CROWD
from liaison.contacts.scene.layout import World
from liaison.contacts.scene.step import MANY_PAIRS
from liaison.errors import SimulationError
from liaison.simulation.scene import Scene
from samples.heaps import FLOOR, balls, heap, walls

STEP = 2e-3


def heaps(count, seed=0, **options):
    """Loose heaps that fall apart from each other."""
    places = [heap(10, side=2, seed=seed + k) + np.array([0.7 * k, 0, 0]) for k in range(count)]
    return Scene(balls(np.concatenate(places)), FLOOR, **options)


@pytest.mark.parametrize("friction", [0.0, 0.4])
def test_results_have_the_same_bits_for_any_number_of_threads(friction):
    scene = heaps(8, friction=friction, restitution=0.2)
    runs = [scene.simulate(0.3, step=STEP, threads=n) for n in (1, 2, 3)]
    assert runs[0]["contacts"].max() > 64  # where one thread does not solve all
    for run in runs[1:]:
        assert np.array_equal(run.q, runs[0].q)
        assert np.array_equal(run.v, runs[0].v)
        assert run.counts == runs[0].counts
        assert [(x.name, x.t) for x in run.events] == [(x.name, x.t) for x in runs[0].events]


def test_a_run_of_two_threads_goes_on_with_one_to_the_bit():
    scene = heaps(8, friction=0.4)
    whole = scene.simulate(0.3, step=STEP)
    begun = scene.run(0.3, step=STEP, threads=2)
    begun.go(100)
    later = scene.run(0.3, step=STEP)
    later.restore(begun.checkpoint())
    assert np.array_equal(later.finish().q, whole.q)


def test_boxes_and_gaps_of_many_balls_have_the_same_bits_on_all_threads():
    grid = np.stack(np.meshgrid(*3 * [np.arange(11)], indexing="ij"), -1).reshape(-1, 3)
    places = 0.1001 * grid + [0.06, 0.06, 0.051]
    speeds = np.random.default_rng(0).normal(size=(len(places), 6))
    scene = Scene(balls(places, speeds=speeds), walls(1.2), friction=0.4)
    runs = [scene.simulate(3 * STEP, step=STEP, threads=n) for n in (1, 2, 3)]
    # more than one thread does alone
    assert len(places) > CROWD
    assert runs[0]["contacts"].max() > MANY_PAIRS
    for run in runs[1:]:
        assert np.array_equal(run.q, runs[0].q)
        assert np.array_equal(run.v, runs[0].v)


def test_bodies_and_contacts_are_sorted_by_islands():
    scene = heaps(4, friction=0.4)
    run = scene.run(0.3, step=STEP)
    run.go(120)
    world = World(run.arrays.run.beside)
    count, touching = int(world.islands), int(world.contacts)
    sides = world.contact.ints[:touching]
    bodies = [world.contact[c].body.tolist() for c in range(len(sides))]
    # by hand: bodies that touch have the smallest number among them
    name = np.arange(40)
    for _ in range(40):
        for a, b in bodies:
            if a >= 0:
                name[a] = name[b] = min(name[a], name[b])
    islands = sorted({name[b] for _, b in bodies})
    assert count == len(islands) > 1
    for k, first in enumerate(islands):
        listed = world.member[world.body_first[k] : world.body_first[k + 1]]
        assert listed.tolist() == np.flatnonzero(name == first).tolist()
        own = world.of_island[world.contact_first[k] : world.contact_first[k + 1]]
        assert own.tolist() == [c for c, (_, b) in enumerate(bodies) if name[b] == first]


def test_what_lies_far_away_changes_nothing_of_a_heap():
    # few contacts are solved to rounding, whatever else there is
    alone = heaps(1, friction=0.4).simulate(0.4, step=STEP)
    beside = heaps(2, friction=0.4).simulate(0.4, step=STEP)
    assert beside.q[-1, :70] == pytest.approx(alone.q[-1], abs=1e-5)


def test_threads_that_cannot_be_are_refused():
    for threads in (0, 65, 1.5, None, "2"):
        with pytest.raises(SimulationError, match=r"threads of a scene is .* from 1 to 64"):
            Scene(balls([[0, 0, 1]]), FLOOR).simulate(0.1, step=STEP, threads=threads)
