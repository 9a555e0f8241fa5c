"""Textbook systems come out as the books print them: the same terms, made of the same factors."""

import json
import re
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from unicodedata import normalize
from xml.etree import ElementTree

import pytest

import liaison
from liaison import readable
from liaison.analyse.proofs.exact_motion import LooseRoots, random_point
from liaison.equations import statement
from liaison.equations.readable.forms import as_latex, as_sympy, as_unicode
from liaison.equations.readable.pages import as_html, as_notebook
from liaison.equations.readable.readable import (
    christoffel,
    named_recursion,
    power_identity,
    product_identity,
)
from liaison.equations.readable.readable import readable as read_equations
from liaison.equations.reading_order import order_of
from liaison.errors import DerivationError
from liaison.exact.residues import DEFAULT_PRIME, Residues, residues
from liaison.expr import as_expr, evaluate, substitute, symbol
from liaison.expr.reading.arrange import Order, product_of, sum_of
from liaison.expr.reading.reading import Product, Sum, leaves, to_expr
from liaison.expr.reading.simplify import Reader, proved_equal
from liaison.expr.reading.text import to_unicode
from liaison.verbs.gravity import with_named_gravity

HEAD = "gravity = [0, 0, -g] ; parameter g = 9.81 m/s^2 ;"

PENDULUM = (
    HEAD
    + """
parameter m = 1 kg ; parameter l = 1 m ;
let bob = body mass = m, center = [0, 0, -l], inertia = 0 end ;
let theta = join earth and bob with revolute axis = [0, -1, 0] end ;
"""
)

CART_POLE = (
    HEAD
    + """
parameter mc = 1 kg ; parameter mp = 1 kg ; parameter l = 1 m ;
input f = 0 N ;
let cart = body mass = mc, inertia = 0 end ;
let pole = body mass = mp, center = [0, 0, -l], inertia = 0 end ;
let x = join earth and cart with prismatic axis = [1, 0, 0] end ;
let theta = join cart and pole with revolute axis = [0, -1, 0] end ;
apply motor force = f end on x ;
"""
)

TWO_LINKS = (
    HEAD.replace("[0, 0, -g]", "[0, -g, 0]")
    + """
parameter m1 = 1 kg ; parameter m2 = 1 kg ; parameter l1 = 1 m ; parameter l2 = 1 m ;
let first = body mass = m1, center = [l1, 0, 0], inertia = 0 end ;
let second = body mass = m2, center = [l2, 0, 0], inertia = 0 end ;
let theta1 = join earth and first with revolute axis = [0, 0, 1] end ;
let theta2 = join [l1, 0, 0] @ first and second with revolute axis = [0, 0, 1] end ;
"""
)

TOP = (
    HEAD
    + """
parameter m = 1 kg ; parameter l = 1 m ; parameter A = 1 kg*m^2 ; parameter C = 1 kg*m^2 ;
let one = body mass = 0, inertia = 0 end ;
let two = body mass = 0, inertia = 0 end ;
let top = body mass = m, center = [0, 0, l], inertia = [A, A, C] end ;
let phi = join earth and one with revolute axis = [0, 0, 1] end ;
let theta = join one and two with revolute axis = [1, 0, 0] end ;
let psi = join two and top with revolute axis = [0, 0, 1] end ;
"""
)


def structure(text):
    """Terms of a sum with their signs, each as its factors: order does not count."""
    flat = normalize("NFC", text).replace("− ", "+ -").replace("−", "-")
    found, depth, term = [], 0, ""
    for letter in flat + " + ":
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "+" and depth == 0:
            found.append(term)
            term = ""
        else:
            term += letter
    return Counter(frozenset(Counter(_factors(x)).items()) for x in found if x.strip())


def _factors(term):
    sign = ["-"] if term.strip().startswith("-") else []
    words = re.findall(r"[^\s()]*\([^()]*\)[²³]?|[^\s()]+", term.strip().lstrip("-"))
    words = [x for w in words for x in ([w[:-1]] * 2 if re.fullmatch(r"\w+[₀-₉]*²", w) else [w])]
    return sign + [
        re.sub(r"\(.*\)", lambda m: str(sorted(m[0][1:-1].split(" + "))), w) for w in words
    ]


def lines_of(text, formalism="lagrange"):
    return {x.name.rstrip("'"): x for x in readable(text, formalism).lines}


def same(line, left, right="0"):
    assert structure(to_unicode(line.left)) == structure(left), to_unicode(line.left)
    assert structure(to_unicode(line.right)) == structure(right), to_unicode(line.right)


def test_the_comparison_by_structure_can_fail():
    assert structure("a b + (c + d) e") == structure("e (d + c) + b a")
    assert structure("a b + c") != structure("a b − c")
    assert structure("sin(x) y²") != structure("sin(x) y")


@pytest.mark.parametrize("formalism", ["lagrange", "newton_euler"])
def test_the_pendulum(formalism):
    """l θ̈ + g sin θ = 0. Source: Goldstein, Poole, Safko, Classical Mechanics, 3rd ed., §3.6."""
    line = lines_of(PENDULUM, formalism)["theta"]
    same(line, "l θ'' + g sin(θ)")
    assert to_unicode(line.divisor) == "m l"


@pytest.mark.parametrize("formalism", ["lagrange", "newton_euler"])
def test_the_cart_with_a_pole(formalism):
    """Source: Tedrake, Underactuated Robotics, ch. 3, the cart-pole system; θ from below."""
    lines = lines_of(CART_POLE, formalism)
    same(lines["x"], "(mc + mp) x'' + mp l θ'' cos(θ) − mp l θ'² sin(θ)", "f")
    same(lines["theta"], "x'' cos(θ) + l θ'' + g sin(θ)")
    assert structure(to_unicode(lines["theta"].divisor)) == structure("mp l")


@pytest.mark.parametrize("formalism", ["lagrange", "newton_euler"])
def test_the_elliptic_pendulum(formalism, examples):
    """LL 2.2.10, with ÿ where it prints ẏ (docs/errata.md)."""
    lines = lines_of(examples / "elliptic_pendulum.lsd", formalism)
    same(lines["y"], "(m₁ + m₂) y'' + m₂ a θ'' cos(θ) − m₂ a θ'² sin(θ)")
    same(lines["theta"], "a θ'' + y'' cos(θ) + g sin(θ)")


@pytest.mark.parametrize("formalism", ["lagrange", "newton_euler"])
def test_two_links_with_joint_angles(formalism):
    """Source: Craig, Introduction to Robotics, 3rd ed., §6.7, eqs. (6.60)–(6.62)."""
    found = readable(TWO_LINKS, formalism)
    M, g = dict(found.blocks["M"]), dict(found.blocks["g"])
    book = {
        "M[1,1]": "l₂² m₂ + 2 l₁ l₂ m₂ cos(θ₂) + l₁² (m₁ + m₂)",
        "M[2,1]": "l₂² m₂ + l₁ l₂ m₂ cos(θ₂)",
        "M[2,2]": "l₂² m₂",
    }
    forms = {name: structure(to_unicode(_expanded(x))) for name, x in M.items()}
    assert forms == {name: structure(text) for name, text in book.items()}
    assert structure(to_unicode(_expanded(g["G[1]"]))) == structure(
        "m₂ l₂ g cos(θ₁ + θ₂) + (m₁ + m₂) l₁ g cos(θ₁)"
    )
    assert structure(to_unicode(g["G[2]"])) == structure("m₂ l₂ g cos(θ₁ + θ₂)")


def _expanded(reading):
    """A factor before a sum multiplied in, where the book has it so."""
    if isinstance(reading, Product) and isinstance(reading.factors[-1], Sum):
        *front, last = reading.factors
        return sum_of(product_of(Fraction(1), [*front, x]) for x in last.terms)
    return reading


def test_the_double_pendulum_with_absolute_angles():
    """Source: Landau, Lifshitz, Mechanics, §5 problem 1, whose Lagrangian gives these equations."""
    equations = liaison.derive(liaison.read(TWO_LINKS), "lagrange", exact=True)
    first, second = (as_expr(x) for x in equations.dynamics.inverse)
    # θ₂ of the book is θ₁ + θ₂ of the joints; turning the first link alone turns both joints
    phi = {n: symbol(f"phi{n}") for n in ("", "'", "''")}
    angle = {n: symbol(f"theta1{n}") for n in phi}
    change = {symbol(f"theta2{n}"): phi[n] - angle[n] for n in phi}
    rows = substitute([first - second, second], change)
    order = {
        "parameter": ["m1", "m2", "l1", "l2", "g"],
        "position": ["theta1", "phi"],
        "velocity": ["theta1'", "phi'"],
        "acceleration": ["theta1''", "phi''"],
    }
    reader = Reader(rows, Order(order))
    inner = [to_unicode(reader.read(row)) for row in rows]
    assert structure(_inside(inner[0])) == structure(
        "(m₁ + m₂) l₁ θ₁'' + m₂ l₂ φ'' cos(θ₁ − φ) + m₂ l₂ φ'² sin(θ₁ − φ) + (m₁ + m₂) g cos(θ₁)"
    ), inner[0]
    assert structure(_inside(inner[1])) == structure(
        "l₂ φ'' + l₁ θ₁'' cos(θ₁ − φ) − l₁ θ₁'² sin(θ₁ − φ) + g cos(φ)"
    ), inner[1]


def _inside(text):
    """The last parenthesis of a product."""
    start = text.index(" (") + 2 if not text.startswith("(") else 1
    return text[start : text.rindex(")")]


@pytest.mark.parametrize("formalism", ["lagrange", "newton_euler"])
def test_the_spinning_top(formalism):
    """Source: Goldstein, Poole, Safko, 3rd ed., §5.7, from its L with I₁ = A + m l², I₃ = C."""
    lines = lines_of(TOP, formalism)
    same(
        lines["psi"],
        "cos(θ) φ'' + ψ'' − sin(θ) φ' θ'",
    )
    phi, theta = lines["phi"], lines["theta"]
    text = to_unicode(phi.left)
    assert "((m l² + A) sin²(θ) + C cos²(θ)) φ''" in text, text
    assert "C cos(θ) ψ''" in text
    assert "− C sin(θ) θ' ψ'" in text
    assert "2 (m l² + A − C) sin(θ) cos(θ) φ' θ'" in text
    text = to_unicode(theta.left)
    assert "(m l² + A) θ''" in text
    assert "− (m l² + A − C) sin(θ) cos(θ) φ'²" in text, text
    assert "+ C sin(θ) φ' ψ'" in text
    assert "− m g l sin(θ)" in text.replace("g m l", "m g l").replace("m l g", "m g l")


def test_the_top_on_a_ball_joint_is_eulers(examples):
    """Euler's equations: A ω̇x + (C − A) ωy ωz = …, with A = 0.0022 and C = 0.0006 about the tip."""
    lines = readable(examples / "spinning_top.lsd").lines
    assert to_unicode(lines[0].left).startswith("0.0022 S.wx' − 0.0016 S.wy S.wz")
    assert to_unicode(lines[2].left) == "0.0006 S.wz'"


# Values -----------------------------------------------------------------------------------------

NAMES = ["pendulum", "double_pendulum", "elliptic_pendulum", "spinning_top", "four_bar",
         "slider_crank", "chaplygin", "quarter_car", "belt_drive"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_is_what_was_derived(examples, name):
    mechanism = with_named_gravity(liaison.read(examples / f"{name}.lsd"))
    equations = liaison.derive(mechanism, "lagrange", exact=True)
    found = readable(examples / f"{name}.lsd")
    unit = {symbol(f"lambda{k + 1}"): x for k, x in enumerate(equations.symbols.lam)}
    for line, wanted in zip(found.lines, statement(equations), strict=True):
        difference = to_expr(line.left) - to_expr(line.right)
        (read,) = substitute([difference * to_expr(line.divisor)], unit)
        whole = as_expr(read - (wanted.left - wanted.right))
        assert _vanishes(whole, equations), line.name


def _vanishes(formula, equations):
    """Zero modulo a prime; unit quaternions are taken as such."""
    values = {}
    for chart in equations.kinematics.charts:
        if chart.kind in ("quaternion", "free"):
            # a rational point of the sphere: (1 − s, 2 t) / (1 + s) with s = t·t
            t = (5, 7, 11)
            s = sum(x * x for x in t)
            scale = pow(1 + s, -1, DEFAULT_PRIME)
            point = [(1 - s) * scale % DEFAULT_PRIME, *(2 * x * scale for x in t)]
            values |= dict(zip(equations.symbols.q[chart.q][-4:], point, strict=True))
    return evaluate(formula, values, residues()) == 0


@pytest.mark.parametrize("name", [*NAMES, "satellite", "gimbals", "rolling_disc"])
def test_velocity_products_do_the_work_of_a_changing_mass(examples, name):
    """vᵀ B = ½ vᵀ Ṁ v (E7), exactly."""
    equations = liaison.derive(examples / f"{name}.lsd", "lagrange", exact=True)
    assert power_identity(equations)


@pytest.mark.parametrize("name", ["double_pendulum", "elliptic_pendulum", "four_bar", "gimbals"])
def test_christoffel_symbols_give_the_velocity_products(examples, name):
    assert product_identity(liaison.derive(examples / f"{name}.lsd", "lagrange", exact=True))


def test_a_wrong_bias_breaks_the_identity(examples):
    equations = liaison.derive(examples / "double_pendulum.lsd", "lagrange", exact=True)
    A, B = equations.symbols.v
    h = (equations.dynamics.h[0] + A * B, equations.dynamics.h[1])
    wrong = replace(equations, dynamics=replace(equations.dynamics, h=h))
    assert not power_identity(wrong)
    assert not product_identity(wrong)


def test_christoffel_symbols_need_rates(examples):
    equations = liaison.derive(examples / "spinning_top.lsd", "lagrange", exact=True)
    with pytest.raises(DerivationError, match="no rates of coordinates"):
        christoffel(equations)


# Large systems ----------------------------------------------------------------------------------


def test_a_robot_arm_is_read_by_named_quantities(examples):
    found = readable(examples / "arm7.urdf", "newton_euler")
    assert len(found.quantities) < 110
    assert max(leaves(x) for _, x in found.quantities) < 60
    assert [to_unicode(x.left) for x in found.lines] == [f"n{k}.z" for k in "₁₂₃₄₅₆₇"]


@pytest.mark.parametrize("name", ["arm7.urdf", "satellite.lsd", "four_bar.lsd"])
def test_named_quantities_are_the_equations(examples, name):
    mechanism = liaison.read(examples / name)
    equations = liaison.derive(mechanism, "newton_euler", exact=True)
    found = named_recursion(liaison.span(mechanism, exact=True))
    values = {}
    for quantity, formula in found.quantities:
        values[symbol(quantity)] = evaluate(formula, values, residues())
    rows = evaluate([as_expr(x) for x in found.rows], values, residues())
    tau = [as_expr(x) for x in equations.dynamics.tau]
    wanted = [as_expr(a + b) for a, b in zip(equations.dynamics.inverse, tau, strict=True)]
    assert rows == evaluate(wanted, {}, residues())


@pytest.mark.parametrize("formalism", ["lagrange", "maximal"])
@pytest.mark.parametrize("name", ["four_bar", "rolling_disc", "spinning_top", "triangle"])
def test_rows_by_names_are_the_rows(examples, name, formalism):
    mechanism = liaison.read(examples / f"{name}.lsd")
    equations = liaison.derive(mechanism, formalism, exact=True)
    found = read_equations(equations, liaison.span(mechanism, exact=True), longest=3)
    assert found.quantities
    domain = LooseRoots(Residues(DEFAULT_PRIME, 5))
    values = random_point(equations, domain.inner)
    drawn = {x: domain.inner.drawn("lam", x.name) for x in equations.symbols.lam}
    values |= drawn | {symbol(f"lambda{k + 1}"): x for k, x in enumerate(drawn.values())}
    for quantity, reading in found.quantities:
        values[symbol(quantity)] = evaluate(to_expr(reading), values, domain)
    for line, wanted in zip(found.lines, statement(equations), strict=True):
        difference = to_expr(line.left) - to_expr(line.right)
        whole = as_expr(difference * to_expr(line.divisor) - (wanted.left - wanted.right))
        assert evaluate(whole, values, domain) == 0, line.name


def test_every_line_of_a_platform_is_short(examples):
    found = readable(examples / "stewart.lsd", integrals=False)
    assert max(leaves(x) for _, x in found.quantities) < 80


# Documents --------------------------------------------------------------------------------------


@pytest.fixture
def elliptic(examples):
    return readable(examples / "elliptic_pendulum.lsd")


def test_the_text_has_equations_and_blocks(elliptic):
    text = as_unicode(elliptic)
    wanted = "(m₁ + m₂) y'' + m₂ a cos(θ) θ'' − m₂ a sin(θ) θ'² = 0"
    assert normalize("NFC", wanted) in text
    assert "M₂₂ = m₂ a²" in text
    assert "C₁₂ = −m₂ a sin(θ) θ'" in text


def test_latex_is_balanced(elliptic):
    text = as_latex(elliptic)
    assert text.count("{") == text.count("}")
    assert text.count(r"\begin{aligned}") == text.count(r"\end{aligned}") == 5
    assert text.count(r"\left(") == text.count(r"\right)")


def test_the_script_makes_the_same_equations_in_sympy(elliptic, examples):
    sympy = pytest.importorskip("sympy")
    made = {}
    exec(as_sympy(elliptic), made)
    for row, line in zip(made["equations"], elliptic.lines, strict=True):
        wanted = liaison.to_sympy(to_expr(line.left))
        assert sympy.expand(row.lhs - wanted) == 0
    assert made["M_matrix"].shape == (2, 2)
    assert sympy.expand(made["M_matrix"] - made["M_matrix"].T) == sympy.zeros(2)


def test_the_page_stands_alone_and_is_well_formed(elliptic):
    text = as_html(elliptic)
    assert "http" not in text
    assert "<script" not in text
    root = ElementTree.fromstring(text.replace("<!doctype html>", "").replace(
        '<meta charset="utf-8">', "").replace(
        '<meta name="viewport" content="width=device-width, initial-scale=1">', ""))  # fmt: skip
    assert len(list(root.iter("math"))) >= 8


def test_the_notebook_is_valid(elliptic):
    book = json.loads(as_notebook(elliptic))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    kinds = [cell["cell_type"] for cell in book["cells"]]
    assert set(kinds) == {"markdown", "code"}
    code = next(cell for cell in book["cells"] if cell["cell_type"] == "code")
    assert code["outputs"] == []
    compile("".join(code["source"]), "cell", "exec")
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.from_dict(book))


def test_numbers_are_rounded_only_for_reading(examples):
    found = readable(examples / "double_pendulum.lsd")
    assert "0.0427467" in as_unicode(found)
    assert "rounded to 6 digits" in as_unicode(found)
    assert "1603" in as_sympy(found)
    line = found.lines[1]
    equations = liaison.derive(
        with_named_gravity(liaison.read(examples / "double_pendulum.lsd")), "lagrange", exact=True
    )
    whole = as_expr(equations.dynamics.inverse[1])
    assert proved_equal(line.left, whole)
    assert order_of(equations).kind(line.left) == 4
