"""Every operation, on every back end, is worth what the reference says."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from program_samples import program_of, synthetic, through_c

from liaison.expr import (
    OPS,
    PI,
    Table,
    absolute,
    acos,
    arc_ratio,
    asin,
    atan,
    atan2,
    constant,
    cos,
    exp,
    log,
    maximum,
    minimum,
    power,
    select,
    sign,
    sin,
    sqrt,
    stumpff,
    symbol,
    tan,
)
from liaison.program import to_c, to_llvm, to_numpy

X, Y, Z = (symbol(f"q[{i}]") for i in range(3))
NAN, INF = math.nan, math.inf
ROUNDING = 1e-15  # a few last bits: libm against libm, powers as products, contraction

BACKENDS = [
    pytest.param(lambda program: to_llvm(program, optimize=0), id="llvm"),
    pytest.param(lambda program: to_llvm(program, optimize=2), id="llvm2"),
    pytest.param(through_c, id="c"),
]
CUBIC = Table([0.0, 1.0, 2.5, 3.0], [1.0, -1.0, 0.5, 2.0], "cubic")
MONOTONE = Table([0.0, 1.0, 2.5, 3.0, 4.0], [1.0, -1.0, 0.5, 2.0, 2.0])
LINEAR = Table([-1.0, 0.0, 2.0], [0.0, 2.0, 1.0], kind="linear", outside="hold")

ROWS = {
    "add": X + Y, "sub": X - Y, "mul": X * Y, "div": X / Y, "neg": -X,
    "pow": power(X, Y), "sqrt": sqrt(X), "sin": sin(X), "cos": cos(X), "tan": tan(X),
    "asin": asin(X), "acos": acos(X), "atan": atan(X), "atan2": atan2(X, Y), "exp": exp(X),
    "log": log(X), "abs": absolute(X), "sign": sign(X), "min": minimum(X, Y),
    "max": maximum(X, Y), "select": select(X, Y, Z), "table": CUBIC(X),
    "stumpff": stumpff(2, X * X), "arc_ratio": arc_ratio(X * X, 1 + Y * Y),
}  # fmt: skip
MORE = {
    "square": X**2, "cube": X**3, "inverse": X**-1, "power -5": X**-5, "power 40": X**40,
    "root power": power(X, constant(0.5)), "linear table": LINEAR(X),
    "monotone table": MONOTONE(X),
    "slope of a monotone table": OPS["table"].partials[0]((MONOTONE, 0), X),
    "slope of a table": OPS["table"].partials[0]((CUBIC, 0), X),
    "second slope": OPS["table"].partials[0]((CUBIC, 1), X),
    "of a number": sqrt(constant(2)) * X + sin(PI / 5) * cos(constant(3)),
    "sine and cosine": sin(X) * cos(X) + sin(Y),
}  # fmt: skip
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-300, 1e300, -1e5, 123456.7, 5e-324]
NON_FINITE = [NAN, INF, -INF]


def points(values, count):
    """All pairs of the values, with a third number, and random points."""
    pairs = [(x, y, 7.25) for x, y in itertools.product(values, repeat=2)]
    random = np.random.default_rng(3).normal(scale=2.0, size=(count, 3))
    return np.vstack([pairs, random])


def test_every_row_of_the_table_of_operations_is_tried():
    assert set(ROWS) == set(OPS) - {"call"}


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_operation_equals_the_reference(backend):
    program = program_of([*ROWS.values(), *MORE.values()])
    names = [*ROWS, *MORE]
    q = points(SPECIAL, 100)
    expected = to_numpy(program)("f", q=q)
    got = backend(program)("f", q=q)
    for k, name in enumerate(names):
        # beyond 2**63 sine and tangent of NumPy itself differ in the last digits
        scale = 1e-12 if name in ("tan", "stumpff", "arc_ratio", "power 40", "pow") else ROUNDING
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(got[:, k], expected[:, k], scale, scale, err_msg=name)


@pytest.mark.parametrize("backend", BACKENDS)
def test_nan_passes_through_and_infinity_is_as_in_the_reference(backend):
    apart = ("min", "max", "select", "pow", "stumpff", "arc_ratio")  # no limits at infinity
    names = [name for name in ROWS if name not in apart]
    program = program_of([ROWS[name] for name in names])
    q = points(NON_FINITE, 0)
    with np.errstate(invalid="ignore"):
        expected = to_numpy(program)("f", q=q)
    got = backend(program)("f", q=q)
    for k, name in enumerate(names):
        np.testing.assert_array_equal(got[:, k], expected[:, k], err_msg=name)


@pytest.mark.parametrize("backend", BACKENDS)
def test_nan_in_either_argument_passes_through_min_max_and_products(backend):
    kernel = backend(program_of([minimum(X, Y), maximum(X, Y), X * Y, X + Y, X**2, absolute(X)]))
    for pair in ((NAN, 1.0), (1.0, NAN), (NAN, NAN)):
        assert np.isnan(kernel("f", q=pair)[:4]).all()
    assert np.isnan(kernel("f", q=(NAN, 1.0))).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_signs_of_zero_are_kept(backend):
    kernel = backend(program_of([sin(X), tan(X), atan(X), -X, X * 3, sqrt(X), asin(X)]))
    assert np.signbit(kernel("f", q=[-0.0])).tolist() == [True] * 3 + [False] + [True] * 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_inputs_and_numbers_may_be_outputs(backend):
    t = symbol("t")
    kernel = backend(program_of([t, X, constant(2), X, PI, t + X], name="9 odd-names"))
    assert kernel("f", 4.0, q=[3.0]).tolist() == [4, 3, 2, 3, math.pi, 7]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_large_program_equals_the_reference(backend):
    program = synthetic(3000)
    q, v = np.random.default_rng(0).normal(size=(2, 5, 7))
    expected = to_numpy(program)("f", q=q, v=v)
    kernel = backend(program)
    assert kernel.work_size("f") > 0
    # 500 levels of rotations: rounding grows with the size of the intermediate values
    np.testing.assert_allclose(kernel("f", q=q, v=v), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [5, 60, 200])
@pytest.mark.parametrize("make", [to_llvm, through_c])
def test_cut_functions_equal_uncut_ones(size, make):
    program = synthetic(1500)
    options = {"optimize": 0} if make is to_llvm else {"flags": ("-O0",)}
    q, v = np.random.default_rng(0).normal(size=(2, 7))
    whole = make(program, size=10**6, **options)
    cut = make(program, size=size, **options)
    assert whole.work_size("f") == 0 < cut.work_size("f")
    # contraction may not cross a cut: last bits, amplified
    np.testing.assert_allclose(cut("f", q=q, v=v), whole("f", q=q, v=v), rtol=1e-10, atol=1e-10)


def test_c_text_is_the_same_each_time_and_includes_math_only():
    text = to_c(synthetic(300))
    assert text == to_c(synthetic(300))
    assert [line for line in text.splitlines() if "#" in line] == ["#include <math.h>"]


def test_c_text_compiles_without_warnings():
    kernel = through_c(program_of(ROWS.values()), flags=("-O0", "-Werror", "-pedantic"))
    kernel.compile()


def test_eleven_assignments_for_a_function_and_its_gradient():
    f = X * sin(X * Y) + cos(X * Y)
    from liaison.expr import gradient

    text = to_c(program_of([f, *gradient(f, [X, Y])]))
    body = text[text.index("void sample_f") :]
    assert body.count("sin(") == body.count("cos(") == 1
    assert body.count("const double t") <= 11


def test_many_zeros_among_the_outputs_are_zeros_and_leave_the_rest_alone():
    outputs = [X if k % 37 == 5 else constant(-0.0) if k == 50 else constant(0) for k in range(200)]
    program = program_of(outputs)
    expected = to_numpy(program)("f", q=np.full(8, 2.5))
    found = to_llvm(program, optimize=0)("f", q=np.full(8, 2.5))
    np.testing.assert_array_equal(found, expected)
    assert math.copysign(1.0, found[50]) == -1.0


@pytest.mark.parametrize("exponent", [math.inf, -math.inf, 1e300, 2.0**70])
def test_huge_exponents(exponent):
    """Powers beyond all whole numbers that code counts through."""
    program = program_of([symbol("q[0]") ** constant(exponent)])
    q = np.zeros(8)
    for q[0] in (0.5, 1.5):
        expected = to_numpy(program)("f", q=q)
        assert to_llvm(program, optimize=0)("f", q=q) == expected
        assert "pow(" in to_c(program)
