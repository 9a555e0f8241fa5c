"""Formulas made short: the same value always, the textbook form where there is one."""

import math
from fractions import Fraction
from random import Random

import pytest

from liaison.expr import (
    PI,
    Expr,
    as_expr,
    constant,
    cos,
    evaluate,
    maximum,
    sin,
    sqrt,
    symbol,
    tan,
)
from liaison.expr.reading.arrange import Order
from liaison.expr.reading.latex import reading_to_latex
from liaison.expr.reading.mathml import to_mathml
from liaison.expr.reading.names import unicode_name
from liaison.expr.reading.notation import printed_number
from liaison.expr.reading.reading import Name, Power, Product, Sum, leaves, to_expr
from liaison.expr.reading.ring import Ring, TooLarge
from liaison.expr.reading.simplify import Reader, proved_equal, simplified
from liaison.expr.reading.text import to_unicode

a, b, c, x, y, z = map(symbol, "abcxyz")

SHORT = [
    (sin(x) ** 2 + cos(x) ** 2, "1"),
    (1 - cos(x) ** 2, "sin²(x)"),
    (a * sin(x) ** 2 + a * cos(x) ** 2, "a"),
    (a - a * cos(x) ** 2 + b * cos(x) ** 2, "a sin²(x) + b cos²(x)"),
    (sqrt(1 - cos(x) ** 2), "|sin(x)|"),
    (a * sqrt(sin(x) ** 2 * cos(y) ** 2 + sin(x) ** 2 * sin(y) ** 2), "a |sin(x)|"),
    (x * constant(Fraction(1, 18)) * PI, "1/18 x π"),
    (symbol("left leg.x") * symbol("left leg.y"), "left_leg.x left_leg.y"),
    (cos(x) * cos(y) - sin(x) * sin(y), "cos(x + y)"),
    (cos(x) * cos(y) + sin(x) * sin(y), "cos(x − y)"),
    (sin(x) * cos(y) + cos(x) * sin(y), "sin(x + y)"),
    (sin(x) * cos(y) - cos(x) * sin(y), "sin(x − y)"),
    (cos(x + y) * cos(x) + sin(x + y) * sin(x), "cos(y)"),
    (cos(x + y) * cos(z) - sin(x + y) * sin(z), "cos(x + y + z)"),
    (sin(2 * x), "2 sin(x) cos(x)"),
    (cos(x) ** 2 - sin(x) ** 2, "cos(2 x)"),
    (a * b + a * c, "a (b + c)"),
    (a * a + 2 * a * b + b * b, "(a + b)²"),
    (a * x + b * x - a * y - b * y, "(a + b) (x − y)"),
    (a**2 * b + a**2 * c + b**2 * c, "a² (b + c) + b² c"),
    ((x + y) ** 2 - (x - y) ** 2, "4 x y"),
    (sqrt(x) * sqrt(x) * sin(y), "x sin(y)"),
    (sqrt(x) / sqrt(x) + 1, "2"),
    (a * b / a, "b"),
    (a / (2 * b) + a / (2 * b), "a/b"),
    (sin(x) * a / 3 + sin(x) * a / 6, "½ a sin(x)"),
    (tan(x) - tan(x), "0"),
    ((a + b) / (a + b), "1"),
    (a - b / (1 + c / b), "(a (b + c) − b²)/(b + c)"),
    ((a * a - b * b) / (a + b), "a − b"),
    (x / (a + b) + y / (a + b), "(x + y)/(a + b)"),
    (1 / (1 - sin(x) ** 2), "1/cos²(x)"),
]


@pytest.mark.parametrize(("formula", "text"), SHORT, ids=[text for _, text in SHORT])
def test_identities_of_the_schoolbook(formula, text):
    found = simplified(formula)
    assert to_unicode(found) == text
    assert proved_equal(found, formula)


def random_formula(draw, depth=4):
    leaf = [a, b, sin(x), cos(x), sin(y), cos(x + y), cos(2 * x - y), Fraction(2, 3), 3]
    if depth == 0 or draw.random() < 0.15:
        return draw.choice(leaf) + 0 * a
    left, right = random_formula(draw, depth - 1), random_formula(draw, depth - 1)
    return draw.choice([left + right, left - right, left * right, left * right])


@pytest.mark.parametrize("seed", range(40))
def test_any_formula_keeps_its_value(seed):
    formula = random_formula(Random(seed))
    assert proved_equal(simplified(formula), formula)


def test_a_wrong_reading_is_told():
    assert not proved_equal(simplified(sin(x) * cos(y)), sin(x + y))


def test_equal_formulas_become_the_same_reading():
    first = simplified(cos(x) * (cos(y) * a) - sin(x) * sin(y) * a + b * (1 - sin(x) ** 2))
    second = simplified(a * cos(x + y) + b * cos(x) * cos(x))
    assert first == second


def test_the_square_of_a_quaternion_is_used():
    w, i, j, k = (symbol(f"q{n}") for n in "wxyz")
    squares = {w: 1 - i * i - j * j - k * k}
    found = simplified(a * (w * w + i * i + j * j + k * k), squares=squares)
    assert found == Name("a")


def test_names_come_in_the_order_that_is_asked_for():
    m, length, rate = symbol("m"), symbol("a"), symbol("theta'")
    order = Order({"parameter": ["m", "a"], "velocity": ["theta'"]})
    found = simplified(length * m * rate**2 * cos(symbol("theta")), order)
    assert to_unicode(found) == "m a cos(θ) θ'²"
    assert reading_to_latex(found) == r"m\,a\,\cos \theta\,\dot{\theta}^{2}"


def test_coefficients_of_velocities_are_collected():
    u, v = symbol("u"), symbol("v")
    f = (a + b * cos(x) ** 2 + b * sin(x) ** 2) * u * v + sin(x) * u**2 + c
    found = Reader([f]).collected(f, [u, v])
    texts = {tuple((to_unicode(s), e) for s, e in m): len(form) for m, form in found.items()}
    assert texts == {(("u", 1), ("v", 1)): 2, (("u", 2),): 1, (): 1}


def test_what_is_too_large_is_refused():
    f = (sum(symbol(f"p{k}") for k in range(12))) ** 8
    with pytest.raises(TooLarge):
        simplified(f)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(4, 25), "0.16"),
        (Fraction(1, 3), "1/3"),
        (Fraction(981, 100), "9.81"),
        (Fraction(1603, 37500), "0.0427467"),
        (7, "7"),
    ],
)
def test_numbers_are_fractions_or_decimals(value, text):
    found = printed_number(Fraction(value))
    assert "/".join(filter(None, (found.text, found.denominator))) == text
    assert found.is_exact == (text != "0.0427467")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("theta''", "θ''"),
        ("m1", "m₁"),
        ("S.wx'", "S.wx'"),
        ("omega3.x", "ω₃.x"),
        ("drive", "drive"),
    ],
)
def test_names_are_typeset(name, text):
    assert unicode_name(name) == text


def test_mathml_is_well_formed():
    from xml.etree import ElementTree

    f = (a + b) * sin(symbol("theta1'")) ** 2 / (3 * sqrt(c + 1)) - Fraction(1, 3) * x**2 / y
    text = to_mathml(simplified(f))
    tags = {node.tag for node in ElementTree.fromstring(text).iter()}
    assert {"mrow", "msup", "mfrac", "msqrt", "mover", "msub"} <= tags


def test_what_there_is_to_read_is_counted():
    f = Sum((Product((Name("a"), Power(Name("x"), 2))), Name("b")))
    assert leaves(f) == 4
    assert to_expr(f) is a * x**2 + b


def random_quotient(rng: Random, depth: int) -> Expr:
    """Sums, products, roots, choices and, above all, fractions within fractions."""
    if depth == 0:
        return rng.choice([x, y, z, as_expr(Fraction(rng.randint(1, 5), rng.randint(1, 3)))])
    one, other = random_quotient(rng, depth - 1), random_quotient(rng, depth - 1)
    ways = (
        one + other,
        one * other,
        one / other,
        one / (other + 2),
        sqrt(one),
        maximum(one, other),
    )
    return as_expr(rng.choice((*ways, sin(one))))


def test_normal_forms_of_fractions_within_fractions_are_the_formulas():
    """1/(x/(y − 3)): the inverse of 1/(y − 3) is a sum, no generator."""
    rng = Random(5)
    formulas = [sqrt(Fraction(3, 10) / (maximum(x, Fraction(1, 10)) / (y + Fraction(3, 2))))]
    formulas += [random_quotient(rng, 4) for _ in range(150)]
    for f in formulas:
        ring, values = Ring([f]), {s: rng.uniform(0.3, 2) for s in (x, y, z)}
        try:
            terms = ring.polynomial(f)
        except TooLarge:
            continue
        at = evaluate([g.expr for g in ring.generators], values)
        total = sum(
            float(c) * math.prod(v**e for v, e in zip(at, m, strict=False))
            for m, c in terms.items()
        )
        assert total == pytest.approx(evaluate([f], values)[0], rel=1e-9, nan_ok=True)
