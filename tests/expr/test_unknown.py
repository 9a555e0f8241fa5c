"""Unknown functions: opaque until they are bound, their partials with them."""

import pytest

from liaison.expr import (
    Function,
    Table,
    bind,
    directional,
    evaluate,
    gradient,
    sin,
    symbol,
    to_text,
)

x, y = symbol("x"), symbol("y")
f = Function("f", 2)


def test_partials_are_nodes_of_the_same_function():
    (slope,) = gradient(f(x, y), [x])
    assert slope.op == "call"
    assert slope.data == (f, (1, 0))
    mixed = gradient(gradient(f(x, y), [x])[0], [y])[0]
    assert mixed is gradient(gradient(f(x, y), [y])[0], [x])[0]
    assert gradient(f(y, y), [x])[0].value == 0


def test_the_same_name_is_the_same_function():
    assert Function("f", 2)(x, y) is f(x, y)
    assert Function("f", 1)(x) is not f(x, x)
    with pytest.raises(TypeError, match="takes 2 arguments, 1"):
        f(x)


def test_binding_a_formula_binds_its_derivatives():
    g = f(x * y, y) * x
    second = gradient(gradient(g, [x])[0], [y])[0]
    for meaning in (lambda a, b: sin(a) * b * b, ([x, y], sin(x) * y * y)):
        bound = bind([g, second], {f: meaning})
        direct = sin(x * y) * y * y * x
        expected = gradient(gradient(direct, [x])[0], [y])[0]
        values = {x: 0.4, y: 0.9}
        assert evaluate(bound[0], values) == pytest.approx(evaluate(direct, values), rel=1e-14)
        assert evaluate(bound[1], values) == pytest.approx(evaluate(expected, values), rel=1e-13)


def test_binding_a_table_and_nested_calls():
    g = Function("g", 1)
    table = Table([0, 1, 2], [0, 1, 4])
    nested = g(g(x))
    (slope,) = bind(gradient(nested, [x]), {g: table})
    at = 0.7
    expected = table.value(table.value(at), 1) * table.value(at, 1)
    assert evaluate(slope, {x: at}) == pytest.approx(expected, rel=1e-14)


def test_functions_left_unbound_stay():
    g = Function("g", 1)
    assert bind([f(g(x), y)], {g: lambda a: 2 * a}) == [f(2 * x, y)]
    with pytest.raises(TypeError, match="2 arguments, its formula is of 1"):
        bind([f(x, y)], {f: ([x], x)})


def test_time_derivative_of_an_unknown_function():
    rate = symbol("x'")
    (slope,) = directional([f(x, y)], {x: rate})
    assert to_text(slope) in ("f_1,0(x, y)*x'", "x'*f_1,0(x, y)")
