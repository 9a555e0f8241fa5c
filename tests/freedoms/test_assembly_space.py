"""Assembly modes in space: plates on six legs, spherical and overconstrained loops, local ones."""

import math
from fractions import Fraction as F
from random import Random

import numpy as np
import pytest

from liaison import read
from liaison.errors import DerivationError
from liaison.exact.recognize import float_of
from liaison.expr import PI
from liaison.freedoms import assembly_modes
from liaison.freedoms.clock import bounded
from liaison.freedoms.engines import engines
from liaison.freedoms.engines.engines import FLINT, MSOLVE
from liaison.freedoms.global_.legs import legs_of
from liaison.freedoms.global_.links import links_of
from liaison.freedoms.global_.platforms import plate_answer
from liaison.model import Prismatic, Revolute, Rod, Spherical, Universal
from liaison.model.describe import body, ground, join, mechanism

from .built import mechanism_of
from .linkages import CASES

needs_msolve = pytest.mark.skipif(MSOLVE.path() is None, reason="msolve: make algebra")


@pytest.fixture
def without_msolve(monkeypatch):
    known = engines.Engine.path
    monkeypatch.setattr(engines.Engine, "path", lambda e: known(e) if e is FLINT else None)


def platform(seed=0, kind="rod"):
    """A plate on six legs in general position, with whole data; and the lengths it has at home."""
    draw = Random(seed)
    feet = [[draw.randrange(-9, 10) for _ in range(3)] for _ in range(6)]
    heads = [[draw.randrange(-5, 6) for _ in range(3)] for _ in range(6)]
    plate = body("plate", mass=1)
    squares = [sum((h + 8 * (i == 2) - f) ** 2 for i, (f, h) in enumerate(zip(*leg, strict=True)))
               for leg in zip(feet, heads, strict=True)]  # fmt: skip
    parts = []
    for k, (foot, head, square) in enumerate(zip(feet, heads, squares, strict=True), 1):
        length = math.sqrt(square)
        if kind == "rod":
            parts.append(join(ground.at(foot), plate.at(head), Rod(length), name=f"R{k}"))
            continue
        lower, upper = body(f"lower{k}", mass=1), body(f"upper{k}", mass=1)
        parts += [
            join(ground.at(foot), lower, Universal, name=f"U{k}"),
            join(lower, upper, Prismatic, name=f"P{k}"),
            join(upper, plate.at(head), Spherical, name=f"S{k}"),
        ]
    return mechanism(*parts, name="platform"), {
        f"P{k}": math.sqrt(s) for k, s in enumerate(squares, 1)
    }


@needs_msolve
def test_a_plate_on_six_legs_has_forty_complex_poses_and_that_is_all():
    plate, _ = platform()
    found = assembly_modes(plate)
    assert (found.complex, found.is_complete) == (40, True)
    assert "40 complex solutions, as many as can be" in found.why
    assert len(found) % 2 == 0
    assert all(mode.proof == "Krawczyk" and mode.residual < 1e-12 for mode in found.modes)
    at_home = [m for m in found.modes if abs(m.coordinates["R1.qw"]) > 1 - 1e-9]
    assert len(at_home) == 1  # the one it was made from


@needs_msolve
@pytest.mark.slow
def test_the_stewart_platform_of_the_examples():
    """All legs alike: three-fold symmetry, and every pose with its mirror image below ground."""
    held = {f"P{k}": 0.7 for k in range(1, 7)}
    found = assembly_modes(read("examples/stewart.lsd"), at=held)
    assert (len(found), found.is_complete) == (8, True)
    for mode in found.modes:
        assert mode.residual < 1e-12
        assert all(mode.coordinates[name] == pytest.approx(0.7) for name in held)


def test_without_msolve_some_poses_are_found_and_none_is_claimed_to_be_the_last(without_msolve):
    held = {f"P{k}": 0.7 for k in range(1, 7)}
    found = assembly_modes(read("examples/stewart.lsd"), at=held)
    assert not found.is_complete
    assert "not computed: msolve is not installed" in found.why
    assert 1 <= len(found) <= 8
    assert all(mode.proof == "Krawczyk" for mode in found.modes)


def test_legs_are_seen_and_give_the_same_equations_as_rods():
    rods, _ = platform()
    jacks, held = platform(kind="jack")
    first, second = legs_of(links_of(rods, {})), legs_of(links_of(jacks, held))
    assert len(first[1]) == len(second[1]) == 6
    for a, b in zip(first[1], second[1], strict=True):
        assert list(a.foot) == list(b.foot)
        assert float_of(a.square) == pytest.approx(float_of(b.square), rel=1e-15)


def test_a_pose_that_is_known_satisfies_the_equations(without_msolve):
    plate, _ = platform(3)
    found = assembly_modes(plate)
    heads = [m for m in found.modes if m.residual < 1e-12]
    assert len(heads) == len(found.modes)


def test_a_plate_on_five_legs_moves():
    plate, _ = platform()
    five = mechanism(*plate.joints[:5], *plate.bodies, name="five")
    with pytest.raises(DerivationError, match="infinitely many"):
        assembly_modes(five)


def test_a_spherical_four_bar_closes_in_two_ways():
    """Crank and rocker follow the spherical law of cosines."""
    linkage = mechanism_of(CASES["spherical_4r"])
    found = assembly_modes(linkage, at={"j0": F(1, 5)})
    assert (len(found), found.is_complete, found.complex) == (2, True, 2)
    assert all(mode.residual < 1e-13 and mode.proof == "Krawczyk" for mode in found.modes)


def test_bennetts_linkage_is_found_locally_and_its_redundancy_told():
    linkage = mechanism_of(CASES["bennett"])
    found = assembly_modes(linkage, at={"j0": 0.4})
    assert not found.is_complete
    assert found.modes
    assert "hold in floats" in found.notes[-1]
    assert all(mode.residual < 1e-11 and mode.proof == "Krawczyk" for mode in found.modes)


def test_an_arm_on_a_table_of_seven_hinges_has_sixteen():
    """A loop of seven hinges with one held is the general loop of six."""
    linkage = mechanism_of(CASES["generic_7r"])
    found = assembly_modes(linkage, at={"j0": F(1, 10)})
    assert (found.is_complete, found.complex) == (True, 16)
    assert all(mode.residual < 1e-12 for mode in found.modes)


@pytest.mark.slow
def test_loops_with_ball_joints_are_solved_locally():
    """A double wishbone with its lower arm held: one freedom is left without, none with it."""
    wishbone = read("examples/double_wishbone.lsd")
    with pytest.raises(DerivationError, match="still moves"):
        assembly_modes(wishbone)
    found = assembly_modes(wishbone, at={"L": 0.05, "W": 0})
    assert not found.is_complete
    assert found.modes
    assert all(mode.residual < 1e-11 for mode in found.modes)


def test_the_time_limit_holds_for_complete_methods_and_local_ones():
    plate, _ = platform()
    found = assembly_modes(plate, time_limit=1e-3)
    assert (len(found), found.is_complete) == (0, False)
    assert "time limit" in found.why


@needs_msolve
@pytest.mark.slow
def test_another_chart_gives_the_same_poses():
    plate, _ = platform(1)
    links = links_of(plate, {})
    _, legs = legs_of(links)
    with bounded(200):
        first, second = plate_answer(legs, 0), plate_answer(legs, 5)
    places = [sorted(tuple(np.round(p, 8)) for _, p in found.poses) for found in (first, second)]
    assert places[0] == places[1]


def test_angles_may_be_exact():
    linkage = mechanism_of(CASES["spherical_4r"])
    assert len(assembly_modes(linkage, at={"j0": PI / 7})) in (0, 2)


def test_hinges_between_moving_links_only():
    """A loop that does not touch the ground hangs on a hinge that keeps its start."""
    bars = [body(f"bar{k}", mass=1) for k in range(4)]
    z = (0, 0, 1)
    parts = [join(ground, bars[0], Revolute, name="hang", axis=(1, 0, 0))]
    lengths = (9, 2, 6, 7)
    for k in range(4):
        parts.append(join(bars[k].at((lengths[k], 0, 0)), bars[(k + 1) % 4], Revolute,
                          name=f"h{k}", axis=z))  # fmt: skip
    found = assembly_modes(mechanism(*parts), at={"h0": 2.0})
    assert len(found) == 2
