"""The inline sine and cosine are within one unit in the last place of the truth."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from flint import arb, ctx
from program_samples import program_of

from liaison.expr import cos, sin, symbol
from liaison.program import to_llvm

RANDOM = np.random.default_rng(5)
COUNT = 240


def near_quarter_turns():
    turns = RANDOM.integers(-63661, 63661, COUNT)
    return np.array([float(arb.pi() * int(n) / 2) for n in turns])


RANGES = {
    "one radian": RANDOM.uniform(-1, 1, COUNT),
    "turns": RANDOM.uniform(-100, 100, COUNT),
    "all of the reach": RANDOM.uniform(-1e5, 1e5, COUNT),
    "quarter turns": near_quarter_turns(),
    "edges of the octant": (RANDOM.integers(-1000, 1000, COUNT) + 0.5) * (math.pi / 2),
    "tiny": 10.0 ** RANDOM.uniform(-300, -2, COUNT),
    "beyond the reach": 10.0 ** RANDOM.uniform(5, 300, COUNT),
    "just beyond the reach": RANDOM.uniform(1e5, 1e7, COUNT),
}


def kernel_of(angles):
    q = [symbol(f"q[{i}]") for i in range(angles)]
    return to_llvm(program_of([f(x) for x in q for f in (sin, cos)]), optimize=2)


def ulps(x, got, exact):
    ctx.prec = 1200 if abs(x) > 1e5 else 200
    truth = exact(arb(x))
    unit = math.ulp(abs(float(truth)))
    return abs(float((arb(got) - truth) / arb(unit)))


@pytest.mark.parametrize("angles", [1, 2, 3, 8])
@pytest.mark.parametrize("name", RANGES)
def test_within_one_unit_in_the_last_place(angles, name):
    x = RANGES[name].reshape(-1, angles)
    y = kernel_of(angles)("f", q=x).reshape(-1, angles, 2)
    worst = max(
        max(ulps(a, s, arb.sin), ulps(a, c, arb.cos))
        for a, (s, c) in zip(x.ravel().tolist(), y.reshape(-1, 2).tolist(), strict=True)
    )
    assert worst <= 1.0


@pytest.mark.parametrize("angles", [1, 8])
def test_the_double_nearest_to_a_quarter_turn(angles):
    """5e-19 from a multiple of π/2, 1e256 turns away: what is left has nearly all its digits."""
    x = 6381956970095103.0 * 2.0**797
    y = kernel_of(angles)("f", q=np.full(angles, x)).reshape(-1, 2)
    ctx.prec = 1200
    for got, exact in zip(y.T, (arb.sin, arb.cos), strict=True):
        np.testing.assert_allclose(got, float(exact(arb(x))), rtol=2e-15)


@pytest.mark.parametrize("angles", [1, 3, 8])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e22, -0.0, 0.0, 1e5, -1e5])
def test_special_angles_in_one_lane_leave_the_others_alone(angles, value):
    x = np.linspace(0.5, 1.5, angles)
    x[-1] = value
    y = kernel_of(angles)("f", q=x)
    with np.errstate(invalid="ignore"):
        expected = np.column_stack([np.sin(x), np.cos(x)]).ravel()
    np.testing.assert_allclose(y, expected, rtol=4e-16)
    assert np.signbit(y[-2]) == np.signbit(expected[-2]) or math.isnan(y[-2])


@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_narrower_vectors_give_the_same(lanes, monkeypatch):
    x = RANGES["turns"][:56].reshape(-1, 7)
    wide = kernel_of(7)("f", q=x)
    monkeypatch.setattr(sys.modules["liaison.program.llvm.to_llvm"], "vector_lanes", lambda: lanes)
    np.testing.assert_array_equal(kernel_of(7)("f", q=x), wide)


def test_angles_that_need_other_sines_are_computed_after_them():
    q = [symbol(f"q[{i}]") for i in range(4)]
    nested = [sin(cos(q[0]) + q[1]), cos(sin(q[2]) * q[3]), sin(q[0] + q[1] + q[2])]
    x = RANDOM.normal(size=(20, 4))
    got = to_llvm(program_of(nested), optimize=0)("f", q=x)
    a, b, c, d = x.T
    expected = [np.sin(np.cos(a) + b), np.cos(np.sin(c) * d), np.sin(a + b + c)]
    # an angle of size 3 has an absolute rounding of 4e-16
    np.testing.assert_allclose(got, np.column_stack(expected), rtol=0, atol=2e-15)
