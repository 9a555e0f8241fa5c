"""Formulas as people read them, shared parts named."""

import math
import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from liaison.expr import (
    OPS,
    PI,
    Function,
    Table,
    apply,
    constant,
    cos,
    evaluate,
    exp,
    gradient,
    minimum,
    select,
    sin,
    sqrt,
    stumpff,
    symbol,
    to_latex,
    to_text,
)
from liaison.expr.reading.names import latex_name

x, y, z = symbol("x"), symbol("y"), symbol("z")


@pytest.mark.parametrize(
    ("f", "text"),
    [
        (x + y * 2, "2*y + x"),
        (x - (y - z), "x - (y - z)"),
        (x / (y * z), "x/(y*z)"),
        (x * (y / z), "x*(y/z)"),
        ((x + y) ** 3, "(x + y)**3"),
        (-(x + y), "-(x + y)"),
        (x * x + 1, "x**2 + 1"),
        (sqrt(2) * x / 3, "1/3*sqrt(2)*x"),
        (exp(-x), "exp(-x)"),
        (minimum(x, 2), "min(2, x)"),
        (select(x, y, 0.5), "select(x, y, 0.5)"),
        (PI * 2, "2*pi"),
        (constant(Fraction(-1, 2)), "-1/2"),
        (stumpff(2, x), "stumpff(2, x)"),
        (Function("f", 2)(x, y), "f(x, y)"),
        (Table([0, 1], [0, 1], name="cam")(x), "cam(x)"),
    ],
)
def test_text_is_readable(f, text):
    assert to_text(f) == text
    assert repr(f) == text


def test_shared_parts_are_named():
    shared = sin(x) * y
    text = to_text([shared + 1, shared * z, 3], names=["a", "b", "c"])
    assert text.splitlines() == ["w1 = sin(x)*y", "a = w1 + 1", "b = w1*z", "c = 3"]
    assert to_text([shared + 1, shared * z], share=False) == "f1 = sin(x)*y + 1\nf2 = sin(x)*y*z"
    assert to_text(shared + exp(shared)).splitlines() == ["w1 = sin(x)*y", "exp(w1) + w1"]


def test_names_do_not_meet_symbols():
    w1 = symbol("w1")
    lines = to_text(sin(w1) + exp(sin(w1))).splitlines()
    assert lines[0] == "ww1 = sin(w1)"


def test_long_formulas_are_cut_into_named_parts():
    f = x
    for i in range(200):
        f = sin(f * (i + 2)) + y
    lines = to_text(f, width=60).splitlines()
    assert max(map(len, lines)) < 120
    with pytest.raises(ValueError, match="share=True"):
        to_text(f, share=False, limit=500)
    with pytest.raises(ValueError, match="1 formulas, but 2 names"):
        to_text([f], names=["a", "b"])


UNARY = [op for op, row in OPS.items() if row.arity == 1 and row.build is None]
BINARY = [op for op, row in OPS.items() if row.arity == 2 and row.build is None]
WORDS = {op: getattr(math, op) for op in UNARY if hasattr(math, op)}
WORDS |= {op: OPS[op].value for op in OPS if op not in WORDS and OPS[op].build is None}
WORDS |= {"pi": math.pi, "log": OPS["log"].value, "exp": OPS["exp"].value}
LEAVES = st.sampled_from([x, y, z, constant(-2), constant(Fraction(1, 3)), constant(1.5), PI])


def grown(parts):
    return st.one_of(
        st.builds(lambda op, a: apply(op, (a,)), st.sampled_from(["sin", "exp", "neg"]), parts),
        st.builds(
            lambda op, a, b: apply(op, (a, b)),
            st.sampled_from(["add", "sub", "mul", "atan2", "min"]),
            parts,
            parts,
        ),
        st.builds(lambda a, b: a / (3 + b * b), parts, parts),
        st.builds(lambda a: (2 + sin(a)) ** 3, parts),
    )


@given(st.recursive(LEAVES, grown, max_leaves=12))
def test_text_means_what_the_formula_means(f):
    values = {x: 0.3, y: 0.8, z: 0.45}
    expected = evaluate(f, values)
    words = WORDS | {"x": 0.3, "y": 0.8, "z": 0.45}
    *assignments, result = to_text(f, width=30).splitlines()
    for line in assignments:
        name, _, text = line.partition(" = ")
        words[name] = eval(text, {"__builtins__": {}}, words)
    for text in (result, to_text(f, share=False)):
        found = eval(text, {"__builtins__": {}}, dict(words))
        if math.isfinite(expected):
            # sums and products associate differently when read back
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("q[0]", "q_{0}"),
        ("theta", r"\theta"),
        ("m1", "m_{1}"),
        ("crank.x", r"\mathrm{crank}_{x}"),
        ("A'", r"\dot{A}"),
        ("A.x''", r"\ddot{A}_{x}"),
        ("omega_2'", r"\dot{\omega}_{2}"),
    ],
)
def test_names_are_typeset(name, latex):
    assert latex_name(name) == latex


def test_latex_of_formulas():
    theta = symbol("theta1'")
    assert to_latex(cos(x) / 2) == r"\frac{1}{2}\,\cos \left(x\right)"
    assert to_latex(x / (y + 1)) == r"\frac{x}{y + 1}"
    assert to_latex((x + y) ** 2) == r"{\left(x + y\right)}^{2}"
    assert to_latex(theta * 1.5e-7) == r"1.5 \times 10^{-7}\,\dot{\theta}_{1}"
    assert to_latex(sqrt(x) * PI) == r"\pi\,\sqrt{x}"
    assert r"\begin{cases}" in to_latex(select(x, y, z))
    assert to_latex(Function("f", 1)(x)) == r"f\left(x\right)"
    slope = gradient(Function("f", 1)(x * x), [x])[0]
    assert r"f^{(1)}\left({x}^{2}\right)" in to_latex(slope)


def test_latex_names_shared_parts_in_aligned_lines():
    shared = sin(x) * y
    text = to_latex([shared + 1, shared * z], names=["a", "tau1"])
    assert text.splitlines() == [
        r"\begin{aligned}",
        r"w_{1} &= \sin \left(x\right)\,y \\",
        r"a &= w_{1} + 1 \\",
        r"\tau_{1} &= w_{1}\,z",
        r"\end{aligned}",
    ]
    assert shared._repr_latex_().startswith("$")


def test_latex_braces_balance():
    table, unknown = Table([0, 1], [1, 2]), Function("f", 2)
    f = select(sin(x) / sqrt(y), stumpff(2, x) ** 3, table(x)) + unknown(x, y)
    text = to_latex([f, *gradient(f, [x, y])])
    assert text.count("{") == text.count("}")
    assert len(re.findall(r"\\left", text)) == len(re.findall(r"\\right", text))


def test_repr_of_a_large_formula_is_short():
    f = x
    for i in range(5000):
        f = sin(f) * y + i
    assert len(repr(f)) < 3000
    assert "…" in repr(f)
