"""Cartesian coordinates and kept joints: counts, places, and what loads and outputs become."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import liaison
from liaison import mechanism as build
from liaison import symbol
from liaison.errors import NamingError
from liaison.expr import symbols_of
from liaison.model import AlongMeasure, Coordinate, Free, Planar
from liaison.tree import assemble, span
from liaison.tree.cartesian import cartesian, parametrized

COUNTS = {"joint": (3, 2), "full_joint": (4, 3), "cartesian": (9, 8)}


@pytest.mark.parametrize("name", ["slider_crank", "four_bar"])
@pytest.mark.parametrize("kind", COUNTS)
def test_the_document_s_counts(name, kind):
    # NS: 3, 4 and 9 parameters with 2, 3 and 8 constraints, for both mechanisms
    equations = liaison.derive(f"examples/{name}.lsd", parametrization=kind)
    assert (len(equations.symbols.v), len(equations.closures.gamma)) == COUNTS[kind]


def test_joints_in_a_plane_give_three_coordinates_a_body_others_six():
    flat = cartesian(liaison.read("examples/four_bar.lsd"))
    assert [type(joint.type) for joint in flat.joints[-3:]] == [Planar] * 3
    assert flat.joint("crank").coordinates == ("crank.x", "crank.y", "crank.theta")
    spatial = cartesian(liaison.read("examples/bennett.lsd"))
    assert [type(joint.type) for joint in spatial.joints[-3:]] == [Free] * 3


def test_coordinates_are_those_of_mass_centers():
    equations = liaison.derive("examples/four_bar.lsd", "lagrange", parametrization="cartesian")
    M = equations.dynamics.M
    assert all(i == j for i, j in M)
    # the mass matrix is constant: numbers and lengths
    assert {x.name for x in symbols_of(list(M.values()))} <= set("abcd")


def test_it_starts_where_the_mechanism_is_assembled():
    four_bar = liaison.read("examples/four_bar.lsd")
    state = assemble(parametrized(four_bar, "cartesian"))
    found = dict(zip([x.name for x in state.labels["q"]], state.q, strict=True))
    # the crank, 0.1 m, points up: its center is at 0.05 m
    assert found["crank.x"] == pytest.approx(0, abs=1e-15)
    assert found["crank.y"] == pytest.approx(0.05, abs=1e-15)
    assert found["crank.theta"] == pytest.approx(np.pi / 2, abs=1e-15)
    speeds = dict(zip([x.name for x in state.labels["v"]], state.v, strict=True))
    assert speeds["crank.theta'"] == pytest.approx(10)
    assert speeds["crank.x'"] == pytest.approx(-0.5)


def everything():
    """A slider and a hinge with springs, dampers, friction, motors, and outputs that name them."""
    plate = liaison.body("plate", mass=2, inertia=(0.1, 0.1, 0.1), center=(0.1, 0, 0))
    bob = liaison.body("bob", mass=1, inertia=(0.01, 0.02, 0.02), center=(0, 0, -0.4))
    s = liaison.join(liaison.ground, plate, liaison.Prismatic, name="s", axis=(1, 0, 0))
    A = liaison.join(plate.at((0.2, 0, 0.1)), bob, liaison.Revolute, name="A", axis=(0, -1, 0))
    wobble = 2 * liaison.sin(3 * liaison.time) + symbol("A")
    return build(
        s,
        A,
        liaison.gravity(),
        liaison.spring(A, stiffness=3, rest=0.2),
        liaison.damper(s, coefficient=0.4),
        liaison.friction(A, viscous=0.1, dry=0.05),
        liaison.motor(s, effort=wobble),
        liaison.law(A, effort=-0.3 * symbol("s") * symbol("A'")),
        liaison.output("angle", symbol("A")),
        liaison.output("speed", symbol("s'")),
        liaison.start("A", 7.0, 0.5),  # more than a turn
        liaison.start("s", 0.2, 0.3),
        name="everything",
    )


def test_loads_and_outputs_of_joints_act_on_bodies():
    mechanism = everything()
    tree = parametrized(mechanism, "cartesian")
    assert (tree.nv, len(liaison.newton_euler(tree).closures.gamma)) == (6, 4)  # no joint is kept
    first = liaison.simulate(mechanism, until=0.5, every=0.1, rtol=1e-11)
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    second = liaison.simulate(kernel, assemble(tree), until=0.5, every=0.1, rtol=1e-11)
    for name in ("angle", "speed", "T", "U"):
        if name in ("T", "U"):
            a, b = (
                np.ptp(run[f"energy.{name}"] - first[f"energy.{name}"]) for run in (first, second)
            )
        else:
            a, b = first[name], second[name]
        assert np.allclose(a, b, atol=1e-8), name


def test_joints_in_space_keep_coordinates_that_somebody_names():
    tree = parametrized(liaison.read("examples/bennett.lsd"), "cartesian")
    equations = liaison.newton_euler(tree)
    kept = [equations.labels["v"][j].name for j in equations.closures.defines.values()]
    assert tree.nv == 18 + len(kept)
    assert kept  # its starts do not count, its outputs do


def test_imposed_motions_and_gears_become_relations():
    for name in ("cam", "belt_drive", "quarter_car"):
        mechanism = liaison.read(f"examples/{name}.lsd")
        tree = parametrized(mechanism, "cartesian")
        assert tree.nv == 3 * (len(mechanism.bodies) - 1)


def test_span_keeps_what_it_is_told_to():
    four_bar = liaison.read("examples/four_bar.lsd")
    tree = span(four_bar, keep=["C"])
    assert [label.name for label in tree.position_labels()] == ["A", "B", "D", "C"]
    assert span(four_bar, keep=["A"]).nv == 3  # A is in the tree anyway
    with pytest.raises(NamingError, match="'Z'"):
        span(four_bar, keep=["Z"])


def test_an_unknown_parametrization_is_named():
    with pytest.raises(NamingError, match="did you mean 'cartesian'"):
        liaison.derive("examples/four_bar.lsd", parametrization="carthesian")


def test_strict_is_minimal():
    equations = liaison.derive("examples/four_bar.lsd", "kane", parametrization="strict")
    assert equations.native["treatment"].unknowns == 1


@dataclass(frozen=True, slots=True)
class Strut(AlongMeasure):
    """A spring with a damper: its energy is of the spring, its effort is of both."""

    name: str
    measure: Coordinate
    stiffness: float
    damping: float
    place: object = None

    WORD: ClassVar[str] = "strut"

    def effort_at(self, x, rate, read):
        return -self.stiffness * x - self.damping * rate * rate * rate

    def energy_at(self, x, read):
        return self.stiffness * x * x / 2


@pytest.mark.parametrize("label", ["s", "A"])
def test_a_load_acts_by_its_effort_whatever_part_of_it_is_stored(label):
    """A load of a new kind, whose energy is not all that it does."""
    plate = liaison.body("plate", mass=2, inertia=(0.1, 0.1, 0.1), center=(0.1, 0, 0))
    bob = liaison.body("bob", mass=1, inertia=(0.01, 0.02, 0.02), center=(0, 0, -0.4))
    s = liaison.join(liaison.ground, plate, liaison.Prismatic, name="s", axis=(1, 0, 0))
    A = liaison.join(plate.at((0.2, 0, 0.1)), bob, liaison.Revolute, name="A", axis=(0, -1, 0))
    mechanism = build(
        s, A, liaison.gravity(), liaison.start("s", 0.2, 1.5), liaison.start("A", 0.4, -2.0),
        Strut("strut", Coordinate(label), 30.0, 4.0),
    )  # fmt: skip
    table = liaison.parametrizations(mechanism, until=0.02)
    (column,) = [x for x in table.columns if x.name == "cartesian"]
    assert not column.why_not
    assert column.difference < 1e-12
