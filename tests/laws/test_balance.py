"""Newton and Euler on each body by itself: reactions and loads give its momentum's rate."""

from dataclasses import replace

import numpy as np
import pytest

from liaison.model import Gravity
from samples import draw, relative_difference, sample, solved, some
from samples.derived import Solved
from samples.statics import loads, momentum_rate, through_joints

SEEDS = some(range(20), 8)
TOLERANCE = 1e-9
"""Rounding through a system of condition up to 1e6; wrenches are of order 1 to 100."""


def balance_defect(x: Solved, vdot, lam) -> float:
    """Largest imbalance of a body against the largest wrench."""
    s = x.sample
    reactions = x.call("reactions", x=np.concatenate([vdot, lam]))
    joints, acting = through_joints(s, reactions), loads(s)
    names = sorted(body.name for body in s.mechanism.bodies[1:])
    rates = dict(zip(names, x.accelerations(vdot).reshape(-1, 12), strict=True))
    found = [joints[name] + acting[name] for name in names]
    needed = [momentum_rate(s, s.mechanism.body(name), rates[name]) for name in names]
    return relative_difference(found, needed)


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange", "maximal"])
@pytest.mark.parametrize("seed", SEEDS)
def test_every_body_is_in_balance(seed, formalism):
    x = solved(seed, formalism)
    assert balance_defect(x, *x.dense) < TOLERANCE


@pytest.mark.parametrize("seed", SEEDS)
def test_reactions_are_the_same_in_every_formalism(seed):
    if solved(seed).equations.closures.vanished:
        pytest.skip("a joint holds what another holds already: their reactions are not determined")
    found = []
    for formalism in ("newton_euler", "lagrange", "maximal"):
        x = solved(seed, formalism)
        reactions = x.call("reactions", x=np.concatenate(x.dense))
        found.append([reactions[j.name] for j in x.sample.mechanism.joints])
    assert relative_difference(found[0], found[1]) < TOLERANCE
    assert relative_difference(found[0], found[2]) < TOLERANCE


def momentum_defect(x: Solved, vdot) -> float:
    """Momentum's rate against what joints on the ground and loads do to the moving bodies."""
    s = x.sample
    names = sorted(body.name for body in s.mechanism.bodies[1:])
    rates = dict(zip(names, x.accelerations(vdot).reshape(-1, 12), strict=True))
    needed = sum(momentum_rate(s, s.mechanism.body(name), rates[name]) for name in names)
    h = 1e-6
    after = x.moved(vdot, h)
    before = x.moved(vdot, -h)
    total = [np.concatenate(list(x.call("momentum", **at).values())) for at in (after, before)]
    return relative_difference((total[0] - total[1]) / (2 * h), needed)


@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_is_the_sum_over_bodies(seed):
    x = solved(seed)
    assert momentum_defect(x, x.dense[0]) < 1e-6  # difference of numbers of order 10 over 2e-6


@pytest.mark.parametrize("seed", some(range(8), 4))
def test_what_bodies_do_to_each_other_changes_no_momentum(seed):
    s = draw(seed, floating=True, bodies=(2, 4), relations=False)
    x = Solved(s)
    names = sorted(body.name for body in s.mechanism.bodies[1:])
    rates = dict(zip(names, x.accelerations().reshape(-1, 12), strict=True))
    change = sum(momentum_rate(s, s.mechanism.body(name), rates[name]) for name in names)
    assert relative_difference(change, sum(loads_of_gravity(s).values())) < TOLERANCE


def loads_of_gravity(s):
    only = tuple(f for f in s.mechanism.forces if isinstance(f, Gravity))
    return loads(replace(s, mechanism=replace(s.mechanism, forces=only)))


def test_a_sample_is_the_same_each_time_it_is_drawn():
    assert draw(3).mechanism == sample(3).mechanism
    assert draw(3).q == sample(3).q
    assert draw(3).v == sample(3).v
