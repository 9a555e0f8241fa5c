"""Distance and penetration of convex bodies against features, a quadratic program, closed forms."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from liaison.contacts.convex.distance import separate
from liaison.contacts.convex.layout import Question, bodies_of
from liaison.numeric.hulls import Solid, convex_hull
from liaison.program.loops.compile import compile_loops
from samples.polytopes import (
    features,
    quadratic_program,
    random_polytope,
    random_pose,
    random_rotation,
    signed_distance,
)

EXACT = 1e-13  # beside the size: polytopes end after finitely many steps
CURVED = 1e-6
CUBE = convex_hull([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])


@cache
def compiled(portable: bool = False) -> Any:
    return compile_loops([separate], portable=portable)[separate]


def asked(one: Solid, other: Solid, R: Any, p: Any, *, plain: bool = False) -> Question:
    ask = Question.new()
    ask.R[:], ask.p[:] = R, p
    (separate if plain else compiled())(0, 1, bodies_of([one, other]), ask)
    return ask


def test_random_polytopes_against_features() -> None:
    draw = np.random.default_rng(22)
    worst, overlaps = 0.0, 0
    for _ in range(40):
        a, b = random_polytope(draw), random_polytope(draw)
        size = a.size + b.size
        for k in range(12):
            pose = random_pose(draw, k, a, b)
            ask = asked(Solid(a), Solid(b), *pose)
            truth = signed_distance(features(a, pose), features(b))
            worst, overlaps = max(worst, abs(ask.distance - truth) / size), overlaps + (truth < 0)
            n = ask.normal
            assert abs(np.linalg.norm(n) - 1) < 1e-12
            # the normal separates by as much, except where they barely touch
            apart = np.min((a.vertices @ pose.R.T + pose.p) @ n) - np.max(b.vertices @ n)
            assert abs(apart - ask.distance) < 2e-6 * size
            assert abs(n @ (ask.on_first - ask.on_second) - ask.distance) < 2e-6 * size
    assert worst < EXACT
    assert 100 < overlaps < 400


def test_random_polytopes_against_a_quadratic_program() -> None:
    draw = np.random.default_rng(23)
    for k in range(60):
        a, b = random_polytope(draw), random_polytope(draw)
        pose = random_pose(draw, k, a, b)
        ask = asked(Solid(a), Solid(b), *pose)
        if ask.distance > 0:
            truth = quadratic_program(a.vertices @ pose.R.T + pose.p, b.vertices)
            assert ask.distance == pytest.approx(truth, abs=1e-9 * (a.size + b.size))


def test_the_loop_as_plain_python_is_the_same() -> None:
    draw = np.random.default_rng(24)
    for k in range(4):
        a, b = random_polytope(draw), random_polytope(draw)
        pose = random_pose(draw, k, a, b)
        one, two = (asked(Solid(a), Solid(b), *pose, plain=x) for x in (False, True))
        assert abs(one.distance - two.distance) < EXACT * (a.size + b.size)


def test_balls_and_capsules() -> None:
    """A widened core is nearer by its radius, inside and outside."""
    ball = Solid(core=np.zeros((1, 3)), radius=0.5)
    for p, distance in (([2, 0, 0], 0.5), ([1.2, 0, 0], -0.3), ([0.9, 0, 0], -0.6),
                        ([2, 2, 2], 3**0.5 - 0.5)):  # fmt: skip
        assert asked(ball, Solid(CUBE), np.eye(3), p).distance == pytest.approx(distance, abs=1e-14)
    rod = Solid(core=np.array([[0, 0, -1.0], [0, 0, 1]]), radius=0.25)
    assert asked(rod, Solid(CUBE), np.eye(3), [2, 0, 0]).distance == pytest.approx(0.75)
    assert asked(rod, rod, np.eye(3), [1, 0, 0]).distance == pytest.approx(0.5)
    # cores that cross have no depth of their own; those that coincide neither
    across = np.array([[0, 0, 1.0], [0, 1, 0], [-1, 0, 0]])
    assert asked(rod, rod, across, [0, 0, 0]).distance == pytest.approx(-0.5)
    assert asked(ball, ball, np.eye(3), [0, 0, 0]).distance == pytest.approx(-1)


def test_cylinders() -> None:
    """Flat on a face, on the rim, on the side, and at random against a prism of 720 corners."""
    can = Solid(disc=0.5, half=1.0)
    assert asked(can, Solid(CUBE), np.eye(3), [0, 0, 2.5]).distance == pytest.approx(0.5)
    assert asked(can, Solid(CUBE), np.eye(3), [1.75, 0, 0]).distance == pytest.approx(0.25)
    assert asked(can, Solid(CUBE), np.eye(3), [0, 0, 1.75]).distance == pytest.approx(-0.25)
    turn = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    rim = np.column_stack([0.5 * np.cos(turn), 0.5 * np.sin(turn), 0 * turn + 1])
    prism = Solid(core=np.concatenate([rim, rim * [1, 1, -1]]))
    draw = np.random.default_rng(25)
    for k in range(60):
        other = random_polytope(draw)
        R = random_rotation(draw)
        p = draw.normal(size=3)
        p *= draw.uniform(0, 1.5) * (other.size + 1) / np.linalg.norm(p)
        exact, near = (asked(x, Solid(other), R, p) for x in (can, prism))
        inside = 0.5 * (1 - np.cos(np.pi / 720))  # the prism is so much slimmer
        assert -CURVED < near.distance - exact.distance < inside + CURVED, k
        assert np.isfinite(exact.floats[exact.slots("distance", "normal")]).all()


def test_portable_code_gives_the_same_bits() -> None:
    ask, other = Question.new(), Question.new()
    a, b = (random_polytope(np.random.default_rng(k)) for k in (1, 2))
    for one, call in ((ask, compiled()), (other, compiled(portable=True))):
        one.R[:], one.p[:] = np.eye(3), [0.3, 0.1, 0.2]
        call(0, 1, bodies_of([Solid(a), Solid(b)]), one)
    assert ask.distance == other.distance
