"""Rows of many closures that depend on each other: what singular values say of them."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from test_many_bodies import by_both

import liaison
from liaison.program.many import closed_kernel
from liaison.program.many.closed_kernel import envelope_of
from liaison.program.many.row_pattern import RowPattern
from liaison.simulation.loose_rows import SparseRows, _colors, loose_rows
from liaison.tree import span
from liaison.verbs import ready
from liaison.verbs.assembling import is_obstructed_start

SAME = 1e-9  # relative


def sparse_rows(G):
    """The loops of a matrix, its numbers, and the lengths of its rows."""
    at = np.nonzero(G)
    near = [{int(x) for x in np.flatnonzero((G @ G.T)[k]) if x != k} for k in range(len(G))]
    envelope = envelope_of(near, [1] * len(G))
    pattern = RowPattern(
        *at, G.shape[1], envelope.order, envelope.first, envelope.start, envelope.size, ()
    )
    kernel = SimpleNamespace(program=SimpleNamespace(facts={"rows": lambda: pattern}))
    sparse = SparseRows(kernel)
    values = sparse.sorted(G[at][None])
    return sparse, values, sparse.lengths(values)


def chained(draw, parts=6):
    """Blocks of rows that share velocities with the next; in some a row follows from two others."""
    G = np.zeros((4 * parts, 5 * parts + 2))
    for k in range(parts):
        own = draw.normal(size=(4, 7))
        if k % 2:
            own[draw.integers(4)] = 0.0
            own[3] = own[0] - 3.0 * own[1] + 0.5 * own[2]
        G[4 * k : 4 * k + 4, 5 * k : 5 * k + 7] = own
    return G * draw.uniform(0.1, 10.0, size=(len(G), 1))


@pytest.mark.parametrize("seed", range(4))
def test_null_vectors_are_those_of_singular_values(seed):
    G = chained(np.random.default_rng(seed))
    sparse, values, length = sparse_rows(G)
    scale = np.where(length > 0.0, length, np.inf)
    (group,) = loose_rows(sparse, values, scale, 1e-9)
    count = len(group.begins) - 1
    N = np.zeros((len(G), count))
    N[group.rows, group.owners] = group.values[0]
    s = np.linalg.svd(G, compute_uv=False)
    assert count == len(G) - np.count_nonzero(s > 1e-9 * s[0]) == np.linalg.matrix_rank(N)
    assert np.max(np.abs(G.T @ N)) < 1e-12 * np.max(np.abs(N)) * np.max(np.abs(G))
    for a, b in itertools.pairwise(group.begins):  # none reaches beyond its own block
        assert len({int(row) // 4 for row in group.rows[a:b]}) == 1
    lam = np.random.default_rng(1).normal(size=(1, len(G)))
    shortest = group.shortest(lam, np.where(length > 0.0, length, 1.0))
    scaled = np.diag(np.where(length > 0.0, length, 1.0)[0])
    best = lam[0] - N @ np.linalg.lstsq(scaled @ N, scaled @ lam[0], rcond=None)[0]
    np.testing.assert_allclose(shortest[0], best, atol=1e-11)


@pytest.mark.parametrize("nearly", [1e-5, 1e-6, 1e-8])
def test_what_is_nearly_dependent_is_not_dependent(nearly):
    draw = np.random.default_rng(5)
    G = draw.normal(size=(6, 9))
    G[5] = G[0] - G[3] + nearly * draw.normal(size=9)
    sparse, values, length = sparse_rows(G)
    assert not loose_rows(sparse, values, length, 1e-9)
    assert len(loose_rows(sparse, values, length, 10 * nearly)) == 1
    eigenvalues = np.linalg.eigvalsh(G @ G.T)
    assert sparse.largest_eigenvalue(values[0]) == pytest.approx(eigenvalues[-1], rel=0.02)
    for shift in (1e-4, 0.5, 4.0, 100.0):
        assert sparse.below(values[0], shift) == np.count_nonzero(eigenvalues < shift)


def test_vectors_of_a_color_load_no_joint_in_common():
    reach = [np.array([k, k + 1, k + 2]) for k in range(50)]
    colors = _colors(reach)
    assert len(colors) == 3
    assert sorted(x for color in colors for x in color) == [*range(50)]
    for color in colors:
        joints = [x for k in color for x in reach[k]]
        assert len(joints) == len(set(joints))


def parallel(n, more=""):
    """Parallelograms in a row; a gear between two of their cranks says again what bars say."""
    rod = "inertia = [0.1, 0.1, 0.1] kg*m^2 end"
    text = "gravity = [1, -9.81, 0] m/s^2 ;\n"
    for i in range(n + 1):
        text += (
            f"let p{i} = body mass = {1 + i % 3} kg, center = [0, 0.5, 0] m, {rod} ;\n"
            f"let A{i} = join [{i}, 0, 0] m @ earth and p{i} with revolute axis = [0, 0, 1] end ;\n"
        )
    for i in range(n):
        text += (
            f"let t{i} = body mass = 1 kg, center = [0.5, 0, 0] m, {rod} ;\n"
            f"let B{i} = join [0, 1, 0] m @ p{i} and t{i} with revolute axis = [0, 0, 1] end ;\n"
            f"let C{i} = join [1, 0, 0] m @ t{i} and [0, 1, 0] m @ p{i + 1} with revolute "
            "axis = [0, 0, 1] end ;\n"
        )
    return text + f"start A0 = 0.3 ;\nstart A0' = 1 rad/s ;\n{more}"


GEARED = parallel(4, "require A0 - A1 = 0 ;\nrequire 2*A2 - 2*A3 = 0 ;\nrequire A2 - A4 = 0 ;\n")


def test_reactions_and_what_is_not_determined_of_them(monkeypatch):
    """Also of mechanisms too large for a dense G."""
    monkeypatch.setattr(closed_kernel, "DENSE", 3)
    series = ("reactions", "lam")
    looped, unrolled = by_both(
        monkeypatch,
        lambda: liaison.simulate(GEARED, until=0.2, step=0.01, every=0.1, series=series),
    )
    assert looped.meta["equations"] != unrolled.meta["equations"]
    for name in series:
        mine, theirs = looped.series[name], unrolled.series[name]
        assert mine.axes == theirs.axes
        largest = np.max(np.abs(theirs.values))
        np.testing.assert_allclose(mine.values, theirs.values, rtol=0, atol=SAME * largest)
        np.testing.assert_array_equal(mine.undetermined, theirs.undetermined)
        assert theirs.undetermined.any()
        assert not theirs.undetermined.all()
    stresses = [run.series["self_stress"].values for run in (looped, unrolled)]
    ranks = [np.linalg.matrix_rank(x, tol=1e-9, hermitian=True) for x in stresses]
    np.testing.assert_array_equal(*ranks)


def test_starts_of_rows_that_depend(monkeypatch):
    """Gears that say what bars say lead nowhere but along the motion."""
    monkeypatch.setattr(ready, "UNROLLED", 3)
    tree = span(liaison.read(GEARED))
    kernel = ready.looped_kernel(tree)
    state = ready.assembled(tree, kernel, {})
    assert not is_obstructed_start(kernel, state)
    np.testing.assert_allclose(state.v[:1], 1.0)
