"""Lemke's method on known problems, and friction by it against the solver of cones."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from liaison.program.loops.compile import compile_loops
from liaison.solvers.cones.cones import BILATERAL, DISC, ONE_WAY, solve_cones
from liaison.solvers.linear.lemke import (
    NO_POLYGON,
    RAY,
    SOLVED,
    lemke,
    lemke_area,
    polyhedral_area,
    polyhedral_size,
    solve_polyhedral,
)
from samples.contact_scenes import Builder, box_on_floor, planar_scene, random_scene, solved

LOOPS = [lemke, polyhedral_size, solve_polyhedral, solve_cones]


@pytest.fixture(scope="module", params=["plain", "compiled"])
def run(request):
    if request.param == "plain":
        return lambda loop: loop
    made = compile_loops(LOOPS)
    return lambda loop: made[loop]


@pytest.fixture(scope="module")
def compiled():
    made = compile_loops(LOOPS)
    return lambda loop: made[loop]


def pivoted(run, M, q):
    M, q = np.asarray(M, float), np.asarray(q, float)
    z = np.full(len(q), np.nan)
    return run(lemke)(len(q), M.ravel(), q, z, np.full(lemke_area(len(q)), np.nan)), z


def on_polygons(run, scene, sides=4):
    """Status, f and u of a scene on polygons."""
    m, nb, (blocks, limits) = len(scene.D), len(scene.blocks), scene.tables
    n = run(polyhedral_size)(nb, blocks, sides)
    f = np.full(m, np.nan)
    area = np.full(polyhedral_area(m, n) + 1, np.nan)
    area[-1] = 7.25
    status = run(solve_polyhedral)(m, nb, scene.A.ravel(), scene.b, blocks, limits, sides, f, area)
    assert area[-1] == 7.25
    return status, f, scene.A @ f + scene.b


def test_known_problems(run):
    assert_allclose(pivoted(run, np.eye(2), [1, 2])[1], 0)
    assert_allclose(pivoted(run, [[2, 1], [1, 2]], [-5, -6])[1], [4 / 3, 7 / 3], atol=1e-13)
    assert_allclose(pivoted(run, [[2, 1], [1, 2]], [-5e9, -6e9])[1], [4e9 / 3, 7e9 / 3], rtol=1e-13)


def test_a_ray_says_that_there_is_no_solution(run):
    status, z = pivoted(run, [[0.0, 1.0], [-1.0, 0.0]], [-1.0, -1.0])
    assert status == RAY
    assert_allclose(z, 0)
    assert pivoted(run, [[-1.0]], [-1.0])[0] == RAY


def test_degenerate_problems_end(run):
    # all right-hand sides equal, and rows that repeat
    M = np.ones((6, 6)) + np.eye(6)
    assert_allclose(pivoted(run, M, -np.ones(6))[1], 1 / 7, atol=1e-13)
    status, z = pivoted(run, np.ones((6, 6)), -np.ones(6))
    assert status == SOLVED
    assert z.sum() == pytest.approx(1)


def test_random_positive_problems(run):
    rng = np.random.default_rng(0)
    for n in (1, 3, 8):
        x = rng.normal(size=(n, n))
        M, q = x @ x.T + 0.1 * np.eye(n), rng.normal(size=n)
        status, z = pivoted(run, M, q)
        w = M @ z + q
        assert status == SOLVED
        assert min(z.min(), w.min()) > -1e-11
        assert abs(z @ w) < 1e-10


def test_friction_in_a_plane_is_solved_as_by_cones(compiled):
    """What Lemke's method finds solve_cones leaves as it is.

    Where normals do not oppose each other and friction is little, there is but one answer.
    """
    rng = np.random.default_rng(1)
    for friction, spread in (((0.1, 0.3, 0.5, 1.0), np.pi), ((0.05,), 0.5)):
        for _ in range(300):
            scene = planar_scene(rng, friction=friction, spread=spread)
            status, f, u = on_polygons(compiled, scene)
            assert status == SOLVED
            size = np.abs(scene.b).max()
            residual, _, v = solved(compiled(solve_cones), scene, start=f)
            assert residual < 1e-12
            assert_allclose(v, u, atol=1e-10 * size)
            if spread < 1:
                _, _, v = solved(compiled(solve_cones), scene)
                assert_allclose(v, u, atol=1e-10 * size)


def test_plain_and_compiled_agree(run):
    scene = planar_scene(np.random.default_rng(5), 3)
    status, f, _ = on_polygons(run, scene)
    assert status == SOLVED
    assert solved(run(solve_cones), scene, start=f)[0] < 1e-12


def test_polygons_come_near_the_cone_as_sides_grow(compiled):
    scene = box_on_floor([3, 1, -1, 0.1, 0, 0.3])
    _, _, exact = solved(compiled(solve_cones), scene)
    errors = {}
    for sides in (4, 16, 64, 128):
        status, _, u = on_polygons(compiled, scene, sides)
        assert status == SOLVED
        errors[sides] = np.abs(u - exact).max()
    # the direction of slip is right to half an angle between corners, π/sides
    assert all(error < np.pi / sides for sides, error in errors.items())


def test_a_four_sided_polygon_is_a_square_inside_the_disc(run):
    # slip along a corner meets the whole bound, slip between two corners one of them
    for direction, bound in (([5, 0], 0.5), ([5, 3], 0.5)):
        build = Builder()
        load = build.add(ONE_WAY, [0.0, 0.0, 1.0])
        build.add(DISC, np.eye(3)[:2], (0.5, 0.5, 0), load)
        scene = build.scene(np.ones(3), [*direction, -1])
        status, f, _ = on_polygons(run, scene)
        assert status == SOLVED
        assert_allclose(f, [1, -bound, 0], atol=1e-12)


def test_held_rows_and_bounds_of_their_own(run):
    build = Builder()
    build.add(DISC, [[1.0, 0]], (0, 0, 0.3))
    build.add(BILATERAL, [[1.0, 1.0]])
    scene = build.scene([1, 1], [1, 0])
    status, f, _ = on_polygons(run, scene)
    assert status == SOLVED
    assert_allclose(f, [-0.3, -0.35], atol=1e-13)


def test_what_polygons_cannot_tell_is_refused(run):
    scene = random_scene(np.random.default_rng(0), 1)
    scene.limits[0, 2] = 1.0
    assert on_polygons(run, scene)[0] == NO_POLYGON
    scene.limits[0, 2] = 0.0
    scene.blocks[0, 0] = 3
    assert on_polygons(run, scene)[0] == NO_POLYGON
