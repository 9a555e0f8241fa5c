"""Every operation is a row: its derivatives, its two values and its fallback agree."""

import math
import random

import numpy as np
import pytest

from liaison.expr import OPS, Table, apply, constant, evaluate, expanded, partial, symbol, to_floats
from liaison.expr.graph.node import make, make_many

X = [symbol(f"x{i}") for i in range(3)]
TABLE = Table([-1.0, 0.0, 0.3, 0.8, 2.0], [0.5, 1.0, -0.3, 0.4, 0.1])
# a node of every row that has a value, made without rules
SAMPLES = [
    *(make(op, *X[: row.arity]) for op, row in OPS.items() if row.build is None and row.arity < 3),
    make_many("select", None, tuple(X)),
    *(OPS["stumpff"].build(k, X[0]) for k in range(6)),
    *(OPS["arc_ratio"].build(n, X[0], X[1]) for n in range(4)),
    *(OPS["table"].build((TABLE, order), X[0]) for order in range(4)),
    make("pow", X[0], constant(5)),
]


def drawn(seed, low=0.15, high=0.85):
    draw = random.Random(seed)
    return {x: draw.uniform(low, high) for x in X}


def ids(node):
    return f"{node.op} {node.data or ''}"


@pytest.mark.parametrize("node", SAMPLES, ids=ids)
def test_partials_agree_with_differences(node):
    h = 1e-3
    for index, x in enumerate(node.args):
        if x.op == "const":
            continue
        for seed in range(4):
            values = drawn(seed)
            slope = evaluate(partial(node, index), values)
            f = [evaluate(node, values | {x: values[x] + k * h}) for k in (-2, -1, 1, 2)]
            difference = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)
            # the difference errs by h⁴ f⁽⁵⁾/30; a spline's third derivative jumps at the knots
            if node.op == "table" and np.abs(TABLE.x - values[x]).min() < 2 * h:
                continue
            assert slope == pytest.approx(difference, rel=2e-7, abs=2e-8)


@pytest.mark.parametrize("node", SAMPLES, ids=ids)
def test_arrays_agree_with_floats(node):
    points = [drawn(seed, -0.9, 2.5) for seed in range(40)]
    arrays = {x: np.array([point[x] for point in points]) for x in X}
    on_arrays = evaluate(node, arrays)
    on_floats = [evaluate(node, point) for point in points]
    # the two libraries of functions differ by a rounding or two
    np.testing.assert_allclose(on_arrays, on_floats, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("node", [n for n in SAMPLES if OPS[n.op].expand], ids=ids)
def test_fallback_in_plain_rows_agrees(node):
    (plain,) = expanded([node])
    special = {name for name, row in OPS.items() if row.build is not None}
    stack, ops = [plain], set()
    while stack:
        part = stack.pop()
        ops.add(part.op)
        stack += part.args
    assert not ops & special
    for seed in range(40):
        values = drawn(seed, 0.01, 9.0)
        # closed forms of high derivatives lose up to three digits next to the series
        assert evaluate(plain, values) == pytest.approx(
            evaluate(node, values), rel=1e-11, abs=1e-14
        )


def test_fallbacks_keep_what_the_back_end_knows():
    node = OPS["table"].build((TABLE, 0), X[0])
    assert expanded([node], keep=("table",)) == [node]


@pytest.mark.parametrize("op", [op for op, row in OPS.items() if row.build is None])
def test_rows_are_complete(op):
    row = OPS[op]
    assert len(row.partials) == row.arity
    names = ["a", "b", "c"][: row.arity]
    for text in (row.c, row.text, row.latex):
        assert all(name in text.format(*names) for name in names)


IEEE = [
    ("div", (1.0, 0.0), math.inf), ("div", (-1.0, 0.0), -math.inf), ("div", (1.0, -0.0), -math.inf),
    ("div", (0.0, 0.0), math.nan), ("sqrt", (-1.0,), math.nan), ("log", (0.0,), -math.inf),
    ("log", (-1.0,), math.nan), ("exp", (1e3,), math.inf), ("asin", (2.0,), math.nan),
    ("sin", (math.inf,), math.nan), ("pow", (0.0, -1.0), math.inf), ("pow", (-8.0, 0.3), math.nan),
    ("pow", (-1e200, 3.0), -math.inf), ("sign", (math.nan,), math.nan), ("sign", (-0.0,), 0.0),
    ("max", (1.0, 2.0), 2.0), ("min", (1.0, 2.0), 1.0), ("select", (0.0, 1.0, 2.0), 2.0),
]  # fmt: skip


@pytest.mark.parametrize(("op", "args", "expected"), IEEE)
def test_values_follow_ieee_on_floats_and_arrays(op, args, expected):
    on_float = OPS[op].value(*args)
    with np.errstate(all="ignore"):
        on_array = OPS[op].array(*(np.array([a]) for a in args))[0]
    np.testing.assert_equal([on_float, on_array], [expected, expected])


def test_apply_rebuilds_every_node():
    for node in SAMPLES:
        if node.op not in ("min", "max", "add", "mul"):
            assert apply(node.op, node.args, node.data) is node


def test_to_floats_leaves_whole_exponents_and_no_other_exact_number():
    f = X[0] ** 3 / 3 + constant(2) * apply("sin", (constant(1),))
    (g,) = to_floats([f])
    values = {X[0]: 0.7}
    assert evaluate(g, values) == pytest.approx(evaluate(f, values), rel=1e-15)
    power = next(n for n in g.args if n.op == "mul").args[1]
    assert power is X[0] ** 3
    assert {type(n.value) for n in g.args if n.op == "const"} == {float}
