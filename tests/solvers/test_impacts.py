"""Impacts under four laws: closed forms, energy, and what each law cannot do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from liaison.program.loops.compile import compile_loops
from liaison.solvers.cones.cones import ONE_WAY
from liaison.solvers.impacts.impacts import ENERGETIC, MOREAU, NEWTON, POISSON, impact, impact_area
from samples.contact_scenes import (
    UP,
    Builder,
    box_on_floor,
    contact_rows,
    planar_scene,
    random_scene,
)

LAWS = [ENERGETIC, NEWTON, POISSON, MOREAU]
NAMES = ["energetic", "newton", "poisson", "moreau"]


@pytest.fixture(scope="module")
def compiled():
    return compile_loops([impact])[impact]


@pytest.fixture(scope="module", params=["plain", "compiled"])
def run(request):
    return impact if request.param == "plain" else compile_loops([impact])[impact]


def struck(run, law, scene):
    """Change of T, f, u⁺, worst residual and rounds."""
    m, nb = len(scene.D), len(scene.blocks)
    f, u, area = np.zeros(m), scene.b.copy(), np.full(impact_area(m, nb), np.nan)
    change = run(
        law, m, nb, scene.A.ravel(), u, *scene.tables,
        scene.restitution, f, area,
    )  # fmt: skip
    return change, f, u, area[0], area[1]


def point(v, e, mu=0.0):
    build = Builder()
    build.contact(contact_rows(1, 0, -UP, UP), mu=mu, e=e)
    return build.scene([1, 1, 1, 2.5, 2.5, 2.5], v)


def rod_on_edge(e, mu, angle=np.pi / 6, slip=-0.55):
    """A rod of mass and half-length 1 in a plane, touching at its lower end; normal, tangent."""
    x, y = np.cos(angle), -np.sin(angle)
    build = Builder()
    load = build.add(ONE_WAY, [0.0, 1.0, x], e=e)
    build.add(1, [1.0, 0.0, -y], (mu, 0, 0), load)
    v = np.array([slip, -1.0, 0.0])
    return build.scene([1, 1, 3], v)


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_a_single_impact_without_friction_returns_e(run, law, e):
    change, f, u, residual, rounds = struck(run, law, point([1, 2, -3, 0.1, 0.2, 0.3], e))
    assert_allclose(u, [3 * e], atol=1e-13)
    assert_allclose(f, [3 * (1 + e)], atol=1e-13)
    assert change == pytest.approx(-4.5 * (1 - e * e), abs=1e-12)
    assert residual < 1e-12
    assert rounds == 1


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_contacts_that_part_are_left_alone(run, law):
    change, f, u, _, _ = struck(run, law, point([1, 0, 2, 0, 0, 0], 0.5, mu=0.3))
    assert change == 0
    assert_allclose(f, 0)
    assert u[0] == 2


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_the_change_told_is_that_of_the_velocities(compiled, law):
    rng = np.random.default_rng(1)
    for _ in range(100):
        scene = random_scene(rng, 4)
        change, f, u, residual, _ = struck(compiled, law, scene)
        seen, before = scene.energy_change(f)
        if residual < 1e-9:
            assert change == pytest.approx(seen, abs=1e-9 * before)
            assert_allclose(u, scene.A @ f + scene.b, atol=1e-9 * (1 + np.abs(f).max()))


def random_impacts(compiled, law, count, seed):
    """Largest gain beside T⁻, problems not solved, rates that still approach, of random impacts."""
    rng = np.random.default_rng(seed)
    gain, unsolved, approaching = 0.0, 0, 0
    for _ in range(count):
        scene = random_scene(rng, 4)
        _, f, u, residual, _ = struck(compiled, law, scene)
        change, before = scene.energy_change(f)
        gain = max(gain, change / before)
        unsolved += residual > 1e-10
        loads = scene.blocks[scene.blocks[:, 0] == ONE_WAY, 1]
        approaching += u[loads].min() < -1e-9 * np.abs(scene.b).max()
    return gain, unsolved, approaching


@pytest.mark.slow
@pytest.mark.parametrize("law", [ENERGETIC, MOREAU], ids=["energetic", "moreau"])
def test_a_hundred_thousand_impacts_gain_no_energy(compiled, law):
    gain, unsolved, approaching = random_impacts(compiled, law, 100_000, 5)
    assert gain < 1e-12
    assert unsolved == 0
    assert approaching == 0


@pytest.mark.parametrize("law", [ENERGETIC, MOREAU], ids=["energetic", "moreau"])
def test_random_impacts_gain_no_energy(compiled, law):
    gain, unsolved, approaching = random_impacts(compiled, law, 1_500, 6)
    assert gain < 1e-12
    assert unsolved == 0
    assert approaching == 0


def test_a_rod_that_friction_turns_back_gains_energy_under_newtons_law(run):
    """Kane's case: one contact, μ = 0.5, e = 1."""
    gains = []
    for law in LAWS:
        scene = rod_on_edge(1.0, 0.5, angle=0.9, slip=-0.45)
        change, f, _, _, _ = struck(run, law, scene)
        gains.append(change / scene.energy_change(f)[1])
    assert gains[NEWTON] > 0.15
    assert max(gains[ENERGETIC], gains[POISSON], gains[MOREAU]) < 1e-13


def test_contacts_of_different_restitution_gain_energy_under_poissons_law(compiled):
    rng = np.random.default_rng(0)
    gains = {ENERGETIC: 0.0, POISSON: 0.0, MOREAU: 0.0}
    for _ in range(1000):
        scene = planar_scene(rng, 4, friction=(0.3, 0.8, 1.5))
        scene.restitution[:] = rng.choice([0, 0.5, 1.0], size=len(scene.restitution))
        for law in gains:
            change, before = scene.energy_change(struck(compiled, law, scene)[1])
            gains[law] = max(gains[law], change / before)
    assert gains[POISSON] > 0.1
    assert max(gains[ENERGETIC], gains[MOREAU]) < 1e-12


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
def test_a_block_lands_symmetrically(run, law):
    scene = box_on_floor([0, 0, -1, 0, 0, 0], mu=0.5, e=0.5)
    _change, f, _u, _, _ = struck(run, law, scene)
    v = scene.v + scene.weight * (scene.D.T @ f)
    assert_allclose(v, [0, 0, 0.5, 0, 0, 0], atol=1e-12)


def test_stronges_bound_holds_where_poissons_law_passes_it(run):
    for mu in (0.2, 0.5, 1.0):
        scene = rod_on_edge(0.8, mu)
        _, f, u, _, _ = struck(run, ENERGETIC, scene)
        _, g, _, _, _ = struck(run, -1, scene)
        taken = 0.5 * g[0] * abs(scene.b[0])
        returned = 0.5 * (f[0] - g[0]) * u[0]
        assert returned <= 0.64 * taken * (1 + 1e-9)


def test_three_balls_in_a_row(run):
    """Simultaneous laws do not send the last ball away alone: known, told in the theory page."""
    build = Builder()
    build.add(ONE_WAY, [-1.0, 1.0, 0.0], e=1.0)
    build.add(ONE_WAY, [0.0, -1.0, 1.0], e=1.0)
    scene = build.scene([1, 1, 1], [1, 0, 0])
    after = {}
    for law in LAWS:
        change, f, _u, _, _ = struck(run, law, scene)
        after[law] = scene.v + scene.weight * (scene.D.T @ f)
        assert after[law].sum() == pytest.approx(1)
        assert change == pytest.approx(0, abs=1e-12)
    assert_allclose(after[POISSON], [-1 / 3, 2 / 3, 2 / 3], atol=1e-12)
    assert_allclose(after[ENERGETIC], [-1 / 3, 2 / 3, 2 / 3], atol=1e-12)
    assert_allclose(after[MOREAU], [-1 / 3, 2 / 3, 2 / 3], atol=1e-12)
