"""Formulas of the author: rates by any label, loads by formulas, what is refused."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from liaison.equations import lagrange, newton_euler
from liaison.errors import DerivationError
from liaison.expr import as_expr, sin, symbol
from liaison.model import (
    Actuator,
    Angle,
    Body,
    Coordinate,
    Cylindrical,
    Dissipation,
    Distance,
    Free,
    Input,
    Joint,
    Law,
    Marker,
    Mechanism,
    Nonholonomic,
    Output,
    PointWrench,
    Potential,
    PrescribedMotion,
    Revolute,
    Spring,
)
from liaison.program import to_numpy
from liaison.program.lower import lower
from liaison.tree import assemble, span
from liaison.units import si_unit, unit_of
from samples import relative_difference
from samples.shelf import mechanism_of, shelf

EXACT = 1e-12
BODY = Body("b", 2.0, (0.1, 0.2, 0.3), ((0.3, 0, 0), (0, 0.4, 0), (0, 0, 0.5)))


def alone(kind, **parts) -> Mechanism:
    """One body on the ground by joint A."""
    return Mechanism("alone", (BODY,), (Joint("A", kind, Marker("ground"), Marker("b")),), **parts)


def kernel_of(m: Mechanism, formalism=newton_euler):
    return to_numpy(lower(formalism(span(m))))


def test_a_rate_may_be_named_though_it_is_no_velocity():
    """A free body's velocity is told in its own axes; A.x' is that of its place in the ground's."""
    rates = [symbol(f"A.{part}'") for part in ("x", "y", "z", "qw", "qx", "qy", "qz")]
    m = alone(Free(), outputs=tuple(Output(f"o{k}", rate) for k, rate in enumerate(rates)))
    kernel = kernel_of(m)
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=7), rng.normal(size=6)
    q[3:] /= np.linalg.norm(q[3:])
    h = 1e-6
    ahead, behind = (kernel("retract", q=q, x=s * h * v) for s in (1, -1))
    assert kernel("outputs", q=q, v=v) == pytest.approx((ahead - behind) / (2 * h), abs=1e-8)


def test_such_rates_may_stand_in_relations_and_loads():
    x, y = symbol("A.x'"), symbol("A.y'")
    m = alone(
        Free(),
        constraints=(Nonholonomic("blade", x - 2 * y),),
        forces=(
            Dissipation("drag", x * x),
            PointWrench("wind", Marker("b"), force=(3 - x, 0, 0)),
        ),
    )
    kernel = kernel_of(m)
    state = assemble(span(m), **{"A.wz": 0.7, "A.vx": 0.3})
    assert abs(kernel("closure", q=state.q, v=state.v)[-1]) < EXACT
    # drag and wind give x a force 3 − 3 x', on a body that turns freely
    still = kernel.call("applied", q=state.q, v=state.v)["tau"]
    along = kernel_of(alone(Free(), outputs=(Output("o", x),)))("outputs", q=state.q, v=state.v)[0]
    assert still[3] == pytest.approx(3 - 3 * along, abs=EXACT)


def test_a_measure_without_direction_is_refused():
    upright = ((0, 0, 1), (0, 1, 0), (-1, 0, 0))  # its x is −z
    angle = Angle(Marker("ground"), Marker("b", R=upright))
    with pytest.raises(DerivationError, match="'twist' acts along has no direction"):
        kernel_of(alone(Revolute(), forces=(Actuator("twist", angle, 1),)))
    nothing = Distance(Marker("ground"), Marker("b"))
    with pytest.raises(DerivationError, match="'pull' acts along has no direction"):
        kernel_of(alone(Revolute(), forces=(Actuator("pull", nothing, 1),)))


def test_a_spring_about_an_angle_counts_turns():
    spring = Spring("spring", Angle(Marker("ground"), Marker("b")), 2.0, 1.0)
    kernel = kernel_of(alone(Revolute(), forces=(spring,)))
    for q in (0.3, 4.0, -9.0, 30.0):
        assert kernel("applied", q=[q], v=[0.0])[0] == pytest.approx(-2.0 * (q - 1.0), rel=EXACT)
        assert kernel("energy", q=[q], v=[0.0])[1] == pytest.approx((q - 1.0) ** 2, rel=EXACT)


@pytest.mark.parametrize(("from_ground", "upside_down"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_turns_are_counted_from_either_side(from_ground, upside_down):
    over = ((1, 0, 0), (0, -1, 0), (0, 0, -1)) if upside_down else ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    ends = [Marker("ground", R=over, p=(2, 0, 0)), Marker("b", R=over)]
    angle = Angle(*ends[:: 1 if from_ground else -1])
    kernel = kernel_of(alone(Cylindrical(), forces=(Spring("spring", angle, 2.0, 0),)))
    for q in (0.3, 4.0, -9.0):
        assert kernel("energy", q=[q, 0], v=[0, 0])[1] == pytest.approx(q**2, rel=EXACT)
        pull = kernel("applied", q=[q, 0], v=[0, 0])[0]
        assert pull == pytest.approx(-2 * q, rel=EXACT)


@pytest.mark.parametrize("formalism", [newton_euler, lagrange])
def test_loads_by_formula_are_what_they_say(formalism):
    A, rate, t, u = (symbol(name) for name in ("A", "A'", "t", "u"))
    laws = (
        Law("law", Coordinate("A"), 2 * sin(A) - rate * t),
        Potential("well", 3 * A * A * t),
        Dissipation("drag", rate**4),
        Actuator("motor", Coordinate("A"), u),
    )
    m = alone(Revolute(), forces=laws, inputs=(Input("u", "N*m", 0.5),))
    kernel = kernel_of(m, formalism)
    q, v, at = 0.6, -0.8, 1.3
    tau = kernel("applied", at, q=[q], v=[v])[0]
    expected = 2 * np.sin(q) - v * at - 6 * q * at - 4 * v**3 + 0.5
    assert tau == pytest.approx(expected, abs=EXACT)
    given = kernel("applied", at, q=[q], v=[v], u=[2.0])[0]
    assert given == pytest.approx(expected + 1.5, abs=EXACT)
    inertia = 0.5 + 2.0 * (0.1**2 + 0.2**2)
    vdot = kernel.call("forward", at, q=[q], v=[v])["vdot"][0]
    assert vdot == pytest.approx(expected / inertia, rel=EXACT)
    assert kernel.call("energy", at, q=[q], v=[v])["U"][0] == pytest.approx(3 * q * q * at)


def test_exact_numbers_give_the_same_equations():
    half = Fraction(1, 2)
    body = Body("b", 3, (half, 0, 0), ((0, 0, 0), (0, half, 0), (0, 0, half)))
    hinge = Joint("A", Revolute(), Marker("ground", p=(half, 0, 0)), Marker("b"))
    m = Mechanism("exact", (body,), (hinge,))
    exact, plain = (newton_euler(span(m, exact=flag)) for flag in (True, False))
    assert as_expr(exact.dynamics.M[0, 0]).value == Fraction(5, 4)
    found = [to_numpy(lower(x))("terms", q=[0.3], v=[0.2]) for x in (exact, plain)]
    assert relative_difference(*found) < EXACT


def test_labels_spell_their_units_as_the_doors_do():
    """A loop cut at a hinge that keeps its angle, with an imposed motion."""
    path = next(path for path in shelf() if path.stem == "four_bar")
    m = replace(
        mechanism_of(path),
        outputs=(Output("o", symbol("D")),),
        constraints=(PrescribedMotion("drive", "A", symbol("t")),),
    )
    labels = newton_euler(span(m, cuts=["D"])).labels
    units = {label.unit for block in labels.values() for label in block}
    assert {"N", "N*m", "rad", "rad/s"} <= units
    assert {si_unit(unit_of(unit).dimension) for unit in units} == units
