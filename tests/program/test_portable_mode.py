"""Portable code: the same bits from every back end, every processor and every width of vectors."""

from __future__ import annotations

import ctypes
import math
import re
from functools import cache
from math import atan2, cos, exp, log, pow, sin
from pathlib import Path

import numpy as np
import pytest
from program_samples import program_of, require_c, synthetic

import liaison
from liaison import expr
from liaison.errors import ArgumentError, NamingError, SimulationError
from liaison.expr import OPS, Table, symbol
from liaison.program import (
    compile_c,
    compile_loops,
    f64,
    fmax,
    fmin,
    i64,
    loop,
    loops_to_c,
    lower,
    ptr,
    to_c,
    to_llvm,
)
from liaison.program.c.compile_c import compile_c_text
from liaison.program.functions.elementary import FUNCTIONS
from liaison.program.llvm import machine, portable
from liaison.program.llvm.to_llvm import module_of
from liaison.program.loops.compile import loops_key
from liaison.program.loops.llvm import loops_ir
from liaison.program.plan import LARGEST_POWER, plan
from liaison.simulation import machine as time_loop
from liaison.simulation.machine import _phases_of
from liaison.simulation.run import Run
from liaison.simulation.steps.advance import advance

EXAMPLES = Path(__file__).parents[2] / "examples"
DRAW = np.random.default_rng(9)
CALLED = re.compile(r"^declare \w+ @([\w.]+)\(", re.M)


def mixed():
    """Every operation that formulas have, numbers without symbols among them."""
    a, b, c = (symbol(f"q[{i}]") for i in range(3))
    table = Table([0.0, 1.0, 2.5, 4.0], [0.0, 1.0, 0.5, 2.0])
    size = a * a + b * b
    return program_of(
        [
            expr.sin(a * b) + expr.cos(a - c),
            expr.tan(a) * expr.sin(expr.as_expr(0.3)) + c,
            expr.asin(b / (1 + size)) - expr.acos(b / (1 + size)),
            expr.atan(a) + expr.atan2(a, b) * c,
            expr.exp(a) * expr.log(size) + expr.exp(expr.as_expr(0.7)),
            size**c + a**3 + b**-5 + expr.sqrt(size),
            expr.minimum(a, b) + expr.maximum(b, c) * expr.sign(a) + abs(c),
            expr.select(a, b, c) + table(c),
            expr.sin(b) * expr.cos(b) + expr.sin(c) * expr.cos(c),
        ]
    )


def interpreted(program, q):
    """The entry in plain Python: one operation after the other, floats and functions of ours."""
    planned = plan(program, "f", functions=FUNCTIONS)
    values = dict(planned.numbers)
    own = {**{name: OPS[name].value for name in OPS}, **FUNCTIONS, "pow": power}
    for piece in planned.pieces:
        for node in (x for item in piece.items for x in item):
            for arg in node.args:
                if arg.op == "symbol":
                    values[arg] = float(q[program.inputs[arg][1]])
            data = () if node.data is None else (node.data,)
            values[node] = float(own[node.op](*data, *(values[x] for x in node.args)))
    outputs = [pair for piece in planned.pieces for pair in piece.outputs]
    return [values[node] for _, node in sorted(outputs, key=lambda pair: pair[0])]


def power(x, n):
    """Whole powers as products, as every back end has them."""
    if n % 1 or abs(n) > LARGEST_POWER:
        return FUNCTIONS["pow"](x, n)
    product, square, left = None, x, abs(int(n))
    while left:
        if left & 1:
            product = square if product is None else product * square
        left >>= 1
        square = square * square
    return 1.0 / product if n < 0 else product


def test_the_text_has_no_contraction_and_calls_nothing_of_the_system():
    program = mixed()
    text = module_of(program, {"f": plan(program, "f", lanes=4)}, portable.PORTABLE)
    assert "contract" not in text
    assert "fma" not in text
    called = {x for x in CALLED.findall(text) if not x.startswith("llvm.")}
    assert called == {f"liaison_{name}" for name in FUNCTIONS if name not in ("fmin", "fmax")}
    assert "contract" in module_of(program, {"f": plan(program, "f", lanes=4)})


@pytest.mark.parametrize("kind", ["smooth", pytest.param("moreau", marks=pytest.mark.slow)])
def test_no_time_loop_calls_the_system(kind):
    text = loops_ir([advance, *_phases_of(kind).values()], portable=True)
    assert all(x.startswith("llvm.") for x in CALLED.findall(text))
    assert "fptosi " not in text


def test_an_entry_has_the_same_bits_in_llvm_c_and_plain_python():
    require_c()
    program = mixed()
    q = DRAW.uniform(0.1, 3.9, (40, 3)) * [[1, -1, 1]]
    native = to_llvm(program, portable=True)
    got = native("f", q=q)
    in_c = compile_c(program, portable=True, flags=("-O2", "-march=native"))
    np.testing.assert_array_equal(in_c("f", q=q), got)
    np.testing.assert_array_equal([interpreted(program, x) for x in q], got)
    np.testing.assert_array_equal(native.batch("f", q=q.T.copy()).T, got)
    np.testing.assert_allclose(to_llvm(program)("f", q=q), got, rtol=1e-13)


def test_long_entries_in_pieces_have_the_same_bits():
    require_c()
    program = synthetic(900, seed=2)
    q, v = DRAW.normal(size=(2, 20, 7))
    got = to_llvm(program, portable=True)("f", q=q, v=v)
    assert not np.array_equal(to_llvm(program)("f", q=q, v=v), got)  # which contracts
    in_c = compile_c(program, portable=True, size=400)
    np.testing.assert_array_equal(in_c("f", q=q, v=v), got)
    np.testing.assert_array_equal(to_llvm(program, portable=True, size=150)("f", q=q, v=v), got)


@pytest.mark.parametrize("lanes", [1, 2])
def test_the_width_of_vectors_does_not_matter(lanes, monkeypatch):
    q = [symbol(f"q[{i}]") for i in range(7)]
    program = program_of([f(x) for x in q for f in (expr.sin, expr.cos)])
    x = np.concatenate([DRAW.uniform(-50, 50, (20, 7)), 10.0 ** DRAW.uniform(-300, 300, (20, 7))])
    wide = to_llvm(program, portable=True)("f", q=x)
    monkeypatch.setattr("liaison.program.llvm.to_llvm.vector_lanes", lambda: lanes)
    np.testing.assert_array_equal(to_llvm(program, portable=True)("f", q=x), wide)
    sines = [FUNCTIONS[name](a) for a in x.ravel().tolist() for name in ("sin", "cos")]
    np.testing.assert_array_equal(wide.ravel(), sines)


@loop
def functions_in_a_loop(n: i64, x: ptr, out: ptr) -> f64:
    total = 0.0
    for i in range(n):
        a = x[i]
        total += sin(a) * cos(2.0 * a) + exp(-a * a) * pow(1.0 + a * a, 0.3)
        total += atan2(a, total) + log(1.5 + a * a) + math.tan(a) + fmin(a, total) * fmax(a, 1.0)
        out[i] = total + int(1e3 * a)
    return total


def test_a_loop_has_the_same_bits_in_llvm_c_and_plain_python():
    require_c()
    x, out, other = DRAW.normal(size=50), np.empty(50), np.empty(50)
    compile_loops([functions_in_a_loop], portable=True)[functions_in_a_loop](50, x, out)
    text = loops_to_c([functions_in_a_loop], portable=True)
    library = compile_c_text(text, flags=("-O2", "-march=native", "-Werror", "-ffp-contract=off"))
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (x, other)]
    library["liaison_functions_in_a_loop"](ctypes.c_int64(50), *pointers)
    np.testing.assert_array_equal(out, other)
    own = {**vars(math), **FUNCTIONS}
    scope = {**functions_in_a_loop.function.__globals__, **FUNCTIONS, "math": type("own", (), own)}
    plain = type(functions_in_a_loop.function)(functions_in_a_loop.function.__code__, scope)
    plain(50, x, other)
    np.testing.assert_array_equal(out, other)
    functions_in_a_loop(50, x, other)
    np.testing.assert_allclose(out, other, rtol=1e-12)


@loop
def whole_of(x: f64) -> i64:
    return int(x)


def test_an_integer_of_what_is_none_is_the_nearest_one():
    require_c()
    compiled = compile_loops([whole_of], portable=True, cache=False)[whole_of]
    library = compile_c_text(loops_to_c([whole_of], portable=True))
    in_c = library["liaison_whole_of"]
    in_c.restype, in_c.argtypes = ctypes.c_int64, [ctypes.c_double]
    large = 2**63
    cases = {math.nan: 0, math.inf: large - 1, 1e300: large - 1, -1e300: -large, -2.9: -2, 7.5: 7}
    for x, expected in cases.items():
        assert compiled(x) == in_c(x) == expected


def test_the_cache_keeps_both_modes_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("LIAISON_CACHE", str(tmp_path))
    assert loops_key([functions_in_a_loop]) != loops_key([functions_in_a_loop], portable=True)
    x, a, b = np.full(1, 0.7), np.empty(1), np.empty(1)
    for mode, out in ((False, a), (True, b), (False, a)):
        compile_loops([functions_in_a_loop], portable=mode)[functions_in_a_loop](1, x, out)
    assert len(list(tmp_path.iterdir())) == 2


def test_the_key_changes_with_a_function(monkeypatch):
    first = loops_key([functions_in_a_loop], portable=True)
    native = loops_key([functions_in_a_loop])
    changed = {**FUNCTIONS, "sin": FUNCTIONS["cos"]}
    monkeypatch.setattr("liaison.program.functions.elementary.FUNCTIONS", changed)
    assert loops_key([functions_in_a_loop], portable=True) != first
    assert loops_key([functions_in_a_loop]) == native


def test_portable_text_of_c_needs_no_function_of_libm():
    text = to_c(mixed(), portable=True)
    called = set(re.findall(r"(?<![\w.])(\w+)\(", text))
    assert not called & set(FUNCTIONS)
    assert {"sqrt", "fabs", "liaison_sin", "liaison_pow"} <= called


# runs


@cache
def pendulum():
    return lower(liaison.derive(EXAMPLES / "double_pendulum.lsd"))


def run_of(back_end):
    kernel = liaison.compile(EXAMPLES / "double_pendulum.lsd", back_end=back_end)
    run = liaison.simulate(kernel, until=2.0, rtol=1e-8)
    return np.column_stack([run.t, run.q, run.v])


def forget():
    """Nothing of what was compiled for a processor is used again."""
    machine._target_machine.cache_clear()
    machine.vector_lanes.cache_clear()
    portable.library.cache_clear()
    portable.addresses.cache_clear()
    time_loop.compiled_loops.cache_clear()


def test_a_run_has_the_same_bits_on_another_processor(monkeypatch):
    """The first one of this family: no fused operations, short vectors."""
    if not machine.host()[2].startswith("x86_64"):
        pytest.skip("other processors have no such ancestor")
    here = run_of("portable")
    host = ("x86-64", "", *machine.host()[2:])
    with monkeypatch.context() as patched:
        patched.setattr(machine, "host", lambda: host)
        forget()
        there = run_of("portable")
        assert machine.vector_lanes() == 2
    forget()
    np.testing.assert_array_equal(there, here)
    native = run_of("llvm")
    assert not np.array_equal(native, here)
    np.testing.assert_allclose(native[-1], here[-1], rtol=1e-6)


def test_a_kernel_that_is_pickled_stays_portable():
    import pickle

    kernel = to_llvm(pendulum(), portable=True)
    assert pickle.loads(pickle.dumps(kernel)).portable
    assert not pickle.loads(pickle.dumps(to_llvm(pendulum()))).portable


def test_a_checkpoint_records_the_arithmetic():
    kernels = [
        liaison.compile(EXAMPLES / "double_pendulum.lsd", back_end=x) for x in ("portable", "llvm")
    ]
    state = liaison.assemble(liaison.span(liaison.read(EXAMPLES / "double_pendulum.lsd")))
    first, native = (Run(kernel, state, 1.0) for kernel in kernels)
    first.go(5)
    kept = first.checkpoint()
    with pytest.raises(SimulationError, match="arithmetic 'portable' there, 'of the machine' here"):
        native.restore(kept)
    again = Run(kernels[0], state, 1.0)
    again.restore(kept)
    np.testing.assert_array_equal(again.finish().q, first.finish().q)


def test_a_checkpoint_without_that_record_is_native(monkeypatch):
    kernel = liaison.compile(EXAMPLES / "double_pendulum.lsd")
    state = liaison.assemble(liaison.span(liaison.read(EXAMPLES / "double_pendulum.lsd")))
    run = Run(kernel, state, 1.0)
    run.go(5)
    from liaison.simulation import checkpoint

    marks = checkpoint.marks
    monkeypatch.setattr(
        checkpoint, "marks", lambda p: {k: x for k, x in marks(p).items() if k != "arithmetic"}
    )
    kept = run.checkpoint()
    monkeypatch.undo()
    Run(kernel, state, 1.0).restore(kept)
    other = liaison.compile(EXAMPLES / "double_pendulum.lsd", back_end="portable")
    with pytest.raises(SimulationError, match="arithmetic"):
        Run(other, state, 1.0).restore(kept)


def test_a_run_by_the_name_of_its_back_end(examples):
    """As that of a kernel that was compiled so; contacts too; a scene has none, nor a kernel."""
    for example, until in (("four_bar.lsd", 0.2), ("contact/stops.lsd", 0.1)):
        path = examples / example
        kernel = liaison.compile(path, back_end="portable")
        here = liaison.simulate(path, until=until, back_end="portable")
        np.testing.assert_array_equal(here.q, liaison.simulate(kernel, until=until).q)
    with pytest.raises(SimulationError, match=r"'pile' runs as a scene.*no back end 'portable'"):
        liaison.simulate(examples / "pile.lsd", until=0.01, back_end="portable")
    with pytest.raises(ArgumentError, match="back_end compiles a mechanism; this is a kernel"):
        liaison.simulate(kernel, until=0.1, back_end="portable")
    with pytest.raises(NamingError, match="portable"):
        liaison.simulate(path, until=0.1, back_end="portabel")
