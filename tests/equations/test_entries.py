"""Entries of the lowered program against each other: charts, projections, rates, outputs."""

from dataclasses import replace

import numpy as np
import pytest

from liaison.equations import newton_euler
from liaison.expr import symbol
from liaison.model import Event, Output
from liaison.program import to_numpy
from liaison.program.lower import lower
from liaison.tree import span
from samples import relative_difference, sample, solved, some
from samples.derived import Solved

SEEDS = some(range(16), 7)
EXACT = 1e-12
ROUNDING = 1e-9


def small(x: Solved, seed: int, size: float) -> np.ndarray:
    return size * np.random.default_rng(seed).uniform(-1, 1, len(x.at["v"]))


@pytest.mark.parametrize("seed", SEEDS)
def test_difference_undoes_retract(seed):
    x = solved(seed)
    xi = small(x, seed, 0.7)
    q1 = x.call("retract", x=xi)["q"]
    assert relative_difference(x.call("difference", x=q1)["xi"], xi) < EXACT
    still = x.call("retract", x=np.zeros_like(xi))["q"]
    assert relative_difference(still, x.at["q"]) < EXACT
    assert np.max(np.abs(x.call("difference", x=x.at["q"])["xi"])) < EXACT


@pytest.mark.parametrize("seed", SEEDS)
def test_rate_is_forward_dynamics_where_the_chart_leads(seed):
    x = solved(seed)
    xi = small(x, seed, 0.3)
    found = x.call("rate", x=xi)
    q1 = x.call("retract", x=xi)["q"]
    assert relative_difference(found["vdot"], x.call("forward", q=q1)["vdot"]) < ROUNDING
    # ξ̇ is the rate at which the chart's point moves with v: by differences, to h² and 1e-16/h
    h = 1e-5
    ahead = x.call("retract", x=xi + h * found["xidot"])["q"]
    behind = x.call("retract", x=xi - h * found["xidot"])["q"]
    moved = Solved(x.sample)
    moved.__dict__.update(equations=x.equations, kernel=x.kernel, at=x.at | {"q": q1})
    along = (
        moved.call("retract", x=h * x.at["v"])["q"],
        moved.call("retract", x=-h * x.at["v"])["q"],
    )
    assert relative_difference((ahead - behind) / (2 * h), (along[0] - along[1]) / (2 * h)) < 1e-7


@pytest.mark.parametrize("seed", SEEDS)
def test_positions_are_brought_back_quadratically(seed):
    x = solved(seed)
    if not len(x.call("closure")["phi"]):
        pytest.skip("a tree")
    q = x.call("retract", x=small(x, seed, 1e-4))["q"]
    first = x.call("correct_q", q=q)
    assert first["worst"][0] == np.max(np.abs(x.call("closure", q=q)["phi"]))
    back = x.call("retract", q=q, x=first["delta"])["q"]
    second = x.call("correct_q", q=back)
    assert second["worst"][0] < 1e3 * first["worst"][0] ** 2 + EXACT


@pytest.mark.parametrize("seed", SEEDS)
def test_speeds_are_brought_back_at_once_and_by_the_shortest_way(seed):
    x = solved(seed)
    v = x.at["v"] + small(x, seed, 0.5)
    found = x.call("correct_v", v=v)
    after = x.call("closure", v=v + found["delta"])["rate"]
    assert np.max(np.abs(after), initial=0.0) < EXACT
    # shortest in the metric of M: M δ is a combination of the rows of G
    M, G = x.terms["M"], x.terms["G"]
    lam = np.linalg.lstsq(G.T, M @ found["delta"], rcond=None)[0] if len(G) else np.zeros(0)
    assert relative_difference(G.T @ lam, M @ found["delta"]) < ROUNDING


@pytest.mark.parametrize("seed", SEEDS)
def test_outputs_and_events_may_name_any_coordinate(seed):
    m = sample(seed).mechanism
    labels = [x for joint in m.joints for x in joint.coordinates]
    formulas = [symbol(x) * 2 + symbol("t") for x in labels]
    asked = replace(
        m,
        outputs=tuple(Output(f"seen {x}", f) for x, f in zip(labels, formulas, strict=True)),
        events=tuple(Event(f"at {x}", f) for x, f in zip(labels, formulas, strict=True)),
    )
    kernel = to_numpy(lower(newton_euler(span(asked))))
    s = replace(sample(seed), mechanism=asked)
    at = s.at(kernel.program)
    expected = [2 * s.q[x] + s.t for x in labels]
    assert kernel("outputs", **at) == pytest.approx(expected, abs=EXACT)
    assert kernel("events", **at) == pytest.approx(expected, abs=EXACT)
    forward = kernel.call("forward", **at)
    found = Solved(s).accelerations(forward["vdot"])
    assert relative_difference(found, solved(seed).accelerations()) < ROUNDING


@pytest.mark.parametrize("seed", SEEDS)
def test_velocity_products_do_half_the_work_of_a_changing_mass(seed):
    """Ṁ − 2 C is skew: vᵀ (h(v) − h(0)) = ½ vᵀ Ṁ v, Ṁ along v by central differences."""
    x = solved(seed)
    v, h = x.at["v"], 1e-5
    M = [x.call("mass_matrix", q=x.call("retract", x=s * v)["q"])["M"] for s in (h, -h)]
    change = ((M[0] - M[1]) / (2 * h)).reshape(len(v), len(v))
    bias = x.call("bias")["h"] - x.call("bias", v=0 * v)["h"]
    assert v @ bias == pytest.approx(v @ change @ v / 2, rel=1e-6, abs=1e-6)
