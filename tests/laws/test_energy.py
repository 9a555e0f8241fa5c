"""Laws 1 to 5: energies, inverse and forward dynamics, power, momentum, on random mechanisms."""

import numpy as np
import pytest

from liaison.equations import Equations
from liaison.expr import as_expr, directional, evaluate
from samples import relative_difference, solved, some
from samples.drawing import values_of

SEEDS = some(range(20), 8)
ROUNDING = 1e-9
"""Sums of some hundred products of numbers near 1, in a system of condition up to 1e6."""


def numbers(equations: Equations, formulas, values) -> np.ndarray:
    return np.array([float(x) for x in evaluate([as_expr(f) for f in formulas], values)])


def flow_of(equations: Equations) -> dict:
    """Symbols and their rates: t, q along q̇ = N v, v along v̇."""
    symbols = equations.symbols
    qdot = [as_expr(0)] * len(symbols.q)
    for (i, j), entry in equations.kinematics.N.items():
        qdot[i] = qdot[i] + entry * symbols.v[j]
    flow = dict(zip(symbols.q, qdot, strict=True)) | {symbols.t: as_expr(1)}
    return flow | dict(zip(symbols.v, symbols.vdot, strict=True))


def values_at(x, vdot=None) -> dict:
    values = values_of(x.equations, x.at)
    vdot = x.dense[0] if vdot is None else vdot
    return values | dict(zip(x.equations.symbols.vdot, vdot.tolist(), strict=True))


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange"])
@pytest.mark.parametrize("seed", SEEDS)
def test_kinetic_energy_is_half_v_M_v(seed, formalism):
    x = solved(seed, formalism)
    M, v = x.terms["M"], x.at["v"]
    assert x.call("energy")["T"][0] == pytest.approx(v @ M @ v / 2, rel=ROUNDING)


@pytest.mark.parametrize("seed", SEEDS)
def test_mass_matrix_is_symmetric_and_positive_but_for_what_has_no_mass(seed):
    x = solved(seed)
    M = x.terms["M"]
    assert np.array_equal(M, M.T)
    massive = np.flatnonzero(np.diag(M))
    assert np.min(np.linalg.eigvalsh(M[np.ix_(massive, massive)])) > 0
    massless = np.flatnonzero(np.diag(M) == 0)
    assert not M[massless].any()


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange", "maximal"])
@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_dynamics_of_any_acceleration_is_M_vdot_minus_f(seed, formalism):
    x = solved(seed, formalism)
    vdot = np.random.default_rng(seed).normal(size=len(x.at["v"]))
    tau = x.call("inverse", x=vdot)["tau"]
    assert relative_difference(tau, x.terms["M"] @ vdot - x.terms["f"]) < ROUNDING


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_undoes_inverse_dynamics(seed):
    x = solved(seed)
    forward = x.forward
    left = x.call("inverse", x=forward["vdot"])["tau"]
    assert relative_difference(left, x.terms["G"].T @ forward["lam"]) < ROUNDING
    assert relative_difference(x.terms["G"] @ forward["vdot"], x.terms["gamma"]) < ROUNDING


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange", "maximal"])
@pytest.mark.parametrize("seed", SEEDS)
def test_bias_at_rest_is_the_slope_of_gravity(seed, formalism):
    x = solved(seed, formalism)
    still = {"v": np.zeros_like(x.at["v"])}
    equations, symbols = x.equations, x.equations.symbols
    U = equations.reports.energy[1]
    for load in equations.reports.setting.loads:  # springs and potentials are in τ, not in h
        U = U - as_expr(load.potential)
    slope = [as_expr(0)] * len(symbols.v)
    for (i, j), entry in equations.kinematics.N.items():
        slope[j] = slope[j] + entry * directional([U], {symbols.q[i]: as_expr(1)})[0]
    expected = numbers(equations, slope, values_of(equations, x.at))
    assert relative_difference(x.call("bias", **still)["h"], expected) < ROUNDING


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange"])
@pytest.mark.parametrize("seed", SEEDS)
def test_energy_changes_by_the_power_of_what_is_not_conservative(seed, formalism):
    x = solved(seed, formalism)
    equations = x.equations
    _, lam = x.dense
    change = numbers(
        equations, directional(equations.reports.energy, flow_of(equations)), values_at(x)
    )
    # τ without the part that springs and potentials give
    stored = [as_expr(load.potential) for load in equations.reports.setting.loads]
    along = flow_of(equations)
    given_back = sum(numbers(equations, directional(stored, along), values_at(x)))
    by_time = sum(
        numbers(equations, directional(stored, {equations.symbols.t: as_expr(1)}), values_at(x))
    )
    power = x.at["v"] @ x.call("applied")["tau"] + given_back - by_time
    by_closures = lam @ (x.terms["G"] @ x.at["v"])
    assert np.sum(change) - by_time == pytest.approx(
        power + by_closures, rel=ROUNDING, abs=ROUNDING
    )
    assert by_closures == pytest.approx(lam @ x.terms["nu"], rel=ROUNDING, abs=ROUNDING)
