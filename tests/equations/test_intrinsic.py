"""Levels of detail: vectors, matrices, scalars of one mechanism, all equal by value."""

from pathlib import Path

import numpy as np
import pytest

from liaison.algebra import vector
from liaison.analyse.proofs.exact_motion import random_point
from liaison.equations import newton_euler
from liaison.equations.vector.vector_equations import vector_equations
from liaison.errors import DerivationError, NamingError
from liaison.exact.residues import residues
from liaison.expr import absolute, as_expr, evaluate, sin, substitute, symbol, symbols_of
from liaison.expr.reading.simplify import vanishes_exactly
from liaison.formats.read import read
from liaison.spatial.arrays import product
from liaison.tree import GROUND, assemble, span
from liaison.verbs.gravity import with_named_gravity

EXAMPLES = Path(__file__).parents[2] / "examples"

# trees, loops, sliders, balls, gears, motors, springs, rolling, a ghost
NAMES = [
    "pendulum", "double_pendulum", "elliptic_pendulum", "spinning_top", "satellite", "door",
    "four_bar", "slider_crank", "quarter_car", "gimbals", "planetary_gear", "rolling_disc",
    "bicycle", "leg", "double_cardan", "excavator",
]  # fmt: skip


def tree_of(name):
    return span(with_named_gravity(read(EXAMPLES / f"{name}.lsd")), exact=True)


@pytest.fixture(scope="module", params=NAMES)
def found(request):
    return vector_equations(tree_of(request.param))


def motion_lines(found):
    """The lines of the equations of motion, one for each velocity."""
    return found.lines[-found.book.tree.nv :]


DERIVED = {}


def newton_euler_of(tree):
    """The equations of a tree, derived once."""
    if id(tree) not in DERIVED:
        DERIVED[id(tree)] = tree, newton_euler(tree)  # with the tree, whose id stays in use
    return DERIVED[id(tree)][1]


def is_zero(entries, book):
    """Whether formulas vanish, at floats, and modulo a prime of 61 bits where roots allow it."""
    formulas = [as_expr(x) for x in np.ravel(entries)]
    equations = newton_euler_of(book.tree)
    at = floats(equations, formulas)
    numbers = np.array(evaluate(formulas, at))
    sizes = np.array(evaluate([magnitude(f) for f in formulas], at))
    if not np.all(np.abs(numbers) <= 1e-11 * (1 + sizes)):
        return False
    domain = residues(seed=3)
    try:
        found = evaluate(formulas, random_point(equations, domain), domain)
    except DerivationError:
        return True  # a root that this prime does not have
    return not any(found)


def magnitude(f):
    """The formula with every sum of the top replaced by that of absolute values: its scale."""
    if f.op in ("add", "sub"):
        return magnitude(f.args[0]) + magnitude(f.args[1])
    return absolute(f)


def floats(equations, formulas):
    """A number for every symbol, quaternions of unit length."""
    draw = np.random.default_rng(5)
    at = {x: draw.uniform(0.2, 1.0) for x in symbols_of(formulas)}
    for chart in equations.kinematics.charts:
        if chart.kind != "plain":
            q = equations.symbols.q[chart.q][-4:]
            unit = draw.normal(size=4)
            at |= dict(zip(q, unit / np.linalg.norm(unit), strict=True))
    return at


def differences_of_motion(found):
    """The equations of motion, line by line, and the rows of Newton–Euler: what is between them."""
    equations = newton_euler_of(found.book.tree)
    expected = list(equations.dynamics.inverse)
    for (k, j), entry in equations.closures.G.items():
        expected[j] = expected[j] - entry * equations.symbols.lam[k]
    return [
        as_expr(found.value(line.difference).item()) + row
        for line, row in zip(motion_lines(found), expected, strict=True)
    ]


def has_inner_loops(found):
    """A loop that hangs on a moving body: its forces balance where it is closed, and there only."""
    return any(push.root != GROUND for _, row in found.book.setting.rows[0] for push in row.pushes)


def test_the_equations_of_motion_are_those_of_newton_and_euler(found):
    differences = differences_of_motion(found)
    if not has_inner_loops(found):
        assert is_zero(differences, found.book)
        return
    equations = newton_euler_of(found.book.tree)
    at = floats(equations, [*differences, *equations.symbols.q])
    state = assemble(found.book.tree)
    at |= dict(zip(equations.symbols.q, state.q, strict=True))
    numbers, sizes = (
        np.array(evaluate(fs, at)) for fs in (differences, list(map(magnitude, differences)))
    )
    assert np.all(np.abs(numbers) <= 1e-8 * (1 + sizes))  # loops are closed to about 1e-12 m


def test_a_changed_term_does_not_pass(found):
    line = motion_lines(found)[0]
    assert not is_zero(found.value(line.left - 2 * line.right), found.book)


def test_every_level_has_the_value_of_the_one_before(found):
    lines = found.lines[:8] + motion_lines(found)[:2]
    short = found.__class__(found.book, lines)
    once, all_of_it = short.expand(), short.expand_all()
    matrices = once.matrices()
    for k, line in enumerate(lines):
        value = found.value(line.difference)
        for other in (once, all_of_it, matrices, matrices.expand()):
            assert is_zero(value - other.value(other.lines[k].difference), found.book)


def test_every_name_has_the_value_of_what_it_is_made_of(found):
    for name in found._symbols():
        made_of = found._definition(name)
        if made_of is not None:
            assert is_zero(found.book.value(name) - found.value(made_of), found.book), name


def test_columns_in_the_axes_of_a_body_are_the_vectors_turned(found):
    body = found.book.node(len(found.book.numbers)).body
    vectors = tuple(line for line in found.lines[:4] if line.left.kind == "vector")
    short = found.__class__(found.book, vectors)
    turned = short.matrices(body)
    back = found.book.rotation(turned.basis).T
    for line, other in zip(short.lines, turned.lines, strict=True):
        expected = product(back, short.value(line.difference))
        assert is_zero(expected - turned.value(other.difference), found.book)


# With the reactions that liaison reports --------------------------------------------------------


@pytest.mark.parametrize("name", ["pendulum", "double_pendulum", "satellite", "door", "gimbals"])
def test_each_body_balances_with_the_reactions_of_its_joints(name):
    found = vector_equations(tree_of(name))
    equations = newton_euler_of(found.book.tree)
    values = {}
    for i in found.book.numbers:
        joint = found.book.joint_name(i)
        pose = np.array(equations.reports.markers[joint], dtype=object)
        wrench = np.array(equations.reports.reactions[joint], dtype=object)
        sign = -1 if found.book.node(i).is_reversed else 1
        moment, force = (
            sign * product(pose[:9].reshape(3, 3), part) for part in np.split(wrench, 2)
        )
        arm = pose[9:] - found.book.place(f"O{i}")
        moment = moment + np.array([*_cross(arm, force)], dtype=object)
        for letter, entries in (("F", force), ("C", moment)):
            named = zip("xyz", entries, strict=True)
            values |= {symbol(f"{letter}({joint}).{axis}"): x for axis, x in named}
    for line in found.lines[: 2 * len(found.book.numbers)]:
        entries = [as_expr(x) for x in found.value(line.difference)]
        assert is_zero(substitute(entries, values), found.book), line.name


def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


# What is printed --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def double_pendulum():
    return vector_equations(tree_of("double_pendulum"))


def test_text_of_the_double_pendulum(double_pendulum):
    assert "m₁ g + F(A) - F(B) = m₁ γ(G₁)" in double_pendulum.text
    assert "C(B) + G₂O₂ × F(B) = J₂ ω̇₂ + ω₂ × (J₂ ω₂)" in double_pendulum.text
    assert "1 upper (on A), 2 lower (on B)" in double_pendulum.text


def test_a_term_is_expanded_one_level_and_no_other(double_pendulum):
    once = double_pendulum.expand("gamma(G2)")
    right = "m₂ (γ(O₂) + ω̇₂ × O₂G₂ + ω₂ × (ω₂ × O₂G₂))"
    assert right in once.text
    assert "m₁ γ(G₁)" in once.text
    twice = once.expand("gamma(O2)")
    assert "ω̇₁ × O₁O₂ + ω₁ × (ω₁ × O₁O₂) + ω̇₂ × O₂G₂" in twice.text
    assert "ω₁ + Ω(B)" in twice.expand("omega2").text


def test_a_term_may_be_named_as_it_is_printed(double_pendulum):
    assert double_pendulum.expand("γ(G₂)") == double_pendulum.expand("gamma(G2)")
    assert double_pendulum.expand("ω̇₂") == double_pendulum.expand("omega2'")


def test_the_whole_as_one_system_is_the_line_of_the_document(double_pendulum):
    both = vector_equations(double_pendulum.book.tree, ["upper", "lower"], "O1")
    resultant, moment = both.lines
    assert str(resultant.left) == "m₁ g + m₂ g + F(A)"
    assert str(resultant.right) == "m₁ γ(G₁) + m₂ γ(G₂)"
    assert "F(B)" not in both.text
    assert str(moment.left).startswith("O₁G₁ × (m₁ g) + O₁G₂ × (m₂ g) + C(A)")


@pytest.mark.parametrize("point", ["O0", "O1", "G1", "O2", "G2"])
def test_the_moment_at_any_point_is_the_moment_at_another_and_an_arm_times_the_resultant(
    double_pendulum, point
):
    book = double_pendulum.book
    here = vector_equations(book.tree, ["upper", "lower"], point)
    there = vector_equations(book.tree, ["upper", "lower"], "O1")
    resultant = here.value(here.lines[0].difference)
    arm = book.place("O1") - book.place(point)
    moved = there.value(there.lines[1].difference) + np.array([*_cross(arm, resultant)])
    assert is_zero(here.value(here.lines[1].difference) - moved, book)


def test_matrices_in_the_axes_of_a_body_need_no_rotation_for_what_it_carries(double_pendulum):
    text = double_pendulum.matrices("lower").text
    assert "I₂ ω̇₂ + ω̃₂ I₂ ω₂" in text
    assert "R₂₁ I₁ R₂₁ᵀ ω̇₁" in text
    assert text.startswith("double pendulum: 0 ground")
    assert "columns in the axes of lower" in text


def test_latex_and_notebooks(double_pendulum):
    latex = double_pendulum.expand("gamma(G1)").latex
    assert r"\dot{\vec{\omega}}_{1} \times \overrightarrow{O_{1}G_{1}}" in latex
    assert double_pendulum._repr_latex_().startswith(r"$\displaystyle \begin{aligned}")
    assert double_pendulum.components()._repr_latex_().startswith(r"$\displaystyle")


def test_developed_scalars_of_the_pendulum_are_the_textbooks():
    found = vector_equations(tree_of("pendulum")).components()
    assert found.lines[-1].name == "A"
    A, g, m, l = map(symbol, ("A", "g", "m", "l"))
    left, right = found.lines[-1].left, found.lines[-1].right
    assert vanishes_exactly(as_expr(left + m * g * l / 2 * sin(A)))
    assert vanishes_exactly(as_expr(right - m * l**2 / 3 * symbol("A''")))
    assert "−½ m l g sin(A) = ⅓ m l² A''" in found.text


def test_simplified_keeps_the_value(double_pendulum):
    short = double_pendulum.expand_all().simplified()
    for line, other in zip(double_pendulum.lines, short.lines, strict=True):
        difference = double_pendulum.value(line.difference) - short.value(other.difference)
        assert is_zero(difference, double_pendulum.book)


def test_every_name_has_a_meaning(found):
    once = found.expand()
    for level in (found, once, once.matrices(), found.expand_all()):
        for name, told in level.meanings.items():
            assert told != "a scalar of the description", name


# Refusals ---------------------------------------------------------------------------------------


def test_an_unknown_term_is_refused_with_the_nearest_one(double_pendulum):
    with pytest.raises(NamingError, match=r"did you mean 'gamma\(G1\)'"):
        double_pendulum.expand("gama(G1)")


def test_what_is_given_is_not_expanded(double_pendulum):
    with pytest.raises(DerivationError, match="is given and made of no other vectors"):
        double_pendulum.expand("g")


def test_unknown_bodies_and_points_are_refused(double_pendulum):
    with pytest.raises(NamingError, match="did you mean 'upper'"):
        double_pendulum.matrices("uper")
    with pytest.raises(NamingError, match="no body is named 'arm'"):
        vector_equations(double_pendulum.book.tree, ["arm"])
    with pytest.raises(NamingError, match="no point is named 'P'"):
        vector_equations(double_pendulum.book.tree, ["upper"], "P")


def test_two_spans_of_one_mechanism_say_the_same(double_pendulum):
    again = vector_equations(tree_of("double_pendulum"))
    assert again.text == double_pendulum.text
    assert [line.left for line in again.lines] == [line.left for line in double_pendulum.lines]
    assert vector("gamma(G1)") in double_pendulum._symbols()
