"""Closed mechanisms of many bodies as loops: what unrolled code gives, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest

import liaison
from liaison.equations import newton_euler
from liaison.equations.sweeps.looped_tree import looped_tree
from liaison.errors import DerivationError
from liaison.program import lower, to_numpy
from liaison.program.many.closed_kernel import closed_kernel, envelope_of
from liaison.tree import span
from samples import relative_difference, sample, some

CLOSED = {"loops": (1, 3), "loads": False, "relations": False, "bodies": (3, 6)}
SAME = 1e-11  # relative: other sums, and another order of elimination

OF_LOOPS = {"close_q", "close_v", "rows", "lightness"}  # unrolled code has G for these


def same_entries(tree, at, seed, same=SAME):
    looped, unrolled = closed_kernel(looped_tree(tree)), to_numpy(lower(newton_euler(tree)))
    assert looped.program.labels == unrolled.program.labels
    assert looped.program.facts["vanished"] == unrolled.program.facts["vanished"]
    forward = unrolled("forward", **at)[:-1]
    rng = np.random.default_rng(seed)
    xi = 0.3 * rng.normal(size=tree.nv)
    rows = looped.program.sizes["nc"] + len(looped.program.facts["vanished"])
    extra = {
        "motions": forward[: tree.nv], "reactions": forward, "rate": xi, "retract": xi,
        "self_stress": rng.normal(size=rows),
    }  # fmt: skip
    for name, entry in looped.program.entries.items():
        if name not in OF_LOOPS:
            assert entry.layout == unrolled.program.entry(name).layout, name
            x = extra.get(name, ())
            mine, theirs = looped(name, **at, x=x), unrolled(name, **at, x=x)
            assert relative_difference(mine, theirs) < same, name
    same_rows(looped, at)


def same_rows(looped, at):
    """Numbers of G along paths lie where their pattern says; γ; the diagonal of G M⁻¹ Gᵀ."""
    sizes, dense, rows = looped.program.sizes, looped.call("terms", **at), looped.call("rows", **at)
    nv, pattern = sizes["nv"], looped.program.facts["rows"]()
    G = np.zeros((sizes["nc"], nv))
    G[pattern.rows, pattern.columns] = rows["G"]
    np.testing.assert_array_equal(G, dense["G"].reshape(-1, nv))
    np.testing.assert_array_equal(rows["gamma"], dense["gamma"])
    M = dense["M"].reshape(nv, nv)
    if np.all(np.diag(M) > 0):  # velocities that cut joints keep have none
        square = np.einsum("ki,ij,kj->k", G, np.linalg.inv(M), G)
        np.testing.assert_allclose(looped("lightness", **at), square, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("seed", some([0, 4, 5, 10, 13, 16, 21, 29, 39], 2))
def test_loops_equal_unrolled_code_on_random_closed_mechanisms(seed):
    drawn = sample(seed, **CLOSED)
    tree = span(drawn.mechanism)
    assert tree.closures
    same_entries(tree, drawn.at(tree), seed)


@pytest.mark.parametrize("seed", some([4, 11, 18], 1))
def test_cut_joints_with_loads_keep_their_coordinates(seed):
    drawn = sample(seed, **CLOSED | {"loads": True})
    tree = span(drawn.mechanism)
    assert any(closure.ghost is not None for closure in tree.closures)
    same_entries(tree, drawn.at(tree), seed)


def ladder(n):
    """Four-bars on one another, on a base that turns: every loop is seen by those above it."""
    rod = "center = [0, 0.5, 0] m, inertia = [0.1, 0.02, 0.1] kg*m^2"
    text = (
        "gravity = [0.3, -9.81, 0.2] m/s^2 ;\n"
        "let s0 = body mass = 2 kg, center = [0.4, 0.2, 0] m, "
        "inertia = [0.1, 0.2, 0.1] kg*m^2 end ;\n"
        "let B = join earth and s0 with ball end ;\n"
    )
    for i in range(1, n + 1):
        text += (
            f"let l{i} = body mass = 1 kg, {rod} end ;\n"
            f"let r{i} = body mass = 1.5 kg, {rod} end ;\n"
            f"let s{i} = body mass = 1 kg, center = [0.5, 0, 0] m, "
            "inertia = [0.02, 0.1, 0.1] kg*m^2 end ;\n"
            f"let L{i} = join s{i - 1} and l{i} with revolute axis = [0, 0, 1] end ;\n"
            f"let R{i} = join [1, 0, 0] m @ s{i - 1} and r{i} with revolute "
            "axis = [0, 0, 1] end ;\n"
            f"let T{i} = join [0, 1, 0] m @ l{i} and s{i} with revolute axis = [0, 0, 1] end ;\n"
            f"let C{i} = join [0, 1, 0] m @ r{i} and [1, 0, 0] m @ s{i} with revolute "
            "axis = [0, 0, 1] end ;\n"
            f"start L{i} = {0.2 + 0.1 * i} ;\n"
        )
    return text


def test_rows_that_vanish_in_the_axes_of_a_body_that_moves():
    tree = span(liaison.read(ladder(3)))
    state = liaison.assemble(tree, **{"L1'": 0.4, "L2'": -0.3})
    v = np.array(state.v)
    v[:3] = [0.5, -0.4, 0.8]
    at = {"q": state.q, "v": v}
    kernel = closed_kernel(looped_tree(tree))
    assert len(kernel.program.facts["vanished"]) == 9  # each loop is plane, on a base that turns
    same_entries(tree, at, 1)


def test_rotors_states_of_loads_and_tendons_of_a_closed_mechanism():
    text = (
        ladder(2)
        + """
    apply armature inertia = 0.3 kg*m^2 end on L1 ;
    let z = apply state rate = (L2' - z)/(0.1 s), unit = "rad/s" end ;
    apply motor torque = z*(0.3 N*m*s/rad) end on T1 ;
    apply damper coefficient = 2 N*s/m end on cable(10 cm, L1, -20 cm, T2) ;
    """
    )
    tree = span(liaison.read(text))
    state = liaison.assemble(tree, **{"L1'": 0.4, "L2'": -0.3, "z": 0.7})
    assert not any(closure.ghost is not None for closure in tree.closures)
    same_entries(tree, {"q": state.q, "v": state.v}, 2)


def test_a_row_that_holds_nothing_and_is_off_is_left_to_unrolled_code():
    text = ladder(1).replace("[1, 0, 0] m @ s1 with", "[1, 0, 0.1] m @ s1 with")
    with pytest.raises(DerivationError, match="cannot hold"):
        closed_kernel(looped_tree(span(liaison.read(text))))


INERTIA = "inertia = [1, 1, 1] kg*m^2"


def test_rows_that_depend_on_each_other_ask_nothing():
    """A bar more between two sides of a parallelogram: its rows are there twice."""
    n_four = (
        "gravity = [0, -9.81, 0] m/s^2 ;\n"
        + "".join(
            f"let r{i} = body mass = 1 kg, center = [0, 0.5, 0] m, {INERTIA} end ;\n"
            f"let A{i} = join [{i}, 0, 0] m @ earth and r{i} with revolute axis = [0, 0, 1] end ;\n"
            for i in range(2)
        )
        + "".join(
            f"let t{i} = body mass = 1 kg, center = [0.5, 0, 0] m, {INERTIA} end ;\n"
            f"let B{i} = join [0, {y}, 0] m @ r0 and t{i} with revolute axis = [0, 0, 1] end ;\n"
            f"let C{i} = join [1, 0, 0] m @ t{i} and [0, {y}, 0] m @ r1 with revolute "
            "axis = [0, 0, 1] end ;\n"
            for i, y in enumerate((1, 0.5))
        )
        + "start A0 = -0.4 ;\nstart A0' = 1.5 rad/s ;\n"
    )
    tree = span(liaison.read(n_four))
    state = liaison.assemble(tree)
    looped, unrolled = closed_kernel(looped_tree(tree)), to_numpy(lower(newton_euler(tree)))
    at = {"q": state.q, "v": state.v}
    mine, theirs = looped.call("forward", **at), unrolled.call("forward", **at)
    assert relative_difference(mine["vdot"], theirs["vdot"]) < SAME
    assert mine["residual"][0] < 1e-10
    G = looped.call("terms", **at)["G"].reshape(-1, tree.nv)
    assert np.linalg.matrix_rank(G) < len(G)
    push = G.T @ (mine["lam"] - theirs["lam"])  # what they do is the same, whatever they are
    assert np.max(np.abs(push)) < 1e-9 * np.max(np.abs(theirs["lam"]))


def test_blocks_that_touch_are_close_in_an_envelope():
    n = 50
    ring = [{(k - 1) % n, k, (k + 1) % n} for k in range(n)]
    envelope = envelope_of(ring, [2] * n)
    assert sorted(envelope.order) == list(range(2 * n))
    assert np.max(np.arange(2 * n) - envelope.first) <= 5  # two neighbours on either side
    assert envelope.size <= 2 * n * 6
