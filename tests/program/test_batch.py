"""A batch gives each state what the entry gives it alone, however its arrays lie."""

from __future__ import annotations

import faulthandler
import os
from dataclasses import replace

import numpy as np
import pytest
from program_samples import program_of, synthetic
from test_backends import MORE, NON_FINITE, ROUNDING, ROWS, SPECIAL, points

from liaison.errors import ProgramError
from liaison.expr import constant, symbol
from liaison.program import Entry, Program, compile_c, to_llvm, to_numpy

SAME = 1e-14  # scalar and vector code may contract other products


def two_arms(**options):
    """About 900 operations on q and v, through LLVM."""
    return to_llvm(synthetic(900), optimize=0, **options)


def some(n, rows=7, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, n))


def alone(kernel, **arrays):
    return kernel("f", **{name: array.T for name, array in arrays.items()}).T


def check_same(found, expected):
    scale = np.abs(expected).max()
    np.testing.assert_allclose(found, expected, rtol=SAME, atol=SAME * scale)


@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
@pytest.mark.parametrize("n", [1, 3, 8, 17, 64])
def test_batch_equals_single_states_for_every_width_and_remainder(lanes, n):
    kernel = two_arms(lanes=lanes)
    q, v = some(n), some(n, seed=1)
    check_same(kernel.batch("f", q=q, v=v), alone(kernel, q=q, v=v))


def test_a_cut_entry_keeps_its_values_in_a_workspace_of_vectors():
    kernel = two_arms(size=50)
    assert kernel.work_size("f") > 0
    q, v = some(21), some(21, seed=1)
    check_same(kernel.batch("f", q=q, v=v), alone(kernel, q=q, v=v))


def test_every_operation_equals_the_reference_in_every_lane():
    names = [*ROWS, *MORE]
    program = program_of([*ROWS.values(), *MORE.values()])
    q = points(SPECIAL, 100)
    expected = to_numpy(program)("f", q=q).T
    got = to_llvm(program, optimize=0).batch("f", q=np.hstack([q, np.zeros((len(q), 5))]).T)
    for k, name in enumerate(names):
        scale = 1e-12 if name in ("tan", "stumpff", "arc_ratio", "power 40", "pow") else ROUNDING
        with np.errstate(invalid="ignore"):
            np.testing.assert_allclose(got[k], expected[k], scale, scale, err_msg=name)


def test_not_a_number_stays_in_its_own_lane():
    program = program_of([ROWS["sin"], ROWS["cos"], ROWS["tan"], ROWS["mul"]])
    q = some(16, rows=8)
    q[0, 3], q[0, 12] = NON_FINITE[0], NON_FINITE[1]
    found = to_llvm(program, optimize=0).batch("f", q=q)
    assert np.isnan(found[:3, [3, 12]]).all()
    assert np.isfinite(np.delete(found, [3, 12], axis=1)).all()


def test_threads_change_no_bit():
    kernel = two_arms()
    q, v = some(1003), some(1003, seed=1)
    one = kernel.batch("f", q=q, v=v, threads=1)
    for threads in (2, 3, 7, 500):
        np.testing.assert_array_equal(kernel.batch("f", q=q, v=v, threads=threads), one)


def test_rows_of_larger_arrays_are_used_where_they_lie():
    kernel = two_arms()
    whole = some(40, rows=14)
    q, v = whole[:7, 5:30], whole[7:, 5:30]
    out = np.full((20, 40), np.nan)
    found = kernel.batch("f", q=q, v=v, out=out[3:17, 10:35])
    assert found.base is out
    check_same(found, alone(kernel, q=q, v=v))
    assert np.isnan(out[:3]).all()
    assert np.isnan(out[:, :10]).all()
    assert np.isnan(out[:, 35:]).all()


def sized(operations=300):
    """A program that says its sizes."""
    return to_llvm(replace(synthetic(operations), sizes={"nq": 7, "nv": 7}), optimize=0)


@pytest.mark.parametrize("n", [1, 7, 11])
def test_a_row_for_each_state_by_name(n):
    """Also where there are as many states as numbers: a shape alone would not tell."""
    kernel = sized()
    q, v = some(n), some(n, seed=1)
    expected = kernel.batch("f", q=q, v=np.asfortranarray(v))
    found = kernel.batch("f", q=q.T, v=v.T, layout="states")
    np.testing.assert_array_equal(found, expected.T)
    check_same(found.T, alone(kernel, q=q, v=v))


def test_the_layout_is_never_guessed():
    kernel = sized()
    q, v = some(11), some(11, seed=1)
    with pytest.raises(ProgramError, match=r"'q' has shape \(11, 7\), for 7 states of 7") as caught:
        kernel.batch("f", q=q.T, v=v)
    assert "layout='states'" in str(caught.value)
    with pytest.raises(ProgramError, match=r"'v' has shape \(7, 11\), for 11 states"):
        kernel.batch("f", q=q.T, v=v, layout="states")
    with pytest.raises(ProgramError, match="layout is 'rows'"):
        kernel.batch("f", q=q, v=v, layout="rows")


def test_numbers_that_are_not_real_are_refused():
    kernel = sized()
    q = some(11)
    with pytest.raises(ProgramError, match="'q' is numbers of type complex128"):
        kernel.batch("f", q=q + 1j, v=q)
    with pytest.raises(ProgramError, match="'v' is 'fast'"):
        kernel("f", q=q[:, 0], v="fast")
    with pytest.raises(ProgramError, match="'t' is numbers of type complex128"):
        kernel("f", 1j, q=q[:, 0], v=q[:, 0])


def test_times_that_lie_apart():
    t, q = symbol("t"), symbol("q[0]")
    program = Program("times", {"f": Entry("f", (t + q,))}, {t: ("t", 0), q: ("q", 0)})
    times = np.arange(20.0)[::2]
    found = to_llvm(program, optimize=0).batch("f", times, q=np.zeros((1, 10)))
    np.testing.assert_array_equal(found[0], times)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("q", some(11).T.copy().T),
        ("v", some(22)[:, ::2]),
        ("q", some(11).astype(np.float32)),
        ("q", some(11).tolist()),
        ("t", np.zeros(22)[::2]),
    ],
)
def test_kept_arrays_are_never_copied(name, array):
    """A copy would not see the changes that binding is for."""
    given = {"q": some(11), "v": some(11, seed=1)} | {name: array}
    with pytest.raises(ProgramError, match=f"'{name}' would be copied"):
        sized().bind_batch("f", **given)


@pytest.mark.parametrize(
    "out",
    [
        np.zeros((3, 11)),
        np.zeros((14, 11), dtype=np.float32),
        np.zeros((14, 22))[:, ::2],
        np.broadcast_to(np.zeros(11), (14, 11)),
        np.lib.stride_tricks.as_strided(np.zeros(200), (14, 11), (8, 8)),
        [[0.0] * 11] * 14,
    ],
)
def test_results_are_kept_where_they_can_be_written(out):
    with pytest.raises(ProgramError, match="'out' must be"):
        sized().bind_batch("f", q=some(11), v=some(11), out=out)


def test_time_and_shared_arrays_are_the_same_for_every_state():
    t, q, p = symbol("t"), symbol("q[0]"), symbol("p[1]")
    inputs = {t: ("t", 0), q: ("q", 0), p: ("p", 1)}
    entry = Entry("f", (t * q + p, p, constant(3), t))
    program = Program("shared", {"f": entry}, inputs, {"np": 2}, {}, {"p": np.array([0.0, 5.0])})
    kernel = to_llvm(program, optimize=0)
    x = np.arange(10.0)
    for given, value in ((2.0, np.full(10, 2.0)), (x, x)):
        found = kernel.batch("f", given, q=x[None, :])
        np.testing.assert_array_equal(found, [value * x + 5, np.full(10, 5), [3] * 10, value])
    varied = kernel.batch("f", 0.0, q=[1.0], p=np.vstack([x, x]))
    np.testing.assert_array_equal(varied[1], x)


def test_kept_arrays_are_read_again_at_every_call():
    kernel = two_arms()
    for n in (3, 50):
        q, v = some(n), some(n, seed=1)
        bound = kernel.bind_batch("f", q=q, v=v)
        first = bound().copy()
        q[:] = some(n, seed=2)
        assert not np.array_equal(bound(), first)
        check_same(bound.out, alone(kernel, q=q, v=v))


def test_many_results_are_written_past_the_caches():
    outputs = [symbol(f"q[{k % 8}]") * (k + 1) for k in range(20)]
    kernel = to_llvm(program_of(outputs), optimize=0)
    for n in (1 << 16, (1 << 16) + 3):
        q = some(n, rows=8)
        expected = [q[k % 8] * (k + 1) for k in range(20)]
        np.testing.assert_array_equal(kernel.batch("f", q=q), expected)


@pytest.mark.parametrize("back_end", [to_numpy, compile_c])
def test_other_back_ends_take_the_same_arrays(back_end):
    program = program_of([symbol("q[0]") * 2, symbol("q[1]") + 1])
    q = some(5, rows=8)
    np.testing.assert_array_equal(back_end(program).batch("f", q=q), [q[0] * 2, q[1] + 1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": np.zeros((3, 10))}, r"'q' has shape \(3, 10\)"),
        ({"v": np.zeros((7, 9))}, r"'v' has shape \(7, 9\), for 10 states of 7"),
        ({"out": np.zeros((14, 9))}, r"'out' must be float64 of shape"),
        ({"out": np.zeros((10, 14)).T}, "rows that are contiguous"),
        ({"out": np.zeros((3, 10))}, "writes 14 rows"),
        ({"out": np.zeros(14)}, r"'out' must be float64 of shape"),
        ({"q": np.zeros(7), "v": np.zeros(7)}, r"needs an array of shape \(size, N\)"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, message):
    given = {"q": np.zeros((7, 10)), "v": np.zeros((7, 10))}
    with pytest.raises(ProgramError, match=message):
        two_arms().batch("f", **(given | change))


def test_results_may_not_overlap_what_is_read():
    whole = np.zeros((20, 10))
    with pytest.raises(ProgramError, match="overlaps 'q'"):
        two_arms().batch("f", q=whole[:7], v=np.zeros((7, 10)), out=whole[6:])


def test_no_states_give_no_results():
    assert two_arms().batch("f", q=np.zeros((7, 0)), v=np.zeros((7, 0))).shape == (14, 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_threads_serve_a_process_that_was_forked():
    kernel = two_arms()
    q, v = some(64), some(64, seed=1)
    kernel.batch("f", q=q, v=v, threads=2)
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(20, exit=True)  # a child that hangs is a failure
        found = kernel.batch("f", q=q, v=v, threads=2)
        os._exit(0 if np.isfinite(found).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
