"""Equations as a person would write them: no stacked fractions or signs, Greek names, own letters.

What is printed is looked at over examples and formalisms; names of a mechanism are never those that
a page makes itself.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.equations import FORMALISMS
from liaison.equations.letters import free_letter
from liaison.equations.readable.forms import as_latex, as_unicode
from liaison.equations.readable.pages import as_fragment
from liaison.equations.readable.readable import readable
from liaison.expr.reading.mathml import mathml_name
from liaison.expr.reading.names import GREEK, latex_name, unicode_name

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = ("pendulum", "elliptic_pendulum", "chaplygin")

PATTERNS = {
    "latex": {
        "a fraction below or above a fraction": r"\}\{\\t?frac|\\t?frac\{\\t?frac",
        "two signs": r"[-+] *-|[-+] *\+",
        "1 times": r"(?<![\d.{_^}])1\\,",
        "0 times": r"(?<![\d.])0\\,",
        "power 0 or 1": r"\^\{[01]\}",
        "over 1": r"\{1\}(?=\\,|$)(?<=\}\{1\})",
        "an empty group": r"\{\}",
        "a Greek letter that is no command": r"[Α-Ωα-ωϑϕϵ]",
        "a Greek name as a word": rf"\\mathrm\{{({'|'.join(GREEK)})\}}",
    },
    "text": {
        "divided by a fraction": r"divided by ([½⅓¼⅔]|0?\.\d|1/)|/[½⅓¼⅔]|/\(\d+/",
        "two signs": r"[−+] *[−+]|- -|--",
        "1 times": r"(?<![\d.\w₀-₉⁰-⁹/])1 [a-zA-Zα-ω(]",
        "0 times": r"(?<![\d.\w₀-₉⁰-⁹])0 [a-zA-Zα-ω(]",
        "power 1": r"\^1\b|(?<![⁰-⁹])¹(?![⁰²-⁹])",
        "over 1": r"/1\b(?![/\d.])",
    },
    "html": {
        "divided by a fraction": r"divided by <math>(<mrow>)*<mfrac>",
        "a fraction in a fraction": r"<mfrac>(<mrow>)*<mfrac>",
        "two signs": r"<mo>[−+]</mo>(<mrow>)*<mo>[−+]</mo>",
        "1 times": r"<mn>[01]</mn><mspace",
        "power 0 or 1": r"<mn>[01]</mn></msup>",
    },
}


def faults(page) -> list[tuple[str, str, str]]:
    """Form, what is wrong, and where, of everything a person would not write."""
    texts = {"latex": as_latex(page), "text": as_unicode(page), "html": as_fragment(page)}
    texts["latex"] = re.sub(r"^%.*$", "", texts["latex"], flags=re.M)
    texts["text"] = re.sub(r"^  with .*$", "", texts["text"], flags=re.M)  # values: l = 1 m
    return [
        (form, what, text[max(0, match.start() - 40) : match.end() + 40])
        for form, text in texts.items()
        for what, pattern in PATTERNS[form].items()
        if (match := re.search(pattern, text))
    ]


CASES = [(x, f) for x in SMALL for f in FORMALISMS if f != "maximal" or x == "pendulum"]


@pytest.mark.parametrize(("name", "formalism"), CASES)
def test_small_examples_are_written_as_by_hand(name, formalism):
    equations = liaison.derive(EXAMPLES / f"{name}.lsd", formalism)
    assert not faults(readable(equations))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::liaison.errors.ReadingWarning")
@pytest.mark.parametrize("name", sorted(x.stem for x in EXAMPLES.glob("*.lsd")))
def test_every_example_is_written_as_by_hand(name):
    for formalism in FORMALISMS:
        try:
            equations = liaison.derive(EXAMPLES / f"{name}.lsd", formalism)
        except liaison.LiaisonError:
            continue  # a formalism that does not apply
        assert not faults(readable(equations)), formalism


@pytest.mark.parametrize(
    ("form", "text"),
    [
        ("latex", r"\frac{x}{\frac{1}{2}}"), ("latex", r"a - -b"), ("latex", r"1\,x"),
        ("latex", r"x^{1}"), ("latex", r"\mathrm{theta}"), ("text", "(divided by ½)"),
        ("text", "a − −b"), ("text", "= 1 x"), ("text", "x¹"), ("html", "<mfrac><mrow><mfrac>"),
        ("html", "<mo>+</mo><mrow><mo>−</mo>"), ("html", "<mn>1</mn><mspace width='1'/>"),
    ],
)  # fmt: skip
def test_what_nobody_writes_is_seen(form, text):
    assert any(re.search(pattern, text) for pattern in PATTERNS[form].values())


# names ------------------------------------------------------------------------------------------

NAMES = [
    ("theta1''", "θ₁''", r"\ddot{\theta}_{1}", "θ"),
    ("Omega_x", "Ω_x", r"\Omega_{x}", "Ω"),
    ("Omega_x'", "Ω_x'", r"\dot{\Omega}_{x}", "Ω"),
    ("varphi", "ϕ", r"\varphi", "ϕ"),
    ("J.theta", "J.θ", r"J_{\theta}", "θ"),
    ("J.theta2'", "J.θ₂'", r"\dot{J}_{\theta_{2}}", "θ"),
    ("alpha_rod", "α_rod", r"\alpha_{\mathrm{rod}}", "α"),
    ("θ1'", "θ₁'", r"\dot{\theta}_{1}", "θ"),
    ("T.dof1'", "T.dof1'", r"\dot{T}_{\mathrm{dof1}}", "dof1"),
]


@pytest.mark.parametrize(("name", "text", "latex", "letter"), NAMES)
def test_greek_names_in_every_notation(name, text, latex, letter):
    assert unicode_name(name) == text
    assert latex_name(name) == latex
    assert f"<mi>{letter}</mi>" in mathml_name(name)


CLASH = """
name = "clash" ;
gravity = [0, 0, -9.81] m/s^2 ;
parameter M = 2 kg ; parameter M11 = 1 kg ; parameter L = 1 m ; parameter C = 3 N/m ;
parameter lambda1 = 30 cm ; parameter w1 = 10 cm ; parameter T = 0.2 N*s/m ;
parameter H = 0.1 N ; parameter Q = 0.5 kg ;
let cart = body mass = M, inertia = 0 end ;
let bob = body mass = M11, center = [0, 0, -L], inertia = 0 end ;
let x = join earth and cart with prismatic axis = [1, 0, 0] end ;
let theta = join cart and bob with revolute axis = [0, 1, 0] end ;
apply spring stiffness = C, rest = lambda1 end on x ;
apply damper coefficient = T end on x ;
require x + w1*sin(theta) = lambda1/2 ;
start theta = 10 deg ;
"""


def names_on(page) -> set[str]:
    """What the page names itself, as it is printed."""
    own = [name for part in page.blocks.values() for name, _ in part]
    own += [name for name, _ in page.quantities]
    own += [f"{page.multiplier}{k + 1}" for k in range(len(page.labels["lam"]))]
    return {unicode_name(x.partition("[")[0]) for x in own}


@pytest.mark.parametrize("formalism", sorted(set(FORMALISMS) - {"maximal"}))
def test_names_of_a_mechanism_are_not_those_of_the_page(formalism):
    mechanism = liaison.read(CLASH)
    page = liaison.readable(mechanism, formalism)
    taken = {unicode_name(x.name) for x in mechanism.parameters}
    assert "g" in {name for name, _ in page.values}
    assert not names_on(page) & (taken | {"g"})
    assert "Mass matrix A" in as_unicode(page)
    assert not faults(page)


def test_a_parameter_called_lambda1_is_not_a_multiplier():
    # the row of x holds the parameter (in the spring) and the multiplier (of the relation)
    mechanism = liaison.read(CLASH)
    equations = liaison.derive(mechanism, "lagrange")
    row, _, _ = readable(equations).sympy()
    names = {str(x) for x in row.free_symbols}
    assert {"lambda1", "kappa1"} <= names
    state = {"x": 0.1, "theta": 0.2, "x'": 0.3, "theta'": -0.4}
    kernel = liaison.to_numpy(liaison.lower(equations))
    q, v = np.array([0.1, 0.2]), np.array([0.3, -0.4])
    vdot, lam = np.array([0.5, 0.6]), np.array([0.7])
    terms = kernel.call("terms", q=q, v=v)
    left = terms["M"].reshape(2, 2) @ vdot - terms["f"] - terms["G"].reshape(1, 2).T @ lam
    values = {x.name: float(x.value) for x in mechanism.parameters} | state
    values |= {"x''": 0.5, "theta''": 0.6, "kappa1": 0.7, "g": 9.81}
    at = {x: values[str(x)] for x in row.free_symbols}
    assert float((row.lhs - row.rhs).subs(at)) == pytest.approx(left[0], abs=1e-12)


def test_letters_give_way():
    assert free_letter(["m", "l"], "M A", alone=True) == "M"
    assert free_letter(["M"], "M A", alone=True) == "A"
    assert free_letter(["M"], "M A") == "M"
    assert free_letter(["lambda_1"], "lambda kappa") == "kappa"
    assert free_letter(["λ3'"], "lambda kappa") == "kappa"
    assert free_letter(["M", "A"], "M A", alone=True) == "M_row"
