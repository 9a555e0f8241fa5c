"""Contact forces against Coulomb's law, closed forms and units, as plain Python and compiled."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from liaison.program.loops.compile import compile_loops
from liaison.program.loops.language import f64, i64, loop, ptr
from liaison.program.loops.records import Rows
from liaison.solvers.cones.cones import (
    BILATERAL,
    DISC,
    ONE_WAY,
    PRESCRIBED,
    cone_area,
    solve_cones,
    spread,
)
from liaison.solvers.cones.near import solve_cones_again, solve_cones_near
from liaison.solvers.cones.newton import newton_from_inside
from liaison.solvers.cones.table import Area, Cone, Limit, prepare
from samples.contact_scenes import (
    SIGNS,
    UP,
    Builder,
    box,
    box_on_floor,
    contact_rows,
    random_scene,
    solved,
    stack,
)


@loop
def inside_alone(
    m: i64, nb: i64, A: ptr, b: ptr, blocks: Rows[Cone], limits: Rows[Limit], f: ptr, area: ptr
) -> f64:
    """As `solve_cones`, by Newton's method from inside the bounds alone."""
    work = Area(area, m, nb)
    beta = prepare(m, nb, A, b, blocks, limits, f, work)
    spread(m, nb, 0, blocks, work)
    residual = newton_from_inside(m, nb, blocks, work, 1.0, 0.3, 0.1)
    for i in range(m):
        f[i] = beta * work.scale[i] * work.force[i]
    return residual


FOUND = 1e-12
"""Residual of a problem that is solved."""


@pytest.fixture(scope="module")
def compiled():
    return compile_loops([solve_cones])[solve_cones]


@pytest.fixture(scope="module", params=["plain", "compiled"])
def run(request):
    if request.param == "plain":
        return solve_cones
    return compile_loops([solve_cones])[solve_cones]


def ball(v, mu=0.5, **groups):
    """A ball of mass 1, radius 1 and inertia 2/5 on the floor."""
    build = Builder()
    build.contact(contact_rows(1, 0, -UP, UP), mu=mu, **groups)
    return build.scene([1, 1, 1, 2.5, 2.5, 2.5], v)


def misses_of_coulomb(scene, f, u):
    """What f and u miss of Coulomb's law, told anew: signs, bounds, complementarity, direction."""
    sizes = np.sqrt(np.maximum(np.diag(scene.A), 1e-30))
    f, u = f * sizes, u / sizes
    worst = 0.0
    for k, (kind, first, rows, load) in enumerate(scene.blocks):
        block = slice(first, first + rows)
        if kind == BILATERAL:
            worst = max(worst, np.abs(u[block]).max())
        elif kind == ONE_WAY:
            worst = max(worst, -f[first], -u[first], min(f[first], u[first]))
        elif kind == DISC:
            pressed = max(f[scene.blocks[load][1]] / sizes[scene.blocks[load][1]], 0)
            a = (scene.limits[k, :rows] * pressed + scene.limits[k, 2]) * sizes[block]
            # over the ellipse, f·u is least at −Σ (a u)²/‖a u‖
            worst = max(worst, f[block] @ u[block] + np.linalg.norm(a * u[block]))
            inside = np.linalg.norm(f[block][a > 0] / a[a > 0]) - 1
            worst = max(worst, inside * a.max(), np.abs(f[block][a == 0]).max(initial=0))
    return worst


def test_a_ball_sticks_slips_and_leaves_as_closed_forms_say(run):
    # mobility of the point along the floor: 1 + r²/J = 3.5
    residual, f, u = solved(run, ball([0, 0, -1, 0, 0, 0]))
    assert residual <= FOUND
    assert_allclose(f, [1, 0, 0], atol=1e-14)
    along = contact_rows(1, 0, -UP, UP)[1, :3]
    residual, f, u = solved(run, ball([*(along - UP), 0, 0, 0]))
    assert_allclose(f, [1, -2 / 7, 0], atol=1e-13)
    assert_allclose(u, 0, atol=1e-13)
    residual, f, u = solved(run, ball([*(10 * along - UP), 0, 0, 0]))
    assert_allclose(f, [1, -0.5, 0], atol=1e-13)
    assert_allclose(u, [0, 10 - 0.5 * 3.5, 0], atol=1e-12)
    residual, f, u = solved(run, ball([*along, 0, 0, 0]), b=[0.1, 1, 0])
    assert_allclose(f, 0, atol=1e-14)


def test_rolling_and_pivoting_are_bounded_by_the_same_load(run):
    scene = ball([0, 0, -1, 3, 4, -5], mu=1e-9, rolling=0.01, pivoting=0.02)
    residual, f, u = solved(run, scene)
    assert residual <= FOUND
    assert f[0] == pytest.approx(1)
    assert np.linalg.norm(f[3:5]) == pytest.approx(0.01)
    assert f[5] == pytest.approx(0.02 * np.sign(5))
    assert misses_of_coulomb(scene, f, u) < 1e-13


def test_an_ellipse_of_friction_dissipates_most(run):
    scene = ball([2, 3, -1, 0, 0, 0])
    scene.limits[1] = [0.5, 0.2, 0]
    residual, f, u = solved(run, scene)
    assert residual <= FOUND
    t = np.linspace(0, 2 * np.pi, 100_001)
    powers = 0.5 * np.cos(t) * u[1] + 0.2 * np.sin(t) * u[2]
    assert f[1:] @ u[1:] == pytest.approx(powers.min(), abs=1e-9)
    assert (f[1] / 0.5) ** 2 + (f[2] / 0.2) ** 2 == pytest.approx(1)


def test_an_ellipse_whose_shape_depends_on_the_load(run):
    scene = ball([20, 30, -1, 0, 0, 0])
    scene.limits[1] = [0.5, 0.2, 0.3]
    residual, f, u = solved(run, scene)
    assert residual <= FOUND
    assert (f[1] / 0.8) ** 2 + (f[2] / 0.5) ** 2 == pytest.approx(1)
    assert misses_of_coulomb(scene, f, u) < 1e-12


def test_a_box_on_four_corners(run):
    # the load is shared, its sum is known; friction sums to what stops or μ times the load
    weight = box(2.0, (0.5, 0.4, 0.3))[0]
    for speed, expected in ((0.2, 0.2), (3.0, 0.5)):
        residual, f, _u = solved(run, box_on_floor([speed, 0, -1, 0, 0, 0]))
        assert residual <= FOUND
        assert f[0::3].sum() == pytest.approx(1 / weight)
        assert np.linalg.norm([f[1::3].sum(), f[2::3].sum()]) == pytest.approx(expected / weight)
        assert f[0::3].min() >= 0


@pytest.mark.parametrize("heavy", [1.0, 1e2, 1e3])
def test_a_heavy_body_on_a_light_one(run, heavy):
    light = 1e-3
    A = np.array([[1 / light, -1 / light], [-1 / light, 1 / light + 1 / heavy]])
    blocks = Rows(Cone, np.array([ONE_WAY, 0, 1, -1, ONE_WAY, 1, 1, -1]))
    limits = Rows(Limit, np.zeros(6))
    f, area = np.zeros(2), np.zeros(cone_area(2, 2))
    # the light one lies on the floor, and the heavy one comes down on it
    residual = run(2, 2, A.ravel(), np.array([0.0, -4.0]), blocks, limits, f, area)
    assert residual < 1e-8
    assert_allclose(f, 4 * heavy, rtol=1e-7)


def test_discs_with_bounds_of_their_own_and_rows_that_hold(run):
    build = Builder()
    build.add(DISC, [[1.0, 0]], (0, 0, 0.3))
    build.add(BILATERAL, [[1.0, 1.0]])
    scene = build.scene([1, 1], [1, 0])
    residual, f, u = solved(run, scene)
    # the held sum of velocities leaves half the speed to the friction
    assert residual <= FOUND
    assert_allclose(f, [-0.3, -0.35], atol=1e-14)
    assert_allclose(u, [0.35, 0], atol=1e-14)


def test_a_given_load_is_kept_and_bounds(run):
    scene = ball([1, 0, 0, 0, 0, 0])
    scene.blocks[0, 0] = PRESCRIBED
    residual, f, _u = solved(run, scene, start=np.array([0.2, 0, 0]))
    assert residual <= FOUND
    assert f[0] == 0.2
    assert np.linalg.norm(f[1:]) == pytest.approx(0.1)


def test_a_least_force_is_borne_though_the_contact_opens(run):
    scene = ball([0, 0, -1, 0, 0, 0])
    scene.limits[0, 2] = 3.0
    residual, f, u = solved(run, scene)
    assert residual <= FOUND
    assert f[0] == pytest.approx(3)
    assert u[0] == pytest.approx(2)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_not_finite_is_told(run):
    scene = ball([0, 0, -1, 0, 0, 0])
    residual, f, _ = solved(run, scene, b=[np.nan, 0, 0])
    assert residual == np.inf
    assert_allclose(f, 0)
    scene.limits[1, 0] = np.nan
    assert solved(run, scene)[0] == np.inf
    none = Rows(Cone, np.zeros(0)), Rows(Limit, np.zeros(0))
    assert run(0, 0, *np.zeros((2, 1)), *none, *np.zeros((2, 1))) == 0


def test_no_solution_is_told(run):
    # a row that nothing moves, and approaches
    build = Builder()
    build.add(ONE_WAY, [[0.0]])
    scene = build.scene([1], [0])
    residual, _, _ = solved(run, scene, b=[-1])
    assert residual > 0.1


def test_other_units_change_nothing(compiled):
    rng = np.random.default_rng(3)
    scene = random_scene(rng, 6)
    _, f, _ = solved(compiled, scene)
    scale = 10.0 ** rng.integers(-6, 6)
    scene.weight = scene.weight * scale
    _, g, _ = solved(compiled, scene)
    assert_allclose(scene.D.T @ g * scale, scene.D.T @ f, atol=1e-9 * np.abs(scene.D.T @ f).max())


def test_the_answer_begins_the_next_search(compiled):
    scene = box_on_floor([3, 1, -1, 0.1, 0, 0.2])
    _, f, _ = solved(compiled, scene)
    residual, g, _ = solved(compiled, scene, start=f)
    assert residual <= FOUND
    assert_allclose(g, f, atol=1e-12)


@pytest.mark.parametrize("tiny", [1e-8, 1e-12])
def test_tiny_forces_beside_large_rates_have_all_their_digits(compiled, tiny):
    build = Builder()
    for i in range(2):
        build.contact(contact_rows(2, i, -UP, UP), mu=0.5)
    scene = build.scene(2 * [1, 1, 1, 2.5, 2.5, 2.5], np.zeros(12))
    # one ball leaves, the other is hardly pressed and slides fast
    _, f, u = solved(compiled, scene, b=[1, 2, 0, -tiny, 1, 0])
    assert_allclose(f, [0, 0, 0, tiny, -0.5 * tiny, 0], rtol=1e-13, atol=1e-13 * tiny)
    assert abs(u[3]) < 1e-14 * tiny


def test_a_tower_of_twenty_boxes_is_solved_from_nothing(compiled):
    # sweeps need tens of thousands here, and modes cycle
    rng = np.random.default_rng(5)
    build = Builder()
    half = np.array([0.5, 0.4, 0.3])
    for k in range(20):
        for sign in SIGNS:
            under = (k - 1, sign * half * [1, 1, -1]) if k > 0 else (None, None)
            build.contact(contact_rows(20, k, sign * half, UP, *under), mu=0.3)
    v = np.tile([0, 0, -0.01, 0, 0, 0], 20) + 0.01 * rng.normal(size=120)
    residual, f, u = solved(compiled, build.scene(np.tile(box(1.0, half), 20), v))
    assert residual <= FOUND
    assert f[0::3].min() >= 0
    assert u[0::3].min() >= -1e-12


@pytest.mark.parametrize("held", [0.0, 0.1])
def test_random_bodies_in_few_contacts(compiled, held):
    rng = np.random.default_rng(8)
    for _ in range(1000):
        scene = random_scene(rng, 5, held)
        residual, f, u = solved(compiled, scene)
        assert residual <= FOUND
        size = np.abs(scene.b / np.sqrt(np.maximum(np.diag(scene.A), 1e-30))).max()
        assert misses_of_coulomb(scene, f, u) <= 1e-9 * max(size, 1) ** 2


def unsolved(compiled, count, seed, limit=FOUND):
    """How many problems of up to 20 contacts, with repeated and held rows, are not solved."""
    rng = np.random.default_rng(seed)
    return sum(not solved(compiled, random_scene(rng, 20, 0.05))[0] <= limit for _ in range(count))


def test_random_bodies_in_many_contacts(compiled):
    assert unsolved(compiled, 300, 9) == 0


@pytest.mark.slow
def test_ten_thousand_problems_of_many_contacts(compiled):
    # random normals wedge bodies among each other, with forces a thousand times b
    assert unsolved(compiled, 10_000, 10, 1e-10) == 0


def test_boxes_of_very_different_masses_on_each_other(compiled):
    rng = np.random.default_rng(3)
    for _ in range(200):
        scene = stack(rng)
        residual, f, u = solved(compiled, scene)
        # forces a thousand times those of the lightest are known to rounding
        assert residual <= 1e-10
        size = np.abs(scene.b / np.sqrt(np.diag(scene.A))).max()
        forces = np.abs(f * np.sqrt(np.diag(scene.A))).max()
        assert misses_of_coulomb(scene, f, u) <= 1e-9 * max(size, forces, 1) ** 2


def test_from_inside_of_the_bounds_the_same_forces_are_found(compiled):
    """One body on three points: its forces are unique, whichever way they are searched."""
    inner = compile_loops([inside_alone])[inside_alone]
    for mu in (0.1, 0.5, 0.9):
        build = Builder()
        for p in ((1, 0, -1), (-0.5, 0.8, -1), (-0.4, -0.9, -1)):
            build.contact(contact_rows(1, 0, np.array(p, dtype=float), UP), mu=mu)
        scene = build.scene(box(1.0, (1, 1, 1)), [0.3, 0.1, -1, 0.2, -0.1, 0.4])
        _, f, u = solved(compiled, scene)
        residual, g, w = solved(inner, scene)
        assert residual <= FOUND
        assert_allclose(w, u, atol=1e-11)
        assert_allclose(g[::3].sum(), f[::3].sum(), atol=1e-11)


def test_the_area_is_as_large_as_said(run):
    scene = box_on_floor([1, 0, -1, 0, 0, 0])
    area = np.zeros(cone_area(12, 8) + 1)
    area[-1] = 7.25
    A, b, f = scene.A.ravel(), scene.b, np.zeros(12)
    run(12, 8, A, b, *scene.tables, f, area)
    assert area[-1] == 7.25


def test_near_the_last_problem_forces_are_those_of_the_search(compiled):
    near = compile_loops([solve_cones_near])[solve_cones_near]
    rng = np.random.default_rng(7)
    for seed in range(12):
        scene = random_scene(np.random.default_rng(seed))
        _, before, _ = solved(compiled, scene)
        for size in (1e-9, 1e-4, 1e-1, 10.0):
            b = scene.b + size * scene.D @ rng.standard_normal(scene.D.shape[1])
            expected, _, _ = solved(compiled, scene, b=b)
            residual, f, u = solved(near, scene, b=b, start=before)
            # where the search finds forces, so does this, and they obey the law
            assert residual <= max(FOUND, expected), (seed, size)
            if residual <= FOUND:
                assert misses_of_coulomb(scene, f, u) <= 1e-9 * (1 + np.abs(b).max()), (seed, size)


@pytest.mark.parametrize("seed", range(4))
def test_corners_of_a_box_share_its_weight_wherever_the_search_begins(compiled, seed):
    scene = box_on_floor([0, 0, -1, 0, 0, 0])
    start = np.random.default_rng(seed).uniform(0, 1, 12) * np.tile([1, 0.3, 0.3], 4)
    residual, f, _ = solved(compiled, scene, start=start * (seed > 0))
    assert residual <= FOUND
    # ρ = 1e-8 in the last steps
    assert_allclose(f.reshape(4, 3)[:, 0], f[0], rtol=1e-6)
    assert_allclose(f.reshape(4, 3)[:, 1:], 0, atol=1e-6 * f[0])


def test_near_the_last_problem_forces_of_rows_that_repeat_stay_shared():
    near = compile_loops([solve_cones_near])[solve_cones_near]
    scene = box_on_floor([0.1, 0, -1, 0, 0, 0])
    _, before, _ = solved(near, scene)
    _, after, _ = solved(near, scene, b=scene.b * (1 + 1e-4), start=before)
    assert_allclose(after, before, atol=1e-3 * np.abs(before).max())


def in_turn(scene, rates, start):
    """Residual, f and u of a scene, then of other rates by what the solver has of it."""
    near, again = (compile_loops([x])[x] for x in (solve_cones_near, solve_cones_again))
    m, nb = len(scene.b), len(scene.tables[0])
    f, area = start.copy(), np.zeros(cone_area(m, nb))
    found = []
    for k, b in enumerate([scene.b, *rates]):
        call = again if k else near
        residual = call(m, nb, scene.A.ravel(), b, *scene.tables, f, area)
        found.append((residual, f.copy(), scene.A @ f + b))
    return found


def test_problems_with_the_same_matrix_are_solved_by_its_factors(compiled):
    """Forces obey the law, near the last rates and far from them, where modes are others."""
    rng = np.random.default_rng(8)
    for seed in range(12):
        scene = random_scene(np.random.default_rng(seed))
        _, before, _ = solved(compiled, scene)
        move = scene.D @ rng.standard_normal(scene.D.shape[1])
        rates = [scene.b + size * move for size in (1e-9, 1e-4, 1e-1, 10.0)]
        for b, (residual, f, u) in zip(rates, in_turn(scene, rates, before)[1:], strict=True):
            expected, _, _ = solved(compiled, scene, b=b)
            assert residual <= max(FOUND, expected), seed
            if residual <= FOUND:
                assert misses_of_coulomb(scene, f, u) <= 1e-9 * (1 + np.abs(b).max()), seed


def test_forces_of_rows_that_repeat_do_not_wander():
    """A box on four points, of which three are enough: its forces change as its rates do.

    Rounding moves forces that are not unique by 1e-16 beside the mobility 1e-10 of their own.
    """
    scene = box_on_floor([0.1, 0, -1, 0, 0, 0])
    rates = [scene.b * (1 + 1e-4 * (k % 2)) for k in range(200)]
    found = in_turn(scene, rates, np.zeros(12))
    (_, first, _), (_, last, _) = found[0], found[-1]
    assert_allclose(last, first, atol=(1e-4 + 200 * 1e-6) * np.abs(first).max())
    assert max(residual for residual, _, _ in found) <= FOUND
