"""First integrals: those of the books are found, proved, and kept by runs; others are not."""

from dataclasses import replace

import numpy as np
import pytest

import liaison
from liaison.analyse.proofs.exact_motion import ExactMotion, imposed_rows
from liaison.equations import newton_euler
from liaison.equations.reading_order import order_of, squares_of
from liaison.errors import SimulationError
from liaison.expr import cos, gradient, sin, sqrt, symbol
from liaison.expr.reading.integrate import antiderivative, potential
from liaison.expr.reading.simplify import proved_equal, simplified, vanishes_exactly
from liaison.expr.reading.text import to_unicode
from liaison.program.lower import lower
from liaison.units import Label

HEAD = "parameter g = 9.81 m/s^2 ; parameter m = 2 kg ; parameter l = 0.5 m ;\n"
DOWN = HEAD + "gravity = [0, 0, -g] ;\n"

TOP = (
    DOWN
    + """
parameter A = 0.3 kg*m^2 ; parameter C = 0.2 kg*m^2 ;
let one = body mass = 0, inertia = 0 end ;
let two = body mass = 0, inertia = 0 end ;
let top = body mass = m, center = [0, 0, l], inertia = [A, A, C] end ;
let phi = join earth and one with revolute axis = [0, 0, 1] end ;
let theta = join one and two with revolute axis = [1, 0, 0] end ;
let psi = join two and top with revolute axis = [0, 0, 1] end ;
start theta = 1 rad ; start psi' = 40 rad/s ;
"""
)

HOOP = (
    DOWN
    + """
parameter w = 3 rad/s ;
let hoop = body mass = 1 kg, inertia = [1, 1, 1] kg*m^2 end ;
let bead = body mass = m, center = [0, 0, -l], inertia = 0 end ;
let psi = join earth and hoop with revolute axis = [0, 0, 1] end ;
let theta = join hoop and bead with revolute axis = [0, -1, 0] end ;
impose psi = w*t ;
start theta = 1 rad ;
"""
)

SLED = (
    HEAD
    + """
parameter c = 3 N*s/m ;
let sled = body mass = m, inertia = 0 end ;
let x = join earth and sled with prismatic axis = [1, 0, 0] end ;
apply damper coefficient = c end on x ;
start x' = 2 m/s ;
"""
)

FALL = """
parameter m = 2 kg ;
gravity = GRAVITY ;
let b = body mass = m, inertia = [1, 2, 3] kg*m^2 end ;
let F = join earth and b with free end ;
start F.wx = 1 rad/s ; start F.wy = 0.2 rad/s ; start F.vx = 1 m/s ;
"""


def named(text):
    equations = liaison.derive(liaison.read(text), "lagrange", exact=True)
    found = liaison.first_integrals(liaison.read(text))
    order, squares = order_of(equations), squares_of(equations)
    return {x.name: to_unicode(simplified(x.formula, order, squares)) for x in found}


def test_the_elliptic_pendulum(examples):
    """LL 2.2.10: energy, and (m₁ + m₂) ẏ + m₂ a θ̇ cos θ."""
    found = {x.name: x for x in liaison.first_integrals(examples / "elliptic_pendulum.lsd")}
    assert list(found) == ["energy", "momentum of y"]
    m1, m2, a = map(symbol, ("m1", "m2", "a"))
    y, theta, rate = symbol("y'"), symbol("theta"), symbol("theta'")
    book = (m1 + m2) * y + m2 * a * rate * cos(theta)
    assert proved_equal(simplified(book), found["momentum of y"].formula)
    assert "the momentum along y of ground" in found["momentum of y"].reason
    assert found["energy"].unit == "J"


def test_the_spinning_top():
    """p_ψ = I₃ (ψ̇ + φ̇ cos θ), p_φ = (I₁ sin²θ + I₃ cos²θ) φ̇ + I₃ ψ̇ cos θ.

    Source: Goldstein, Poole, Safko, Classical Mechanics, 3rd ed., eqs. (5.52), (5.53).
    """
    found = named(TOP)
    assert found["momentum of psi"] == "C (cos(θ) φ' + ψ')"
    assert found["momentum of phi"] == "((m l² + A) sin²(θ) + C cos²(θ)) φ' + C cos(θ) ψ'"
    assert set(found) == {"energy", "momentum of phi", "momentum of psi"}


def test_a_bead_on_a_turning_hoop_keeps_painleves_integral():
    """T₂ − T₀ + U, not T + U: the motor works."""
    equations = liaison.derive(liaison.read(HOOP), "lagrange", exact=True)
    (only,) = liaison.first_integrals(liaison.read(HOOP))
    assert only.kind == "painleve"
    m, l, g, w = map(symbol, "mlgw")
    theta, rate = symbol("theta"), symbol("theta'")
    T2, T0 = m * l**2 * rate**2 / 2, m * l**2 * w**2 * sin(theta) ** 2 / 2
    hoop = w**2 / 2
    assert proved_equal(simplified(T2 - T0 - hoop - m * g * l * cos(theta)), only.formula)
    motion = ExactMotion(equations)
    T, U = equations.reports.energy
    assert any(row[0] for row in motion.rates([T + U]))
    assert list(imposed_rows(equations)) == [0]


def test_a_force_that_is_a_rate_is_integrated():
    """∂L/∂q̇ − G: m ẋ + c x."""
    assert named(SLED) == {"momentum of x with impulse": "m x' + c x"}


def test_a_free_body_keeps_everything():
    found = list(named(FALL.replace("GRAVITY", "[0, 0, -9.81] m/s^2")))
    assert "momentum along x" in found
    assert "momentum along y" in found
    assert "momentum along z" not in found
    assert "momentum along z with the impulse of weight" in found
    central = [f"angular momentum about {k} at the center of mass" for k in "xyz"]
    assert set(central) <= set(found)


def test_slanted_gravity_leaves_the_momentum_across_it():
    found = list(named(FALL.replace("GRAVITY", "[3, -4, 0] m/s^2")))
    assert "momentum along (1, 3/4, 0)" in found
    assert "momentum along z" in found
    assert "momentum along x" not in found


@pytest.mark.slow
def test_friction_leaves_nothing(examples):
    assert not liaison.first_integrals(examples / "arm7.urdf")


def test_a_held_velocity_is_no_cyclic_one(examples):
    """LL 2.2.9: ∂T/∂x = 0 and no force along x, but the blade's row holds ẋ."""
    found = [x.name for x in liaison.first_integrals(examples / "chaplygin.lsd")]
    assert found == ["energy"]


def test_loops_keep_their_energy(examples):
    assert [x.name for x in liaison.first_integrals(examples / "four_bar.lsd")] == ["energy"]


@pytest.mark.parametrize("text", [TOP, HOOP, SLED, FALL.replace("GRAVITY", "[0, -4, 3] m/s^2")])
def test_runs_keep_what_is_proved(text):
    run = liaison.simulate(text, until=2.0, rtol=1e-10, atol=1e-12, invariants=True)
    assert run.invariants
    for name, invariant in run.invariants.items():
        # errors of the steps, a hundred of them, against sizes up to 100
        assert invariant.drift < 1e-6, name
        assert len(invariant.values) == len(run)


def test_a_coarse_run_drifts(examples):
    run = liaison.simulate(examples / "double_pendulum.lsd", until=2.0, step=0.02, invariants=True)
    fine = liaison.simulate(examples / "double_pendulum.lsd", until=2.0, step=0.01, invariants=True)
    ratio = run.invariants["energy"].drift / fine.invariants["energy"].drift
    assert ratio > 8  # a method of fourth order


def test_invariants_must_be_asked_for(examples):
    run = liaison.simulate(examples / "pendulum.lsd", until=0.1)
    with pytest.raises(SimulationError, match="no invariants"):
        _ = run.invariants


def test_invariants_are_saved(examples, tmp_path):
    run = liaison.simulate(examples / "elliptic_pendulum.lsd", until=0.5, invariants=True)
    run.save(tmp_path / "run.nc")
    again = liaison.load(tmp_path / "run.nc")
    assert again.invariants["energy"].drift == run.invariants["energy"].drift
    assert again.invariants["momentum of y"].unit == "kg m/s"


# Potentials -------------------------------------------------------------------------------------

x, y, a = symbol("x"), symbol("y"), symbol("a")


@pytest.mark.parametrize(
    "f", [x**2 * a, sin(x) * cos(y), x * cos(a * x), sin(x) ** 2, 1 / x, x**2 * sin(2 * x + y)]
)
def test_antiderivatives_are_checked_by_differentiation(f):
    F = antiderivative(f, x)
    assert vanishes_exactly(gradient(F, [x])[0] - f)


def test_what_has_no_potential_gets_none():
    assert potential({x: y, y: -x}) is None
    assert potential({x: y, y: x}) is not None
    assert antiderivative(sin(x * x), x) is None


def test_the_integral_of_one_over_x_holds_on_both_sides_of_zero():
    """A force 1/X: ½ X'² − log |X| is constant, from −1 m as from 1 m."""
    text = """
    let b = body mass = 1 kg, inertia = 0 end ;
    let X = join earth and b with prismatic axis = [1, 0, 0] end ;
    apply motor force = 1 N*m/X end on X ;
    start X = {x} m ;
    """
    for x in (1, -1):
        run = liaison.simulate(text.format(x=x), until=0.5, rtol=1e-10, atol=1e-12, invariants=True)
        (name,) = run.invariants
        energy = run["X'"] ** 2 / 2 - np.log(np.abs(run["X"]))
        np.testing.assert_allclose(run.invariants[name].values, energy, atol=1e-12)
        assert run.invariants[name].drift < 1e-9


def test_an_invariant_without_a_value_is_named():
    """√X from −1 m on: it is left out, and the run says so."""
    text = """
    let b = body mass = 1 kg, inertia = 0 end ;
    let X = join earth and b with prismatic axis = [1, 0, 0] end ;
    start X = -1 m ; start X' = 1 m/s ;
    """
    tree = liaison.span(liaison.read(text))
    made = newton_euler(tree)
    X, speed = made.symbols.q[0], made.symbols.v[0]
    named = {"root": sqrt(X), "speed": speed * 1}
    labels = {**made.labels, "invariants": (Label("root", ""), Label("speed", "m/s"))}
    kernel = liaison.to_llvm(lower(replace(made, invariants=named, labels=labels)))
    run = liaison.simulate(kernel, liaison.assemble(tree), until=0.5, series=("invariants",))
    assert list(run.invariants) == ["speed"]
    assert "'root'" in run.message


@pytest.mark.parametrize(
    "law",
    [
        "1 m/s * max(t - 0.5 s, 0 s)",
        "1 m/s * abs(t - 0.5 s)",
        '1 m * table(t/(1 s), [0, 0.5, 1], [0, 0, 1], "linear")',
        '1 m * table(t/(1 s), [0, 0.5, 1], [0, 0.5, 1], outside = "hold")',
    ],
)
def test_impulses_at_corners_of_an_imposed_motion_leave_nothing(law):
    """Between the corners momentum and energy stay; a corner gives an impulse."""
    text = f"""let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let X = join earth and b with prismatic axis = [1, 0, 0] end ; impose X = {law} ;"""
    run = liaison.simulate(text, until=1.5, every=0.1, series=("momentum",))
    assert np.ptp(run["X'"]) > 0.9
    assert liaison.first_integrals(text) == ()
    smooth = text.replace(law, "1 m/s * t")
    assert len(liaison.first_integrals(smooth)) == 1
