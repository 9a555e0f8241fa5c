"""Every notation writes graphs, readings and vectors; an operation is a row, a notation a file."""

import math
import xml.etree.ElementTree as ElementTree
from fractions import Fraction

import pytest

from liaison.algebra import as_formal, cross, derivative, dot, tilde, vector
from liaison.algebra import to_mathml as vectors_to_mathml
from liaison.algebra.text import written
from liaison.errors import DerivationError
from liaison.expr import (
    OPS,
    PI,
    Function,
    Table,
    arc_ratio,
    atan2,
    constant,
    cos,
    evaluate,
    gradient,
    select,
    sin,
    sqrt,
    stumpff,
    symbol,
    to_sympy,
)
from liaison.expr.graph import node, rules
from liaison.expr.graph.row import ATOM, POWER, Op
from liaison.expr.reading.latex import Latex, reading_to_latex
from liaison.expr.reading.mathml import MathML, to_mathml
from liaison.expr.reading.notation import Notation, Written
from liaison.expr.reading.python import Python, identifiers, to_python
from liaison.expr.reading.reading import names_in, plain
from liaison.expr.reading.shared import listing
from liaison.expr.reading.text import Text, Unicode, to_unicode
from liaison.formats.lsd.write.formulas import Lsd

x, y, rate = symbol("x"), symbol("y"), symbol("theta1'")
NAMES = identifiers(["x", "y", "theta1'"])
F = (x - y * 2) ** 3 * sin(rate) / (1 + x * x) - sqrt(y) * Fraction(1, 3) + select(x, -y, PI)
NOTATIONS = [Text(), Unicode(), Latex(), MathML(), Python(NAMES), Lsd()]


def shape(notation):
    return type(notation).__name__


# Every notation writes every shape --------------------------------------------------------------


@pytest.mark.parametrize("notation", NOTATIONS, ids=shape)
def test_graphs_and_readings_are_written(notation):
    (graph,) = listing(F, notation, share=False).results
    reading = notation.sum(plain(F))
    for text in (graph, reading):
        assert text.count("(") == text.count(")")
        assert text.count("{") == text.count("}")
        assert "None" not in text
    assert listing([sin(x) + 1, sin(x) * y], notation).assignments


@pytest.mark.parametrize("notation", [Text(), Python(NAMES)], ids=shape)
@pytest.mark.parametrize("form", ["graph", "reading"])
def test_a_text_that_computers_read_has_the_value_of_the_formula(notation, form):
    """Evaluated by Python itself, for the formula and for hard groupings."""
    values = {x: 0.7, y: 0.45, rate: 0.3}
    words = {row: OPS[row].value for row in ("sin", "sqrt", "select")}
    words |= {"Rational": lambda a, b: a / b, "pi": math.pi, "x": 0.7, "y": 0.45}
    words |= {"theta1_d": 0.3, "Piecewise": lambda *cases: next(v for v, c in cases if c)}
    for f in (F, x / (y * x), x - (y - x), (x * y) ** y, x ** (y + 1) * -2, (-x) ** 2 / 3):
        text = (
            listing(f, notation, share=False).results[0]
            if form == "graph"
            else notation.sum(plain(f))
        )
        value = eval(text.replace("theta1'", "theta1_d"), {"__builtins__": {}}, words)
        assert value == pytest.approx(evaluate(f, values), rel=1e-14)


@pytest.mark.parametrize("notation", [Text(), Unicode(), Latex(), MathML()], ids=shape)
def test_vectors_are_written(notation):
    w, r = vector("omega1"), vector("r")
    f = derivative(cross(w, r)) + as_formal(x / 3 - 1) * tilde(w) @ r - dot(w, r) * w
    text = written(f, notation)
    assert notation.symbol("omega1", order=1, is_vector=True, tilde=False) in text
    assert notation.symbol("omega1", order=0, is_vector=False, tilde=True) in text


def test_mathml_of_vectors_is_well_formed():
    w, r = vector("omega1"), vector("r")
    for f in (cross(w, r), -(dot(w, r) * w) + w, tilde(cross(w, r)) @ r, as_formal(-2) * w):
        ElementTree.fromstring(vectors_to_mathml(f))
    (graph,) = listing(F, MathML(), share=False).results
    ElementTree.fromstring(f"<math>{graph}</math>")


@pytest.mark.parametrize("notation", [Python(NAMES), Lsd()], ids=shape)
def test_a_notation_of_scalars_refuses_vectors(notation):
    with pytest.raises(DerivationError, match="writes scalars"):
        written(cross(vector("a"), vector("b")), notation)


# What was wrong ---------------------------------------------------------------------------------


def test_functions_with_an_index_are_read_by_their_name():
    """c₂(x) was printed as 2(x), a product."""
    c, a = plain(stumpff(2, x)), plain(arc_ratio(x, y))
    assert to_unicode(c) == "stumpff(2, x)"
    assert to_unicode(plain(stumpff(2, x) ** 3)) == "stumpff³(2, x)"
    assert to_unicode(a) == "arc_ratio[0](x, y)"
    assert reading_to_latex(c) == "c_{2} x"
    assert reading_to_latex(a) == r"a_{0}\left(x, y\right)"
    assert "<mi>stumpff</mi>" in to_mathml(c)
    assert "<mn>2</mn>" in to_mathml(c)


def test_general_powers_are_written_for_sympy():
    """They were refused."""
    import sympy

    f = (x + 1) ** (y * 2) * 3
    reading = plain(f)
    text = to_python(reading, identifiers(sorted(names_in(reading))))
    words = {"x": sympy.Symbol("x", real=True), "y": sympy.Symbol("y", real=True)}
    assert eval(text, {"__builtins__": {}}, words) == to_sympy(f)


def test_a_formula_inside_a_vector_expression_stays_on_its_line():
    """Its shared parts came as lines of their own in the middle of a product."""
    shared = sin(x) * y
    text = written(as_formal(shared + cos(shared)) * vector("a"), Text())
    assert text == "(cos(sin(x)*y) + sin(x)*y) a"


# Change drills ----------------------------------------------------------------------------------


@pytest.fixture
def arsinh():
    """One row more in the table of operations, with its derivative."""
    OPS["asinh"] = Op(
        1,
        math.asinh,
        math.asinh,
        (lambda a: 1 / sqrt(a * a + 1),),
        "asinh({})",
        r"\operatorname{{arsinh}} {}",
        "asinh({})",
        sympy="asinh",
    )
    rules.install()
    yield lambda a: node.unary("asinh", a)
    del OPS["asinh"]
    rules.install()


def test_a_new_operation_is_one_row(arsinh):
    import sympy

    f = arsinh(x) * y
    assert evaluate(f, {x: 0.5, y: 2.0}) == pytest.approx(2 * math.asinh(0.5))
    assert evaluate(gradient(f, [x])[0], {x: 0.5, y: 2.0}) == pytest.approx(2 / math.sqrt(1.25))
    assert repr(f) == "asinh(x)*y"
    assert to_unicode(plain(arsinh(x) ** 3)) == "asinh³(x)"
    assert reading_to_latex(plain(arsinh(x) ** 3)) == r"\operatorname{arsinh}^{3} x"
    assert "<mi>asinh</mi>" in to_mathml(plain(f))
    assert "asinh(x)" in to_python(plain(f), {"x": "x", "y": "y"})
    assert to_sympy(arsinh(x)) == sympy.asinh(sympy.Symbol("x", real=True))
    for notation in (Text(), Unicode(), Latex(), MathML(), Python({"x": "x", "y": "y"})):
        assert "sinh" in listing(f, notation).results[0]


class Prefix(Notation):
    """A notation of one file: (* x (sin y)), with vectors."""

    marks = {"product": " @ ", "cross": "(cross {} {})"}  # noqa: RUF012

    def name(self, label):
        return label

    def number(self, value):
        return Written(str(value))

    def pattern(self, op):
        signs = {"add": "+", "sub": "-", "mul": "*", "div": "/", "neg": "-", "pow": "^"}
        row = OPS[op]
        return f"({signs.get(op, op)}{' {}' * row.arity})"

    def rank(self, op):
        return ATOM

    def symbol(self, name, *, order, is_vector, tilde):
        return name


def test_a_new_notation_is_one_class():
    f = (x + y) * sin(x) - 3
    assert listing(f, Prefix()).results == ("(- (* (+ x y) (sin x)) 3)",)
    assert Prefix().sum(plain(x * sin(y) / 2)) == "(* (* 1/2 (sin y)) x)"
    assert written(cross(vector("a"), vector("b")), Prefix()) == "(cross a b)"


def test_ranks_of_operations_are_those_of_the_table():
    assert OPS["pow"].rank == POWER < ATOM
    assert {row.rank for row in OPS.values() if "(" in row.text} == {ATOM}
    table, unknown = Table([0, 1], [0, 1], name="cam"), Function("f", 2)
    assert to_unicode(plain(table(x) + unknown(x, y))) == "f(x, y) + cam(x)"
    assert to_unicode(plain(atan2(x, constant(2)))) == "atan2(x, 2)"
