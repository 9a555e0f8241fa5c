"""Forward dynamics of a tree goes by the shorter way, and both ways end at the same place."""

from __future__ import annotations

import numpy as np
import pytest

from liaison.equations import newton_euler
from liaison.program import lower, to_numpy
from liaison.program.lower import DEEP, SHALLOW
from liaison.tree import span
from samples.chains import chain


def depth(equations):
    return len(equations.dynamics.M) / len(equations.symbols.v)


@pytest.mark.parametrize(("n", "is_articulated"), [(4, False), (10, False), (14, True), (20, True)])
def test_short_chains_are_eliminated_and_long_ones_articulated(n, is_articulated):
    equations = newton_euler(span(chain(n, skew=1.0)))
    vdot = lower(equations).entry("forward").outputs[:n]
    recursion = equations.dynamics.articulated()
    assert (list(vdot) == recursion) == is_articulated


def test_the_chains_tried_lie_below_between_and_above_the_limits():
    depths = [depth(newton_euler(span(chain(n)))) for n in (4, 10, 14, 20)]
    assert depths[0] <= SHALLOW < depths[1] <= depths[2] <= DEEP < depths[3]


@pytest.mark.parametrize("n", [10, 14, 20])
def test_both_ways_solve_the_equations(n):
    kernel = to_numpy(lower(newton_euler(span(chain(n, skew=1.0)))))
    q, v = np.random.default_rng(0).normal(size=(2, n))
    vdot = kernel.call("forward", q=q, v=v)["vdot"]
    terms = kernel.call("terms", q=q, v=v)
    left = terms["M"].reshape(n, n) @ vdot
    # rounding, times the size of M v̇ against its terms
    scale = np.abs(terms["M"]).max() * np.abs(vdot).max()
    np.testing.assert_allclose(left, terms["f"], rtol=0, atol=1e-12 * scale)
