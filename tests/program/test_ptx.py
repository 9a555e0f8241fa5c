"""Kernels for a GPU: what they compute, seen on this processor; and that PTX comes out of them."""

from __future__ import annotations

from pathlib import Path

import mpmath
import numpy as np
import pytest
from device import run
from program_samples import program_of as formulas
from program_samples import synthetic
from test_backends import ROWS

import liaison
from liaison.errors import ProgramError
from liaison.expr import acos, asin, atan, atan2, cos, exp, log, sin, symbol, tan
from liaison.program import Entry, Program, lower, to_llvm, to_numpy
from liaison.program.gpu import cuda, pointers
from liaison.program.gpu import to_ptx as ptx_ir
from liaison.program.gpu.order import compact
from liaison.program.gpu.to_gpu import check_size
from liaison.program.gpu.to_ptx import evaluate_ir, long_march_ir, march_ir, to_ptx
from liaison.program.llvm.entries import Form
from liaison.program.plan import plan

EXAMPLES = Path(__file__).parents[2] / "examples"
DOUBLE, SINGLE = Form(), Form(real="float")


def program_of(mechanism):
    return lower(liaison.newton_euler(liaison.span(mechanism)))


def formula(f):
    return formulas([f])


ALONE: frozenset[str] = frozenset()
X, Y = symbol("x"), symbol("y")


def evaluated(program, entry, arrays, form=DOUBLE):
    """Outputs of an entry as a device's threads compute them, one state a column."""
    dtype = np.float64 if form is DOUBLE else np.float32
    count = arrays["q"].shape[1]
    names = ("t", "q", "v", "u", "p", "x")
    given = {n: np.ascontiguousarray(arrays.get(n, np.zeros((1, count))), dtype) for n in names}
    out = np.full((len(program.entry(entry).outputs), count), np.nan, dtype)
    strides = [count] * 7
    ir = evaluate_ir(program, entry, form, ALONE, 128)
    run(ir, "evaluate", count, [count, *given.values(), out, *strides])
    return out


def of_one(formula, xs, ys=None, form=DOUBLE):
    """A formula of x and y at many points."""
    places = {X: ("q", 0), Y: ("q", 1)}
    program = Program("f", {"f": Entry("f", (formula,))}, places)
    points = np.array([xs, xs if ys is None else ys])
    return evaluated(program, "f", {"q": points}, form)[0]


def truth(name, xs, ys=None):
    """Values to 60 digits, rounded."""
    with mpmath.workdps(60):
        function = getattr(mpmath, name)
        pairs = [(x,) for x in xs] if ys is None else zip(xs, ys, strict=True)
        return np.array([float(function(*map(mpmath.mpf, map(float, pair)))) for pair in pairs])


def units(found, expected):
    """The largest distance in units of the last place."""
    return np.max(np.abs(found - expected) / np.spacing(np.abs(expected).astype(found.dtype)))


@pytest.mark.parametrize("reach", [1.0, 1e3, 1e5, 1e6, 1e10, 1e100, 1.7e308])
def test_sine_and_cosine_are_right_at_any_angle(reach):
    xs = np.random.default_rng(3).uniform(-1, 1, 300) * reach
    limit = 2 if reach <= 1e5 else 1
    assert units(of_one(sin(X), xs), truth("sin", xs)) <= limit
    assert units(of_one(cos(X), xs), truth("cos", xs)) <= limit


def test_the_double_nearest_to_a_multiple_of_half_a_turn():
    """6381956970095103 · 2⁷⁹⁷ misses π/2 by less than any other (Muller 2016, table 11.1)."""
    xs = np.array([6381956970095103.0 * 2.0**797])
    assert units(of_one(cos(X), xs), truth("cos", xs)) <= 1


@pytest.mark.parametrize("reach", [1.0, 100.0, 1e5, 1e7])
def test_single_precision_angles(reach):
    xs = np.random.default_rng(4).uniform(-reach, reach, 300).astype(np.float32)
    for formula, name in ((sin(X), "sin"), (cos(X), "cos")):
        found = of_one(formula, xs, form=SINGLE)
        assert np.max(np.abs(found - truth(name, xs))) <= 2 * np.finfo(np.float32).eps


def test_no_angle_gives_no_number():
    for x in (np.inf, -np.inf, np.nan):
        assert np.isnan(of_one(sin(X) + cos(X), np.array([x]))[0])


@pytest.mark.parametrize(
    ("formula", "name", "low", "high"),
    [
        (exp(X), "exp", -700, 700),
        (log(X), "log", 1e-300, 1e300),
        (log(X), "log", 0.5, 2.0),
        (atan(X), "atan", -50, 50),
        (atan(X), "atan", -1e-3, 1e-3),
        (asin(X), "asin", -1, 1),
        (acos(X), "acos", -1, 1),
        (tan(X), "tan", -10, 10),
    ],
)
def test_functions_the_device_does_not_have(formula, name, low, high):
    xs = np.random.default_rng(5).uniform(low, high, 400)
    assert units(of_one(formula, xs), truth(name, xs)) <= 4


def test_functions_of_two():
    xs, ys = np.random.default_rng(6).uniform(-2, 2, (2, 400))
    assert units(of_one(atan2(Y, X), xs, ys), truth("atan2", ys, xs)) <= 4
    found, expected = of_one(X**Y, np.abs(xs), ys), np.abs(xs) ** ys
    np.testing.assert_allclose(found, expected, rtol=2e-15)


@pytest.mark.parametrize("name", ["exp", "log", "atan", "atan2", "asin", "acos", "tan", "pow"])
def test_ends_of_functions(name):
    """Infinities, zeros of both signs and NaN as NumPy has them, where the device must."""
    ends = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 1e-310])
    one = {"exp": exp, "log": log, "atan": atan, "asin": asin, "acos": acos, "tan": tan}
    with np.errstate(all="ignore"):
        if name == "pow":
            xs, ys = np.meshgrid([0.0, 1.0, 2.5, np.nan], [0.0, 2.5, -0.5])
            found, expected = of_one(X**Y, xs.ravel(), ys.ravel()), (xs**ys).ravel()
        elif name == "atan2":
            xs, ys = (a.ravel() for a in np.meshgrid(ends[:4], ends[:4]))
            found, expected = of_one(atan2(Y, X), xs, ys), np.arctan2(ys, xs)
        else:
            arc = {"asin": "arcsin", "acos": "arccos", "atan": "arctan"}.get(name, name)
            found, expected = of_one(one[name](X), ends), getattr(np, arc)(ends)
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=0)


@pytest.mark.parametrize("name", ROWS)
def test_every_operation_has_a_form(name):
    program = formula(ROWS[name])
    points = np.random.default_rng(7).uniform(0.1, 0.9, (8, 50))
    expected = to_numpy(program)("f", q=points.T).T
    np.testing.assert_allclose(evaluated(program, "f", {"q": points}), expected, rtol=1e-14)
    found = evaluated(program, "f", {"q": points}, SINGLE)
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("name", ["pendulum", "four_bar", "satellite", "rolling_disc", "cam"])
def test_an_entry_gives_each_thread_what_it_gives_alone(name):
    program = program_of(liaison.read(EXAMPLES / f"{name}.lsd"))
    kernel, rng = to_llvm(program, cache=False), np.random.default_rng(1)
    for entry in ("inverse", "mass_matrix", "closure", "energy"):
        arrays = {n: rng.normal(size=(max(1, program.sizes[f"n{n}"]), 3)) for n in ("q", "v", "x")}
        for key in ("u", "p"):
            arrays[key] = np.repeat(program.defaults[key][:, None], 3, axis=1)
        found = evaluated(program, entry, arrays)
        expected = kernel.batch(entry, **{k: a for k, a in arrays.items() if k != "t"})
        scale = np.abs(expected).max(initial=1.0)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13 * scale)


def test_a_long_entry_is_cut_and_computes_the_same(monkeypatch):
    monkeypatch.setitem(ptx_ir.PIECES, "double", 100)
    program = synthetic(900)
    arrays = {n: np.random.default_rng(2).normal(size=(7, 3)) for n in ("q", "v")}
    expected = to_llvm(program, cache=False).batch("f", **arrays)
    ir = evaluate_ir(program, "f", DOUBLE, ALONE, 128)
    assert ir.count("define internal void @piece") >= 8
    np.testing.assert_allclose(evaluated(program, "f", arrays), expected, rtol=1e-12)


@pytest.mark.parametrize("form", [march_ir, long_march_ir])
@pytest.mark.parametrize("name", ["double_pendulum", "spinning_top", "four_bar"])
def test_a_march_is_the_run_with_the_same_fixed_step(name, form):
    mechanism = liaison.read(EXAMPLES / f"{name}.lsd")
    tree = liaison.span(mechanism)
    program = lower(liaison.newton_euler(tree))
    state = liaison.assemble(tree)
    step, steps = 1e-3, 50
    q, v = (np.repeat(np.array(a)[:, None], 2, axis=1) for a in (state.q, state.v))
    given = [np.zeros(1), q, v, program.defaults["u"], program.defaults["p"], np.zeros((1, 2))]
    shared = frozenset({"t", "u", "p"})
    ir = form(program, DOUBLE, shared, 128)
    run(ir, "march", 2, [2, steps, step, *given, 0, 2, 2, 0, 0])
    kernel = to_llvm(program, cache=False)
    run_ = liaison.simulate(kernel, state, until=step * steps, step=step, method="rk4")
    np.testing.assert_allclose(q[:, 0], run_.q[-1], rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(v[:, 1], run_.v[-1], rtol=1e-9, atol=1e-10)
    assert np.all(given[-1] <= 1e-9)


@pytest.mark.parametrize("form", [march_ir, long_march_ir])
def test_a_lost_state_is_seen(form):
    """A velocity that is no number leaves a residual that is none."""
    tree = liaison.span(liaison.read(EXAMPLES / "pendulum.lsd"))
    program = lower(liaison.newton_euler(tree))
    q, v, residual = np.zeros((1, 2)), np.array([[1.0, np.nan]]), np.zeros((1, 2))
    given = [np.zeros(1), q, v, program.defaults["u"], program.defaults["p"], residual]
    ir = form(program, DOUBLE, frozenset({"t", "u", "p"}), 128)
    run(ir, "march", 2, [2, 3, 1e-3, *given, 0, 2, 2, 0, 0])
    assert residual[0, 0] == 0
    assert np.isnan(residual[0, 1])


@pytest.mark.parametrize("precision", ["double", "single"])
@pytest.mark.parametrize("entry", ["forward", "inverse", "march"])
def test_ptx_comes_out_without_a_gpu(precision, entry):
    program = program_of(liaison.read(EXAMPLES / "double_pendulum.lsd"))
    text = to_ptx(program, entry, precision=precision)
    kernel = "march" if entry == "march" else "evaluate"
    assert ".target sm_70" in text
    assert f".entry {kernel}(" in text
    assert ("fma.rn.f64" if precision == "double" else "fma.rn.f32") in text
    assert ".extern" not in text  # nothing is left to link


@pytest.mark.parametrize("precision", ["double", "single"])
def test_a_long_march_calls_its_entries(precision, monkeypatch):
    kind = "double" if precision == "double" else "float"
    monkeypatch.setitem(pointers.PIECE, kind, 20)
    monkeypatch.setitem(ptx_ir.LONG, kind, 20)
    program = program_of(liaison.read(EXAMPLES / "double_pendulum.lsd"))
    text = to_ptx(program, "march", precision=precision)
    assert ".func" in text.split(".entry march(")[0]
    assert ".extern" not in text


def test_some_rows_are_the_rows():
    program = program_of(liaison.read(EXAMPLES / "double_pendulum.lsd"))
    text = to_ptx(program, "mass_matrix", rows=(0, 3))
    assert text.count("st.global") == 2
    with pytest.raises(ProgramError, match="0 to 3"):
        to_ptx(program, "mass_matrix", rows=(4,))


def test_closures_in_single_precision_are_refused():
    program = program_of(liaison.read(EXAMPLES / "four_bar.lsd"))
    with pytest.raises(ProgramError, match="double precision"):
        to_ptx(program, "march", precision="single")
    with pytest.raises(ProgramError, match="precision is 'half'"):
        to_ptx(program, "march", precision="half")


def test_no_driver_is_told(monkeypatch):
    monkeypatch.setattr(cuda, "NAMES", ("no such library",))
    cuda.driver.cache_clear()
    with pytest.raises(ProgramError, match="no NVIDIA driver"):
        liaison.to_gpu(formula(X))
    cuda.driver.cache_clear()


def most_alive(needs, order):
    """The largest number of items whose values wait at one time; `needs` in the given order."""
    last = {k: place for place, ks in enumerate(needs) for k in ks}
    ends = {}
    for place in last.values():
        ends[place] = ends.get(place, 0) + 1
    alive = worst = 0
    for place, k in enumerate(order):
        alive += (k in last) - ends.get(place, 0)
        worst = max(worst, alive)
    return worst


def test_a_compact_order_computes_arguments_first_and_keeps_fewer_values():
    piece = plan(synthetic(900), "f", size=10**9).pieces[0]
    items = compact(piece)
    assert sorted(map(id, items)) == sorted(map(id, piece.items))
    place = {node: k for k, item in enumerate(items) for node in item}
    needs = [
        sorted({place[a] for node in item for a in node.args if place.get(a, k) != k})
        for k, item in enumerate(items)
    ]
    assert all(other < k for k, others in enumerate(needs) for other in others)
    order = list(range(len(items)))
    before = {node: k for k, item in enumerate(piece.items) for node in item}
    old = [
        sorted({before[a] for node in item for a in node.args if before.get(a, k) != k})
        for k, item in enumerate(piece.items)
    ]
    assert most_alive(needs, order) < most_alive(old, order)


def test_arrays_on_a_device_have_the_sizes_of_the_program():
    """(N, size) in the place of (size, N) is refused, also where both have enough rows."""
    program = Program("sized", {}, {}, {"nq": 7, "nv": 7})
    check_size(program, "q", (7, 10), 7)
    check_size(program, "x", (9, 10), 7)
    with pytest.raises(ProgramError, match=r"'q' has shape \(10, 7\); its first axis has 7"):
        check_size(program, "q", (10, 7), 7)
    with pytest.raises(ProgramError, match="its first axis has 7"):
        check_size(program, "v", (3, 10), 2)
