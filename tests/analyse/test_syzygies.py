"""Ψ by syzygies: it lies in the kernel of Δ wherever the mechanism closes, and spans it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison import polynomial_psi
from liaison.errors import DerivationError
from liaison.expr import evaluate
from liaison.freedoms.engines.ideal import Limits

EXAMPLES = Path(__file__).parents[2] / "examples"
ANGLES = {
    "slider_crank": [{"A": 0.4}, {"A": 1.9}],
    "slider_crank_offset": [{"A": 0.4}],
    "four_bar": [{"A": 0.3}, {"A": 1.2}, {"A": 2.5}],
    "saliere": [{"C1": 0.7}, {"C1": 1.3}],
}


@pytest.mark.parametrize("name", ANGLES)
def test_columns_span_the_kernel_at_every_position(name):
    mechanism = liaison.read(EXAMPLES / f"{name}.lsd")
    psi = polynomial_psi(mechanism)
    assert psi.columns
    bare = replace(mechanism, forces=(), starts=(), outputs=(), events=())
    tree, kernel = liaison.span(bare), liaison.compile(bare)
    for start in ANGLES[name]:
        state = liaison.assemble(tree, **start)
        n = len(psi.velocities)
        G = kernel.call("terms", q=state.q, v=np.zeros(n))["G"].reshape(-1, n)
        at = dict(zip(psi.coordinates, state.q, strict=True))
        P = np.array([evaluate(list(column), at) for column in psi.columns], dtype=float).T
        assert np.abs(G @ P).max() <= 1e-12 * np.abs(P).max()
        assert np.linalg.matrix_rank(P, 1e-9) == n - np.linalg.matrix_rank(G, 1e-9)


def test_bounds_give_no_answer_and_no_wrong_one():
    mechanism = liaison.read(EXAMPLES / "four_bar.lsd")
    psi = polynomial_psi(mechanism, limits=Limits(3, 3, 3))
    assert psi.columns is None
    assert "pass the limits" in psi.why


@pytest.mark.parametrize("name", ["pendulum", "rolling_disc"])
def test_without_a_variety_it_is_refused(name):
    with pytest.raises(DerivationError, match="no loop"):
        polynomial_psi(liaison.read(EXAMPLES / f"{name}.lsd"))
