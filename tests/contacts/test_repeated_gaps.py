"""Places of contacts that repeat each other: what follows from held gaps moves with them alone."""

import numpy as np
import pytest

from liaison.contacts.stepping.phases import is_guarded, is_held, push_out
from liaison.contacts.stepping.rows import forget_end, one_sided_at_end
from liaison.formats import read
from liaison.simulation import Run, Settings
from liaison.simulation.steps.layout import GOOD
from liaison.simulation.steps.sides_layout import CLOSED, OPEN
from liaison.verbs.ready import ready_for

MARBLE = """
gravity = [0, 0, -9.81] m/s^2 ;
let marble = body mass = 100 g, inertia = 16 g*cm^2 end ;
let F = join earth and marble with free end ;
let bowl = contact marble and earth with ball radius = 2 cm, inside = 22 cm end ;
let again = contact marble and earth with ball radius = 2 cm, inside = 22 cm end ;
start F = [10, 0, -17.320508075688775] cm ++ 0 deg || [0, 0, 1] ;
"""


@pytest.fixture(scope="module")
def block_of():
    """A run after some steps, as plain Python, with its entries and scratch."""
    kernel, state = ready_for(read(MARBLE), None, None, None)
    run = Run(kernel, state, 0.1, Settings(method="moreau", step=1e-3), is_compiled=False)
    run.go(3)
    return run, *run._machine._bound[1][:3]


@pytest.mark.parametrize("depth", [1e-6, 1e-9, 1e-11])
def test_a_gap_that_repeats_a_held_one_is_not_pushed_by_rounding(block_of, depth):
    """The way out is as long as the penetration is deep, wherever the marble is."""
    _, e, block, scratch = block_of
    rng = np.random.default_rng(3)
    for _ in range(40):
        way = rng.standard_normal(3) - [0, 0, 3]
        q, v = np.array(block.q), np.array(block.v)
        q[:3] = (0.2 + depth) * way / np.linalg.norm(way)
        forget_end(block)
        one_sided_at_end(e, block.t, q, v, block, scratch)
        block.mode[:], block.impulse[:] = [CLOSED, OPEN], [1.0, 0.0]
        assert (is_held(0, block), is_guarded(1, 1, depth, block)) == (1, 1)
        before = q.copy()
        assert push_out(e, 1, depth, block.t, q, v, block, scratch) == GOOD
        assert np.abs(q - before).max() < 2 * depth
        one_sided_at_end(e, block.t, q, v, block, scratch)
        # Newton's correction leaves the square of the depth beside the radius, and rounding
        assert abs(block.end.gap).max() < depth**2 / 0.2 + 1e-15
