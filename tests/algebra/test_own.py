"""Operators and rewriting rules of one's own, in Python and as sheets of text."""

import json

import pytest

import liaison
from liaison.algebra import (
    IDENTITY,
    RewriteRule,
    anything,
    components,
    derivative,
    dot,
    expanded,
    is_zero,
    matrix,
    operator,
    read_sheet,
    reduced,
    replaced,
    rewriting,
    rewritten,
    scalar,
    tilde,
    to_latex,
    to_mathml,
    ulysse,
    vector,
)
from liaison.cli import main
from liaison.errors import ArgumentError, DerivationError, LiaisonError, NamingError, TextError

P, Q, R = matrix("P"), matrix("Q"), matrix("R")
a, b, s = vector("a"), vector("b"), scalar("s")
A, B, x = anything("matrix", "A"), anything("matrix", "B"), anything("vector", "x")
star = operator("star", ("matrix",), "matrix", "linear", "involutive")
f = operator("f", ("vector", "vector"), "scalar", "linear", "antisymmetric")
g = operator("g", ("vector", "vector"), "scalar", "commutative")
par = operator("par", ("vector",), "vector", "linear", "idempotent")
LAW = RewriteRule("star of a product", star(A @ B), star(B) @ star(A))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (star(star(P)), P),
        (star(2 * P + s * Q), 2 * star(P) + s * star(Q)),
        (f(a, b), -f(b, a)),
        (f(a, a), dot(a, a) - dot(a, a)),
        (f(a + b, a - b), -2 * f(a, b)),
        (g(a, b), g(b, a)),
        (par(par(a) + b), par(a) + par(b)),
        (derivative(f(a, b)), f(derivative(a), b) + f(a, derivative(b))),
        # inside an operator, equal arguments are one: a × (b × a) = (a·a) b − (a·b) a
        (star(tilde(a) @ tilde(b) - tilde(b) @ tilde(a)), star(b @ a.T) - star(a @ b.T)),
    ],
)
def test_properties_of_operators(left, right):
    assert is_zero(left - right)


@pytest.mark.parametrize(
    "wrong", [star(P) - P, f(a, b) - f(b, a), g(2 * a, b) - 2 * g(a, b), par(a) - a, g(a, a)]
)
def test_what_no_property_says_is_not_zero(wrong):
    assert not is_zero(wrong)


def test_products_are_matched_whatever_their_brackets():
    """The model of `star` is the transpose: the same products come out."""
    for expression in (star(P @ Q @ R), star(P @ (Q @ R)), star((P @ Q) @ R) @ P):
        model = {"star": lambda m: m.T}
        result = rewritten(expression, [LAW])
        assert is_zero(as_transposes(result, model) - as_transposes(expression, model))
    assert rewritten(star(P @ Q @ R), [LAW]) is star(R) @ star(Q) @ star(P)
    assert rewritten(star(P**3), [LAW]) is star(P) ** 3


def as_transposes(node, model):
    """An expression with an operator replaced by what it is modelled on."""
    args = [as_transposes(arg, model) for arg in node.args]
    if node.op == "operator":
        return model[node.data.name](*args)
    if node.op in ("product", "sum"):
        whole = args[0]
        for arg in args[1:]:
            whole = whole @ arg if node.op == "product" else whole + arg
        return whole
    return args[0] ** node.data if node.op == "power" else node


def test_parts_of_products_and_sums_are_rewritten():
    square = RewriteRule("P squared", P @ P, IDENTITY)
    assert rewritten(Q @ P**3 @ a, [square]) is Q @ P @ a
    sum_rule = RewriteRule("sum", P + Q, R)
    assert rewritten(Q + 2 * R + P, [sum_rule]) is reduced(3 * R)
    scaled = RewriteRule("half", 2 * P, Q)
    assert rewritten(6 * P @ a, [scaled]) is 3 * Q @ a


def test_a_rule_is_a_theorem_an_assumption_or_a_definition():
    y = anything("vector", "y")
    assert RewriteRule("tilde", tilde(x) @ y, -(tilde(y) @ x)).is_theorem is True
    assert RewriteRule("commute", A @ B, B @ A).is_theorem is False
    assert LAW.is_theorem is None


def test_rules_without_end_are_stopped_with_their_name():
    with pytest.raises(DerivationError, match="rule 'swap' was applied 50 times"):
        rewritten(P @ Q, [RewriteRule("swap", A @ B, B @ A)], limit=50)
    grow = operator("grow", ("vector",), "vector")
    with pytest.raises(DerivationError, match="rule 'again'"):
        rewritten(grow(a), [RewriteRule("again", grow(x), grow(grow(x)))], limit=50)
    twice = RewriteRule("twice", grow(x), grow(2 * tilde(x) @ x + tilde(x) @ tilde(x) @ x))
    with pytest.raises(LiaisonError, match=r"twice|parts|terms"):
        rewritten(grow(a), [twice], limit=400)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: RewriteRule("r", star(A), B), "not on the left side"),
        (lambda: RewriteRule("r", A, A @ A), "fits everything"),
        (lambda: RewriteRule("r", star(A), a), "cannot become the vector"),
        (lambda: operator("h", ("vector",), "scalar", "involutive"), "kind of the result"),
        (lambda: operator("h", ("vector",), "vector", "commutative"), "two arguments"),
        (lambda: operator("h", ("tensor",), "vector"), "tensor"),
        (lambda: operator("2h", ("vector",), "vector"), "letters"),
    ],
)
def test_wrong_rules_and_operators_are_errors(wrong, says):
    with pytest.raises((ArgumentError, NamingError), match=says):
        wrong()


def test_an_operator_has_kinds_no_components_and_a_text():
    with pytest.raises(TypeError, match="applied to the vector a"):
        star(a)
    with pytest.raises(DerivationError, match="star is known by its properties"):
        components(star(P))
    with pytest.raises(ValueError, match="declare g linear"):
        derivative(g(a, b))
    assert str(star(P) @ a) == "star(P) a"
    assert r"\left(P\right)" in to_latex(star(P))
    assert "star" in to_mathml(star(P))


# ---- sheets


def test_the_sheet_of_ulysse_is_the_expression_of_the_document(examples):
    result = liaison.rewrite(examples / "ulysse.alg")
    assert [str(row.result) for row in result.rows] == ["0"]
    names = read_sheet((examples / "ulysse.alg").read_text(encoding="utf-8")).names
    same = {
        names["THp1"]: derivative(scalar("Theta1")),
        names["m10"]: scalar("m10", constant=True),
        names["In10"]: matrix("I10"),
    }
    typed = expanded(replaced(names["exp"], same))
    assert typed is expanded(ulysse())
    assert str(typed) != "0"


def test_the_example_of_own_operators(examples, capsys):
    with pytest.raises(SystemExit) as left:
        main(["rewrite", str(examples / "own_operators.alg"), "--steps"])
    out = capsys.readouterr().out
    assert left.value.code == 0
    ends = [line.rpartition(" = ")[2] for line in out.splitlines() if " = " in line]
    assert ends == ["2 R star(P) + star(Q) star(P)", "3 par(b)", "2 (a · u) - (b · u)"]
    assert "    star of a product: " in out


def test_a_sheet_as_json_and_one_more_expression(examples, capsys):
    file = str(examples / "own_operators.alg")
    with pytest.raises(SystemExit):
        main(["rewrite", file, "--json", "--expression", "star(star(P)) - P"])
    facts = json.loads(capsys.readouterr().out)
    assert facts["expressions"][-1]["is_zero"] is True
    assert facts["rules"][0]["status"] == "defines operators"


def test_every_function_of_a_sheet():
    sheet = read_sheet(
        "vector a, b, c; matrix A; matrix W : antisymmetric; quaternion q; scalar s: constant;"
        "reduce dot(a, cross(b, c)) - mixed(a, b, c); reduce tr(dyad(a, b)) - a^T b;"
        "reduce A^-1 A a - Id a; reduce inverse(A)^T A^T - Id; reduce det(A) - det(A);"
        "reduce cross(axial(W), a) - W a; reduce s a/s - 1.5 a + a/2; reduce (s a)' - s a';"
        "reduce conjugate(q pure(a)) + pure(a) conjugate(q);"
    )
    assert [str(reduced(goal)) for goal in sheet.goals] == ["0"] * len(sheet.goals)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("vectr a;", "did you mean 'vector'"),
        ("vector a; reduce a + ;", "line 1"),
        ("vector a\n; reduce b;", "line 2"),
        ("vector a; vector a;", "two things"),
        ("vector a : symmetric;", "a vector is not symmetric"),
        ("vector a; reduce a a;", "cannot multiply"),
        ("matrix A; reduce A^100;", "up to 64"),
        ("reduce " + "(" * 80 + "1" + ")" * 80 + ";", "brackets"),
        ("vector a; reduce __import__('os');", "__import__"),
        ("vector a; reduce a.__class__;", "__class__"),
        ("(* open;", "no end"),
        ("any tensor T;", "tensor"),
        ("any matrix A; rule r: A -> A A;", "fits everything"),
        ("matrix A; reduce 1/A;", "only a scalar"),
        ("scalar s; reduce s $ 2;", "no sign"),
    ],
)
def test_wrong_sheets_say_where_and_why(text, says):
    with pytest.raises(LiaisonError) as error:
        liaison.rewrite(text)
    assert says in str(error.value)
    assert "line" in str(error.value)


def test_a_sheet_is_a_file_with_its_suffix(tmp_path):
    with pytest.raises(TextError, match=r"ends in \.alg"):
        liaison.rewrite(tmp_path / "sheet.lsd")
    with pytest.raises(TextError, match="cannot be read"):
        liaison.rewrite(str(tmp_path / "none.alg"))


def test_steps_name_their_rules():
    steps = rewriting(star(P @ Q) - star(Q) @ star(P), [LAW])
    assert [step.rule for step in steps] == ["star of a product", ""]
    assert str(steps[-1].result) == "0"
