"""Potentials V(q, q̇, t) of velocities: against known force laws, in every formalism."""

import numpy as np
import pytest

import liaison
from liaison.equations import hamilton, lagrange, newton_euler
from liaison.equations.readable.readable import christoffel
from liaison.equations.sweeps.rest import rest_of
from liaison.errors import DerivationError
from liaison.expr import cos, directional, sin
from liaison.expr.reading.simplify import vanishes_exactly
from liaison.tree import span

POINT = """
let p = body mass = 2 kg, inertia = [1, 1, 1] kg*m^2 end ;
let S = join earth and p with link(x, y, z) dof = [x, y, z] end ;
start S.x = 1 m ; start S.y = -0.5 m ; start S.z = 0.2 m ;
start S.x' = 0.3 m/s ; start S.y' = 1 m/s ; start S.z' = 0.1 m/s ;
"""
MAGNETIC = POINT + "apply potential value = 1.5 N*s/m * (S.y*S.x' - S.x*S.y') end ;"
MOVING_FRAME = POINT + (
    "parameter w = 3 rad/s ; apply potential value = -2 kg*(w*(S.x*S.y' - S.y*S.x')"
    " + w^2*(S.x^2 + S.y^2)/2) end ;"
)
RADIUS = "sqrt(S.x^2 + S.y^2 + S.z^2)"
WEBER = POINT + (
    f"apply potential value = 4 N*m^2/{RADIUS} * (1 + (S.x*S.x' + S.y*S.y' + S.z*S.z')^2"
    f"/{RADIUS}^2/(18 m^2/s^2)) end ;"
)
GYROSTAT = """
let p = body mass = 2 kg, inertia = [0.2, 0.25, 0.3] kg*m^2 end ;
let S = join earth and p with ball end ;
start S' = [1, 2, -1] rad/s ;
apply potential value = -(0.4*S.wx - 0.1*S.wy + 0.7*S.wz)*(1 N*m*s) end ;
"""
CUBIC = POINT + "apply potential value = 0.01 kg*s/m*S.x'^3 + 0.1 kg/m*S.x*S.x'*S.y' end ;"


def accelerations(text, start=None):
    return np.array(liaison.forward_dynamics(text, **(start or {})))


def test_charge_in_a_magnetic_field_moves_on_a_helix_of_constant_speed():
    run = liaison.simulate(MAGNETIC, until=3, every=0.5, rtol=1e-11, atol=1e-12)
    turn = 1.5 * run.t  # v̇ = (q B/m) v × z with q B = 3 N·s/m
    u = (0.3 + 1j) * np.exp(-1j * turn)
    place = 1 - 0.5j + (0.3 + 1j) * (np.exp(-1j * turn) - 1) / (-1.5j)
    assert np.allclose(run.v[:, 0] + 1j * run.v[:, 1], u, rtol=0, atol=1e-9)
    assert np.allclose(run.q[:, 0] + 1j * run.q[:, 1], place, rtol=0, atol=1e-9)
    assert np.allclose(run.q[:, 2], 0.2 + 0.1 * run.t, rtol=0, atol=1e-11)
    integrals = {x.kind for x in liaison.first_integrals(MAGNETIC)}
    assert "energy" in integrals
    assert "cyclic" in integrals


def test_a_moving_frame_is_a_potential_of_velocities():
    run = liaison.simulate(MOVING_FRAME, until=2, every=0.5, rtol=1e-11, atol=1e-12)
    seen = run.q[:, 0] + 1j * run.q[:, 1]
    first, rate = 1 - 0.5j, 0.3 + 1j + 3j * (1 - 0.5j)  # velocity in the frame at rest
    straight = (first + rate * run.t) * np.exp(-3j * run.t)
    assert np.allclose(seen, straight, rtol=0, atol=1e-8)
    speed = np.abs(run.v[:, 0] + 1j * run.v[:, 1]) ** 2 + run.v[:, 2] ** 2
    jacobi = speed - 9 * np.abs(seen) ** 2  # ½ m (v² − ω² r²), m = 2 kg
    reported = run["energy.T"] + run["energy.U"]
    assert np.allclose(np.asarray(reported), jacobi, rtol=0, atol=1e-8)
    assert np.ptp(jacobi) < 1e-8


def test_webers_force_and_energy():
    run = liaison.simulate(WEBER, until=1, every=0.25, rtol=1e-11, atol=1e-12,
                           series=("accelerations", "energy"))  # fmt: skip
    r = np.linalg.norm(run.q, axis=1)
    slip = np.sum(run.q * run.v, axis=1) / r
    a = np.array(
        [liaison.forward_dynamics(WEBER, q=q, v=v) for q, v in zip(run.q, run.v, strict=True)]
    )
    second = (np.sum(run.v**2 + run.q * a, axis=1) - slip**2) / r
    c2 = 9.0
    force = 4 / r**2 * (1 - slip**2 / (2 * c2) + r * second / c2)
    assert np.allclose(2 * a, (force / r)[:, None] * run.q, rtol=1e-12, atol=1e-12)
    energy = np.sum(run.v**2, axis=1) + 4 / r * (1 - slip**2 / (2 * c2))
    assert np.ptp(energy) < 1e-9
    assert liaison.verify(WEBER, run).holds


def test_a_rotor_in_a_body_is_a_potential_of_angular_velocities():
    I, h, w = np.diag([0.2, 0.25, 0.3]), np.array([0.4, -0.1, 0.7]), np.array([1.0, 2.0, -1.0])
    truth = np.linalg.solve(I, -np.cross(w, I @ w + h))
    assert np.allclose(accelerations(GYROSTAT), truth, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("text", [MAGNETIC, MOVING_FRAME, WEBER, GYROSTAT, CUBIC])
def test_all_formalisms_agree(text):
    comparison = liaison.compare(text, timed=False)
    assert comparison.all_proved
    assert len(comparison.rows) == 10


def test_hamiltonian_is_explicit_up_to_degree_two_and_implicit_beyond():
    tree = span(liaison.read(MAGNETIC), exact=True)
    native = hamilton(tree).native["hamilton"]
    assert native.is_explicit
    cubic = span(liaison.read(CUBIC), exact=True)
    assert "not linear in v" in hamilton(cubic).native["hamilton"].note
    with pytest.raises(DerivationError, match="degree above two"):
        hamilton(cubic, explicit=True)


def test_time_in_a_potential_of_velocities_is_a_force():
    text = POINT + "apply potential value = 3 N*t*S.x' end ;"  # Q = d/dt ∂V/∂ẋ = 3 N
    assert np.allclose(accelerations(text), [1.5, 0, 0], atol=1e-14)
    kinds = {x.kind: x for x in liaison.first_integrals(text)}
    assert "cyclic" in kinds
    assert "energy with work" in kinds["energy"].name


def test_what_cannot_take_them_says_why():
    cubic = span(liaison.read(CUBIC))
    with pytest.raises(DerivationError, match="not given by M alone"):
        christoffel(lagrange(cubic))
    with pytest.raises(DerivationError, match="adds inertia that belongs to no body"):
        rest_of(cubic)
    with pytest.raises(DerivationError, match="variational step"):
        liaison.simulate(CUBIC, until=0.1, method="rattle", step=0.01)


def test_inertia_of_a_potential_is_in_every_formalism():
    for derive in (newton_euler, lagrange):
        M = derive(span(liaison.read(CUBIC))).dynamics.M
        assert (1, 0) in M  # −0.1 kg/m x couples x and y


def test_the_documents_theorem_of_energy_with_a_potential():
    """LL (2.18): Σ Q q̇ = d/dt (V₂ − V₀) + ∂V/∂t, with V of degree two, one and none."""
    V = "(2 kg*S.x/(1 m)*S.y'^2 + 3 N*t*S.x' + 1 N/m*S.x*S.y*sin(2 rad/s*t))"
    equations = newton_euler(span(liaison.read(POINT + f"apply potential value = {V} end ;")))
    symbols = equations.symbols
    t, (x, y, _), (u, w, _), vdot = symbols.t, symbols.q, symbols.v, symbols.vdot
    V2, V0 = 2 * x * w**2, x * y * sin(2 * t)
    flow = {t: 1, x: u, y: w, u: vdot[0], w: vdot[1]}
    partly = 3 * u + 2 * x * y * cos(2 * t)  # ∂V/∂t
    (power,) = equations.reports.balance["power of potential"]
    assert vanishes_exactly(power - directional([V2 - V0], flow)[0] - partly)
