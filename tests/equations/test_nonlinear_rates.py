"""Relations that are not linear in the rates, by Chetaev's rule: against own integrations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liaison
from liaison.equations.sweeps.rest import rest_of
from liaison.errors import AssemblyError, DerivationError, ModelError, SimulationError
from liaison.tree import span
from samples.shelf import EXAMPLES

APPELL = EXAMPLES / "cases" / "appell.lsd"
M, m, k, g, stiffness = 3.0, 1.0, 0.5, 9.81, 6.0

SQUARE = """
let p = body mass = 2 kg, inertia = [1, 1, 1] kg*m^2 end ;
let S = join earth and p with link(x, y) dof = [x, y, 0] end ;
apply force value = [1 N, 0 N, 0 N] end on p ;
let speed = require S.x'^2 + S.y'^2 = 4 m^2/s^2*(1 + 0.5*sin(3 rad/s*t)) ;
start S.x' = 1 m/s ; guess S.y' = 1.5 m/s ;
"""


def appell(t, s):
    """ẋ, ẏ, ż and accelerations of Appell's machine, the multiplier eliminated by hand."""
    y, u, w, z = s[1], *s[3:]
    mass = np.array([M + m, M + m, m])
    force = np.array([0.0, -stiffness * y, -m * g])
    a = np.array([-2 * k**2 * u, -2 * k**2 * w, 2 * z])  # ∂Φ/∂q̇, which is Φ̇ = a · q̈, too
    lam = -(a @ (force / mass)) / (a @ (a / mass))
    return [u, w, z, *((force + lam * a) / mass)]


def test_appells_machine_against_an_own_integration():
    run = liaison.simulate(APPELL, until=2, every=0.25, rtol=1e-11, atol=1e-12, series=("lam",))
    start = [0, 0.5, 0, 0.4, 0.3, -0.25]
    truth = solve_ivp(appell, (0, 2), start, t_eval=run.t, rtol=1e-12, atol=1e-12).y.T
    assert np.allclose(np.hstack([run.q, run.v]), truth, rtol=0, atol=1e-8)
    u, w, z = run.v.T
    assert np.max(np.abs(z**2 - k**2 * (u**2 + w**2))) < 1e-14  # kept by projection
    force = -stiffness * 0.5, -m * g
    a = np.array([-2 * k**2 * 0.4, -2 * k**2 * 0.3, -0.5])
    mass = np.array([M + m, M + m, m])
    lam = -(a @ (np.array([0, *force]) / mass)) / (a @ (a / mass))
    assert run["lam"][0, 0] == pytest.approx(lam, rel=1e-9)


def test_its_reaction_works_only_where_the_relation_is_not_homogeneous():
    assert [x.kind for x in liaison.first_integrals(APPELL)] == ["energy"]
    assert liaison.first_integrals(SQUARE) == ()


def test_a_speed_that_is_prescribed():
    """ẍ + ẏ² along v by Chetaev: the direction turns under the force across it alone."""
    run = liaison.simulate(SQUARE, until=2, every=0.25, rtol=1e-11, atol=1e-12)
    speed = lambda t: 2 * np.sqrt(1 + 0.5 * np.sin(3 * t))  # noqa: E731
    turning = solve_ivp(lambda t, a: -0.5 * np.sin(a) / speed(t), (0, 2), [np.pi / 3],
                        t_eval=run.t, rtol=1e-12, atol=1e-12).y[0]  # fmt: skip
    assert np.allclose(run.v[:, 0], speed(run.t) * np.cos(turning), rtol=0, atol=1e-8)
    assert np.allclose(run.v[:, 1], speed(run.t) * np.sin(turning), rtol=0, atol=1e-8)
    assert liaison.verify(SQUARE, run).holds


@pytest.mark.parametrize("given", [APPELL, SQUARE], ids=["appell", "square"])
def test_formalisms_with_multipliers_agree_and_the_reduced_one_says_why_not(given):
    rows = {row.formalism: row for row in liaison.compare(given, timed=False).rows}
    reduced = rows.pop("lagrange_reduced")
    assert "not linear in the rates" in reduced.verdict.how
    assert len(rows) == 9
    assert all(row.verdict.is_proved for row in rows.values())


def test_many_starts_are_assembled_on_the_relation():
    runs = liaison.simulate_batch(APPELL, until=0.1, start={"F.x'": [0.1, 0.4, 2.0]})
    u, w, z = np.moveaxis(runs.v[:, -1], -1, 0)
    assert np.max(np.abs(z**2 - k**2 * (u**2 + w**2))) < 1e-12


def test_the_choice_is_stated():
    assert "Chetaev's rule, which is a choice" in str(liaison.readable(APPELL).notes)


def test_a_start_at_rest_has_no_direction():
    text = SQUARE.replace("start S.x' = 1 m/s ; guess S.y' = 1.5 m/s ;", "")
    with pytest.raises(AssemblyError, match=r"has no direction at these speeds.*Chetaev"):
        liaison.simulate(text, until=0.1)


def test_what_cannot_take_it_says_why():
    with pytest.raises(SimulationError, match="not linear in the rates"):
        liaison.simulate(APPELL, until=0.1, method="rattle", step=0.01)
    with pytest.raises(DerivationError, match="has no direction"):
        liaison.linearize(APPELL)
    with pytest.raises(DerivationError, match="Frobenius"):
        liaison.integrability(APPELL)
    with pytest.raises(DerivationError, match="looped kernels"):
        rest_of(span(liaison.read(APPELL)))
    with pytest.raises(ModelError, match="does not define what its reaction does in an impact"):
        liaison.read(SQUARE + "require S.x <= 1 m ;")
    with pytest.raises(ModelError, match="is not linear in S'"):
        liaison.read("let p = body mass = 1 kg end ; let S = join earth and p with link(x) "
                     "dof = [x, 0, 0] end ; require S.x'^2 <= 1 m^2/s^2 ;")  # fmt: skip
