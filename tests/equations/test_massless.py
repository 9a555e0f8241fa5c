"""Bodies and velocities without inertia: determined where something holds them, else refused."""

import math

import numpy as np
import pytest

from liaison.equations import FORMALISMS
from liaison.equations.sweeps.joint_inertia import velocity_without_inertia
from liaison.errors import DerivationError
from liaison.expr import symbol
from liaison.model import (
    Actuator,
    Body,
    Composition,
    Coordinate,
    Gravity,
    Joint,
    Marker,
    Mechanism,
    PrescribedMotion,
    Prismatic,
    Revolute,
    Rotation,
    Spherical,
    Start,
)
from liaison.numeric import State
from liaison.program import to_numpy
from liaison.program.lower import lower
from liaison.tree import assemble, span

ROUNDING = 1e-11


def rod(name: str, mass: float) -> Body:
    i = mass / 12
    return Body(name, mass, (0.5, 0, 0), ((0, 0, 0), (0, i, 0), (0, 0, i)))


def hinge(name: str, a: Marker, b: Marker) -> Joint:
    return Joint(name, Revolute(), a, b)


def at(body: str, x: float = 0) -> Marker:
    return Marker(body, p=(x, 0, 0))


def parallelogram(coupler: float, *, forces=(), constraints=(), d=None) -> Mechanism:
    """Two equal cranks of one meter and a coupler between them."""
    return Mechanism(
        "parallelogram",
        (rod("left", 1.0), rod("right", 1.0), rod("coupler", coupler)),
        (
            hinge("A", at("ground"), at("left")),
            hinge("B", at("left", 1), at("coupler")),
            hinge("C", at("coupler", 1), at("right", 1)),
            Joint("D", d or Revolute(), at("ground", 1), at("right")),
        ),
        forces=(Gravity((0, -9.81, 0)), *forces),
        constraints=constraints,
        starts=(Start("A", 1.0), Start("B", -1.0)),
    )


def acceleration(mechanism: Mechanism, formalism: str, label: str = "A'", cuts=()) -> float:
    tree = span(mechanism, cuts=cuts)
    equations = FORMALISMS[formalism](tree)
    state = assemble(tree)
    kernel = to_numpy(lower(equations))
    found = kernel.call("forward", t=0.0, q=state.q, v=state.v)
    assert found["residual"][0] < ROUNDING
    names = [x.name for x in equations.labels["v"]]
    return float(found["vdot"][names.index(label)])


def expected(coupler: float, torque: float = 0.0) -> float:
    """One freedom: (2/3 + m) θ̈ = −(1 + m) g cos θ + torque."""
    return (torque - (1 + coupler) * 9.81 * math.cos(1.0)) / (2 / 3 + coupler)


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange"])
@pytest.mark.parametrize("cut", ["A", "B", "C", "D"])
@pytest.mark.parametrize("coupler", [0.0, 0.7])
def test_a_coupler_may_be_massless_wherever_the_loop_is_cut(formalism, cut, coupler):
    m = parallelogram(coupler, forces=(Actuator("motor", Coordinate("D"), 2.0),))
    label = "D'"  # equal to that of A, and kept where D is cut
    found = acceleration(m, formalism, label, cuts=(cut,))
    assert found == pytest.approx(expected(coupler, 2.0), rel=ROUNDING)


def test_the_multiplier_of_a_tie_is_the_effort_of_the_motor():
    m = parallelogram(0.7, forces=(Actuator("motor", Coordinate("D"), 2.0),))
    tree = span(m, cuts=("D",))
    equations = FORMALISMS["newton_euler"](tree)
    state = assemble(tree)
    found = to_numpy(lower(equations)).call("forward", t=0.0, q=state.q, v=state.v)
    lam = dict(zip([label.name for label in equations.labels["lam"]], found["lam"], strict=True))
    assert lam["D: effort along D'"] == pytest.approx(2.0, rel=ROUNDING)


@pytest.mark.parametrize("cut", ["A", "D"])
def test_a_composition_is_welded_where_it_is_cut(cut):
    m = parallelogram(0.7, d=Composition((Rotation("z"),)))
    found = acceleration(m, "newton_euler", "D'", cuts=(cut,))
    assert found == pytest.approx(expected(0.7), rel=ROUNDING)


def test_an_imposed_motion_moves_what_has_no_mass():
    t = symbol("t")
    ghostly = Mechanism(
        "hand",
        (Body("hand"), rod("bar", 1.0)),
        (hinge("A", at("ground"), at("hand")), hinge("B", at("ground"), at("bar"))),
        constraints=(PrescribedMotion("drive", "A", 0.5 * t * t),),
    )
    equations = FORMALISMS["newton_euler"](span(ghostly))
    found = to_numpy(lower(equations)).call("forward", t=0.0, q=np.zeros(2), v=np.zeros(2))
    assert found["vdot"] == pytest.approx([1.0, 0.0], abs=ROUNDING)
    assert found["lam"] == pytest.approx([0.0], abs=ROUNDING)


def test_what_nothing_holds_is_refused_by_name():
    m = Mechanism("hand", (Body("hand"),), (hinge("A", at("ground"), at("hand")),))
    with pytest.raises(DerivationError, match='nothing gives "A\'" inertia'):
        lower(FORMALISMS["newton_euler"](span(m))).entry("forward")


def branches(rng) -> Mechanism:
    """A random tree with sliders, hinges and ball joints; some bodies are points, or nothing."""
    bodies, joints = [], []
    for k in range(6):
        kind = rng.integers(4)
        m, i = (0.0, 0.0) if kind == 0 else (1.0, 0.0 if kind == 1 else 0.1)
        center = (0.0, 0.0, 0.3) if kind == 1 else tuple(rng.normal(size=3) * m)
        bodies.append(Body(f"b{k}", m, center, ((i, 0, 0), (0, i, 0), (0, 0, i))))
        on = "ground" if k == 0 else f"b{rng.integers(k)}"
        joint = (Revolute, Prismatic, Spherical)[rng.integers(3)]()
        p = tuple(rng.normal(size=3)) if rng.random() < 0.7 else (0, 0, 0)
        joints.append(Joint(f"J{k}", joint, Marker(on, p=p), Marker(f"b{k}")))
    return Mechanism("branches", tuple(bodies), tuple(joints))


@pytest.mark.parametrize("seed", range(12))
def test_joints_without_inertia_are_those_of_a_singular_mass_matrix(seed):
    """At random positions, of which rounding knows no exact zero."""
    rng = np.random.default_rng(seed)
    for _ in range(5):
        tree = span(branches(rng))
        state = assemble(tree)
        kernel = to_numpy(lower(FORMALISMS["newton_euler"](tree)))
        q = kernel("retract", q=state.q, x=rng.normal(size=tree.nv))
        here = State(0.0, q, state.v)
        M = kernel("mass_matrix", q=q).reshape(tree.nv, tree.nv)
        is_singular = np.linalg.eigvalsh(M)[0] < 1e-12 * max(1.0, np.linalg.norm(M))
        assert bool(velocity_without_inertia(tree, here)) == is_singular


def test_inertia_of_rotors_counts():
    m = Mechanism("hand", (Body("hand"),), (hinge("A", at("ground"), at("hand")),))
    tree = span(m)
    assert velocity_without_inertia(tree, assemble(tree)) == "A'"
    assert not velocity_without_inertia(tree, assemble(tree), {0: 0.1})
