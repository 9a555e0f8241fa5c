"""From a mechanism to its mobility: joints of every type, exact and numeric positions, words."""

from dataclasses import replace
from fractions import Fraction as F

import pytest

from liaison.expr import PI, atan2, cos, exp, sin, sqrt
from liaison.freedoms import mobility
from liaison.model import (
    Composition,
    Cylindrical,
    Free,
    Helical,
    LineOnPlane,
    ParallelAxes,
    Perpendicular,
    Planar,
    PointOnLine,
    PointOnPlane,
    Prismatic,
    Revolute,
    Rod,
    Rotation,
    Spherical,
    SphericalPin,
    Translation,
    Universal,
)
from liaison.model.describe import (
    body,
    coordinate,
    gear,
    ground,
    holonomic,
    imposed,
    join,
    mechanism,
    nonholonomic,
    rate,
    start,
    time,
)

from .built import mechanism_of
from .linkages import CASES


@pytest.mark.parametrize("name", CASES)
def test_the_whole_way_from_bodies_and_joints_gives_what_is_known(name):
    expected = CASES[name]["expected"]
    found = mobility(mechanism_of(CASES[name]), order=130, primes=1)
    assert found.mode == "exact"
    assert (found.unknowns, found.equations) == (expected["n"], expected["neq"])
    assert (found.rank, found.finite) == (expected["rank0"], (expected["mobility"],) * 2)
    assert found.redundant_rows == expected["neq"] - expected["rank0"]


FREEDOMS = [
    (Revolute(), 1), (Prismatic(), 1), (Helical(F(1, 10)), 1), (Cylindrical(), 2),
    (Universal(), 2), (SphericalPin(), 2), (Spherical(), 3), (Planar(), 3), (PointOnLine(), 4),
    (ParallelAxes(), 4), (LineOnPlane(), 4), (PointOnPlane(), 5), (Perpendicular(), 5), (Free(), 6),
    (Composition((Translation("x"), Rotation("y"), Rotation((3, 0, 4)))), 3),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "freedom"), FREEDOMS, ids=lambda x: getattr(x, "name", x))
def test_two_equal_joints_side_by_side_leave_the_freedom_of_one(kind, freedom):
    """The same joint twice between ground and a body: a loop whose mobility is the joint's."""
    plate = body("plate", mass=1)
    pair = [join(ground.at((1, 2, 3)), plate.at((1, 2, 3)), kind, name=name) for name in "AB"]
    found = mobility(mechanism(*pair), primes=1)
    assert (found.unknowns, found.equations) == (2 * freedom, 6)
    assert (found.rank, found.first_order, found.finite) == (freedom, freedom, (freedom, freedom))


def test_a_rod_takes_one_freedom():
    plate = body("plate", mass=1)
    rods = [join(ground.at((0, y, 0)), plate.at((1, y, 0)), Rod(1), name=f"rod{y}") for y in (0, 2)]
    found = mobility(mechanism(*rods), primes=1)
    assert (found.unknowns, found.rank, found.finite) == (10, 6, (4, 4))


def test_square_roots_stay_exact():
    """An equilateral triangle of parallel hinges cannot move; its hexagon can."""
    names = "abcdef"
    corners = [(1, 0), (F(1, 2), sqrt(3) / 2), (F(-1, 2), sqrt(3) / 2),
               (-1, 0), (F(-1, 2), -sqrt(3) / 2), (F(1, 2), -sqrt(3) / 2)]  # fmt: skip
    bars = [ground, *(body(f"bar {k}", mass=1) for k in names[1:])]
    hexagon = [
        join(bars[k].at((*corners[k], 0)), bars[(k + 1) % 6].at((*corners[k], 0)),
             Revolute, name=names[k])
        for k in range(6)
    ]  # fmt: skip
    found = mobility(mechanism(*hexagon), primes=2)
    assert (found.mode, found.rank, found.finite) == ("exact", 3, (3, 3))


def four_bar(**starts):
    """Lengths 2, 6, 7, 9: closed exactly with the crank upright (two triangles 3-4-5)."""
    a, b, c = (body(name, mass=1) for name in ("crank", "coupler", "rocker"))
    scale = F(1, 20)
    return mechanism(
        join(ground, a, Revolute, name="A"),
        join(a.at((2 * scale, 0, 0)), b, Revolute, name="B"),
        join(b.at((6 * scale, 0, 0)), c.at((7 * scale, 0, 0)), Revolute, name="C"),
        join(ground.at((9 * scale, 0, 0)), c, Revolute, name="D"),
        start(starts),
        name="four bar",
    )


def test_a_position_that_assembly_finds_is_recognized_where_it_is_simple():
    found = mobility(four_bar(A=PI / 2))
    assert (found.mode, found.finite, found.is_proved) == ("exact", (1, 1), True)
    assert any("was taken for" in note for note in found.notes)


def test_a_position_that_is_not_simple_is_proved_in_balls():
    found = mobility(four_bar(A=0.3))
    assert (found.mode, found.rank, found.finite) == ("numeric", 3, (1, 1))
    assert found.is_proved
    assert "Krawczyk" in found.proof


def test_floats_that_close_the_loop_as_fractions_count_as_exact():
    def rounded(marker):
        return replace(marker, p=tuple(float(x) for x in marker.p))

    exact = four_bar(A=PI / 2)
    joints = tuple(
        replace(j, predecessor=rounded(j.predecessor), successor=rounded(j.successor))
        for j in exact.joints
    )
    found = mobility(replace(exact, joints=joints))
    assert (found.mode, found.is_proved) == ("exact", True)
    assert not any("floats" in note for note in found.notes)  # 0.35 is what is written
    (first, *others), up = joints, (0.0, 0.0, 1 / 3)
    first = replace(first, predecessor=replace(first.predecessor, p=up),
                    successor=replace(first.successor, p=up))  # fmt: skip
    third = (first, *others)
    moved = mobility(replace(exact, joints=third))
    assert any("floats of the description were taken" in note for note in moved.notes)


def test_gears_and_imposed_motions_are_counted():
    wheels = [body(name, mass=1) for name in ("sun", "planet")]
    pair = [join(ground.at((2 * k, 0, 0)), wheel, Revolute, name=wheel.name)
            for k, wheel in enumerate(wheels)]  # fmt: skip
    assert mobility(mechanism(*pair)).finite == (2, 2)
    assert mobility(mechanism(*pair, gear("planet", F(-1, 2), "sun"))).finite == (1, 1)
    driven = mechanism(*pair, gear("planet", F(-1, 2), "sun"), imposed("sun", time))
    assert mobility(driven).finite == (0, 0)


def two_wheels(*relations):
    wheels = [body(name, mass=1) for name in ("sun", "planet")]
    pair = [join(ground.at((2 * k, 0, 0)), wheel, Revolute, name=wheel.name)
            for k, wheel in enumerate(wheels)]  # fmt: skip
    return mechanism(*pair, *relations)


def test_any_relation_counts_by_its_gradient_where_that_decides():
    sun, planet = coordinate("sun"), coordinate("planet")
    curved = mobility(two_wheels(holonomic("cam", sin(sun) - planet)))
    assert (curved.finite, curved.is_proved) == ((1, 1), True)
    odd = mobility(two_wheels(holonomic("odd", exp(sun * planet) - 1)))
    assert (odd.first_order, odd.finite, odd.status) == (2, (0, 2), "undecided")


def test_relations_of_sines_are_followed_to_all_orders():
    """sin(a) b = 0 where both vanish: one wheel stands and the other turns, or the other way."""
    sun, planet = coordinate("sun"), coordinate("planet")
    found = mobility(two_wheels(holonomic("either", sin(sun) * planet)))
    assert (found.first_order, found.finite, found.status) == (2, (1, 1), "bifurcation")
    assert (len(found.branches), found.is_proved) == (2, True)


def sliders(formula, x, y):
    """Two carriages at x and y, with a relation between their ways."""
    carts = [body(name, mass=1) for name in ("x", "y")]
    pair = [join(ground, cart, Prismatic, name=cart.name) for cart in carts]
    relation = holonomic("tied", formula(coordinate("x"), coordinate("y")))
    return mobility(mechanism(*pair, relation, start({"x": x, "y": y})), primes=2)


def test_polynomial_relations_of_sliders():
    circle = sliders(lambda x, y: x * x + y * y - 25, 3, 4)
    assert (circle.rank, circle.finite, circle.is_proved) == (1, (1, 1), True)
    point = sliders(lambda x, y: x * x + y * y, 0, 0)
    assert (point.first_order, point.finite, point.finite_complex) == (2, (0, 0), (1, 1))
    assert (point.status, point.is_proved) == ("shaky", True)
    assert "isolated over the real numbers" in point.real
    cross = sliders(lambda x, y: x * x - y * y, 0, 0)
    assert (cross.finite, cross.status, cross.real) == ((1, 1), "bifurcation", "")


@pytest.mark.parametrize(("scale", "finite"), [(1, (1, 1)), (2, (0, 0))])
def test_a_relation_that_the_closure_implies_changes_nothing(scale, finite):
    """The height of the coupler's far end over the ground, told again in sines; and told wrongly.

    Links 2, 6, 7 at angles A, A + B and D: 2 sin A + 6 sin(A + B) = 7 sin D.
    """
    A, B, D = (coordinate(x) for x in "ABD")
    height = 2 * sin(A) + 6 * sin(A + B) - 7 * sin(D) + (scale - 1) * cos(A)
    given = four_bar(A=PI / 2, B=atan2(3, 4) - PI / 2, D=atan2(4, -3))
    plain = mobility(given, primes=1)
    found = mobility(replace(given, constraints=(holonomic("height", height),)), primes=1)
    assert found.mode == "exact"
    assert found.finite == finite
    if scale == 1:
        assert (found.rank, found.is_proved) == (plain.rank, False)
        assert "not polynomials" in found.proof


def test_linear_relations_that_repeat_each_other_are_one():
    sun, planet = coordinate("sun"), coordinate("planet")
    rows = [holonomic(f"r{k}", k * (sun - 2 * planet)) for k in (1, 2, 3)]
    found = mobility(two_wheels(*rows))
    assert (found.rank, found.finite, found.is_proved) == (1, (1, 1), True)


def test_relations_of_speeds_are_named():
    found = mobility(two_wheels(nonholonomic("slip", rate("sun") - rate("planet"))))
    assert (found.finite, found.is_proved) == ((1, 1), True)
    assert "slip" in found.notes[0]


def test_a_nut_and_a_slider_on_one_screw_leave_one_freedom():
    nut = body("nut", mass=1)
    carriage = body("carriage", mass=1)
    found = mobility(
        mechanism(
            join(ground, nut, Revolute, name="A"),
            join(nut, carriage, Helical(F(1, 50)), name="screw"),
            join(ground, carriage, Prismatic, name="slide"),
        )
    )
    assert (found.unknowns, found.first_order, found.finite) == (3, 1, (1, 1))


def test_the_words_name_the_numbers():
    text = str(mobility(four_bar(A=PI / 2)))
    for words in ("finite mobility 1, proved", "Grübler) gives -2", "planar", "A Spherical"):
        assert words in text


def test_the_json_keys_are_those_promised():
    facts = mobility(mechanism_of(CASES["parallelogram_flat"]), primes=1).to_dict()
    for key in ("naive_rank", "rank", "first_order", "finite", "status", "proof", "branches",
                "redundant_rows"):  # fmt: skip
        assert key in facts
    assert facts["finite"] == [1, 1]
    assert [branch["rank"] for branch in facts["branches"]] == [3, 3]


def test_it_is_the_same_every_time():
    case = mechanism_of(CASES["shaky_6r"])
    assert mobility(case, seed=4).to_dict() == mobility(case, seed=4).to_dict()


def screwed_sarrus(pitches):
    """Sarrus's linkage with screws for hinges; a pitch of 0 is a hinge."""
    bodies = [ground, *(body(f"bar {k}", mass=1) for k in range(5))]
    joints = []
    for k, (given, pitch) in enumerate(zip(CASES["sarrus"]["joints"], pitches, strict=True)):
        place = [F(x) for x in given["point"]]
        kind = Helical(pitch) if pitch else Revolute
        ends = (bodies[k].at(place), bodies[(k + 1) % 6].at(place))
        joints.append(join(*ends, kind, name=f"j{k}", axis=[F(x) for x in given["direction"]]))
    return mechanism(*joints)


@pytest.mark.parametrize(
    "pitches",
    [
        [F(1, 10)] * 3 + [0] * 3,
        [F(1, 10)] * 3 + [F(1, 7)] * 3,
        [F(1, 10), F(1, 10), F(1, 9), 0, 0, 0],
    ],
)
def test_screws_for_hinges_are_proved_where_sides_only_fold(pitches):
    found = mobility(screwed_sarrus(pitches), primes=1)
    assert (found.rank, found.finite, found.is_proved) == (5, (1, 1), True)
    assert "fold without turning" in found.proof


def test_screws_that_stop_each_other_are_proved_to_stop():
    """Upper bounds need no polynomials: one screw in the trihedral linkage locks it."""
    case = CASES["bricard_trihedral"]
    plain = mechanism_of(case)
    first = replace(plain.joints[0], type=Helical(F(1, 5)), coordinates=())
    found = mobility(replace(plain, joints=(first, *plain.joints[1:])), primes=1)
    assert (found.finite, found.is_proved) == ((0, 0), True)


def test_what_only_series_show_is_called_likely():
    """Both shafts of a double Cardan turn alike: a gear that says so changes nothing, but no bound
    on degrees can prove a relation of angles."""
    shafts = mechanism_of(CASES["double_cardan"])
    geared = replace(shafts, constraints=(gear("j5", 1, "j0"),))
    found = mobility(geared, primes=1)
    assert (found.finite, found.status, found.is_proved) == ((1, 1), "regular", False)
    assert "not polynomials" in found.proof
    wrong = replace(shafts, constraints=(gear("j5", 2, "j0"),))
    assert mobility(wrong, primes=1).finite == (0, 0)
