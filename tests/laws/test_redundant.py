"""Loops with more rows than they need, turned any way in space, of any size and mass.

Four parallel hinges close by two rows, four that meet in a point by one; the others hold by
geometry, and come out of the arithmetic as rounding. They must ask nothing.
"""

from dataclasses import replace

import numpy as np
import pytest

import liaison
from liaison.equations import newton_euler
from liaison.expr import symbol
from liaison.model import Body, Gravity, Joint, Marker, Mechanism, Output, Revolute, Start
from liaison.tree import assemble, span
from samples import relative_difference, some
from samples.derived import Solved
from samples.drawing import Sample
from samples.random_parts import turned
from samples.shelf import example, seen, shelf
from samples.symmetries import moved_world

TOLERANCE = 1e-9


def bar(name: str, length: float, mass: float) -> Body:
    i = mass * length**2 / 12
    inertia = ((i / 50, 0, 0), (0, i, 0), (0, 0, i))
    return Body(name, mass, (length / 2, length / 20, 0), inertia)


def hinge(name: str, a: Marker, b: Marker) -> Joint:
    return Joint(name, Revolute(), a, b)


def planar_four_bar(size: float = 1.0, mass: float = 1.0) -> Mechanism:
    """Crank, coupler, rocker: 1, 2, 1.5 long, hinges of the ground 2 apart."""

    def at(body: str, x: float = 0.0) -> Marker:
        return Marker(body, p=(x * size, 0, 0))

    return Mechanism(
        "planar",
        tuple(bar(n, k * size, k * mass) for n, k in (("a", 1.0), ("b", 2.0), ("c", 1.5))),
        (
            hinge("A", at("ground"), at("a")),
            hinge("B", at("a", 1.0), at("b")),
            hinge("C", at("b", 2.0), at("c", 1.5)),
            hinge("D", at("ground", 2.0), at("c")),
        ),
        forces=(Gravity((0.3, -9.81, 0.7)),),
        starts=(Start("A", 1.1), Start("B", -0.7)),
    )


def spherical_four_bar(size: float = 1.0, mass: float = 1.0) -> Mechanism:
    """Four hinges whose axes meet in the ground's origin: arcs of 0.9, 1.2, 1.0 and 1.1 rad."""

    def tilted(body: str, angle: float = 0.0) -> Marker:
        c, s = np.cos(angle), np.sin(angle)
        return Marker(body, R=((1, 0, 0), (0, c, -s), (0, s, c)))

    return Mechanism(
        "spherical",
        tuple(bar(n, k * size, k * mass) for n, k in (("a", 1.0), ("b", 2.0), ("c", 1.5))),
        (
            hinge("A", tilted("ground"), tilted("a")),
            hinge("B", tilted("a", 0.9), tilted("b")),
            hinge("C", tilted("b", 1.2), tilted("c", 1.0)),
            hinge("D", tilted("ground", 1.1), tilted("c")),
        ),
        forces=(Gravity((0.3, -9.81, 0.7)),),
        starts=(Start("A", 0.8),),
    )


FAMILIES = {"planar": planar_four_bar, "spherical": spherical_four_bar}


def moving(mechanism: Mechanism) -> Sample:
    """Assembled, with one speed given."""
    tree = span(mechanism)
    state = assemble(tree, **{"A'": 1.3})
    names = {k: [label.name for label in state.labels[k]] for k in "qv"}
    q = dict(zip(names["q"], state.q.tolist(), strict=True))
    v = dict(zip(names["v"], state.v.tolist(), strict=True))
    return seen(newton_euler(tree), Sample(mechanism, 0, q, v, {}, {}, t=0.0))


@pytest.mark.parametrize("seed", some(range(4), 1))
@pytest.mark.parametrize("family", FAMILIES)
def test_a_loop_turned_in_space_moves_as_before(family, seed):
    rng = np.random.default_rng(seed)
    s = moving(FAMILIES[family]())
    x, other = Solved(s), Solved(moved_world(s, (turned(rng), rng.normal(size=3))))
    assert relative_difference(x.forward["vdot"], other.forward["vdot"]) < TOLERANCE
    assert relative_difference(x.accelerations(), Solved(s, "maximal").accelerations()) < TOLERANCE


@pytest.mark.parametrize("mass", some([1e6, 1.0, 1e-6], 1))
@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("family", FAMILIES)
def test_neither_size_nor_mass_matters(family, size, mass):
    """With gravity times the size, a mechanism of another size has the same angles over time."""
    rng = np.random.default_rng(7)
    world = turned(rng), rng.normal(size=3) * size
    m = FAMILIES[family](size, mass)
    m = replace(m, forces=(Gravity(tuple(size * x for x in m.forces[0].vector)),))
    x, other = Solved(moving(FAMILIES[family]())), Solved(moved_world(moving(m), world))
    assert relative_difference(x.forward["vdot"], other.forward["vdot"]) < TOLERANCE


@pytest.mark.parametrize("away", [1.0, 1e4])
def test_how_far_away_it_stands_does_not_matter(away):
    s = moving(planar_four_bar(0.01))
    x = Solved(s)
    other = Solved(moved_world(s, (turned(np.random.default_rng(3)), np.array([away, 0.0, 0.0]))))
    # positions of 1e4 m hold a hinge of 0.01 m to 1e-12/1e-2
    assert relative_difference(x.forward["vdot"], other.forward["vdot"]) < 1e-13 * (1 + away) / 1e-3


@pytest.mark.parametrize("path", shelf(), ids=lambda path: path.stem)
def test_every_example_may_be_turned_in_space(path):
    s = example(path)
    rng = np.random.default_rng(11)
    x, other = Solved(s), Solved(moved_world(s, (turned(rng), rng.normal(size=3))))
    assert relative_difference(x.forward["vdot"], other.forward["vdot"]) < TOLERANCE


@pytest.mark.parametrize("cut", ["A", "B", "C", "D"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_loop_with_redundant_rows_may_be_cut_anywhere(family, cut):
    wanted = tuple(Output(f"angle {k}", symbol(k)) for k in "ABCD")  # so all have coordinates
    s = moving(replace(FAMILIES[family](), outputs=wanted))
    s = moved_world(s, (turned(np.random.default_rng(5)), np.array([0.1, 0.2, 0.3])))
    x, other = Solved(s), Solved(s, cuts=(cut,))
    assert [closure.joint.name for closure in other.tree.closures] == [cut]
    again = other.accelerations(other.forward["vdot"])
    assert relative_difference(x.accelerations(x.forward["vdot"]), again) < TOLERANCE


STOPPED = """
name = "four-bar" ;
gravity = [0.3, -9.81, 0.7] m/s^2 ;
let F = TURN @ earth ;
for i = 1 to 3
  let b[i] = body mass = 1 kg, center = [0.5, 0.1, 0] m, inertia = 0.1 kg*m^2 end ;
end ;
let A = join F and TURN @ b1 with revolute end ;
let B = join TURN ++ [1, 0, 0] m @ b1 and TURN @ b2 with revolute end ;
let C = join TURN ++ [2, 0, 0] m @ b2 and TURN ++ [1.5, 0, 0] m @ b3 with revolute end ;
let D = join [2, 0, 0] m @ F and TURN @ b3 with revolute end ;
let stop = require A <= 1.2 rad with restitution = 0.5 end ;
guess A = 1.1 rad ;
guess B = -0.7 rad ;
guess D = 1 rad ;
start A' = 2 rad/s ;
"""


@pytest.mark.parametrize("turn", ["0.7 rad || [1, 2, 2]", "0.31 rad || [0, 0.6, 0.8]"])
def test_rows_of_rounding_do_not_measure_what_a_stop_allows(turn):
    run = liaison.simulate(STOPPED.replace("TURN", turn), until=0.2, step=0.002)
    assert run.status == "done"
    assert any(x.name == "stop" for x in run.events)
    assert np.max(run["position_residual"]) < 1e-12
