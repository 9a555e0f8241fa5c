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
        ("gibbs_appell", "S = ½ ((m₁ + m₂) ÿ² − 2 m₂ a sin(θ) θ̇² ÿ + m₂ a² θ̈²"),
        ("lie_group", "Screws of the joint of cart"),
        ("lagrange", "It has none besides the equations of motion"),
    ],
)
def test_a_formalism_speaks_in_its_own_words(run, formalism, words):
    done = run("elliptic_pendulum.lsd", "--formalism", formalism, "--own")
    assert done.exit_code == 0, done.output
    assert words in done.output


def test_own_words_of_reduced_equations_name_what_depends(run):
    done = run("four_bar.lsd", "--formalism", "lagrange_reduced", "--own", "--json")
    assert "Dependent velocities" in json.loads(done.output)["own"]
