"""Every row of the table of known mobilities: rank, first-order and finite, at several primes."""

from fractions import Fraction as F

import pytest

from liaison.exact.linear import Field, primes_from
from liaison.exact.residues import residues
from liaison.expr import evaluate, sqrt, symbol
from liaison.freedoms import mobility_of_systems
from liaison.freedoms.local.float_loops import is_isolated_over_reals
from liaison.freedoms.local.formulas import FormulaSystem, taylor
from liaison.freedoms.local.verdict import translating_dimension

from .antenna import patch
from .linkages import (
    CASES,
    bars,
    chained,
    constant_velocity_joint,
    formula_systems,
    line_symmetric,
    loop_systems,
    octahedron,
    platform,
    saliere,
    slider_crank,
    triangle,
)

STATUS = {
    "parallelogram_flat": "bifurcation", "saliere_flat": "bifurcation", "shaky_6r": "shaky",
    "antenna_mesh": "non-reduced", "antenna_shared": "non-reduced",
    "antenna_double": "non-reduced",
}  # fmt: skip
NAIVE = {
    "four_bar": 3, "spherical_4r": 3, "bennett": 4, "goldberg": 5, "bricard_line": 6,
    "bricard_trihedral": 6, "sarrus": 6, "shaky_6r": 6, "three_upu": 12, "antenna_mesh": 6,
    "antenna_shared": 12, "antenna_double": 15,
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_linkages_have_the_rank_and_the_mobility_that_are_known(name):
    expected = CASES[name]["expected"]
    found = mobility_of_systems(name, loop_systems(CASES[name]), primes=2)
    assert (found.unknowns, found.equations) == (expected["n"], expected["neq"])
    assert (found.rank, found.first_order) == (expected["rank0"], expected["first_order"])
    assert found.finite == (expected["mobility"],) * 2
    assert found.status == STATUS.get(name, "regular")
    assert found.naive_rank == NAIVE.get(name, found.naive_rank)
    assert found.verdicts[0].obstruction == expected["obstruction_order"]


def test_every_linkage_is_proved():
    for name, case in CASES.items():
        assert mobility_of_systems(name, loop_systems(case), primes=1).is_proved, name


@pytest.mark.parametrize(
    "name",
    [pytest.param(x, marks=pytest.mark.slow) if x == "antenna_double" else x for x in CASES],
)
def test_three_further_primes_give_the_same_ranks(name):
    expected = CASES[name]["expected"]
    for seed in (11, 12, 13):
        found = mobility_of_systems(name, loop_systems(CASES[name], seed), primes=1, order=130)
        assert (found.rank, found.finite) == (expected["rank0"], (expected["mobility"],) * 2)


@pytest.mark.parametrize("name", CASES)
def test_sides_that_only_fold_never_promise_too_much(name):
    """A lower bound: 0 where nothing folds, all of it for antenna meshes and Sarrus's linkage."""
    expected = CASES[name]["expected"]
    bound = translating_dimension(next(loop_systems(CASES[name])))
    assert bound <= expected["mobility"]
    if name in ("antenna_mesh", "antenna_shared", "antenna_double", "sarrus", "four_bar"):
        assert bound == expected["mobility"]


HALF = (F(3, 5), F(4, 5))
ROWS = {
    # name: (system, n, equations, rank, first order, finite, status)
    "triangle": (
        triangle((3, 4, 5), ((1, 0), (0, 1), (F(-3, 5), F(-4, 5)))), 8, 5, 5, 3, 3, "regular"),
    "triangle_flat": (
        triangle((1, 2, 3), ((1, 0), (1, 0), (-1, 0))), 8, 5, 4, 4, 3, "non-reduced"),
    "slider_crank": (
        slider_crank((5, 13), (0, 1), (F(-5, 13), F(-12, 13)), 12), 5, 4, 4, 1, 1, "regular"),
    "slider_crank_equal": (
        slider_crank((1, 1), (0, 1), (-1, 0), 0), 5, 4, 3, 2, 1, "bifurcation"),
    "saliere_first": (saliere((1, 0), HALF, HALF), 6, 6, 5, 1, 1, "regular"),
    "saliere_second": (saliere(HALF, (1, 0), (1, 0)), 6, 6, 5, 1, 1, "regular"),
    "saliere_flat": (saliere((1, 0), (1, 0), (1, 0)), 6, 6, 4, 2, 1, "bifurcation"),
    "constant_velocity": (constant_velocity_joint(), 9, 8, 8, 1, 1, "regular"),
    "collinear_plane": (
        bars([(0, 0), (-1, 0), (1, 0)], [(0, 1), (0, 2)], (1, 2)), 2, 2, 1, 1, 0, "shaky"),
    "platform_equal": (platform((1, 1, 1)), 6, 6, 5, 1, 1, "regular"),
    "platform_unequal": (platform((1, 2, 3)), 6, 6, 5, 1, 0, "shaky"),
    "octahedron": (
        octahedron([(1, 0, 5), (0, 3, 1), (2, 7, -4), (-3, 1, 1), (1, -2, 8), (5, 4, -1)]),
        18, 12, 12, 6, 6, "regular"),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_polynomial_systems_have_the_mobility_that_is_known(name):
    (formulas, point), n, size, rank, first, finite, status = ROWS[name]
    found = mobility_of_systems(name, formula_systems(formulas, point), primes=2)
    assert (found.unknowns, found.equations, found.rank) == (n, size, rank)
    assert (found.first_order, found.finite, found.status) == (first, (finite, finite), status)
    assert found.is_proved
    for seed in (11, 12, 13):
        other = mobility_of_systems(name, formula_systems(formulas, point, seed), primes=1)
        assert (other.rank, other.finite) == (rank, (finite, finite))


def test_a_point_on_two_collinear_bars_in_space_moves_over_the_complex_numbers_only():
    formulas, point = bars([(0, 0, 0), (-1, 0, 0), (1, 0, 0)], [(0, 1), (0, 2)], (1, 2))
    found = mobility_of_systems("bars", formula_systems(formulas, point))
    assert (found.first_order, found.finite) == (2, (1, 1))
    assert is_isolated_over_reals(*taylor(formulas, point), found.rank)


def test_branches_that_are_real_are_not_called_isolated():
    formulas, point = saliere((1, 0), (1, 0), (1, 0))
    assert not is_isolated_over_reals(*taylor(formulas, point), 4)


def test_two_triangles_with_a_shared_vertex_have_twice_the_mobility():
    """Their loops share no joint: 18 hinges, ranks and mobilities add."""
    one = CASES["antenna_mesh"]
    loop = one["loops"][0]
    case = {"joints": one["joints"] * 2, "loops": [loop, [[k + 9, sign] for k, sign in loop]]}
    found = mobility_of_systems("two meshes", loop_systems(case), primes=1)
    assert (found.unknowns, found.rank, found.first_order) == (18, 10, 8)
    assert (found.finite, found.status, found.is_proved) == ((6, 6), "non-reduced", True)


@pytest.mark.slow
def test_bricards_octahedron_flexes():
    formulas, point = line_symmetric([(1, 2, 0), (3, -1, 1), (-2, 2, 4)])
    found = mobility_of_systems(
        "octahedron", formula_systems(formulas, point), primes=1, order=5000
    )
    assert (found.rank, found.first_order, found.finite) == (11, 7, (7, 7))
    assert found.is_proved


@pytest.mark.parametrize(
    ("triangles", "n", "rank", "finite"),
    [
        (1, 9, 5, 3),
        (2, 15, 10, 4),
        (3, 21, 15, 5),
        pytest.param(6, 36, 28, 7, marks=pytest.mark.slow),
    ],
)
def test_antenna_patches_keep_one_size_and_free_heights(triangles, n, rank, finite):
    """One common projected length, and a relative height for each vertex but one."""
    case = patch(triangles)
    found = mobility_of_systems(case["id"], loop_systems(case), primes=1)
    assert (found.unknowns, found.rank, found.finite) == (n, rank, (finite, finite))
    assert (found.status, found.is_proved) == ("non-reduced", True)


@pytest.mark.parametrize("loops", [2, 6])
def test_linkages_in_a_row_are_proved_loop_by_loop(loops):
    """Each shares a hinge with the next; 5 rows each, one freedom for all."""
    found = mobility_of_systems("row", loop_systems(chained(loops)), primes=1)
    assert (found.unknowns, found.equations) == (5 * loops + 1, 6 * loops)
    assert (found.rank, found.finite, found.is_proved) == (5 * loops, (1, 1), True)
    assert "ranks of the loops add up" in found.proof
    # to a low order no loop is proved, and so is not the row
    low = mobility_of_systems("row", loop_systems(chained(loops)), primes=1, order=12)
    assert (low.finite, low.is_proved) == ((1, 1), False)


def test_a_ladder_of_two_hundred_hinges_and_forty_loops_is_decided_by_its_plane():
    """Each loop shares a hinge with the next; planar, so three equations each: 201 − 120 = 81."""
    places = [(7 * k % 31, 11 * k % 37, 0) for k in range(201)]
    joints = [{"type": "revolute", "direction": (0, 0, 1), "point": place} for place in places]
    loops = []
    for i in range(40):
        near, far = 5 * i, 5 * i + 5
        side, back = range(near + 1, near + 3), range(near + 3, near + 5)
        loops.append([[near, 1], *([k, 1] for k in side), [far, -1], *([k, 1] for k in back)])
    case = {"joints": joints, "loops": loops}
    found = mobility_of_systems("ladder", loop_systems(case), primes=1)
    assert (found.unknowns, found.rank, found.finite) == (201, 120, (81, 81))
    assert found.is_proved


def test_formulas_on_residues_keep_each_power_and_each_root():
    """Operations that differ from node to node: x², x³, √2 and √3 in one system."""
    x, y = symbol("x"), symbol("y")
    p = next(primes_from(0))
    formulas = [x**2 + y**3, sqrt(2) * x + sqrt(3) * y]
    system = FormulaSystem(p, formulas, {x: 0, y: 0})
    square, mixed = (int(value) % p for value in system.values(Field(p), [5, 7]))
    assert square == 5**2 + 7**3
    two, three = (int(evaluate(sqrt(n), domain=residues(p))) for n in (2, 3))
    assert mixed == (5 * two + 7 * three) % p
