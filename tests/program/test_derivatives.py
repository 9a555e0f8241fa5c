"""Derivatives of the dynamics against differences of high order and against the complex step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from liaison.equations import newton_euler
from liaison.expr import OPS, Domain, evaluate
from liaison.program import lower, to_llvm, to_numpy
from liaison.program.derivatives.derivatives import pattern
from liaison.tree import span
from samples import solved, some
from samples.chains import chain

STEP = 2e-3
STENCIL = ((1, 45 / 60), (2, -9 / 60), (3, 1 / 60))  # sixth order, central
CLOSE = 1e-7  # rounding over the step, times the condition of the drawn systems (at most 1e6)
EXACT = 1e-11  # the complex step subtracts nothing


class Complex(Domain):
    """Complex numbers, for formulas of analytic operations."""

    def constant(self, value):
        return complex(float(value))

    def from_value(self, value):
        return complex(value)

    def operation(self, node):
        assert node.op not in ("abs", "sign", "min", "max", "atan2", "select", "table")
        return OPS[node.op].array


def difference(f, size, directions):
    """∂f/∂ε_k column by column; f(k, ε) gives an array."""
    columns = []
    for k in range(directions):
        parts = [w * (f(k, n * STEP) - f(k, -n * STEP)) / STEP for n, w in STENCIL]
        columns.append(sum(parts))
    return np.array(columns).reshape(directions, size).T


def moved(kernel, at, name, k, amount):
    """The state with one number changed, positions along a velocity."""
    at = {key: np.array(value, dtype=float) for key, value in at.items()}
    if name == "q":
        xi = np.zeros(len(at["v"]))
        xi[k] = amount
        at["q"] = kernel("retract", q=at["q"], x=xi)
    else:
        at[name][k] += amount
    return at


def check(found, expected):
    scale = max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=0, atol=CLOSE * scale)


@pytest.mark.parametrize("seed", some([0, 3, 7, 1, 2], 3))
def test_forward_equals_differences_for_random_mechanisms(seed):
    x = solved(seed)
    kernel = to_llvm(x.kernel.program, optimize=0)
    sizes = kernel.program.sizes
    at = kernel.program.defaults | {"q": x.at["q"], "v": x.at["v"]}
    t = x.at["t"]
    found = kernel.call("d_forward", t, **at) | kernel.call("d_forward_p", t, **at)
    nv = sizes["nv"]
    for name, width in (("q", nv), ("v", nv), ("u", sizes["nu"]), ("p", sizes["np"])):

        def solution(k, amount, name=name):
            return kernel("forward", t, **moved(kernel, at, name, k, amount))[:-1]

        rows = nv + sizes["nc"]
        both = np.concatenate([found[f"vdot_{name}"], found[f"lam_{name}"]])
        check(both.reshape(rows, width), difference(solution, rows, width))


@pytest.mark.parametrize("seed", some([0, 3, 7, 1, 2], 3))
def test_inverse_equals_differences_for_random_mechanisms(seed):
    x = solved(seed)
    kernel = to_llvm(x.kernel.program, optimize=0)
    sizes = kernel.program.sizes
    nv = sizes["nv"]
    at = kernel.program.defaults | {"q": x.at["q"], "v": x.at["v"]}
    at["x"] = np.linspace(-1.0, 2.0, nv)
    t = x.at["t"]
    found = kernel.call("d_inverse", t, **at) | kernel.call("d_inverse_p", t, **at)
    widths = {"q": nv, "v": nv, "u": sizes["nu"], "p": sizes["np"]}
    for name, width in widths.items():

        def tau(k, amount, name=name):
            return kernel("inverse", t, **moved(kernel, at, name, k, amount))

        check(found[f"tau_{name}"].reshape(nv, width), difference(tau, nv, width))
    M = kernel("mass_matrix", t, **at).reshape(nv, nv)
    check(found["tau_vdot"].reshape(nv, nv), M)


@pytest.mark.parametrize("entry", ["forward", "inverse"])
def test_derivatives_of_a_chain_equal_the_complex_step(entry):
    equations = newton_euler(span(chain(5)))
    program = lower(equations)
    symbols, nv = equations.symbols, 5
    rng = np.random.default_rng(1)
    values = {x: complex(a) for x, a in zip(program.inputs, rng.normal(size=len(program.inputs)))}
    outputs = program.entry(entry).outputs[:nv]
    derived = program.entry(f"d_{entry}")
    result = "vdot" if entry == "forward" else "tau"
    numbers = {x: a.real for x, a in values.items()}
    found = np.array(evaluate(list(derived.outputs), numbers))
    for start, listed in ((0, symbols.q), (nv * nv, symbols.v)):
        assert derived.layout[start // nv**2][0] == f"{result}_{'qv'[start // nv**2]}"
        for k, x in enumerate(listed):
            shifted = values | {x: values[x] + 1e-30j}
            expected = [y.imag / 1e-30 for y in evaluate(list(outputs), shifted, Complex())]
            column = found[start : start + nv * nv].reshape(nv, nv)[:, k]
            np.testing.assert_allclose(column, expected, rtol=EXACT, atol=EXACT)


def test_force_columns_invert_the_mass_matrix():
    kernel = to_numpy(lower(newton_euler(span(chain(6)))))
    q, v = np.random.default_rng(0).normal(size=(2, 6))
    minv = kernel.call("d_forward", q=q, v=v)["vdot_tau"].reshape(6, 6)
    np.testing.assert_allclose(
        minv @ kernel("mass_matrix", q=q).reshape(6, 6), np.eye(6), atol=EXACT
    )


def test_branches_that_do_not_meet_have_no_derivatives_between_them():
    twice = chain(1)
    other = replace(twice.bodies[1], name="other")
    joint = twice.joints[0]
    hung = replace(joint.successor, body="other")
    second = replace(joint, name="second", coordinates=("second",), successor=hung)
    both = replace(twice, bodies=(*twice.bodies, other), joints=(joint, second))
    program = lower(newton_euler(span(both)))
    for block in ("vdot_q", "vdot_tau"):
        found = pattern(program.entry("d_forward"), block, 2)
        assert not found[0, 1]
        assert not found[1, 0]


def test_derivatives_are_found_by_name_and_not_listed():
    program = lower(newton_euler(span(chain(1))))
    assert "d_forward" in program.entries
    assert "d_forward" not in list(program.entries)
    assert len(list(program.entries)) == len(program.entries)


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_products_with_the_hessian_equal_differences_of_first_derivatives(seed):
    kernel = to_llvm(solved(seed).kernel.program, optimize=0)
    sizes, x = kernel.program.sizes, solved(seed)
    nv, at, t = sizes["nv"], {"q": x.at["q"], "v": x.at["v"]}, x.at["t"]
    rng = np.random.default_rng(seed)
    w, *d = rng.normal(size=(4, nv))
    vdot = rng.normal(size=nv)
    given = np.concatenate([vdot, np.zeros(sizes["nc"]), w, *d])
    found = kernel.call("h_inverse", t, **at, x=given)

    def gradient(_, amount):
        """Of w · τ by v and v̇, moved along d: no charts change what these are."""
        q = kernel("retract", q=at["q"], x=amount * d[0])
        there = {"q": q, "v": at["v"] + amount * d[1], "x": vdot + amount * d[2]}
        blocks = kernel.call("d_inverse", t, **there)
        return np.concatenate([w @ blocks[f"tau_{z}"].reshape(nv, nv) for z in ("v", "vdot")])

    expected = difference(gradient, 2 * nv, 1)[:, 0]
    check(np.concatenate([found["v"], found["vdot"]]), expected)
    # by symmetry, the part along q is known from products with directions of v
    unit = np.zeros(nv)
    for k in range(nv):
        along = np.concatenate([vdot, np.zeros(sizes["nc"]), w, unit, np.eye(nv)[k], unit])
        row = kernel.call("h_inverse", t, **at, x=along)
        mixed = np.concatenate([vdot, np.zeros(sizes["nc"]), w, d[0], unit, unit])
        check(row["q"] @ d[0], kernel.call("h_inverse", t, **at, x=mixed)["v"][k])


def test_the_hessian_along_positions_of_a_chain_equals_differences():
    program = lower(newton_euler(span(chain(4))))
    kernel = to_llvm(program, optimize=0)
    q, v, vdot, w, d = np.random.default_rng(5).normal(size=(5, 4))
    zero = np.zeros(4)
    found = kernel.call("h_inverse", q=q, v=v, x=np.concatenate([vdot, w, d, zero, zero]))["q"]

    def slope(_, amount):
        blocks = kernel.call("d_inverse", q=q + amount * d, v=v, x=vdot)
        return w @ blocks["tau_q"].reshape(4, 4)

    check(found, difference(slope, 4, 1)[:, 0])


@pytest.mark.parametrize("seed", some([0, 3, 7, 1, 2], 3))
def test_force_columns_solve_the_constrained_system(seed):
    x = solved(seed)
    n, nc = x.kernel.program.sizes["nv"], x.kernel.program.sizes["nc"]
    found = x.kernel.call("d_forward", **x.at)
    vdot, lam = found["vdot_tau"].reshape(n, n), found["lam_tau"].reshape(nc, n)
    terms = x.kernel.call("terms", **x.at)
    M, G = terms["M"].reshape(n, n), terms["G"].reshape(nc, n)
    scale = max(1.0, np.abs(M).max()) * max(1.0, np.abs(vdot).max(), np.abs(lam).max(initial=0.0))
    np.testing.assert_allclose(M @ vdot - G.T @ lam, np.eye(n), rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(G @ vdot, 0.0, rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(vdot, vdot.T, rtol=0, atol=1e-9 * scale)
