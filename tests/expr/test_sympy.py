"""To SymPy and back."""

import math

import pytest
import sympy

from liaison.errors import DerivationError
from liaison.expr import (
    PI,
    Function,
    Table,
    absolute,
    acos,
    asin,
    atan,
    atan2,
    bind,
    constant,
    evaluate,
    exp,
    from_sympy,
    gradient,
    log,
    maximum,
    minimum,
    select,
    sign,
    sin,
    sqrt,
    stumpff,
    symbol,
    tan,
    to_sympy,
)

x, y = symbol("x"), symbol("y")
F = Function("f", 2)
SAMPLES = [
    sin(x) * y**3 + x / y, sqrt(x * x + 1), select(x - y, x, y * 2), minimum(x, y) - maximum(x, 1),
    F(x, x * y), gradient(F(x, x * y), [x])[0], sqrt(2) * PI * x / 3, stumpff(2, x), stumpff(3, x),
    atan2(y, x) * 1.25, absolute(x - y) * sign(y), exp(-x) * log(y), x**1.5, x ** (-3),
    tan(x) * asin(y / 3) * acos(y / 3) * atan(x), constant(0.1) * x, constant(1), x / 7,
    Table([0, 1, 2], [0, 1, 0])(x),
]  # fmt: skip


@pytest.mark.parametrize("f", SAMPLES, ids=str)
def test_there_and_back_has_the_same_value(f):
    back = from_sympy(to_sympy(f))
    first, second = bind([f, back], {F: lambda a, b: a * a * b + b**3})
    for values in ({x: 0.3, y: 0.7}, {x: 0.9, y: 0.2}, {x: 1.7, y: 1.1}):
        # SymPy orders sums and products its own way
        assert evaluate(second, values) == pytest.approx(evaluate(first, values), rel=1e-12)


def test_numbers_keep_their_kind():
    expressions = to_sympy([constant(3), constant(1) / 3, constant(0.1), PI, sqrt(2)])
    assert expressions[0].is_Integer
    assert expressions[1] == sympy.Rational(1, 3)
    assert float(expressions[2]) == 0.1
    assert expressions[3] is sympy.pi
    assert expressions[4] == sympy.sqrt(2)
    assert from_sympy(expressions) == [constant(3), constant(1) / 3, constant(0.1), PI, sqrt(2)]


def test_symbols_keep_their_names():
    q = symbol("crank.x'")
    assert to_sympy(q).name == "crank.x'"
    assert from_sympy(sympy.Symbol("crank.x'")) is q


def test_sympy_agrees_on_derivatives():
    f = sin(x * y) / (1 + x * x) + atan2(y, x)
    theirs = sympy.diff(to_sympy(f), sympy.Symbol("x", real=True))
    assert sympy.simplify(theirs - to_sympy(gradient(f, [x])[0])) == 0


def test_comparisons_of_piecewise():
    s = sympy.Symbol("x")
    f = from_sympy(sympy.Piecewise((1, s < 0), (2, s <= 1), (3, s >= 5), (4, True)))
    assert [evaluate(f, {x: v}) for v in (-1.0, 0.0, 1.0, 2.0, 5.0)] == [1, 2, 2, 4, 3]


def test_derivatives_of_unknown_functions_come_back():
    s, t = sympy.symbols("x y")
    f = sympy.Function("f")
    assert from_sympy(sympy.diff(f(s, t), s, t)).data == (F, (1, 1))
    assert from_sympy(sympy.diff(f(s * t, t), t)) is gradient(F(x * y, y), [y])[0]
    assert from_sympy(sympy.E) is exp(1)


@pytest.mark.parametrize(
    "what", [sympy.I, sympy.zoo, sympy.gamma(sympy.Symbol("x")), sympy.Symbol("x") > 1]
)
def test_what_has_no_formula_is_refused(what):
    with pytest.raises(DerivationError, match="no formula is made of"):
        from_sympy(what + 1 if what.is_Symbol else what)


def test_text_is_never_read():
    with pytest.raises((DerivationError, AttributeError, TypeError)):
        from_sympy(["__import__('os')"])
    assert math.isclose(evaluate(from_sympy(sympy.cos(0) + sympy.Symbol("x")), {x: 1.0}), 2.0)
