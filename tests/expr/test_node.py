"""A formula exists once, and says no to what it is not."""

import copy
import gc
import subprocess
import sys
import threading
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from liaison.expr import (
    ONE,
    PI,
    ZERO,
    Expr,
    as_expr,
    constant,
    cos,
    known_nodes,
    select,
    sin,
    sqrt,
    symbol,
    vanishes,
)

x, y, z = symbol("x"), symbol("y"), symbol("z")


def test_equal_formulas_are_one_object():
    assert sin(x) * y + 2 is 2 + y * sin(x)
    assert symbol("q[0]") is symbol("q[0]")
    assert (x == symbol("x")) is True
    assert (x == y) is False
    assert copy.deepcopy([x + y]) == [x + y]


def test_the_slots_are_read_through_names():
    node = x - y
    assert (node.op, node.args, node.data) == ("sub", (x, y), None)
    assert x.name == "x"
    assert constant(3).value == 3
    assert x.args == ()
    choice = select(x, y, z)
    assert choice.args == (x, y, z)
    with pytest.raises(AttributeError, match="only a symbol"):
        _ = node.name
    with pytest.raises(AttributeError, match="only a constant"):
        _ = node.value


def test_constants_are_kept_by_type_and_sign():
    kinds = [constant(1), constant(1.0), constant(0), constant(0.0), constant(-0.0), PI]
    assert len({id(node) for node in kinds}) == len(kinds)
    assert constant(Fraction(1, 2)) is not constant(0.5)
    assert constant(Fraction(4, 2)) is constant(2)
    assert type(constant(0.5).value) is float


def test_exact_numbers_stay_exact_and_floats_float():
    assert (constant(1) / 3).value == Fraction(1, 3)
    assert (constant(1) / 3 * 3) is ONE
    assert type((constant(1) + 0.5).value) is float
    assert (PI * 2.0).value == pytest.approx(6.283185307179586, abs=0)
    assert (2 * PI).op == "mul"
    assert sqrt(constant(2)) * sqrt(constant(2)) is constant(2)


def test_other_number_types_are_taken():
    assert as_expr(np.int64(3)) is constant(3)
    assert as_expr(np.float32(0.5)) is constant(0.5)
    assert as_expr(Decimal("0.1")) is constant(Fraction(1, 10))
    assert np.float64(2.0) * x is 2.0 * x
    assert np.int64(2) * x is 2 * x
    assert x - np.float64(1.5) is x - 1.5


@pytest.mark.parametrize("what", [True, "x", None, [1], 1j, np.bool_(True)])
def test_what_is_no_number_is_refused(what):
    with pytest.raises(TypeError):
        as_expr(what)
    with pytest.raises(TypeError):
        x + what


def test_refusals_say_what_would_do():
    with pytest.raises(TypeError, match=r"x \+ y.*select"):
        bool(x + y)
    with pytest.raises(TypeError, match="minimum"):
        _ = x < y
    with pytest.raises(TypeError, match="evaluate"):
        float(x)
    with pytest.raises(ValueError, match="NaN"):
        constant(float("nan"))
    with pytest.raises(ZeroDivisionError, match="exactly zero"):
        x / 0
    with pytest.raises(ZeroDivisionError):
        constant(2.0) / 0
    with pytest.raises(ZeroDivisionError):
        constant(0) ** -1
    with pytest.raises(TypeError, match="not empty"):
        symbol("")


def test_float_zero_divides_as_ieee_does_later():
    # folds to nothing: inf and NaN are found when it is evaluated
    assert (x / 0.0).op == "div"
    assert (constant(0.0) / constant(0.0)).op == "div"
    assert (constant(0) / constant(0.0)).op == "div"


def test_arrays_of_formulas_compute():
    R = np.array([[cos(x), -sin(x)], [sin(x), cos(x)]], dtype=object)
    unit = R.T @ R
    assert unit[0, 0] is ONE
    assert unit[0, 1] is ZERO
    assert (np.array([1.0, 2.0]) * x)[1] is 2.0 * x
    assert (x * np.array([1.0, 2.0]))[1] is 2.0 * x
    assert (np.array([1, 2]) - x)[0] is 1 - x
    assert (x / np.array([1, 2]))[1] is x / 2
    assert (np.eye(2, dtype=int).astype(object) @ np.array([x, y]))[0] is x
    assert type(np.array([x, y], dtype=object).sum()) is Expr
    assert np.dot(np.array([x, 0]), np.array([1, y])) is x


def test_zeros_and_ones_fold_in_products_of_matrices():
    A = np.array([[1, 0, 0], [0, x, -y], [0, y, x]], dtype=object)
    B = A @ A
    assert B[0, 0] == 1
    assert B[1, 0] is ZERO
    assert B[0, 1] is ZERO


def test_order_of_commutative_arguments_is_structural():
    names = [symbol(f"a{i}") for i in range(20)]
    for first in names:
        for second in names:
            assert first * second is second * first
            assert [a.name for a in (first + constant(2)).args if a.op == "symbol"] == [first.name]


def test_dropped_formulas_are_forgotten():
    gc.collect()
    before = known_nodes()
    f = x
    for i in range(1000):
        f = sin(f) * y + i
    assert known_nodes() > before + 2000
    del f
    assert known_nodes() == before


def test_threads_build_the_same_nodes():
    built: list[list[Expr]] = [[] for _ in range(4)]

    def build(k: int) -> None:
        f = x
        for i in range(2000):
            f = sin(f) * y + i
            built[k].append(f)

    in_threads([lambda k=k: build(k) for k in range(4)])
    assert all(row[-1] is built[0][-1] for row in built)


def in_threads(jobs):
    threads = [threading.Thread(target=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_threads_drop_and_build_the_same_nodes_in_any_order(monkeypatch):
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda said: told.append(said.exc_value))

    def build_and_drop() -> None:
        for i in range(20_000):
            if sin(x + i % 3) is not sin(x + i % 3):
                told.append(i)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        in_threads([build_and_drop] * 6)
    finally:
        sys.setswitchinterval(interval)
    assert told == []


def test_what_vanishes_is_zero_for_all_symbols():
    assert all(map(vanishes, (0, 0.0, -0.0, Fraction(0), ZERO, constant(-0.0), x - x)))
    assert not any(map(vanishes, (1, x, PI, 1e-300, sin(x) - x)))


FRESH = """
import pickle
from liaison.algebra import vector
from liaison.expr import symbol
x = symbol("x")
assert pickle.loads(pickle.dumps(x * x)) is x * x
print(repr(x * x), repr(vector("a")))
"""


def test_formulas_show_themselves_before_anything_else_is_loaded():
    found = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("x**2 a\n", "")
