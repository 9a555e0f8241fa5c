"""Elementary functions as loops: within one unit in the last place, the same bits everywhere."""

from __future__ import annotations

import ctypes
import math

import minimax
import numpy as np
import pytest
from program_samples import require_c

from liaison.program.c.compile_c import compile_c_text
from liaison.program.functions import circular, elementary
from liaison.program.functions.elementary import FUNCTIONS
from liaison.program.llvm.machine import Target, _link, host, object_code_for
from liaison.program.loops.c import loops_to_c
from liaison.program.loops.compile import compile_loops
from liaison.program.loops.llvm import loops_ir, unique_names
from samples.elementary import NAMES, NEAREST, TWO, arguments, compiled, errors, loop_over

INF, NAN = math.inf, math.nan
EDGES = (
    0.0, 5e-324, 2.2250738585072014e-308, 1e-300, 2.0**-28, 1e-8, 0.4375, 0.5, 0.7853981633974483,
    0.9999999999999999, 1.0, 1.0000000000000002, 1.5, 2.0, 3.0, 709.782712893384, 709.7827128933841,
    745.1332191019411, 745.1332191019412, 1e5, 100000.00000000001, 2.0**53, 2.0**53 + 2, 1e22,
    1e300, 1.7976931348623157e308, INF, NAN,
)  # fmt: skip
SIGNED = (*EDGES, *(-x for x in EDGES))


def edges(name):
    """Every pair of edges, or every one."""
    if name in TWO:
        return tuple(
            np.array(x) for x in zip(*((a, b) for a in SIGNED for b in SIGNED), strict=True)
        )
    return (np.array(SIGNED),)


def bits(x):
    """Bits of an array; NaN is one, whatever its bits are."""
    x = np.array(x, dtype=float)
    return np.where(np.isnan(x), 0x7FF8000000000000, x.view(np.int64))


@pytest.mark.parametrize("name", NAMES)
def test_within_one_unit_in_the_last_place(name):
    for kind, arrays in arguments(name, 60, seed=3).items():
        worst = errors(name, arrays, compiled(name)(*arrays)).max()
        assert worst <= 0.95, (kind, worst)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_the_angle_nearest_to_a_quarter_turn(name):
    x = np.array([NEAREST, -NEAREST, np.nextafter(1e5, INF), 1.7976931348623157e308, 2.0**1023])
    assert errors(name, (x,), compiled(name)(x)).max() <= 0.95


@pytest.mark.parametrize("name", NAMES)
def test_edges_are_those_of_the_c_library(name):
    """Zeros with their signs, infinities, NaN, overflow and underflow, as C99 says in annex F."""
    arrays = edges(name)
    got = compiled(name)(*arrays)
    with np.errstate(all="ignore"):
        words = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2"}
        expected = getattr(np, {**words, "pow": "power"}.get(name, name))(*arrays)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    seen = ~np.isnan(got)
    np.testing.assert_array_equal(np.signbit(got[seen]), np.signbit(expected[seen]))
    np.testing.assert_array_max_ulp(got[seen], expected[seen], maxulp=1)


def test_exact_powers_are_exact():
    n = np.arange(1.0, 400.0)
    power = compiled("pow")
    np.testing.assert_array_equal(power(n * n, np.full(len(n), 0.5)), n)
    cubes = [float(int(x) ** 3) for x in n]
    np.testing.assert_array_equal(power(n, np.full(len(n), 3.0)), cubes)
    for base in (2.0, 3.0, 5.0, 7.0, 10.0, 1.5, -3.0):
        k = np.arange(23.0)
        exact = [base ** int(j) for j in k]
        kept = [j for j in range(23) if float(abs(base)) ** j < 2.0**53]
        np.testing.assert_array_equal(
            power(np.full(len(kept), base), k[kept]), np.array(exact)[kept]
        )
    two = np.arange(-1074, 1024)
    np.testing.assert_array_equal(power(np.full(len(two), 2.0), two * 1.0), np.ldexp(1.0, two))


@pytest.fixture(scope="module")
def in_c():
    """Each function on arrays, through the C compiler, all from one text."""
    require_c()
    loops = {name: loop_over(name) for name in NAMES}
    text = loops_to_c([*loops.values()])
    library = compile_c_text(text, flags=("-O2", "-Werror", "-ffp-contract=off"))
    symbols = unique_names(loops.values())
    return {name: library[symbols[each]] for name, each in loops.items()}


@pytest.mark.parametrize("name", NAMES)
def test_the_same_bits_from_llvm_c_and_plain_python(name, in_c):
    samples = [*arguments(name, 12, seed=8).values(), *([edges(name)] if name not in TWO else [])]
    for arrays in samples:
        got = bits(compiled(name)(*arrays))
        arrays = [np.ascontiguousarray(x) for x in arrays]
        out = np.empty(len(arrays[0]))
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*arrays, out)]
        in_c[name](ctypes.c_int64(len(out)), *pointers)
        np.testing.assert_array_equal(got, bits(out))
        plain = [FUNCTIONS[name](*x) for x in zip(*(x.tolist() for x in arrays), strict=True)]
        np.testing.assert_array_equal(got, bits(plain))


def test_the_same_bits_without_fused_multiply_add_and_wide_registers():
    """Code for the first processor of this family, which has neither."""
    if not host()[2].startswith("x86_64"):
        pytest.skip("other processors have no such ancestor")
    loops = {name: loop_over(name) for name in ("sin", "tan", "atan2", "pow")}
    for name, each in loops.items():
        content = object_code_for(Target(host()[2], "x86-64"), loops_ir([each]), optimize=3)
        code = _link(content, ["liaison_each"])
        call = ctypes.CFUNCTYPE(
            None, ctypes.c_int64, *[ctypes.c_void_p] * (3 if name in TWO else 2)
        )
        for arrays in arguments(name, 500, seed=4).values():
            out = np.empty(500)
            listed = [np.ascontiguousarray(x) for x in arrays]
            call(code["liaison_each"])(500, *(x.ctypes.data for x in (*listed, out)))
            np.testing.assert_array_equal(bits(out), bits(compiled(name)(*arrays)))


@pytest.mark.parametrize(
    ("name", "coefficients", "digits"),
    [
        ("SINE", circular.SINE, 57),
        ("COSINE", circular.COSINE, 59),
        ("EXPONENTIAL", elementary.E, 61),
        ("LOGARITHM", elementary.L, 60),
        ("NARROW", elementary.NARROW, 67),
        ("ARCTANGENT", elementary.A, 59),
        ("ARCSINE", elementary.S, 58.9),
    ],
)
def test_polynomials_have_the_errors_they_are_said_to_have(name, coefficients, digits):
    fit = minimax.FITS[name]
    assert len(coefficients) == fit.degree + 1
    assert minimax.error(fit, coefficients, 25) < 2.0**-digits


def test_knots_of_the_logarithm_and_limbs_of_two_over_pi():
    knots = zip(elementary.KNOTS, elementary.KNOTS_LOW, strict=True)
    for i, (high, low) in enumerate(knots, elementary.FIRST_KNOT):
        assert high == round(high * 2**42) / 2**42
        off = minimax.mp.log(minimax.mp.mpf(i) / 32) - minimax.mp.mpf(high) - minimax.mp.mpf(low)
        assert abs(off) < 2.0**-94
    limbs = circular.LIMBS
    assert limbs[:2] == (0, 0)
    with minimax.mp.workprec(1300):
        value = sum(minimax.mp.mpf(x) / 2 ** (27 * (k + 1)) for k, x in enumerate(limbs[2:]))
        assert abs(value - 2 / minimax.mp.pi) < minimax.mp.mpf(2) ** (-27 * 42)


def test_powers_with_broken_exponents_are_those_of_pow():
    """Every edge and some numbers between, to the last bit."""
    y = np.array([0.2, -0.2, 0.04, -0.17, 1.5, -2.5, 1e-3, 300.5])
    x = np.array([*SIGNED, *np.random.default_rng(1).uniform(0, 4, 40)])
    power = compile_loops([elementary.broken_power])["broken_power"]
    each = np.array([[power(float(a), float(b)) for b in y] for a in x])
    expected = compiled("pow")(np.repeat(x, len(y)), np.tile(y, len(x))).reshape(each.shape)
    np.testing.assert_array_equal(bits(each), bits(expected))
