"""Walks over the graph: each node once, order from structure."""

import numpy as np
import pytest

from liaison.expr import (
    ONE,
    absolute,
    constant,
    count_operations,
    evaluate,
    maximum,
    minimum,
    piecewise,
    rewritten,
    select,
    sign,
    sin,
    substitute,
    switches,
    symbol,
    symbols_of,
    topological,
)

x, y, z = symbol("x"), symbol("y"), symbol("z")


def test_topological_puts_arguments_first_and_each_once():
    shared = sin(x * y)
    order = topological([shared + z, shared * shared, select(z, shared, x)])
    assert len(order) == len(set(order))
    place = {node: i for i, node in enumerate(order)}
    assert all(place[arg] < place[node] for node in order for arg in node.args)


def test_symbols_come_sorted_by_name():
    assert symbols_of([z * y, sin(x)]) == [x, y, z]
    assert symbols_of(np.array([[1, x], [0.5, y]], dtype=object)) == [x, y]


def test_operations_are_counted_once_where_shared():
    shared = sin(x * y)
    counted = count_operations([shared + 1, shared * z])
    assert counted == {"sin": 1, "mul": 2, "add": 1}


def test_substitution_is_simultaneous_and_folds():
    assert substitute([x - y, x * y], {x: y, y: x}) == [y - x, x * y]
    assert substitute([sin(x) * y], {x: 0}) == [constant(0)]
    assert substitute([sin(x) + y], {sin(x): z}) == [z + y]
    assert substitute([select(x, y, z)], {x: -1}) == [z]
    unchanged = sin(x) + y
    assert substitute([unchanged], {z: 1})[0] is unchanged


def test_rewriting_sees_arguments_already_replaced():
    (found,) = rewritten([sin(sin(x))], lambda node: node.a if node.op == "sin" else None)
    assert found is x


def test_switches_are_the_arguments_that_change_sign():
    f = absolute(x) + sign(y) + minimum(x, y) + maximum(x, z) + select(z - 1, x, y)
    found = switches([f])
    assert set(found) >= {x, y, z - 1}
    assert any(s is x - y or s is y - x for s in found)
    assert any(s is x - z or s is z - x for s in found)
    assert len(found) == 5
    assert switches([sin(x)]) == []


def test_piecewise_takes_the_first_case_that_holds():
    f = piecewise((x - 2, 20), (x - 1, 10), default=ONE)
    assert piecewise((x - 2, 20), (x - 1, 10), 1) is f
    with pytest.raises(TypeError, match="default"):
        piecewise((x, 1), (y, 2))
    assert [evaluate(f, {x: v}) for v in (0.0, 1.0, 1.5, 2.5)] == [1.0, 1.0, 10.0, 20.0]
