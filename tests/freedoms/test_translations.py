"""Sides that only fold: a lower bound never above what slices prove from the other side."""

import importlib
from random import Random

import pytest

from liaison.freedoms.local.series import Germ
from liaison.freedoms.local.verdict import translating_dimension

from .linkages import loop_systems

verdicts = importlib.import_module("liaison.freedoms.local.verdict")
AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (-1, 0, 0), (1, 2, 2)]


def hinges(draw, count, axis):
    """Parallel hinges at random places, some the other way round and of another length."""
    found = []
    for _ in range(count):
        scale, place = draw.choice((1, 1, -2)), [draw.randint(-9, 9) for _ in range(3)]
        direction = [scale * x for x in axis]
        found.append({"type": "revolute", "direction": direction, "point": place})
    return found


def meshes(seed):
    """A loop of sides of parallel hinges and sliders, sometimes a second one that shares two."""
    draw = Random(seed)
    joints, sides = [], []
    for _ in range(draw.randint(2, 6)):
        axis = draw.choice(AXES)
        slides = draw.random() < 0.15
        new = [{"type": "prismatic", "direction": axis}] if slides else []
        new = new or hinges(draw, draw.randint(1, 4), axis)
        places = range(len(joints), len(joints) + len(new))
        sides.append([[k, draw.choice((1, 1, -1))] for k in places])
        joints += new
    loops = [[entry for side in sides for entry in side]]
    if len(sides) > 3 and draw.random() < 0.6:
        back = [[k, -sign] for s in draw.sample(sides, 2) for k, sign in reversed(s)]
        new = hinges(draw, draw.randint(1, 4), draw.choice(AXES))
        loops.append(back + [[len(joints) + k, 1] for k in range(len(new))])
        joints += new
    return {"joints": joints, "loops": loops}


@pytest.mark.parametrize("seed", range(40))
def test_the_bound_is_below_every_upper_bound(seed, monkeypatch):
    system = next(loop_systems(meshes(seed)))
    bound = translating_dimension(system)
    assert bound <= Germ(system).dimension
    # what slices and paths say without knowing of it
    monkeypatch.setattr(verdicts, "translating_dimension", lambda _: 0)
    assert bound <= verdicts.verdict(system, 40).high
