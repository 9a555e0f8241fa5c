"""Tools of the documents as verbs and commands: elimination, bases, Ψ, torsors, inertia, power."""

import json

import numpy as np
import pytest

import liaison
from liaison.cli import main
from liaison.errors import ArgumentError, DerivationError, LiaisonError, NamingError
from liaison.expr import evaluate, symbol, to_text
from liaison.expr.parse import formulas


def answer(capsys, *words):
    """What a command prints."""
    with pytest.raises(SystemExit) as left:
        main(list(words))
    captured = capsys.readouterr()
    assert left.value.code == 0, captured.err
    return captured.out


# ---- elimination by cases


def test_gausselim_of_the_document(capsys):
    """x ≠ 0, xy ≠ 1 as printed; x ≠ 0, xy = 1 rank 2; x = 0 as printed; x(t) likewise."""
    matrix = "[[x,1,0],[0,0,1],[1,y,1]]"
    cases = liaison.gausselim(matrix).cases
    assert [case.rank for case in cases] == [3, 2, 3]
    assert [to_text(x) for x in cases[0].matrix[1]] == ["0", "y - 1/x", "1"]
    assert [[to_text(x) for x in row] for row in cases[2].matrix] == [
        ["1", "y", "1"], ["0", "1", "0"], ["0", "0", "1"],
    ]  # fmt: skip
    for x, y, rank in ((2.0, 3.0, 3), (2.0, 0.5, 2), (0.0, 1.0, 3)):
        assert np.linalg.matrix_rank([[x, 1, 0], [0, 0, 1], [1, y, 1]]) == rank
    out = answer(capsys, "gausselim", matrix.replace("x,", "x(t),"))
    assert out.count("rank") == 3
    assert "x(t) ≠ 0 and y - 1/x(t) = 0: rank 2" in out


@pytest.mark.parametrize(
    ("matrix", "says"),
    [("[[1, 2], [3]]", "equally long"), ("x + 1", "list of rows"), ("[[1, 2", "expected"),
     ("[[1, $]]", "no sign"), ("[[x^9999]]", "exponent")],
)  # fmt: skip
def test_what_is_no_matrix(matrix, says):
    with pytest.raises(LiaisonError, match=says):
        liaison.gausselim(matrix)


def test_formulas_of_text():
    f = formulas("-x^2/3 + sin(a)*f(x, 2) - 1.5e0f")
    assert to_text(f) == to_text(formulas("sin(a)*f(x, 2) - x**2/3 - 1.5f"))
    value = formulas("2*x^2 - x/4 + max(x, 1)")
    assert evaluate([value], {symbol("x"): 3.0})[0] == 18 - 0.75 + 3


# ---- standard bases, Ψ


def test_the_standard_basis_of_the_document(capsys):
    """B₁ = X⁵, B₂ = X³Y − Y²: {X⁵, X³Y − Y², X²Y², Y³}; P is in the ideal, division misses it."""
    out = answer(
        capsys, "standard_basis", "X^5", "X^3*Y - Y^2", "--divide", "X^6*Y^3 + X^5*Y - X^2*Y^2"
    )
    lines = [line.strip() for line in out.splitlines()]
    assert lines[1:5] == ["X^5", "X^3*Y - Y^2", "X^2*Y^2", "Y^3"]
    assert "by the polynomials: remainder -X^2*Y^2" in lines
    assert "by the basis: remainder 0" in lines
    # not leading are 1, X, …, X⁴ (5), Y, XY, X²Y (3), Y², XY² (2)
    assert "Hilbert function 1, 3, 6, 9, 10, 10, 10, 10, …" in lines


def test_a_circle_and_errors_of_bases():
    circle = liaison.standard_basis(["Y^2 + Z^2 - 1", "2*Y - 1"], ["Y", "Z"])
    assert circle.to_dict()["basis"] == ["Y - 1/2", "Z^2 - 3/4"]
    assert circle.basis.dimension() == 0
    with pytest.raises(ArgumentError, match="order"):
        liaison.standard_basis(["X"], order="up")
    with pytest.raises(ArgumentError, match="one polynomial"):
        liaison.standard_basis([])
    with pytest.raises(DerivationError):
        liaison.standard_basis(["sin(X)"])


def test_psi_is_annihilated_by_the_rows_of_the_closures(examples, capsys):
    file = examples / "slider_crank.lsd"
    found = liaison.psi(file)
    tree = liaison.span(liaison.read(file))
    state = liaison.assemble(tree)
    kernel = liaison.to_numpy(liaison.lower(liaison.newton_euler(tree)))
    G = kernel.call("terms", t=0.0, q=state.q, v=state.v)["G"].reshape(-1, 3)
    at = dict(zip(found.result.coordinates, state.q, strict=True))
    values = np.array([evaluate(list(c), at) for c in found.result.columns], dtype=float)
    assert np.linalg.matrix_rank(values) == 1
    assert np.abs(G @ values.T).max() < 1e-12
    assert "ψ1" in answer(capsys, "psi", str(file))


# ---- Baumgarte


def test_baumgarte_lies_between_neither_and_projection(examples, capsys):
    found = liaison.baumgarte(examples / "slider_crank.lsd", until=1.0).residuals
    assert found["projection"] < 1e-10
    assert found["Baumgarte"] < 0.1 * found["neither"]
    with pytest.raises(DerivationError, match="no closures"):
        liaison.baumgarte(examples / "pendulum.lsd")
    out = answer(capsys, "baumgarte", str(examples / "slider_crank.lsd"), "--until", "0.2")
    assert "Baumgarte" in out


# ---- inertia and torsors


def test_inertia_is_huygens_of_particles(examples):
    """Three particles in place of each rod: the same mass, center and second moments."""
    file = examples / "double_pendulum.lsd"
    q = {"A": 0.4, "B": -0.7}
    whole = liaison.inertia(file, q=q, point=(0.1, 0.2, -0.3))
    total, first, tensor = 0.0, np.zeros(3), np.zeros((3, 3))
    for name in ("upper", "lower"):
        one = liaison.inertia(file, [name], axes=name)
        X = liaison.pose(file, name, q)
        moments, axes = one.principal
        m, center = float(one.inertia.mass), np.asarray(one.inertia.com, dtype=float)
        P = np.diag(moments.sum() / 2 - moments)
        for k in range(3):  # pairs of particles m/6 at ±√(3 P_kk/m) along each principal axis
            for sign in (1, -1):
                local = center + sign * np.sqrt(3 * P[k, k] / m) * axes[:, k]
                r = X[:3, :3] @ local + X[:3, 3]
                d = r - np.array([0.1, 0.2, -0.3])
                total, first = total + m / 6, first + m / 6 * r
                tensor += m / 6 * (d @ d * np.eye(3) - np.outer(d, d))
    assert np.isclose(float(whole.inertia.mass), total)
    assert np.allclose(np.asarray(whole.inertia.com, dtype=float), first / total)
    assert np.allclose(whole.about_point, tensor, atol=1e-12)
    assert np.allclose(np.trace(whole.product_tensor), np.trace(tensor) / 2)


def test_inertia_on_the_command_line(examples, capsys):
    file = str(examples / "pendulum.lsd")
    facts = json.loads(
        answer(capsys, "inertia", file, "--point", "0,0,0", "--direction", "0,1,0", "--json")
    )
    assert np.isclose(facts["moment_about_axis"], facts["I_point"][1][1])
    assert np.isclose(
        facts["moment_about_axis"], liaison.mass_matrix(examples / "pendulum.lsd")[0, 0]
    )
    with pytest.raises(NamingError, match="bar"):
        liaison.inertia(file, ["bat"])
    with pytest.raises(SystemExit):
        main(["inertia", file, "--point", "1,2"])


def test_torsors_are_momentum_and_its_rate(examples):
    """The kinetic torsor is that of `momentum`; the dynamic one its rate along the motion."""
    file = examples / "double_pendulum.lsd"
    start = {"A": 0.3, "B": 0.5, "A'": 2.0, "B'": -1.0}
    found = liaison.torsors(file, start)
    h = 1e-4
    sides = []
    for sign in (1, -1):  # the free motion, forwards and backwards in time
        begun = {k: sign * x if "'" in k else x for k, x in start.items()}
        run = liaison.simulate(file, until=h, start=begun, rtol=1e-12, atol=1e-14)
        q, v = run.q[-1], sign * run.v[-1]
        sides.append(liaison.torsors(file, q, v).whole.kinetic)
    for part in ("resultant", "moment"):
        ahead, behind = (np.asarray(getattr(x, part), dtype=float) for x in sides)
        rate = (ahead - behind) / (2 * h)
        assert np.allclose(getattr(found.whole.dynamic, part), rate, atol=1e-5)
    T = 0.5 * np.array([2.0, -1.0]) @ liaison.mass_matrix(file, start) @ np.array([2.0, -1.0])
    assert np.isclose(found.whole.energy, T)
    elsewhere = liaison.torsors(file, start, point=(1, 2, 3)).whole.kinetic
    moved = found.whole.kinetic.at((1, 2, 3))
    assert np.allclose(np.asarray(elsewhere.moment, float), np.asarray(moved.moment, float))


def test_torsors_on_the_command_line(examples, capsys):
    facts = json.loads(
        answer(capsys, "torsors", str(examples / "pendulum.lsd"), "--start", "A'=2", "--json")
    )
    assert np.allclose(facts["bar"]["kinematic"][0], [0, -2, 0])
    assert np.isclose(facts["all"]["energy"], 2 * liaison.mass_matrix(examples / "pendulum.lsd"))


# ---- virtual power


def test_virtual_power_of_the_document_s_fields(examples, capsys):
    """Solidifying translation and rotation, a velocity of the tree, the motion itself."""
    file = str(examples / "pendulum.lsd")
    along = answer(capsys, "virtual_power", file, "--velocity", "A'")
    assert "inertia = −⅓ A'' l² m" in along
    assert "gravity = −½ g l m sin(A)" in along
    # the joint gives what is missing, and nothing where the equation of motion holds
    assert "joint A = ⅙ l m (2 A'' l + 3 g sin(A))" in along
    slide = answer(capsys, "virtual_power", file, "--translation", "0,0,1")
    assert "gravity = −g m" in slide
    turn = json.loads(answer(capsys, "virtual_power", file, "--rotation", "0,-1,0", "--json"))
    assert turn["powers"]["inertia"] == "−⅓ A'' l² m"
    with pytest.raises(SystemExit):
        main(["virtual_power", file, "--velocity", "A'", "--translation", "0,0,1"])


# ---- the page


def test_every_command_is_named_in_the_docs(examples):
    from liaison.cli.entry import commands

    page = (examples.parent / "docs" / "python.md").read_text(encoding="utf-8")
    assert not [name for name in commands() if f"`liaison {name} " not in page]


# ---- what is printed

BEAD = """
gravity = [0, 0, -9.81] m/s^2 ; parameter R = 1 m ; parameter w = 5 rad/s ;
let bead = body mass = 1 kg, inertia = 0, center = [0, 0, -R] end ;
let J = join earth and bead
  with link(a) dof1 = (w*t) || [0, 0, 1], dof2 = a || [0, -1, 0] end ;
start J.a = 0.5 rad ; start J.a' = 2 rad/s ;
"""
COIN = """
parameter r = 1 cm ;
let coin = body mass = 10 g, inertia = [1, 1, 2] g*cm^2 end ;
let F = join earth and coin with free attitude = euler end ;
let tread = couple coin and earth with rolling_disc radius = r end ;
start F.nutation = 80 deg ;
"""
CHARGE = """
parameter m = 1 kg ; parameter k = 2 N*s/m ; parameter c = 3 N/m ;
let p = body mass = m, inertia = 0 end ;
let P = join earth and p with link(x, y) dof1 = [x, 0, 0], dof2 = [0, y, 0] end ;
apply potential value = -k/2*(P.x*P.y' - P.y*P.x') + c/2*(P.x^2 + P.y^2) end ;
"""


@pytest.fixture
def model(tmp_path):
    def written(text):
        file = tmp_path / "model.lsd"
        file.write_text(text)
        return str(file)

    return written


def test_rounding_is_not_printed(model, capsys):
    """ω of the bead is (−sin 5t …, −2, 5) at t = 0; cos(π/2) leaves 1e-17 of it."""
    out = answer(capsys, "torsors", model(BEAD))
    assert "kinematic  (0, -2, 5)  (0, 0, 0)  rad/s, m/s" in out
    assert "e-1" not in out


def test_motions_of_a_joint_by_elementary_motions_are_printed(model, capsys):
    """Its coordinates were taken for none at all."""
    out = answer(capsys, "motion", model(BEAD), "--until", "0.2")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[2:]}
    assert rows["J.dof1"][:3] == ["rad", "0", "1"]
    assert rows["J.a'"][:2] == ["rad/s", "2"]


def test_energy_that_is_proved_constant_has_an_error(examples, capsys):
    """Of a sleigh: a relation of rates acts, and does no work."""
    out = answer(capsys, "simulate", str(examples / "chaplygin.lsd"), "--until", "0.5", "--json")
    facts = json.loads(out)
    assert facts["invariants"]["energy"]["drift"] < 1e-8
    assert facts["energy_error"] == pytest.approx(facts["energy_change"])


def test_what_is_not_defined_is_null_and_said(model, tmp_path, capsys):
    """A disc that lies flat has no lowest point."""
    file = str(tmp_path / "coin.assign")
    answer(capsys, "derive", model(COIN), "--assignments", file)
    out = answer(capsys, "evaluate", file)
    assert "Not defined at this state: entries of G, gamma" in out
    assert "-0," not in out
    facts = json.loads(answer(capsys, "evaluate", file, "--json"), parse_constant=pytest.fail)
    assert facts["G"][0][3] is None
    assert "Not defined" not in answer(capsys, "evaluate", file, "--at", "F.nutation=1")


def test_multipliers_of_virtual_power_have_numbers_and_a_legend(examples, capsys):
    out = answer(capsys, "virtual_power", str(examples / "four_bar.lsd"), "--velocity", "A'")
    assert "λ₁ is C: force along x of ground [N]" in out
    assert "lambda" not in out
    assert "On a motion each joint" in out


def test_a_potential_of_velocities_stands_beside_the_parts(model, capsys):
    out = answer(capsys, "energy_parts", model(CHARGE))
    assert "U = ½ c (P.x² + P.y²)" in out
    assert "V = ½ (k P.y P.x' − k P.x P.y' + c (P.x² + P.y²))" in out
    assert "V" not in liaison.energy_parts(BEAD).to_dict()


def test_an_expression_that_is_not_reduced_is_named():
    sheet = """operator br(vector, vector) : vector, linear, antisymmetric ;
    any vector x, y, z ; vector a, b, c ;
    rule jacobi : br(x, br(y, z)) -> br(br(x, y), z) + br(y, br(x, z)) ;
    reduce br(a, b) ; reduce br(a, br(b, c)) ;"""
    with pytest.raises(DerivationError, match=r"br\(a, br\(b, c\)\) is not reduced"):
        liaison.rewrite(sheet, limit=20)
