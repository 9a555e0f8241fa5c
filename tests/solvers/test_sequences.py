"""Impacts one after the other: Newton's cradle, sorted speeds, energy, and where it ends."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from liaison.program.loops.compile import compile_loops
from liaison.solvers.cones.cones import ONE_WAY
from liaison.solvers.impacts.impacts import (
    ENERGETIC,
    MOREAU,
    NEWTON,
    POISSON,
    SEQUENCE,
    SEQUENTIAL,
    STRONGE,
    impact,
    impact_area,
)
from liaison.solvers.impacts.sequence import coupled_contacts
from samples.contact_scenes import UP, Builder, contact_rows, random_scene


@pytest.fixture(scope="module")
def compiled():
    return compile_loops([impact])[impact]


@pytest.fixture(scope="module", params=["plain", "compiled"])
def run(request, compiled):
    return impact if request.param == "plain" else compiled


def struck(run, law, scene):
    """Change of T, f, u⁺; how many impacts followed each other, and what was left of a sequence."""
    m, nb = len(scene.D), len(scene.blocks)
    f, u, area = np.zeros(m), scene.b.copy(), np.full(impact_area(m, nb), np.nan)
    change = run(law, m, nb, scene.A.ravel(), u, *scene.tables, scene.restitution, f, area)
    return change, f, u, area[1], area[2]


def balls(v, e, masses=None):
    """Balls in a row that touch."""
    build = Builder()
    for i in range(len(v) - 1):
        row = np.zeros(len(v))
        row[i], row[i + 1] = -1, 1
        build.add(ONE_WAY, row, e=e)
    weight = np.ones(len(v)) if masses is None else 1 / masses
    return build.scene(weight, np.array(v, dtype=float))


def after(scene, v, f, masses):
    """Velocities of balls from the impulses."""
    return np.asarray(v) + scene.D.T @ f / np.asarray(masses)


@pytest.mark.parametrize(
    ("before", "end"),
    [
        ([1, 0, 0, 0, 0], [0, 0, 0, 0, 1]),
        ([1, 1, 0, 0, 0], [0, 0, 0, 1, 1]),
        ([1, 1, 1, 0, 0], [0, 0, 1, 1, 1]),
        ([0, 0, 0, 0, -1], [-1, 0, 0, 0, 0]),
        ([1, 0, 0, 0, -1], [-1, 0, 0, 0, 1]),
        ([2, 0, 0], [0, 0, 2]),
    ],
)
def test_as_many_balls_leave_a_cradle_as_enter(run, before, end):
    scene = balls(before, 1.0)
    change, f, u, _, left = struck(run, SEQUENTIAL, scene)
    assert after(scene, before, f, np.ones(len(before))).tolist() == end
    assert u.tolist() == np.diff(end).tolist()
    assert change == 0
    assert left == 0


@pytest.mark.parametrize("law", [ENERGETIC, NEWTON, POISSON, MOREAU, STRONGE])
def test_laws_that_take_all_contacts_at_once_move_every_ball(compiled, law):
    scene = balls([1, 0, 0, 0, 0], 1.0)
    _, f, _, _, _ = struck(compiled, law, scene)
    assert_allclose(after(scene, [1, 0, 0, 0, 0], f, np.ones(5)), [-0.6, 0.4, 0.4, 0.4, 0.4])


def test_equal_balls_without_loss_leave_sorted_by_speed(compiled):
    rng = np.random.default_rng(5)
    for n in (2, 3, 5, 9):
        for _ in range(20):
            v = rng.normal(size=n)
            scene = balls(v, 1.0)
            _, f, _, _, _ = struck(compiled, SEQUENTIAL, scene)
            assert_allclose(after(scene, v, f, np.ones(n)), np.sort(v), atol=1e-13)


def reference(v, e, masses):
    """The same sequence by balls, not by impulses: whichever pair loses most goes first."""
    v, masses = np.array(v, dtype=float), np.asarray(masses, dtype=float)
    while True:
        reduced = masses[:-1] * masses[1:] / (masses[:-1] + masses[1:])
        closing = (v[:-1] - v[1:]) * np.sqrt(reduced)
        k = int(np.argmax(closing))
        if closing[k] < 1e-12:
            return v
        a, b = masses[k], masses[k + 1]
        mean, apart = (a * v[k] + b * v[k + 1]) / (a + b), e * (v[k] - v[k + 1])
        v[k], v[k + 1] = mean - apart * b / (a + b), mean + apart * a / (a + b)


def test_balls_of_other_masses_and_losses_follow_the_sequence_itself(compiled):
    rng = np.random.default_rng(6)
    for _ in range(60):
        n, e = int(rng.integers(2, 7)), float(rng.uniform(0, 1))
        v, masses = rng.normal(size=n), rng.uniform(0.2, 3, n)
        scene = balls(v, e, masses)
        change, f, u, _, left = struck(compiled, SEQUENTIAL, scene)
        end = after(scene, v, f, masses)
        assert_allclose(end, reference(v, e, masses), atol=1e-9)
        assert masses @ end == pytest.approx(masses @ v, abs=1e-12)
        assert change == pytest.approx(0.5 * masses @ (end**2 - v**2), abs=1e-11)
        assert np.all(u > -1e-10)
        assert left == 0


def test_balls_that_stick_end_with_one_speed(compiled):
    scene = balls([1] + [0] * 19, 0.0)
    _, f, u, rounds, left = struck(compiled, SEQUENTIAL, scene)
    assert_allclose(after(scene, [1] + [0] * 19, f, np.ones(20)), 1 / 20, atol=1e-9)
    assert np.all(u > -1e-10)
    assert 19 < rounds < SEQUENCE * 19
    assert left == 0


@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_one_contact_strikes_as_under_stronges_law(run, mu):
    build = Builder()
    build.contact(contact_rows(1, 0, -UP, UP), mu=mu, e=0.6)
    scene = build.scene([1, 1, 1, 2.5, 2.5, 2.5], [1, 2, -3, 0.1, 0.2, 0.3])
    one, other = struck(run, SEQUENTIAL, scene), struck(run, STRONGE, scene)
    assert_allclose(one[1], other[1], atol=1e-12)
    assert one[0] == pytest.approx(other[0], abs=1e-12)


def test_impacts_with_friction_gain_no_energy_and_leave_none_approaching(compiled):
    rng = np.random.default_rng(7)
    for seed in range(40):
        scene = random_scene(np.random.default_rng(seed), int(rng.integers(1, 5)))
        change, _, u, _, _ = struck(compiled, SEQUENTIAL, scene)
        loads = [block[1] for block in scene.blocks if block[0] == ONE_WAY]
        assert change <= 1e-9
        assert np.all(u[loads] > -1e-8 * max(1.0, np.abs(scene.b).max()))


def test_a_sequence_without_an_end_is_cut_short_and_says_so(compiled):
    # a corner of 1e-5 rad: a point bounces 314159 times between its sides
    build = Builder()
    build.add(ONE_WAY, [0.0, 1.0], e=1.0)
    build.add(ONE_WAY, [1e-5, -1.0], e=1.0)
    change, _, u, rounds, left = struck(compiled, SEQUENTIAL, build.scene([1, 1], [-1.0, 0.0]))
    assert rounds > 2 * SEQUENCE
    assert left > 0
    assert np.all(u > -1e-10)
    assert change < 0  # the rest of it is inelastic


def test_contacts_are_coupled_where_impulses_of_one_change_the_other():
    scene = balls([1, 0, 0], 1.0)
    tables, one = scene.tables, np.ones(2)
    assert coupled_contacts(0, 2, 2, scene.A.ravel(), *tables, one) == 2
    assert coupled_contacts(0, 2, 2, scene.A.ravel(), *tables, np.array([1.0, 0.0])) == 1
    build = Builder()
    for axis in ([1.0, 0.0], [0.0, 1.0]):  # a right corner: every order leads to the same
        build.add(ONE_WAY, axis, e=0.5)
    corner = build.scene([1, 1], [-1.0, -1.0])
    assert coupled_contacts(0, 2, 2, corner.A.ravel(), *corner.tables, one) == 1
