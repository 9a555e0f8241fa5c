"""`liaison derive --compare`, and formalisms by name on the command line."""

import json

import pytest
from typer.testing import CliRunner

from liaison.cli import app
from liaison.equations import FORMALISMS


@pytest.fixture
def run(examples):
    def asked(name, *options):
        return CliRunner().invoke(app, ["derive", str(examples / name), *options])

    return asked


def test_the_table_has_a_line_for_every_formalism_and_an_answer(run):
    done = run("pendulum.lsd", "--compare")
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0] == "pendulum: 10 formalisms, all that apply are proved equal"
    assert [line.split()[0] for line in lines[3:]] == list(FORMALISMS)


def test_as_json_it_holds_sizes_times_and_verdicts(run):
    done = run("elliptic_pendulum.lsd", "--compare", "--json")
    facts = json.loads(done.output)
    assert facts["all_proved"] is True
    for row in facts["rows"]:
        assert row["equal"] is True
        assert row["unknowns"] == row["equations"] > 0
        assert row["derivation_s"] >= 0
        assert row["evaluation_s"] > 0
        assert row["operations"] > 0
        assert row["chance"] is not None


@pytest.mark.parametrize("formalism", sorted(FORMALISMS))
def test_every_formalism_is_known_by_name(run, formalism):
    done = run("elliptic_pendulum.lsd", "--formalism", formalism, "--format", "entries")
    assert done.exit_code == 0, done.output


def test_a_formalism_of_another_name_lists_those_there_are(run):
    done = run("pendulum.lsd", "--formalism", "kain")
    assert done.exit_code == 2
    assert "kane" in done.output


@pytest.mark.parametrize(
    ("formalism", "words"),
    [
        ("hamilton", "H is explicit"),
        ("kane", "Partial velocities of thread"),
        ("boltzmann_hamel", "Hamel's coefficients"),
        ("gibbs_appell", "S = ½ ((m₁ + m₂) y''² − 2 m₂ a sin(θ) θ'² y'' + m₂ a² θ''²"),
        ("lie_group", "Screws of the joint of cart"),
        ("lagrange", "U = −m₂ a g cos(θ)"),
        ("newton_euler", "It has none besides the equations of motion"),
    ],
)
def test_a_formalism_speaks_in_its_own_words(run, formalism, words):
    done = run("elliptic_pendulum.lsd", "--formalism", formalism, "--own")
    assert done.exit_code == 0, done.output
    assert words in done.output


def test_own_words_of_reduced_equations_name_what_depends(run):
    done = run("four_bar.lsd", "--formalism", "lagrange_reduced", "--own", "--json")
    assert "Dependent velocities" in json.loads(done.output)["own"]


SLEIGH = """
parameter m = 1 kg ; parameter J = 0.1 kg*m^2 ; parameter a = 0.2 m ;
let s = body mass = m, center = [a, 0, 0], inertia = [J, J, J] end ;
let S = join earth and s with planar(x, y, th) end ;
let blade = require -sin(S.th)*S.x' + cos(S.th)*S.y' = 0 m/s ;
"""
HOOP = """
gravity = [0, 0, -9.81] m/s^2 ; parameter R = 1 m ; parameter w = 5 rad/s ;
let hoop = body mass = 0, inertia = 0 end ;
let bead = body mass = 2 kg, inertia = 0, center = [0, 0, -R] end ;
let H = join earth and hoop with revolute end ;
let A = join hoop and bead with revolute axis = [0, -1, 0] end ;
impose H = w*t ;
"""
PENDULUM = """
gravity = [0, 0, -9.81] m/s^2 ;
let bar = body mass = 2 kg, center = [0, 0, -1] m, inertia = [1, 1, 1] kg*m^2 end ;
let A = join earth and bar with revolute axis = [0, 1, 0] end ;
"""
CHARGE = """
parameter m = 1 kg ; parameter k = 2 N*s/m ;
let p = body mass = m, inertia = 0 end ;
let P = join earth and p with link(x, y) dof1 = [x, 0, 0], dof2 = [0, y, 0] end ;
apply potential value = -k/2*(P.x*P.y' - P.y*P.x') end ;
"""


@pytest.fixture
def printed(tmp_path):
    def asked(text, *options):
        file = tmp_path / "model.lsd"
        file.write_text(text)
        done = CliRunner().invoke(app, ["derive", str(file), *options])
        assert done.exit_code == 0, done.output
        return done.output

    return asked


@pytest.mark.parametrize(
    ("text", "formalism", "lines"),
    [
        (SLEIGH, "hamilton", ["p_S.x' = −sin(S.th) λ₁", "λ₁: blade"]),
        (HOOP, "lagrange_reduced", ["A': 0 = 2 R (R A'' + (g − R w² cos(A)) sin(A))", "H' = w"]),
        (HOOP, "boltzmann_hamel", ["all are zero"]),
        (HOOP, "lie_group", ["wx of A' = sin(H)"]),
        (CHARGE, "lagrange", ["V = ½ k (P.y P.x' − P.x P.y')", "p_P.x = m P.x' − ½ k P.y"]),
        # a (2 vy + a wz) wz of T: quasi-velocities have no blanks within, and are defined
        (SLEIGH, "boltzmann_hamel", ["a S_wz (2 S_vy + a S_wz)", "S.y' = S_vx sin(S.th) + "]),
    ],
)
def test_own_words_can_be_read_as_they_stand(printed, text, formalism, lines):
    output = printed(text, "--formalism", formalism, "--own")
    for line in lines:
        assert line in output


@pytest.mark.parametrize(
    "options", [("--parametrization", "minimal"), ("--treat", "imposed_H=reaction")]
)
def test_other_coordinates_have_values_and_first_integrals_too(printed, options):
    output = printed(HOOP, *options)
    assert "g = 9.81 m/s²" in output
    assert "Painlevé's integral: R (R A'² − (R w² sin²(A) + 2 g cos(A))) = const" in output


def test_names_with_blanks_are_not_read_as_products(printed):
    output = printed(SLEIGH, "--formalism", "maximal")
    assert "free_s.qx free_s.qy" in output
    assert "free s.qx" not in output.partition("Equations of motion")[2]


def test_integrals_of_joint_coordinates_do_not_stand_beside_others(printed):
    assert "First integrals" not in printed(SLEIGH, "--parametrization", "cartesian")
    assert "First integrals" not in printed(PENDULUM, "--treat", "A=reaction")
