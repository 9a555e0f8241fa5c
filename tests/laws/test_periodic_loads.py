"""Loads on an angle whose turns nothing counts: periodic laws act through half a turn."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liaison
from liaison.errors import DerivationError
from liaison.expr import cos, exp, is_periodic, sin, symbol, tan
from liaison.model import Angle, Measure
from liaison.model.loads.load import AlongMeasure

x, c = symbol("x"), symbol("c")


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (sin(x), True), (cos(3 * x + c) * exp(sin(x)), True), (tan(x / 2), True),
        (sin(-2.0 * x) + c, True), (c, True), (x, False), (sin(x / 2), False),
        (x * sin(x), False), (sin(c * x), False), (sin(x * x), False),
        (cos(x) + sin(x + x**2), False),
    ],
)  # fmt: skip
def test_formulas_that_stay_the_same_after_a_turn(formula, expected):
    assert is_periodic([formula], x) is expected


@dataclass(frozen=True, slots=True)
class Detent(AlongMeasure):
    """An effort −k sin(n x), as of a magnet."""

    name: str
    measure: Measure
    k: Any
    n: Any = 1
    place: Any = None

    SCALARS = ("k", "n")
    KEEPS_ENERGY = True

    def effort_at(self, x, rate, read):
        return -read(self.k) * sin(read(self.n) * x)

    def energy_at(self, x, read):
        return read(self.k) * (1 - cos(read(self.n) * x)) / read(self.n)


def spinning(n):
    """A body on a ball, 2 kg·m² about z, turned by a magnet on its angle about z."""
    top = liaison.body("top", mass=1, inertia=(1, 1, 2))
    ball = liaison.join(liaison.ground, top, liaison.Spherical(), name="S")
    angle = Angle(liaison.Marker("ground"), liaison.Marker("top"))
    return liaison.mechanism(ball, Detent("magnet", angle, 3.0, n), name="magnet")


@pytest.mark.parametrize("n", [1, 3])
def test_a_magnet_turns_a_ball_through_half_turns(n):
    """2 θ'' = −3 sin nθ, against SciPy, over two turns; energy is kept."""
    run = liaison.simulate(spinning(n), until=4, every=0.1, start={"S.wz": 4.0}, rtol=1e-11)
    truth = solve_ivp(lambda t, y: [y[1], -1.5 * np.sin(n * y[0])], (0, 4), [0, 4.0],
                      t_eval=run.t, method="DOP853", rtol=1e-13, atol=1e-13)  # fmt: skip
    assert truth.y[0, -1] > 4 * np.pi
    assert np.max(np.abs(run.v[:, 2] - truth.y[1])) < 1e-8
    assert np.ptp(run["energy"].sum(axis=1)) < 1e-8


def test_a_law_that_jumps_after_a_turn_is_refused():
    with pytest.raises(DerivationError, match="jumps from 180 to -180"):
        liaison.simulate(spinning(0.5), until=1)
