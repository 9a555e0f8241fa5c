"""Maximal coordinates by blocks and tables: long chains accelerate as articulated bodies do."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse.linalg
from numpy.testing import assert_allclose

from liaison.equations import blocks_of, maximal, sweeps
from liaison.equations.formalisms.maximal import star
from liaison.model import Quaternion
from liaison.program import looped, looped_loops, lower, to_numpy
from liaison.tree import span
from samples import chain

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
from bench_maximal import SKEW, hinge_rates, placed


@pytest.fixture(scope="module")
def long_chain():
    n = 3000
    tree = span(chain(n, skew=SKEW))
    loosened = star(tree, Quaternion())
    return tree, loosened, looped_loops(blocks_of(loosened))


def test_a_long_chain_is_refined_until_it_is_right(long_chain):
    """Three refinements leave 1e-8 of 4000 bodies; the two methods round to 1e-12 of 1000."""
    tree, loosened, made = long_chain
    n = tree.nv
    angles, rates = np.linspace(-0.5, 0.5, n), np.linspace(1, -1, n) / n
    vdot, multipliers = made.forward(*placed(loosened, angles, rates))
    own = np.asarray(looped(sweeps(tree)).forward(angles, rates, np.zeros(n)))
    error = np.abs(hinge_rates(loosened, vdot, angles) - own)
    assert len(multipliers) == 5 * n
    assert np.max(error) < 1e-9 * np.max(np.abs(own))


def test_scipy_solves_the_same_sparse_system():
    """M, G and γ as `maximal` differentiates them, by SuperLU; nine digits agree."""
    n = 12
    tree = span(chain(n, skew=SKEW))
    loosened = star(tree, Quaternion())
    q, v = placed(loosened, np.linspace(-0.5, 0.5, n), np.linspace(1, -1, n))
    terms = to_numpy(lower(maximal(tree))).call("terms", q=q, v=v)
    M, G = terms["M"].reshape(6 * n, 6 * n), terms["G"].reshape(-1, 6 * n)
    K = scipy.sparse.csc_array(np.block([[M, G.T], [G, np.zeros((5 * n, 5 * n))]]))
    found = scipy.sparse.linalg.spsolve(K, np.concatenate([terms["f"], terms["gamma"]]))
    vdot, multipliers = looped_loops(blocks_of(loosened)).forward(q, v)
    assert_allclose(vdot, found[: 6 * n], atol=1e-9 * np.max(np.abs(vdot)))
    assert len(multipliers) == len(found) - 6 * n
