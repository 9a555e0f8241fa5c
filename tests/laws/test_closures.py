"""Law 6: G v − ν = dΦ/dt and G v̇ − γ = d²Φ/dt², closed forms against formulas and differences.

The speeds and accelerations are any: the relations hold for all of them, not only for those that
satisfy the closures.
"""

import numpy as np
import pytest

from liaison.expr import as_expr, directional, evaluate
from samples import draw, relative_difference, solved, some
from samples.derived import Solved
from samples.drawing import values_of
from samples.random_parts import KINDS

SEEDS = some(range(24), 8)
EXACT = 1e-11
"""Two roads to the same products of numbers near 1."""


def any_motion(x: Solved, seed: int):
    rng = np.random.default_rng(seed)
    n = len(x.at["v"])
    return rng.normal(size=n), rng.normal(size=n)


def flow_of(equations) -> dict:
    symbols = equations.symbols
    qdot = [as_expr(0)] * len(symbols.q)
    for (i, j), entry in equations.kinematics.N.items():
        qdot[i] = qdot[i] + entry * symbols.v[j]
    flow = dict(zip(symbols.q, qdot, strict=True)) | {symbols.t: as_expr(1)}
    return flow | dict(zip(symbols.v, symbols.vdot, strict=True))


def rows_and_formulas(x: Solved, v, vdot):
    """(G v − ν, G v̇ − γ) by the closed forms, and by differentiating Φ or the speed relation."""
    equations = x.equations
    terms = x.call("terms", v=v)
    G = terms["G"].reshape(-1, len(v))
    n = len(equations.closures.phi)
    closed = np.concatenate([(G @ v - terms["nu"])[:n], G @ vdot - terms["gamma"]])
    flow = flow_of(equations)
    values = values_of(equations, x.at | {"v": v})
    values |= dict(zip(equations.symbols.vdot, vdot.tolist(), strict=True))
    first = directional(list(equations.closures.phi), flow)
    second = directional([*first, *equations.closures.rate[n:]], flow)
    found = evaluate([*first, *second], values)
    return closed, np.array([float(y) for y in found])


@pytest.mark.parametrize("formalism", ["newton_euler", "maximal"])
@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_the_derivatives_of_the_closures(seed, formalism):
    x = solved(seed, formalism)
    v, vdot = any_motion(x, seed)
    closed, formulas = rows_and_formulas(x, v, vdot)
    assert relative_difference(closed, formulas) < EXACT


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_are_the_differences_of_the_closures(seed):
    x = solved(seed)
    v, vdot = any_motion(x, seed)
    moving = Solved(x.sample)
    moving.__dict__.update(equations=x.equations, kernel=x.kernel, at=x.at | {"v": v})
    h = 1e-4  # rounding gives 1e-16/h² = 1e-8, the third and fourth rates h² times some tens
    phi = [moving.call("closure", **moving.moved(vdot, s))["phi"] for s in (-h, 0.0, h)]
    n = len(phi[0])
    terms = x.call("terms", v=v)
    G = terms["G"].reshape(-1, len(v))
    assert relative_difference((phi[2] - phi[0]) / (2 * h), (G @ v - terms["nu"])[:n]) < 1e-5
    second = (phi[2] - 2 * phi[1] + phi[0]) / h**2
    assert relative_difference(second, (G @ vdot - terms["gamma"])[:n]) < 1e-4


@pytest.mark.parametrize("seed", SEEDS)
def test_the_drawn_state_satisfies_the_closures(seed):
    for formalism in ("newton_euler", "maximal"):
        found = solved(seed, formalism).call("closure")
        assert np.max(np.abs(found["phi"]), initial=0.0) < 1e-12
        assert np.max(np.abs(found["rate"]), initial=0.0) < 1e-12


@pytest.mark.parametrize("kind", [name for name in KINDS if name not in ("Free",)])
def test_every_joint_type_closes_a_loop(kind):
    """By its own rows, and by the rows that tie its coordinates where somebody uses them."""
    kept = ("Spherical", "Planar", "Free", "ParallelAxes", "Perpendicular")
    for seed, loads in ((1, False), (2, True)):
        s = draw(seed, bodies=(2, 3), loops=(1, 1), kinds=kept, closing=(kind,), loads=loads)
        x = Solved(s, cuts=(f"j{len(s.mechanism.joints)}",))  # the joint that was fitted last
        v, vdot = any_motion(x, seed)
        closed, formulas = rows_and_formulas(x, v, vdot)
        assert relative_difference(closed, formulas) < EXACT
        assert relative_difference(x.accelerations(), Solved(s).accelerations()) < 1e-9
        assert relative_difference(x.dense[0], x.forward["vdot"]) < 1e-9
