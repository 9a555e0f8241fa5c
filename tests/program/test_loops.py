"""Loops: compiled by LLVM and by C, they do what they do as plain Python."""

from __future__ import annotations

import ctypes
import math
from math import atan2, copysign, cos, exp, isfinite, log, pi, sin, sqrt
from pathlib import Path

import numpy as np
import pytest
from program_samples import require_c

from liaison.errors import NamingError, ProgramError
from liaison.expr import symbol
from liaison.program import (
    Entry,
    Program,
    at,
    bits,
    compile_loops,
    entry_at,
    f64,
    floor,
    fmax,
    fmin,
    from_bits,
    i64,
    iptr,
    kernel,
    loop,
    loops_to_c,
    ptr,
    to_llvm,
)
from liaison.program.c.compile_c import compile_c_text
from liaison.program.loops.compile import CTYPES
from liaison.program.loops.tree import signature

WEIGHTS = (1 / 6, 1 / 3, 1 / 3, 1 / 6)
ORDER = (3, 1, 2, 0)
LIMIT = 7
ROUNDING = 4e-15  # no contraction and the same libm, but x**3 is two products: some last bits
NAN, INF = float("nan"), float("inf")


@loop
def axpy(n: i64, a: f64, x: ptr, y: ptr) -> None:
    """y += a x."""
    for i in range(n):
        y[i] = y[i] + a * x[i]


@loop
def dot(n: i64, x: ptr, y: ptr) -> f64:
    s = 0.0
    for i in range(n):
        s += x[i] * y[i]
    return s


@loop
def solve_lower(n: i64, a: ptr, b: ptr) -> i64:
    """Forward substitution, row by row through pointer offsets; the number of zero pivots."""
    bad = 0
    for i in range(n):
        row = at(a, i * n)
        b[i] = b[i] - dot(i, row, b)
        if row[i] == 0:
            bad += 1
            continue
        b[i] /= row[i]
    return bad


@loop
def integers(x: i64, y: i64, out: iptr) -> i64:
    out[0] = x // y
    out[1] = x % y
    out[2] = x * y - x + -y
    out[3] = min(x, y)
    out[4] = max(x, y)
    out[5] = abs(x)
    out[6] = x**3
    out[7] = x < y
    out[8] = int(float(x) / 3)
    out[9] = ORDER[x % 4]
    return out[0] + LIMIT


@loop
def floats(x: f64, y: f64, out: ptr) -> f64:
    out[0] = x / y
    out[1] = sqrt(abs(x)) + math.tan(y)
    out[2] = sin(x) + cos(y)
    out[3] = exp(x) - log(abs(y))
    out[4] = atan2(x, y) + math.asin(0.5) + math.acos(0.25) + math.atan(x)
    out[5] = fmin(x, y) + fmax(x, 2) + min(x, y) - max(x, y)
    out[6] = floor(x) + copysign(3.0, y)
    out[7] = math.pow(1 + abs(x), y) + x**2 + (x + y) ** 3
    out[8] = math.fabs(x) if x > y else -y * pi
    out[9] = isfinite(x) and not isfinite(INF)
    out[10] = x if x else y
    return x - 1 / y


@loop
def words(x: f64, n: i64, out: iptr) -> f64:
    """Bits of a float, masks and shifts; `>>` keeps the sign."""
    word = bits(x)
    out[0] = word
    out[1] = word >> n
    out[2] = (word & 0x000FFFFFFFFFFFFF) << (n & 7)
    out[3] = (word | 1) ^ -1
    out[4] = word >> 63
    out[5] = (word >> 52) & 0x7FF
    word ^= 1 << n
    return from_bits(word)


@loop
def control(n: i64) -> i64:
    """break, continue, while, elif, nested loops, a counter changed in the body."""
    total = 0
    for i in range(n, -n, -2):
        if i == 3:
            continue
        elif i < -5 or (i > 8 and i % 3 == 0):
            break
        else:
            k = i
            while True:
                k = k + 1
                if k * k > 50 and k > 0:
                    break
                total += k
        i = 1000
        total += i
    for j in range(2, n):
        for k in range(j):
            if k == 5:
                break
            total -= k
    return total + j


@loop
def early(x: f64) -> f64:
    if x < 0:
        return -1
    while x > 1:
        x = x / 2
        if x == 1.25:
            return x
    return x


@loop
def weighted(n: i64, x: ptr) -> f64:
    s: f64 = 0
    for i in range(n):
        s = s + WEIGHTS[i % 4] * x[i]
    return s


@loop
def side_effect(out: ptr) -> i64:
    out[0] += 1
    return 1


@loop
def short_circuit(x: f64, out: ptr) -> i64:
    flag = x > 0 and side_effect(out) == 1
    other = x > 0 or side_effect(out) == 1
    return flag * 2 + other


@loop
def euler(f: kernel, n: i64, dt: f64, q: ptr, none: ptr, out: ptr) -> None:
    for i in range(n):
        f(i * dt, q, none, none, none, none, out, none)
        q[0] = q[0] + dt * out[0]


@loop
def in_turn(n: i64, order: iptr, entries: iptr, q: ptr, none: ptr) -> None:
    for i in range(n):
        f = entry_at(entries, order[i])
        f(float(i), at(q, i), none, none, none, none, at(q, i + 1), none)


def as_c(function):
    """The loop through the system's C compiler, taking arrays for pointers."""
    require_c()
    library = compile_c_text(loops_to_c([function]), flags=("-O1", "-Werror", "-ffp-contract=off"))
    arguments, result = signature(function)
    foreign = library[f"liaison_{function.name}"]
    foreign.restype = CTYPES[result]
    foreign.argtypes = [CTYPES[kind] for _, kind in arguments]
    return lambda *args: foreign(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in args))


def as_llvm(function):
    return compile_loops([function], cache=False)[function]


BACKENDS = [pytest.param(as_llvm, id="llvm"), pytest.param(as_c, id="c")]
NUMBERS = np.random.default_rng(1).normal(size=12)
WORDS = (0.0, -0.0, 1.5, -math.pi, 5e-324, -INF, 1e300)

CASES = [
    (axpy, (5, 1.5, NUMBERS[:5].copy(), NUMBERS[5:10].copy())),
    (dot, (6, NUMBERS[:6].copy(), NUMBERS[6:].copy())),
    (solve_lower, (3, np.array([2.0, 0, 0, 1, 4, 0, 3, 5, 0]), np.array([1.0, 2, 3]))),
    *((integers, (x, y, np.zeros(10, dtype=np.int64))) for x in (-7, 7, 6, 0) for y in (-3, 3, 7)),
    *((floats, (x, y, np.zeros(11))) for x in (-1.75, 0.0, 2.5) for y in (-0.5, 1e-3, 3.0)),
    *((words, (x, n, np.zeros(6, dtype=np.int64))) for x in WORDS for n in (0, 5, 51)),
    *((control, (n,)) for n in (3, 4, 9, 12)),
    *((early, (x,)) for x in (-2.0, 0.5, 5.0, 7.0, NAN)),
    (weighted, (12, NUMBERS)),
    (short_circuit, (1.0, np.zeros(1))),
    (short_circuit, (-1.0, np.zeros(1))),
]


@pytest.mark.parametrize("backend", BACKENDS)
def test_compiled_loops_equal_plain_python(backend):
    compiled = {f: backend(f) for f in dict.fromkeys(f for f, _ in CASES)}
    for function, args in CASES:
        plain, machine = _copies(args), _copies(args)
        expected = function(*plain)
        result = compiled[function](*machine)
        message = f"{function} {args}"
        assert (result is None) == (expected is None)
        for a, b in [(result or 0, expected or 0), *zip(machine, plain, strict=True)]:
            np.testing.assert_allclose(a, b, rtol=ROUNDING, err_msg=message)


def _copies(args):
    return [a.copy() if isinstance(a, np.ndarray) else a for a in args]


@pytest.mark.parametrize("backend", [*BACKENDS, pytest.param(lambda f: f, id="python")])
def test_bits_are_those_of_ieee_754(backend):
    out = np.zeros(6, dtype=np.int64)
    assert backend(words)(-1.5, 51, out) == -1.0
    assert list(out[[0, 4, 5]]) == [-0x4008000000000000, -1, 1023]
    assert out[2] == 0x8000000000000 << 3
    assert math.copysign(1.0, backend(words)(-0.0, 63 - 63, out)) == -1.0


def test_integer_arithmetic_rounds_down_as_python_does():
    out = np.zeros(10, dtype=np.int64)
    integers(-7, 2, out)
    assert list(out[:2]) == [-4, 1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_kernel_pointer_is_called_from_a_loop(backend):
    from liaison.program.kernel import SIGNATURE

    def rate(t, q, v, u, p, x, out, work):
        out[0] = -2 * q[0] + t

    @SIGNATURE
    def callback(t, q, v, u, p, x, out, work):
        position = ctypes.cast(q, ctypes.POINTER(ctypes.c_double))
        ctypes.cast(out, ctypes.POINTER(ctypes.c_double))[0] = -2 * position[0] + t

    plain, machine, out = np.array([1.0]), np.array([1.0]), np.zeros(1)
    euler(rate, 10, 0.1, plain, out, out)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    backend(euler)(address, 10, 0.1, machine, out, out)
    assert plain[0] == machine[0]


@pytest.mark.parametrize("backend", [*BACKENDS, pytest.param(lambda f: f, id="python")])
def test_kernels_are_taken_from_a_table_of_addresses(backend):
    q, t = symbol("q[0]"), symbol("t")
    entries = {"double": Entry("double", (2 * q + t,)), "square": Entry("square", (q * q,))}
    kernel = to_llvm(Program("two", entries, {q: ("q", 0), t: ("t", 0)}), cache=False)
    addresses = np.array([kernel.address("double"), kernel.address("square")])
    values = np.array([3.0, 0, 0, 0, 0])
    order = np.array([0, 1, 1, 0])
    backend(in_turn)(4, order, addresses, values, np.zeros(1))
    assert list(values) == [3, 6, 36, 1296, 2595]


def test_loops_of_enclosing_functions_differ_by_their_constants():
    def scaled_by(factor):
        @loop
        def scale(n: i64, x: ptr) -> None:
            for i in range(n):
                x[i] = factor * x[i]

        return scale

    double, triple = scaled_by(2.0), scaled_by(3.0)

    @loop
    def both(n: i64, x: ptr) -> None:
        double(n, x)
        triple(n, x)

    x = np.ones(3)
    compile_loops([both], cache=False)[both](3, x)
    assert list(x) == [6, 6, 6]


def test_second_compilation_comes_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LIAISON_CACHE", str(tmp_path))
    compile_loops([dot])
    files = list(tmp_path.iterdir())
    assert len(files) == 1
    monkeypatch.setattr("liaison.program.llvm.machine._object_code", None)
    assert compile_loops([dot])[dot](2, np.ones(2), np.ones(2)) == 2


def test_arguments_of_the_wrong_type_are_refused():
    compiled = compile_loops([dot], cache=False)
    with pytest.raises(ProgramError, match="contiguous array of float64"):
        compiled[dot](2, np.ones(2, dtype=np.int64), np.ones(2))
    with pytest.raises(NamingError, match="did you mean 'dot'"):
        compiled.address("dott")


@loop
def uses_a_list(n: i64) -> i64:
    x = [n]
    return x


@loop
def changes_type(n: i64) -> f64:
    s = 0
    s = s + 1.5
    return s


@loop
def slices(x: ptr) -> f64:
    return x[1:3][0]


@loop
def adds_to_a_pointer(x: ptr) -> f64:
    y = x + 1
    return y[0]


@loop
def entry_of_floats(x: ptr) -> None:
    f = entry_at(x, 0)
    f(0.0, x, x, x, x, x, x, x)


@loop
def prints(n: i64) -> None:
    print(n)


@loop
def knows_not(n: i64) -> i64:
    return n + nowhere  # noqa: F821


@loop
def chained(n: i64) -> i64:
    if 0 < n < 3:
        return 1
    return 0


@loop
def no_annotation(n) -> i64:
    return n


@loop
def wrong_count(x: ptr) -> f64:
    return dot(1, x)


@loop
def walks_a_list(n: i64) -> i64:
    for i in (1, 2):
        n = i
    return n


@loop
def zero_step(n: i64) -> None:
    for i in range(0, n, 0):
        n = i


@loop
def gives_nothing(n: i64, x: ptr) -> i64:
    y = axpy(n, 1.0, x, x)
    return y


@loop
def masks_a_float(x: f64) -> f64:
    return x & 3


@loop
def shifts_a_float(x: f64) -> f64:
    return from_bits(x) << 3


REFUSED = [
    (masks_a_float, "& | ^ << >> are for integers"),
    (shifts_a_float, "i64 is wanted here, not f64"),
    (uses_a_list, "List is not in the subset"),
    (changes_type, "'s' began as i64, not f64"),
    (slices, "a slice is `p[i:]`"),
    (adds_to_a_pointer, "i64 is wanted here, not ptr"),
    (entry_of_floats, "entry_at cannot be called from a loop"),
    (prints, "print cannot be called from a loop"),
    (knows_not, "the name 'nowhere' is not known here"),
    (chained, "one comparison at a time"),
    (no_annotation, "an annotation is one of f64, i64, ptr, iptr, kernel"),
    (wrong_count, "3 arguments, not 2"),
    (walks_a_list, "write `for i in range"),
    (zero_step, "a number other than 0"),
    (gives_nothing, "this call gives nothing"),
]


@pytest.mark.parametrize(("function", "message"), REFUSED, ids=lambda x: getattr(x, "name", ""))
def test_what_is_outside_the_subset_is_refused_with_its_line(function, message):
    with pytest.raises(ProgramError) as refusal:
        compile_loops([function], cache=False)
    text = str(refusal.value)
    assert message in text
    assert "test_loops.py, line " in text
    line = refusal.value.place.line
    assert refusal.value.place.text.strip() in Path(__file__).read_text().splitlines()[line - 1]


@loop
def apart_squares(n: i64, x: ptr) -> f64:
    """Squares of some numbers in their place, and their sum."""
    total = 0.0
    for i in range(n):
        x[i] = x[i] * x[i]
        total += x[i]
    return total


@loop
def with_apart(n: i64, x: ptr) -> f64:
    """Calls another loop."""
    return 2.0 * apart_squares(n, x)


def test_loops_compiled_apart_are_called_as_others():
    rng = np.random.default_rng(0)
    first = rng.normal(size=7)
    plain, near, far = first.copy(), first.copy(), first.copy()
    wanted = with_apart(7, plain)
    code = compile_loops([with_apart], cache=False, apart=(apart_squares,))
    call = code[with_apart]
    del code  # the code that is called lives as long as the caller
    assert call(7, far) == wanted == compile_loops([with_apart], cache=False)[with_apart](7, near)
    assert np.array_equal(plain, far)
    assert np.array_equal(near, far)
