"""Looped loops: closed mechanisms by blocks and tables give what unrolled elimination does."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from liaison.equations import blocks_of, newton_euler
from liaison.errors import DerivationError, ProgramError
from liaison.program import looped_loops, lower, to_llvm
from liaison.program.many.block_arrays import ordered
from liaison.tree import assemble, span
from samples import chain, relative_difference, sample, some

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from n_four_bar import n_four_bar

KINDS = ("Revolute", "Prismatic", "Cylindrical", "Spherical")
CLOSING = ("Revolute", "Spherical", "Cylindrical", "Prismatic", "Planar")
DRAWN = {"loads": False, "relations": False, "kinds": KINDS, "closing": CLOSING, "bodies": (3, 6)}


def both(tree, q, v, tau):
    """v̇ by looped blocks, and by least squares on M and G as newton_euler derives them."""
    terms = to_llvm(lower(newton_euler(tree))).call("terms", q=q, v=v)
    nv = len(v)
    M, G = terms["M"].reshape(nv, nv), terms["G"].reshape(-1, nv)
    K = np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]])
    right = np.concatenate([terms["f"] + tau, terms["gamma"]])
    return looped_loops(blocks_of(tree)).forward(q, v, tau)[0], np.linalg.lstsq(
        K, right, rcond=1e-12
    )[0][:nv]


@pytest.mark.parametrize("seed", some(range(12), 5))
def test_random_closed_mechanisms_move_as_unrolled_ones(seed):
    drawn = sample(seed, loops=(1, 2), **DRAWN)
    tree = span(drawn.mechanism)
    at = drawn.at(tree)
    q, v = at["q"], at["v"]
    ours, unrolled = both(tree, q, v, np.random.default_rng(seed).normal(size=len(v)))
    # cond(K) is drawn up to 1e6: ten digits are left of sixteen
    assert relative_difference(ours, unrolled) < 1e-9


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_four_bars_in_space_have_redundant_rows(n):
    """Five rows close a loop of parallel hinges where two would do; thin rods have singular I."""
    tree = span(n_four_bar(n))
    state = assemble(tree, A0=-0.4)
    tau = np.random.default_rng(n).normal(size=state.v.size)
    ours, unrolled = both(tree, state.q, state.v, tau)
    assert relative_difference(ours, unrolled) < 1e-10


def test_a_tree_without_loops():
    tree = span(chain(9, branching=1.5, skew=0.6))
    q, v, tau = np.random.default_rng(2).uniform(-1, 1, (3, 9))
    ours, unrolled = both(tree, q, v, tau)
    assert relative_difference(ours, unrolled) < 1e-9


def test_multipliers_hold_the_closures():
    """Without gravity and at rest nothing is to be held; a force on a joint is."""
    tree = span(n_four_bar(2))
    state = assemble(tree, A0=-0.4)
    made = looped_loops(blocks_of(tree))
    _, lam = made.forward(state.q, 0 * state.v)
    assert lam.shape == (10,)
    assert np.abs(lam).max() > 1.0  # weights rest on the joints that are cut


def test_fill_does_not_grow_with_the_loops():
    """Least degree eliminates a chain of loops from its ends: no block meets more than a few."""
    degrees = []
    for n in (10, 200):
        pivots = looped_loops(blocks_of(span(n_four_bar(n)))).arrays.tables.order.pivots
        degrees.append(int((pivots[:, 2] - pivots[:, 1]).max()))
    assert degrees[0] == degrees[1] <= 4


def test_rows_wait_for_a_body():
    """Two bodies and a row between them: the row is never first."""
    made = ordered([{2}, {2}, {0, 1}], [False, False, True])
    assert made.place[2] > min(made.place[:2])


@pytest.mark.slow
def test_ten_thousand_bodies():
    """5000 loops: the same acceleration as the limit that shorter chains approach."""
    found = []
    for n in (1000, 5000):
        tree = span(n_four_bar(n))
        signs = np.array([-1.0 if x.name[0] == "A" else 1.0 for x in tree.position_labels()])
        found.append(looped_loops(blocks_of(tree)).forward(0.3 * signs, signs)[0][0])
    assert found[0] == pytest.approx(found[1], rel=1e-4)


def test_what_it_does_not_know_is_refused(examples):
    from liaison.formats import read

    with pytest.raises(DerivationError, match=r"loads|relations"):
        blocks_of(span(read(examples / "stewart.lsd")))


def test_wrong_arguments_are_refused():
    made = looped_loops(blocks_of(span(n_four_bar(1))))
    with pytest.raises(ProgramError, match="takes 3 numbers in 'q'"):
        made.forward(np.zeros(2), np.zeros(3))
    with pytest.raises(ProgramError, match="not finite"):
        made.forward(np.full(3, np.nan), np.zeros(3))
